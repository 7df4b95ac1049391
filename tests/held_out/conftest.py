"""The databases and types that the tests of questions use."""

from questions.conftest import shop_databases, shop_questions, shop_review, tiny_databases

__all__ = ["shop_databases", "shop_questions", "shop_review", "tiny_databases"]

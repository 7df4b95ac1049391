"""All hand-written question types of the shop, in the order in which the review sees them: before all proposals."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from sqldojo.databases.shop_schema import is_shop
from sqldojo.questions.patterns import difficulty_of, pattern_of
from sqldojo.questions.shop_held_out_types import CHECK_TYPES, SELECTION_TYPES
from sqldojo.questions.shop_training_types import TRAINING_TYPES
from sqldojo.records import QuestionType
from sqldojo.verifier.mutation.sqlite_text import read


def _classified(question_type: QuestionType) -> QuestionType:
    tree = read(question_type.sql)
    return replace(question_type, pattern=pattern_of(tree), difficulty=difficulty_of(tree))


SHOP_TYPES = tuple(map(_classified, (*TRAINING_TYPES, *SELECTION_TYPES, *CHECK_TYPES)))


def hand_written(database: Path) -> tuple[QuestionType, ...]:
    """The hand-written types for a database: those of the shop, none for another schema."""
    return SHOP_TYPES if is_shop(database) else ()

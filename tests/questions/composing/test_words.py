"""English for names, and texts put together of it."""

import pytest

from sqldojo.questions.composing.words import Noun, column_noun, joined, noun, sentence, spaced, with_article


@pytest.mark.parametrize(
    ("name", "one", "many"),
    [
        ("customers", "customer", "customers"),
        ("InvoiceLine", "invoice line", "invoice lines"),
        ("order_status", "order status", "order statuses"),
        ("people", "person", "people"),
        ("Categories", "category", "categories"),
        ("address", "address", "addresses"),
    ],
)
def test_a_table_is_called_by_the_singular_and_plural_of_its_name(name, one, many):
    assert noun(name) == Noun(one, many)


def test_a_column_that_is_called_by_a_plural_stays_one():
    assert column_noun("Milliseconds") == Noun("milliseconds", "milliseconds")
    assert column_noun("unit_price") == Noun("unit price", "unit prices")


def test_names_are_split_at_underscores_and_capitals():
    assert [spaced(name) for name in ("unit_price", "HireDate", "URLPath", "line2", "größeÄndern")] == [
        "unit price", "hire date", "url path", "line 2", "größeändern",
    ]  # fmt: skip


def test_articles_fit_what_follows():
    assert [with_article(text) for text in ("sum of the totals", "price", "order date", "milliseconds")] == [
        "a sum of the totals", "a price", "an order date", "milliseconds",
    ]  # fmt: skip


def test_what_predicates_share_is_said_once():
    assert joined(["have no email", "have a price below 5"]) == "have no email and a price below 5"
    assert joined(["were placed in 2020", "were placed by Ann"]) == "were placed in 2020 and by Ann"
    assert joined(["live in Rome", "have no email"]) == "live in Rome and have no email"


def test_sentences_are_tidied():
    assert sentence("which  ones, both included, ? those do .") == "Which ones, both included? Those do."
    assert sentence("add {price} up. {count} is no sentence") == "Add {price} up. {count} is no sentence"


def test_an_owner_is_named_before_what_does_not_name_it():
    customer = Noun("customer", "customers")
    assert Noun("city", "cities").of(customer) == Noun("customer city", "customer cities")
    assert Noun("customer type", "customer types").of(customer) == Noun("customer type", "customer types")


def test_a_column_does_not_repeat_its_table():
    assert column_noun("product_price", "product") == Noun("price", "prices")
    assert column_noun("created_at", "product") == Noun("created date", "created dates")

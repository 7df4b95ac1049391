"""The shop's question types and the questions that come of them: their number, their wording, and no contamination."""

import sqlite3
from contextlib import closing

import pytest

from sqldojo.databases.execution import Limits, run_query
from sqldojo.databases.families import EVALUATION, FAMILIES, TRAIN, family_paths
from sqldojo.questions.contamination import check_contamination
from sqldojo.questions.shop_held_out_types import CHECK_TYPES, SELECTION_TYPES
from sqldojo.questions.shop_training_types import TRAINING_TYPES
from sqldojo.questions.shop_types import SHOP_TYPES as ALL_TYPES
from sqldojo.questions.standing import standing
from sqldojo.questions.wording import normalise
from sqldojo.verifier.grading import grade

# The columns that name things; a year, a threshold or a status may be in both families.
NAMING_COLUMNS = [("customers", "name"), ("customers", "city"), ("customers", "country"), ("products", "name"),
                  ("products", "category")]  # fmt: skip


def every_question(questions):
    return [question for split in questions.values() for question in split]


def test_there_are_fifteen_trained_and_ten_held_out_types():
    splits = [question_type.split for question_type in ALL_TYPES]
    assert splits == ["train"] * 15 + ["selection"] * 5 + ["check"] * 5
    assert len({question_type.id for question_type in ALL_TYPES}) == 25
    assert {"customers-in-city", "cheap-products", "signups-in-year", "average-price-by-category",
            "frequent-customers", "top-spenders"} < {t.id for t in TRAINING_TYPES}  # fmt: skip


def test_values_reserved_for_a_parameter_are_in_no_training_query(shop_questions):
    """A trained reference may name a status or a year of its own; then that value is not one training never shows."""
    literals = {f"'{value}'" for question in every_question(shop_questions) if question.split != "train"
                for value in question.parameters.values()}  # fmt: skip
    shown = [question for question in shop_questions["train"] if any(text in question.reference for text in literals)]
    assert len(literals) > 20 and shown == []


def test_no_two_types_have_the_same_query_or_phrasing():
    queries = [normalise(question_type.sql) for question_type in ALL_TYPES]
    phrasings = [normalise(phrasing) for question_type in ALL_TYPES for phrasing in question_type.phrasings]
    assert len(set(queries)) == len(queries)
    assert len(set(phrasings)) == len(phrasings)


@pytest.mark.parametrize("question_type", ALL_TYPES, ids=lambda each: each.id)
def test_a_type_has_a_parameter_and_four_phrasings_that_say_what_to_return(question_type):
    assert question_type.parameters
    assert len(question_type.phrasings) >= 4
    for phrasing in question_type.phrasings:
        assert any(word in phrasing for word in ("eturn ", "Give ", "Show ", "only ", "give ")), phrasing
        for name in question_type.parameters:
            assert f"{{{name}}}" in phrasing
    # LIMIT drops ties, a clock changes the answer by itself, and two customers may have one name.
    for word in ("LIMIT", "'now'", "GROUP_CONCAT", "ROUND", "GROUP BY customers.name", "GROUP BY products.name"):
        assert word not in question_type.sql.replace("group_concat", "GROUP_CONCAT")


def test_every_type_gives_its_questions(shop_questions):
    asked = {split: {question.type for question in questions} for split, questions in shop_questions.items()}
    assert asked["train"] == asked["reserved"] == {t.id for t in TRAINING_TYPES}
    assert asked["selection"] == {t.id for t in SELECTION_TYPES}
    assert asked["check"] == {t.id for t in CHECK_TYPES}
    families = {split: {question.family for question in questions} for split, questions in shop_questions.items()}
    assert families == {"train": {TRAIN}, "reserved": {EVALUATION}, "selection": {EVALUATION}, "check": {EVALUATION}}


def test_ids_are_unique_and_texts_say_every_value(shop_questions):
    questions = every_question(shop_questions)
    assert len({question.id for question in questions}) == len(questions)
    assert len({normalise(question.text) for question in questions}) == len(questions)
    for question in questions:
        assert question.id.startswith(f"{question.type}-{question.split}-")
        assert "{" not in question.text and ":" not in question.reference.replace("':", "")
        for value in question.parameters.values():
            assert str(value) in question.text, question.id
            assert str(value) in question.reference, question.id


def test_the_review_accepts_every_hand_written_type(shop_review):
    assert [each for each in shop_review.reviews if not each.accepted] == []
    assert shop_review.types == list(ALL_TYPES)


def test_they_stand_on_all_databases(shop_databases, shop_review):
    databases = {family: family_paths(shop_databases, family) for family in FAMILIES}
    assert standing(shop_review.types, shop_review.filled, databases, Limits()) == (
        shop_review.types, shop_review.filled, [])  # fmt: skip


def test_no_held_out_question_is_in_the_training_data(shop_databases, shop_questions):
    train = shop_questions["train"]
    held_out = [question for split in ("reserved", "selection", "check") for question in shop_questions[split]]
    databases = {family: family_paths(shop_databases, family) for family in FAMILIES}
    check_contamination(train, held_out, databases, Limits())
    trained_values = {(name, value) for question in train for name, value in question.parameters.items()}
    asked_values = {(name, value) for question in held_out for name, value in question.parameters.items()}
    assert trained_values and asked_values and not trained_values & asked_values
    never_trained = {question_type.id for question_type in (*SELECTION_TYPES, *CHECK_TYPES)}
    assert not never_trained & {question.type for question in train}


def test_no_name_of_the_evaluation_family_is_in_a_training_question(shop_databases, shop_questions):
    names = set()
    for path in family_paths(shop_databases, EVALUATION):
        with closing(sqlite3.connect(path)) as connection:
            for table, column in NAMING_COLUMNS:
                names |= {value for (value,) in connection.execute(f"SELECT {column} FROM {table}") if value}
    assert len(names) > 100
    for question in shop_questions["train"]:
        assert not [value for value in question.parameters.values() if value in names], question.id


def test_references_are_right_and_empty_answers_are_wrong(shop_databases, shop_questions):
    for question in every_question(shop_questions):
        databases = family_paths(shop_databases, question.family)
        assert grade(question.reference, question.reference, databases).verdict == "correct"
        empty = f"SELECT * FROM ({question.reference}) WHERE 0"
        assert grade(question.reference, empty, databases).verdict == "wrong"


def test_a_known_answer_counted_by_hand(shop_databases, shop_questions):
    question = next(q for q in shop_questions["train"] if q.type == "frequent-customers")
    database = family_paths(shop_databases, TRAIN)[0]
    with closing(sqlite3.connect(database)) as connection:
        buyers = [buyer for (buyer,) in connection.execute("SELECT customer_id FROM orders")]
        names = dict(connection.execute("SELECT id, name FROM customers"))
    wanted = sorted(name for customer, name in names.items()
                    if buyers.count(customer) > question.parameters["minimum"])  # fmt: skip
    assert sorted(name for (name,) in run_query(database, question.reference, Limits()).rows) == wanted

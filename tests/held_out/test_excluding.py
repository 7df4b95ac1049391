"""A test type gives way to a generated type that asks the same; each rule is shown on a type that only it finds."""

from dataclasses import replace

import pytest

from sqldojo.databases.execution import Limits
from sqldojo.databases.families import FAMILIES, family_paths
from sqldojo.held_out.excluding import OVERLAPS, exclusions
from sqldojo.records import COMPOSED, HAND_WRITTEN, TEST, TRAIN, Question, QuestionType

TOWN = {"town": "SELECT DISTINCT town FROM people"}


def make_type(name, sql, phrasing, split=TRAIN, parameters=TOWN, proposer=COMPOSED):
    return QuestionType(name, split, (phrasing,), sql, parameters, proposer=proposer)


def ask(question_type, *towns):
    family = "train" if question_type.split == TRAIN else "evaluation"
    return [
        Question(
            f"{question_type.id}-{town}", question_type.id, question_type.split, family,
            question_type.phrasings[0].format(town=town), question_type.sql.replace(":town", f"'{town}'"),
            {"town": town} if question_type.parameters else {},
        )
        for town in towns
    ]  # fmt: skip


OLD = make_type("old", "SELECT MAX(age) FROM people WHERE town = :town", "How old is the oldest of {town}?", split=TEST,
                proposer=HAND_WRITTEN)  # fmt: skip
ASKED = ask(OLD, "Oslo", "Bergen")


@pytest.fixture
def found(tiny_databases):
    databases = {family: family_paths(tiny_databases, family) for family in FAMILIES}

    def against(*trained, questions=None):
        training = questions or [question for each in trained for question in ask(each, "Rome", "Pisa")]
        return exclusions([OLD], ASKED, trained, training, databases, Limits())

    return against


@pytest.mark.parametrize(
    ("rule", "sql", "phrasing"),
    [
        ("same-query", "SELECT max(p.age) FROM people p WHERE :town = p.town", "Highest age in {town}?"),
        ("same-shape", "SELECT MAX(name) FROM people WHERE town = :town", "Last name of {town}?"),
        ("same-text", "SELECT COUNT(*) FROM people WHERE town = :town", "how old is the OLDEST of {town}"),
        ("same-answers", "SELECT age FROM people WHERE town = :town ORDER BY age DESC LIMIT 1", "Age in {town}?"),
    ],
)
def test_each_rule(found, rule, sql, phrasing):
    other = make_type("other", sql, phrasing)
    (excluded,) = found(other)
    assert (excluded.type, excluded.overlaps, excluded.rule) == ("old", "other", rule)
    assert excluded.evidence in (sql, phrasing)
    assert found(replace(other, proposer=HAND_WRITTEN)) == []


def test_nothing_is_excluded_for_what_is_only_near(found):
    near = make_type("near", "SELECT MIN(age) FROM people WHERE town = :town", "How old is the youngest of {town}?")
    far = make_type("far", "SELECT name FROM people WHERE town = :town AND age > 10", "Who is over 10 in {town}?")
    assert found(near, far) == []


def test_a_type_that_no_training_question_asks_is_not_trained(found):
    same = make_type("same", OLD.sql, "Highest age in {town}?")
    other = make_type("other", "SELECT COUNT(*) FROM people WHERE town = :town", "How many in {town}?")
    assert found(same)[0].rule == "same-query"
    assert found(same, other, questions=ask(other, "Rome")) == []


def test_one_question_with_the_answers_of_a_training_question_is_enough(found):
    """Also when the types have different parameters, so that their values cannot be compared."""
    sql = "SELECT MAX(age + 0) FROM people WHERE town = 'Bergen' AND age > 0"
    other = make_type("other", sql, "The highest age of a person in Bergen?", parameters={})
    (excluded,) = found(other, questions=ask(other, "Bergen"))
    assert (excluded.overlaps, excluded.rule, excluded.evidence) == ("other", "same-answers", sql)


def test_the_first_rule_wins(found):
    both = make_type("both", OLD.sql, OLD.phrasings[0])
    shaped = make_type("shaped", "SELECT MAX(name) FROM people WHERE town = :town", "Last name of {town}?")
    (excluded,) = found(shaped, both)
    assert (excluded.overlaps, excluded.rule) == ("both", next(iter(OVERLAPS)))

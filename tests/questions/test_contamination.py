from dataclasses import replace

import pytest

from sqldojo.databases.execution import Limits
from sqldojo.databases.families import FAMILIES, family_paths
from sqldojo.errors import UserError
from sqldojo.questions.contamination import check_contamination
from sqldojo.records import Question

TRAINED = Question(
    id="in-town-train-0001",
    type="in-town",
    split="train",
    family="train",
    text="Who lives in Rome?",
    reference="SELECT name FROM people WHERE town = 'Rome' AND age > 10",
    parameters={"town": "Rome"},
)
HELD_OUT = replace(
    TRAINED, id="in-town-check-0001", split="check", family="evaluation", text="Who lives in Oslo?",
    reference="SELECT name FROM people WHERE town = 'Oslo' AND age > 10",
)  # fmt: skip


@pytest.fixture(scope="module")
def check(tiny_databases):
    databases = {family: family_paths(tiny_databases, family) for family in FAMILIES}
    return lambda training, held_out: check_contamination(training, held_out, databases, Limits())


def test_other_values_of_a_trained_type_are_no_contamination(check):
    check([TRAINED], [HELD_OUT])
    check([], [HELD_OUT])


@pytest.mark.parametrize(
    ("leak", "same"),
    [
        ({"text": "who lives in  OSLO", "reference": "SELECT 1"}, "text"),
        ({"reference": "select P.name from people P where (10 < P.age) and 'Oslo' = P.TOWN"}, "query"),
        ({"reference": "SELECT name FROM people WHERE name LIKE 'Oslo %' "
                       "EXCEPT SELECT name FROM people WHERE age < 20"}, "answers on all databases"),
    ],
)  # fmt: skip
def test_planted_leaks_are_found(check, leak, same):
    """Of each kind: the same words, the same query in another spelling, and another query with the same answers."""
    planted = replace(HELD_OUT, **{"id": "leak-0001", "text": "Some of them?", **leak})
    with pytest.raises(UserError, match=f"in-town-check-0001: held out, .*leak-0001 has the same {same}: Who lives"):
        check([TRAINED, planted], [HELD_OUT])


def test_queries_that_cannot_be_read_are_compared_by_their_words(check):
    unread = replace(HELD_OUT, reference="VALUES ('x')")
    with pytest.raises(UserError, match="has the same query"):
        check([replace(TRAINED, reference="values('X')")], [unread])


def test_the_same_answers_on_some_databases_are_no_contamination(check):
    largest_only = replace(TRAINED, reference="SELECT name FROM people WHERE town = 'Oslo' AND age BETWEEN 11 AND 30")
    check([largest_only], [HELD_OUT])

from pathlib import Path

from sqldojo.databases.families import EVALUATION, TRAIN
from sqldojo.questions.every_value import every_reference
from sqldojo.records import QuestionType
from sqldojo.verifier.audit import Subject

TOWN = {"town": "SELECT DISTINCT town FROM people ORDER BY town"}
AGE = {"age": "SELECT age FROM people ORDER BY age"}
IN_TOWN = QuestionType("in-town", TRAIN, ("Who is in {town}?",), "SELECT name FROM people WHERE town = :town", TOWN)
ALL = QuestionType("all", TRAIN, ("Who is there?",), "SELECT name FROM people")
OLDER = QuestionType(
    "older", "check", ("{town} {age}",), "SELECT name FROM people WHERE town = :town AND age > :age", TOWN | AGE
)


def test_each_value_of_each_family_gives_a_reference(tiny_databases):
    found = every_reference([IN_TOWN, ALL], tiny_databases)
    assert found == [
        Subject("in-town", TRAIN, "SELECT name FROM people WHERE town = 'Pisa'"),
        Subject("in-town", TRAIN, "SELECT name FROM people WHERE town = 'Rome'"),
        Subject("all", TRAIN, "SELECT name FROM people"),
        Subject("in-town", EVALUATION, "SELECT name FROM people WHERE town = 'Bergen'"),
        Subject("in-town", EVALUATION, "SELECT name FROM people WHERE town = 'Oslo'"),
        Subject("all", EVALUATION, "SELECT name FROM people"),
    ]


def test_only_values_that_every_database_has_are_asked_for(tiny_databases):
    """The databases have ages up to 10, 20, 30 and 40: only 10 is in all of them."""
    found = every_reference([OLDER], tiny_databases)
    assert len(found) == 4
    assert all(subject.reference.endswith("age > 10") for subject in found)


def test_fewer_values_are_drawn_by_seed(tiny_databases):
    everything = every_reference([IN_TOWN], tiny_databases)
    drawn = {seed: every_reference([IN_TOWN], tiny_databases, most=1, seed=seed) for seed in range(20)}
    assert all(len(found) == 2 and set(found) < set(everything) for found in drawn.values())
    assert drawn[0] == every_reference([IN_TOWN], Path(tiny_databases), most=1, seed=0)
    assert {subject for found in drawn.values() for subject in found} == set(everything)

from sqldojo.questions.subjects import subjects_of
from sqldojo.records import COMPOSED, TRAIN, FilledType, QuestionType
from sqldojo.verifier.audit import Subject

TOWNS = "SELECT town FROM people"
IN_TOWN = QuestionType("town", TRAIN, ("?",), "", {"town": TOWNS, "age": "VALUES (7)"}, True, proposer=COMPOSED)


def test_a_subject_knows_where_its_values_may_be_asked_for():
    filled = FilledType("town", "train", TRAIN, {"age": 7, "town": "Rome"}, "SELECT 1", True)
    asked = ((TOWNS, "Rome"), ("VALUES (7)", 7))
    assert subjects_of([IN_TOWN], [filled]) == [Subject("town", "train", "SELECT 1", True, COMPOSED, asked)]

from dataclasses import replace

import pytest

from sqldojo.databases.execution import Limits
from sqldojo.databases.families import TRAIN, family_paths
from sqldojo.errors import UserError
from sqldojo.questions.check import check_contamination, check_types, normalise, useless_because
from sqldojo.records import Question, QuestionType

PEOPLE = QuestionType(
    id="people-in-town",
    split="train",
    phrasings=("Who lives in {town}?", "List the people of {town}."),
    sql="SELECT name FROM people WHERE town = :town",
    parameters={"town": "SELECT DISTINCT town FROM people"},
)
QUESTION = Question(
    id="people-in-town-train-0001",
    type="people-in-town",
    split="train",
    family="train",
    text="Who lives in Rome?",
    reference="SELECT name FROM people WHERE town = 'Rome'",
    parameters={"town": "Rome"},
)


def test_a_sound_type_passes():
    check_types([PEOPLE])


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"phrasings": ()}, "no phrasing"),
        ({"phrasings": ("Who lives in {town}?",) * 2}, "the same one twice"),
        ({"phrasings": ("Who lives in {town}?", "Who lives there?")}, r"omits \{town\}: Who lives there\?"),
        ({"phrasings": ("Who lives in {town} or {city}?",)}, r"uses the unknown \{city\}"),
        ({"phrasings": ("Who lives in {}, {town}?",)}, r"uses the unknown \{\}"),
        ({"phrasings": ("Who lives in {town?",)}, "stray braces"),
    ],
)
def test_phrasings_that_do_not_fit_are_refused(change, complaint):
    with pytest.raises(UserError, match=f"question type people-in-town: .*{complaint}"):
        check_types([replace(PEOPLE, **change)])


def test_one_id_for_two_types_is_refused():
    with pytest.raises(UserError, match="people-in-town: another type has the same id"):
        check_types([PEOPLE, PEOPLE])


def test_one_parameter_with_two_pools_is_refused():
    other = replace(PEOPLE, id="other", parameters={"town": "VALUES ('Rome')"})
    with pytest.raises(UserError, match="other: its parameter town has another pool"):
        check_types([PEOPLE, other])


@pytest.mark.parametrize(
    ("reference", "why"),
    [
        ("SELECT name FROM people WHERE town = 'Rome'", None),
        ("SELECT name FROM people WHERE age = 40", None),  # in the largest database alone
        ("SELECT name FROM people WHERE town = 'Atlantis'", "empty on every"),
        ("SELECT name FROM people WHERE age = 10", "the same on all"),
        ("SELECT COUNT(*) FROM people WHERE town = 'Atlantis'", "the same on all"),
    ],
)
def test_answers_that_say_nothing_are_told(tiny_databases, reference, why):
    told = useless_because(PEOPLE, reference, family_paths(tiny_databases, TRAIN), Limits())
    assert (told is None) if why is None else (why in told)


@pytest.mark.parametrize(
    ("reference", "complaint"),
    [
        ("SELECT surname FROM people", "no such column"),
        ("DELETE FROM people", "only reading"),
        ("SELECT name FROM people WHERE random() > 0", "random"),
        ("WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n LIMIT 10001) SELECT * FROM n", "10,000 "),
    ],
)
def test_references_that_give_no_answer_are_refused(tiny_databases, reference, complaint):
    with pytest.raises(UserError, match=f"people-in-town: its SQL is no answer .*{complaint}"):
        useless_because(PEOPLE, reference, family_paths(tiny_databases, TRAIN), Limits())


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({"text": "who lives in  ROME", "reference": "SELECT 1", "type": "other"}, "text: who lives in rome"),
        ({"text": "Romans?", "reference": "select name from people where town = 'Rome' ", "type": "other"}, "SQL"),
        ({"text": "Romans?", "reference": "SELECT 1"}, "type and values: people-in-town, town = 'Rome'"),
    ],
)
def test_a_held_out_question_that_was_trained_is_refused(change, same):
    held_out = replace(QUESTION, id="held-out-0001", **change)
    with pytest.raises(UserError, match=f"held-out-0001: .*people-in-town-train-0001 has the same {same}"):
        check_contamination([QUESTION], [held_out])


def test_other_values_of_a_trained_type_are_no_contamination():
    other = replace(QUESTION, text="Who lives in Oslo?", reference="SELECT name FROM people WHERE town = 'Oslo'",
                    parameters={"town": "Oslo"})  # fmt: skip
    check_contamination([QUESTION], [other])


def test_normalised_texts_keep_words_and_numbers_alone():
    assert normalise("  Who's in  Zürich, ÜBER 10?") == "who s in zürich über 10"


def test_a_reference_that_rests_on_ties_is_refused(tiny_databases):
    reference = "SELECT name FROM people ORDER BY age DESC LIMIT 1"
    with pytest.raises(UserError, match=r"people-in-town: .*LIMIT.*correct this SQL"):
        useless_because(PEOPLE, reference, family_paths(tiny_databases, TRAIN), Limits())

"""Proposals of API models: what they are told, how their replies are read, and what of them is no type."""

import json

import pytest
from canned_replies import Canned, said
from sqlite_files import write_database

from sqldojo.records import SELECTION, TRAIN, QuestionType
from sqldojo.teacher.api_proposer import MALFORMED, api_proposals, make_brief

CITY = "SELECT DISTINCT city FROM customers WHERE city IS NOT NULL ORDER BY city"
KNOWN = [
    QuestionType(
        "in-city", TRAIN, ("Who lives in {city}?",), "SELECT name FROM customers WHERE city = :city", {"city": CITY}
    ),
    QuestionType("secret", SELECTION, ("More than {least}?",), "SELECT 1 WHERE 2 > :least", {"least": "VALUES (1)"}),
]
ITEM = {
    "id": "Names A",
    "phrasings": ["Names in {city}?", "Who is in {city}?"],
    "sql": "SELECT name FROM customers WHERE city = :city;",
    "parameters": {"city": "known"},
}
MODEL = "openai/gpt-4.1"


@pytest.fixture
def database(tmp_path):
    script = "CREATE TABLE customers(name TEXT, city TEXT); INSERT INTO customers VALUES ('Ada', 'Rome');"
    return write_database(tmp_path / "a.sqlite", script)


@pytest.fixture
def brief(database):
    return make_brief(database, KNOWN, {}, "schema_only")


def proposed(brief, *texts, count=1):
    return api_proposals(MODEL, Canned([said(text) for text in texts]), brief, count)


def told(database, privacy, failing=()):
    ask = Canned([said("[]")])
    api_proposals(MODEL, ask, make_brief(database, KNOWN, dict(failing), privacy), 5)
    return ask.requests[0].messages[0]["content"]


def test_a_proposer_is_told_schema_parameters_and_trained_types(database):
    text = told(database, "schema_only")
    assert "CREATE TABLE customers(name TEXT, city TEXT);" in text
    assert "list of 5 objects" in text
    assert "- in-city: Who lives in {city}?" in text
    assert "Known parameters: city, least\n" in text
    assert "secret" not in text and "More than" not in text and "VALUES" not in text
    assert "fails these" not in text


def test_rows_are_sent_only_where_they_may_be(database):
    assert "Ada" not in told(database, "schema_only") and "Rome" not in told(database, "schema_only")
    assert "customers:\nname | city\nAda | Rome" in told(database, "rows")


def test_failing_types_are_named_with_what_is_right(database):
    text = told(database, "schema_only", {"in-city": 0.25, "unknown": 0.0})
    assert text.endswith("what they need:\n- in-city (25% right): Who lives in {city}?")


def test_an_item_becomes_a_trained_type_of_its_model(brief):
    (made,), broken = proposed(brief, json.dumps([ITEM]))
    assert made == QuestionType(
        id="openai-gpt-4-1-names-a",
        split=TRAIN,
        phrasings=("Names in {city}?", "Who is in {city}?"),
        sql="SELECT name FROM customers WHERE city = :city",
        parameters={"city": CITY},
        proposer=MODEL,
    )
    assert broken == []


@pytest.mark.parametrize(
    "reply",
    [
        "Here you are:\n```json\n[{}, {}]\n```\nMore [if] you {{like}}.",
        '{{"templates": [{}, {}]}}',
        "[{}, {}, {{\"id\": \"cut off\", \"sql\": \"SEL",
    ],
)  # fmt: skip
def test_types_are_found_whatever_stands_around_them(brief, reply):
    other = {**ITEM, "ordered": True}
    types, broken = proposed(brief, reply.format(json.dumps(ITEM), json.dumps(other)))
    assert [(each.id, each.ordered) for each in types] == [
        ("openai-gpt-4-1-names-a", False), ("openai-gpt-4-1-names-a-2", True)
    ]  # fmt: skip
    assert broken == []


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"sql": 5}, "`sql` is no text"),
        ({"sql": " "}, "`sql` is no text"),
        ({"phrasings": "Who is in {city}?"}, "`phrasings` is no list of texts"),
        ({"phrasings": []}, "`phrasings` is no list of texts"),
        ({"phrasings": ["Who is in {?"]}, "stray braces"),
        ({"phrasings": ["Who is in {town}?"]}, "not those of `parameters`: Who is in {town}?"),
        ({"phrasings": ["Who is in {city:>9}?"]}, "not those of `parameters`"),
        ({"phrasings": ["Who is in {}?"], "parameters": {"": "known"}}, "'' is no name"),
        ({"parameters": ["city"]}, "`parameters` does not map names to texts"),
        ({"phrasings": ["In {town}?"], "parameters": {"town": CITY}},
         "town lists what the known parameter city lists"),
        ({"phrasings": ["In {town}?"], "parameters": {"town": "VALUES ('Rome')"}}, "does not list one column"),
        ({"phrasings": ["In {town}?"], "parameters": {"town": "SELECT ("}}, "does not list one column"),
    ],
)  # fmt: skip
def test_a_broken_item_is_recorded_and_the_rest_is_kept(brief, change, why):
    types, (review,) = proposed(brief, json.dumps([{**ITEM, **change}, ITEM]))
    assert len(types) == 1
    assert (review.proposer, review.accepted, review.rule) == (MODEL, False, MALFORMED)
    assert why in review.evidence


@pytest.mark.parametrize("reply", ["", "I would rather not.", "{" * 2000, "[1, 2]", '{"a": ' * 2000])
def test_a_reply_without_types_gives_none(brief, reply):
    types, _ = proposed(brief, reply)
    assert types == []


def test_half_a_character_can_be_kept_in_a_file(brief):
    item = {**ITEM, "phrasings": ["In {city}? \ud83d"]}
    types, broken = proposed(brief, json.dumps([item, {**item, "parameters": {}}]))
    assert types[0].phrasings == ("In {city}? ?",) and broken[0].evidence.endswith("In {city}? ?")


def test_a_new_parameter_is_one_name_for_all_further_types(brief):
    pool = "SELECT DISTINCT name FROM customers WHERE name IS NOT NULL ORDER BY name"
    first = {**ITEM, "phrasings": ["Where is {name}?"], "sql": "SELECT city FROM customers WHERE name = :name",
             "parameters": {"name": pool}}  # fmt: skip
    same = {**first, "parameters": {"name": "SELECT 'something else'"}}
    renamed = {**first, "phrasings": ["Where is {person}?"], "parameters": {"person": pool}}
    types, (review,) = proposed(brief, json.dumps([first, same, renamed]))
    assert [each.parameters for each in types] == [{"name": pool}, {"name": pool}]
    assert "person lists what the known parameter name lists" in review.evidence


def test_many_types_take_several_requests_that_know_the_earlier_ones(brief):
    ask = Canned([said(json.dumps([ITEM])), said("[]")])
    types, _ = api_proposals(MODEL, ask, brief, 15)
    assert [request.number for request in ask.requests] == [0, 1]
    assert "openai-gpt-4-1-names-a: Names in {city}?" in ask.requests[1].messages[0]["content"]
    assert len(types) == 1

import pytest
from sqlite_files import write_database

from sqldojo.databases.schema_model import read_schema
from sqldojo.questions.from_pairs import Pair, propose
from sqldojo.records import Review

SCRIPT = "CREATE TABLE boat (id INTEGER PRIMARY KEY, name TEXT, town TEXT, length REAL)"


@pytest.fixture(scope="module")
def schema(tmp_path_factory):
    return read_schema(write_database(tmp_path_factory.mktemp("pairs") / "boats.sqlite", SCRIPT))


def proposed(schema, *pairs):
    found = propose([Pair(f"p{n}", "boats", *pair) for n, pair in enumerate(pairs, start=1)], schema)
    return found.types, found.rejected


def test_pairs_with_one_query_once_it_is_lifted_are_one_type_with_several_phrasings(schema):
    types, rejected = proposed(
        schema,
        ("Which boats lie in Oslo?", "SELECT name FROM boat WHERE town = 'Oslo'"),
        ("Boats of Moss,  please.", 'select Name from Boat where Town = "Moss"'),
        ("Which boats lie in Bergen?", "SELECT name FROM boat WHERE town = 'Bergen'"),
    )
    assert not rejected
    (only,) = types
    assert only.phrasings == ("Which boats lie in {boat_town}?", "Boats of {boat_town}, please.")
    assert only.sql == "SELECT name FROM boat WHERE town = :boat_town"
    assert (only.id, only.pattern, only.difficulty, only.proposer) == ("boats-filter-1", "filter", 1, "pairs")
    assert (only.split, only.ordered) == ("train", False)


def test_of_pairs_with_one_query_the_one_with_more_parameters_comes_first(schema):
    sql = "SELECT COUNT(*) FROM boat WHERE town = 'Oslo'"
    other = "SELECT name FROM boat ORDER BY length"
    pairs = ("How many in the capital?", sql), ("All by length?", other), ("How many in Oslo?", sql)
    types, _ = proposed(schema, *pairs)
    assert [(each.id, len(each.parameters)) for each in types] == [
        ("boats-aggregate-1", 1), ("boats-aggregate-2", 0), ("boats-filter-1", 0),
    ]  # fmt: skip


def test_the_order_counts_where_every_wording_asks_for_it(schema):
    sql = "SELECT name FROM boat ORDER BY length"
    asked, unasked = ("Boats sorted by length?", sql), ("All the boats?", sql)
    assert [each.ordered for each in proposed(schema, asked)[0]] == [True]
    assert [each.ordered for each in proposed(schema, asked, unasked)[0]] == [False]
    assert [each.ordered for each in proposed(schema, ("Boats in order?", "SELECT name FROM boat"))[0]] == [False]


def test_a_query_that_cannot_be_read_is_a_rejected_pair(schema):
    types, rejected = proposed(schema, ("What?", "SELEC name FROM boat"), ("All?", "SELECT name FROM boat"))
    assert [each.id for each in types] == ["boats-filter-1"]
    (only,) = rejected
    assert only == Review("p1", "pairs", "", False, "unreadable", only.evidence) and only.evidence


def test_a_number_that_only_the_query_knows_rejects_the_pair(schema):
    sql = "SELECT name FROM boat WHERE length > 12.5 AND id < 40"
    share = "SELECT COUNT(*) * 100 / 2 FROM boat WHERE id >= 2"
    pairs = ("Boats over 12.5 below 40?", sql), ("Boats over 12.5?", sql), ("Half the share but for the first?", share)
    types, rejected = proposed(schema, *pairs)
    assert [each.id for each in types] == ["boats-range-1", "boats-ratio-1"]
    (only,) = rejected
    assert (only.type, only.pattern, only.rule) == ("p2", "range", "omits-parameter")
    assert only.evidence.startswith("40 is only in the query")

from random import Random

import pytest
from sqlite_files import write_database

from sqldojo.databases.generating import ForeignLink
from sqldojo.databases.grafting import graft, shrink
from sqldojo.databases.schema_model import read_schema

SCRIPT = """
CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE book (id INTEGER PRIMARY KEY, author INTEGER REFERENCES author(id), title TEXT, shelf TEXT);
CREATE TABLE shelf (code TEXT PRIMARY KEY, floor INTEGER);
"""
ROWS = {"author": [(1, "Ana"), (2, "Bo")], "book": [(1, 1, "Sea", "A1")], "shelf": [("A1", 0)]}
ADDED = {"author": [(1, "Cy"), (7, "Di")], "book": [(1, 1, "Sun", "A1"), (4, 7, "Sky", None)], "shelf": [("A1", 3)]}


@pytest.fixture
def schema(tmp_path):
    return read_schema(write_database(tmp_path / "books.sqlite", SCRIPT))


def test_added_rows_get_free_keys_and_their_references_follow(schema):
    found = graft(schema, ROWS, ADDED, Random(1), kept={})
    assert found["author"][:2] == ROWS["author"] and found["book"][:1] == ROWS["book"]
    keys = {name: key for key, name in found["author"]}
    assert len(set(keys.values())) == 4 and keys["Di"] == 7, "a key that is free stays"
    authors = {title: author for _, author, title, _ in found["book"]}
    assert authors == {"Sea": 1, "Sun": keys["Cy"], "Sky": 7}
    assert len({row[0] for row in found["book"]}) == 3


def test_an_undeclared_link_follows_too(schema):
    link = ForeignLink("book", ("shelf",), "shelf", ("code",))
    assert [table.name for table in schema.tables].index("book") < 2, "shelves come last by declaration"
    found = graft(schema, ROWS, ADDED, Random(1), links=[link], kept={})
    code = found["shelf"][1][0]
    assert code not in ("A1",)
    assert next(row for row in found["book"] if row[2] == "Sun")[3] == code


def test_a_key_that_a_query_names_is_kept(schema):
    found = graft(schema, ROWS, ADDED, Random(1), kept={("author", "id"): [1]})
    assert found["author"][2] == (1, "Cy"), "SQLite keeps the first of the two when they are loaded"
    assert next(row for row in found["book"] if row[2] == "Sun")[1] == 1


def test_nothing_given_is_changed(schema):
    before = {table: list(rows) for table, rows in ROWS.items()}
    graft(schema, ROWS, ADDED, Random(1), kept={})
    assert before == ROWS


def test_shrinking_leaves_only_what_the_property_needs():
    rows = {"a": [(n,) for n in range(40)], "b": [(n,) for n in range(9)], "c": []}
    few = shrink(rows, lambda rows: (17,) in rows["a"] and (31,) in rows["a"] and len(rows["b"]) >= 2)
    assert few["a"] == [(17,), (31,)] and len(few["b"]) == 2 and few["c"] == []

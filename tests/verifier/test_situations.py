import pytest
from sqlite_files import write_database

from sqldojo.databases.schema_model import read_schema
from sqldojo.databases.scratch import Scratch
from sqldojo.verifier.instance_search import kills
from sqldojo.verifier.situations import situations

SCRIPT = """
CREATE TABLE maker (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE "toy" (id INTEGER PRIMARY KEY, maker INTEGER REFERENCES maker(id), "order" REAL, label TEXT);
"""
READS = {"maker": ["name"], "toy": ["maker", "order", "label"]}


@pytest.fixture(scope="module")
def schema(tmp_path_factory):
    return read_schema(write_database(tmp_path_factory.mktemp("situations") / "s.sqlite", SCRIPT))


def shown(schema, rows):
    """The queries of the situations that the rows show."""
    targets, scratch = situations(schema, READS), Scratch(schema)
    scratch.load(rows)
    found = {targets[number].variants[variant - 1] for number, variant in kills(scratch, targets) if variant}
    scratch.close()
    return found


def test_dull_rows_show_hardly_anything(schema):
    rows = {"maker": [(1, "Ann"), (2, "Bo")], "toy": [(1, 1, 5.0, "x"), (2, 2, 7.0, "y")]}
    found = shown(schema, rows)
    assert all("WHERE n = 1" in query or "WHERE n = (" in query or '"maker" = (' in query for query in found), found


@pytest.mark.parametrize(
    ("maker", "toy", "sign"),
    [
        ([(1, "Ann"), (2, "Bo")], [(1, 1, None, "x")], '"order" IS NULL'),
        ([(1, "Ann"), (2, "Bo")], [(1, 1, 5.0, "x"), (2, 2, 5.0, "y"), (3, 2, 1.0, "z")], 'MAX("order")'),
        ([(1, "Ann"), (2, "Bo")], [(1, 1, 5.0, "x"), (2, 2, 1.0, "y"), (3, 2, 1.0, "z")], 'MIN("order")'),
        ([(1, "Ann"), (2, "ANN")], [], 'LOWER("name")'),
        ([(1, "Ann")], [(1, 1, 1.0, "x"), (2, 1, 2.0, "y"), (3, 1, 3.0, "z")], 'AVG("order")'),
        ([(1, "Ann"), (2, "Bo")], [(1, 1, 5.0, "x")], "WHERE n = 0"),
        ([(1, "Ann")], [(1, 1, 5.0, "x"), (2, 1, 6.0, "y")], "WHERE n > 1"),
        ([(1, "Ann")], [(1, None, 5.0, "x")], '"maker" IS NULL'),
    ],
)
def test_each_situation_is_seen_when_it_is_there(schema, maker, toy, sign):
    assert any(sign in query for query in shown(schema, {"maker": maker, "toy": toy}))


def test_what_the_schema_forbids_is_no_situation(schema):
    queries = [query for target in situations(schema, READS) for query in target.variants]
    assert not any('"name" IS NULL' in query for query in queries)
    assert len(queries) > 12

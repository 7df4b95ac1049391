"""The tables that the oracle makes rows for: those that the queries can read, through views too."""

import pytest
from sqlite_files import write_database

from sqldojo.databases.schema_model import read_schema
from sqldojo.databases.scratch import Scratch
from sqldojo.verifier.audit import Subject
from sqldojo.verifier.audit_oracle import oracle_instances

SCRIPT = """
CREATE TABLE town (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE person (id INTEGER PRIMARY KEY, town_id INTEGER REFERENCES town(id), age INTEGER);
CREATE TABLE pet (id INTEGER PRIMARY KEY, name TEXT);
CREATE VIEW "Old (people)" AS SELECT id FROM person WHERE age > 60;
CREATE VIEW /* as said */ names (n) AS SELECT name FROM pet;
"""


@pytest.mark.parametrize(
    ("reference", "filled"),
    [
        ("SELECT COUNT(*) FROM person WHERE age > 30", {"person", "town"}),
        ("SELECT name FROM pet", {"pet"}),
        ("SELECT n FROM names", {"person", "pet", "town"}),
        ('SELECT id FROM "Old (people)"', {"person", "pet", "town"}),
    ],
)
def test_rows_are_made_where_a_query_can_read_them(tmp_path, reference, filled):
    schema = read_schema(write_database(tmp_path / "t.sqlite", SCRIPT))
    scratch = Scratch(schema)
    subject = Subject("t", "train", reference)
    found = set()
    for _ in oracle_instances(subject, [], scratch, count=8, seed=17):
        found |= {name for name, rows in scratch.rows().items() if rows}
    assert found == filled

"""Outlines: whatever a query may name, with keys and references, sound or not."""

import pytest
from sqlite_files import write_database

from sqldojo.databases.outline import Outline, Reference, as_identifier, read_outlines
from sqldojo.errors import UserError


def outlined(tmp_path, script):
    return {outline.name: outline for outline in read_outlines(write_database(tmp_path / "a.sqlite", script))}


def test_tables_have_columns_keys_and_references(tmp_path):
    found = outlined(tmp_path, """
        CREATE TABLE parent (a INTEGER PRIMARY KEY, b VARCHAR(20));
        CREATE TABLE child (x INT, y INT REFERENCES parent(a), z REFERENCES parent,
          PRIMARY KEY (y, x), FOREIGN KEY (x, z) REFERENCES elsewhere (p, q));
    """)  # fmt: skip
    assert found["parent"] == Outline(
        "parent", False, (("a", "INTEGER"), ("b", "VARCHAR(20)")), ("a",), (),
        "CREATE TABLE parent (a INTEGER PRIMARY KEY, b VARCHAR(20))",
    )  # fmt: skip
    child = found["child"]
    assert child.primary_key == ("y", "x")
    assert child.references == (
        Reference(("y",), "parent", ("a",)), Reference(("z",), "parent", ()),
        Reference(("x", "z"), "elsewhere", ("p", "q")),
    )  # fmt: skip
    assert "\n" not in child.sql


def test_views_generated_columns_and_full_text_tables_can_be_queried_too(tmp_path):
    found = outlined(tmp_path, """
        CREATE TABLE t (a INTEGER, twice INTEGER GENERATED ALWAYS AS (a * 2));
        CREATE VIEW v AS SELECT a AS b FROM t;
        CREATE VIEW broken AS SELECT * FROM gone;
        CREATE VIRTUAL TABLE notes USING fts5(body);
    """)  # fmt: skip
    assert list(found) == ["t", "v", "broken", "notes"]
    assert [name for name, _ in found["t"].columns] == ["a", "twice"]
    assert found["v"].is_view and [name for name, _ in found["v"].columns] == ["b"]
    assert found["broken"].columns == ()
    assert [name for name, _ in found["notes"].columns] == ["body"]


def test_a_file_that_is_no_database_is_the_users_fault(tmp_path):
    (tmp_path / "a.sqlite").write_bytes(b"x" * 1024)
    with pytest.raises(UserError, match=r"a\.sqlite: cannot be read"):
        read_outlines(tmp_path / "a.sqlite")


def test_names_are_quoted_where_sql_needs_it():
    names = ("name", "order", "Größe", "two words", 'a"b', "1st", "")
    assert [as_identifier(name) for name in names] == [
        "name", '"order"', '"Größe"', '"two words"', '"a""b"', '"1st"', '""'
    ]  # fmt: skip

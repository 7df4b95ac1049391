"""The statements of a user's schema: what is kept, what is left out, and keys that are declared too."""

from contextlib import closing

import apsw
import pytest
from awkward_database import TABLES, awkward
from sqlite_files import write_database

from sqldojo.databases.schema_model import ForeignKey, quote, read_schema
from sqldojo.databases.user_database import open_user_database
from sqldojo.databases.user_schema import MOST_COLUMNS, read_statements, with_foreign_keys, write_empty
from sqldojo.errors import UserError


def statements_of(path):
    with closing(open_user_database(path)) as connection:
        return read_statements(connection)


def test_tables_views_indexes_and_triggers_are_kept_and_what_cannot_be_made_is_named(tmp_path):
    statements, virtual = statements_of(awkward(tmp_path / "awkward.sqlite"))
    left_out = write_empty(tmp_path / "empty.sqlite", statements)
    schema = read_schema(tmp_path / "empty.sqlite")
    assert virtual == ["virtual table search"]
    assert left_out == ["view broken (no such table: main.nowhere)"]
    assert sorted(table.name for table in schema.tables) == sorted(TABLES)
    assert [each.split()[1:3] for each in schema.statements[-2:]] == [["INDEX", "by_group"], ["VIEW", "dear"]]
    assert len(schema.triggers) == 1
    assert "with_tax" not in schema.table("order").names
    assert "-- whose it is" in schema.table("order").sql


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE TABLE t (a INTEGER, b TEXT)",
        "CREATE TABLE t (a INTEGER, b TEXT) WITHOUT ROWID".replace("a INTEGER", "a INTEGER PRIMARY KEY"),
        "CREATE TABLE t (a INTEGER, b TEXT) STRICT",
        "CREATE TABLE t (a INTEGER, b TEXT DEFAULT ')' -- one :-)\n)",
        "CREATE TABLE t (a INTEGER, b TEXT CHECK (b <> ')') /* ) */ ) /* ) */",
        "CREATE TABLE t (a INTEGER, [b)] TEXT, UNIQUE (a, [b)]))",
    ],
)
def test_a_key_is_declared_before_the_parenthesis_that_ends_the_columns(tmp_path, sql):
    path = write_database(tmp_path / "t.sqlite", f"{sql}; CREATE TABLE p (id INTEGER PRIMARY KEY, name TEXT)")
    statements, _ = statements_of(path)
    keys = {"t": [ForeignKey(("a",), "p", ("id",))]}
    assert write_empty(tmp_path / "new.sqlite", with_foreign_keys(statements, keys, quote)) == []
    before, after = read_schema(path).table("t"), read_schema(tmp_path / "new.sqlite").table("t")
    assert after.foreign_keys == tuple(keys["t"]) and before.foreign_keys == ()
    assert (after.columns, after.primary_key, after.unique) == (before.columns, before.primary_key, before.unique)


def test_an_index_with_a_function_that_is_not_there_is_left_out(tmp_path):
    path = tmp_path / "function.sqlite"
    with closing(apsw.Connection(str(path))) as connection:
        connection.create_scalar_function("mine", lambda value: value, 1, deterministic=True)
        connection.execute("CREATE TABLE t (a TEXT); CREATE INDEX i ON t (mine(a))").fetchall()
    statements, _ = statements_of(path)
    assert write_empty(tmp_path / "new.sqlite", statements) == ["index i (no such function: mine)"]


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("CREATE VIRTUAL TABLE s USING fts5(a)", "there is no table in it that holds rows"),
        (f"CREATE TABLE wide ({', '.join(f'c{n}' for n in range(500))})", "table wide has 500 columns"),
    ],
)
def test_nothing_to_fill_and_too_wide_a_table_are_told(tmp_path, script, message):
    with pytest.raises(UserError, match=message):
        statements_of(write_database(tmp_path / "t.sqlite", script))
    assert MOST_COLUMNS < 500

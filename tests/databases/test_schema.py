"""The schema text of a prompt, and files that have none."""

import apsw
import pytest
from sqlite_files import write_database

from sqldojo.databases.schema import schema_text
from sqldojo.errors import UserError


def test_tables_and_views_come_in_the_order_of_their_creation_on_single_lines(tmp_path):
    path = write_database(
        tmp_path / "a.sqlite",
        """
        CREATE TABLE zoo (
            id   INTEGER PRIMARY KEY AUTOINCREMENT,
            name TEXT
        );
        CREATE INDEX by_name ON zoo(name);
        CREATE TABLE sqliteish(a);
        CREATE VIEW names AS
            SELECT name FROM zoo;
        CREATE TRIGGER t AFTER INSERT ON zoo BEGIN SELECT 1; END;
        """,
    )
    assert schema_text(path) == (
        "CREATE TABLE zoo ( id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT );\n"
        "CREATE TABLE sqliteish(a);\n"
        "CREATE VIEW names AS SELECT name FROM zoo;"
    )


def test_a_comment_swallows_no_column(tmp_path):
    path = write_database(tmp_path / "a.sqlite", "CREATE TABLE t(a INT, -- the key\n b TEXT);")
    copy = write_database(tmp_path / "b.sqlite", schema_text(path))
    with apsw.Connection(str(copy)) as connection:
        columns = [name for _, name, *_ in connection.execute("PRAGMA table_info(t)")]
    assert columns == ["a", "b"]


@pytest.mark.parametrize("content", [None, b"", b"x", b"no database" * 100])
def test_files_without_a_schema_are_the_users_fault(tmp_path, content):
    path = tmp_path / "a.sqlite"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UserError, match=r"a\.sqlite: .*dvc repro build_adversarial"):
        schema_text(path)


def test_a_database_without_tables_is_the_users_fault(tmp_path):
    path = write_database(tmp_path / "a.sqlite", "CREATE TABLE t(a); DROP TABLE t;")
    with pytest.raises(UserError, match=r"a\.sqlite: .*no table"):
        schema_text(path)


def test_a_locked_or_truncated_database_is_the_users_fault(tmp_path):
    path = write_database(tmp_path / "a.sqlite", "CREATE TABLE t(a);")
    connection = apsw.Connection(str(path))
    connection.execute("BEGIN EXCLUSIVE")
    with pytest.raises(UserError, match=r"a\.sqlite: .*locked"):
        schema_text(path)
    connection.close()
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(UserError, match=r"a\.sqlite: .*middle of a page"):
        schema_text(path)

import pytest
from sqlite_files import write_database

from sqldojo.verifier.rowid_names import Rowids, resolve_rowids

SCHEMA = """
    CREATE TABLE pet (key INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE loose (a, b);
    CREATE TABLE named (oid TEXT, id INTEGER PRIMARY KEY);
    """


@pytest.mark.parametrize(
    ("sql", "resolved", "physical"),
    [
        ("SELECT name FROM pet", "SELECT name FROM pet", False),
        ("select ROWID, p.oid from pet p", 'SELECT "key", p."key" FROM pet AS p', False),
        ("SELECT rowid FROM loose", "SELECT rowid FROM loose", True),
        ("SELECT pet.rowid FROM pet JOIN loose", 'SELECT pet."key" FROM pet JOIN loose ON TRUE', False),
        ("SELECT (SELECT b FROM loose WHERE rowid = a) FROM pet", None, True),
        (
            "SELECT (SELECT b FROM loose WHERE a = pet.rowid) FROM pet",
            'SELECT (SELECT b FROM loose WHERE a = pet."key") FROM pet',
            False,
        ),
        ("SELECT oid FROM named", None, False),  # a column of that name
        ("SELECT rowid FROM (SELECT 1 AS rowid)", None, False),
        ("SELECT oid FROM", None, False),
        ("SELECT 'rowid', avoid FROM (SELECT 1 AS avoid)", None, False),
    ],
)
def test_rowid_is_named_where_it_is_a_column(tmp_path, sql, resolved, physical):
    path = write_database(tmp_path / "one.sqlite", SCHEMA)
    assert resolve_rowids(sql, path) == Rowids(sql if resolved is None else resolved, physical)

"""Affinity and conversion on storing, against SQLite itself."""

from __future__ import annotations

from contextlib import closing

import apsw
import pytest

from sqldojo.databases.type_affinity import affinity, fold, stored

VALUES = [
    None, 0, -7, 2**63 - 1, -(2**63), 1.0, 2.5, -0.5, 1e15, 123456789012345.5, 1e16, 1e300, 1.5e-7, 0.1 + 0.2,
    float("inf"), float("-inf"), 9.3e18, "", "x", "7", " 7 ", "+7", "7.0", "7.50", ".5", "5.", "1e3", "1e", "0x10",
    "\u0667", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "Inf", "2024-01-01", b"7",
]  # fmt: skip


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        ("INTEGER", "INTEGER"), ("BIGINT", "INTEGER"), ("CHARINT", "INTEGER"), ("FLOATING POINT", "INTEGER"),
        ("NVARCHAR(10)", "TEXT"), ("CLOB", "TEXT"), ("blob", "BLOB"), ("", "BLOB"), ("DOUBLE", "REAL"),
        ("FLOAT", "REAL"), ("DECIMAL(10,2)", "NUMERIC"), ("DATE", "NUMERIC"), ("STRING", "NUMERIC"), ("ANY", "NUMERIC"),
    ],
)  # fmt: skip
def test_affinity_is_sqlites(declared: str, expected: str) -> None:
    """SQLite's own answer: what a column of this type makes of the text '7'."""
    assert affinity(declared) == expected
    with closing(apsw.Connection(":memory:")) as connection:
        connection.execute(f"CREATE TABLE t(a {declared}); INSERT INTO t VALUES ('7.5'), (7)")
        text, number = (kind for (kind,) in connection.execute("SELECT typeof(a) FROM t"))
    kinds = {"TEXT": ("text", "text"), "BLOB": ("text", "integer"), "REAL": ("real", "real")}
    assert (text, number) == kinds.get(expected, ("real", "integer"))


@pytest.mark.parametrize("kind", ["INTEGER", "REAL", "TEXT", "NUMERIC", "BLOB"])
@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_value_is_stored_as_sqlite_stores_it(value, kind: str) -> None:
    with closing(apsw.Connection(":memory:")) as connection:
        connection.execute(f"CREATE TABLE t(a {kind})")
        connection.execute("INSERT INTO t VALUES (?)", (value,))
        (expected,) = connection.execute("SELECT a FROM t").fetchone()
    found = stored(value, kind)
    assert (found, type(found)) == (expected, type(expected))


def test_only_ascii_letters_are_folded() -> None:
    assert fold("StraßeÄ") == "straßeÄ"

"""Tiny SQLite files for tests."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import apsw


def write_database(path: Path, script: str) -> Path:
    """The file `path`, made by a script of SQL statements."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute(script).fetchall()  # apsw stops at a statement that gives rows
    return path


def write_table(path: Path, statement: str, rows: Sequence[Sequence[object]]) -> Path:
    """The file `path` with one table, made by a CREATE TABLE statement, and its rows."""
    write_database(path, statement)
    marks = ", ".join("?" * len(rows[0]))
    with closing(apsw.Connection(str(path))) as connection, connection:
        table = connection.execute("SELECT name FROM sqlite_master").get
        connection.executemany(f'INSERT INTO "{table}" VALUES ({marks})', rows)
    return path

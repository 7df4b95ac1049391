"""Rows put into a real SQLite database of their schema, which says what is wrong with them."""

from __future__ import annotations

import gzip
import re
from contextlib import closing
from pathlib import Path

import apsw

from sqldojo.databases.schema_model import Rows, Schema, quote
from sqldojo.databases.scripts import build_from_script

SHARED = Path(__file__).parents[2] / "shared" / "data"


def stored_rows(schema: Schema, rows: Rows) -> tuple[Rows, list[tuple[object, ...]]]:
    """The rows as SQLite gives them back, and the violations that its foreign_key_check finds.

    apsw.ConstraintError when a row breaks a UNIQUE set, NOT NULL or a CHECK.
    """
    with closing(apsw.Connection(":memory:")) as connection:
        for statement in schema.statements:
            connection.execute(statement)
        found: Rows = {}
        for table in schema.tables:
            columns = ", ".join(map(quote, table.names))
            marks = ", ".join("?" * len(table.names))
            with connection:
                connection.executemany(
                    f"INSERT INTO {quote(table.name)} ({columns}) VALUES ({marks})", rows[table.name]
                )
            found[table.name] = connection.execute(f"SELECT {columns} FROM {quote(table.name)} NOT INDEXED").fetchall()
        return found, connection.execute("PRAGMA foreign_key_check").fetchall()


def assert_sound(schema: Schema, rows: Rows) -> None:
    """Every constraint holds, and no value is one that SQLite would change on storing."""
    found, violations = stored_rows(schema, rows)
    assert violations == []
    for table in schema.tables:
        assert sorted(map(repr, found[table.name])) == sorted(map(repr, rows[table.name])), table.name


def build_shared(folder: Path, name: str) -> Path:
    """The database of a script below ../shared/data, such as `chinook/chinook`."""
    path = folder / f"{Path(name).name}.sqlite"
    script = gzip.decompress((SHARED / f"{name}.sql.gz").read_bytes()).decode()
    # The script is one transaction already.
    build_from_script(path, re.sub(r"(?m)^(BEGIN TRANSACTION|COMMIT);$", "", script))
    return path

"""Rows to a SQLite file with the same bytes on every machine.

apsw carries its own SQLite, pinned with it; page size, encoding and journal mode are set here rather than left to
the build's defaults. All rows go in by one transaction in a given order, so no page depends on anything else.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import apsw

from sqldojo.databases.rows import Row
from sqldojo.databases.schema_model import Rows, Schema, Table, quote
from sqldojo.databases.type_affinity import Value, fold


def write_database(path: Path, schema: Mapping[str, str], tables: Mapping[str, Sequence[Row]]) -> None:
    """Write a new database file, every table of `schema` with its rows and no file beside it.

    ValueError when `path` exists or a row refers to one that does not, OSError when the disk is full.
    """
    with _new_file(path) as connection:
        for table, statement in schema.items():
            connection.execute(statement)
            rows = tables[table]
            if rows:
                marks = ", ".join("?" * len(rows[0]))
                connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
        broken = connection.execute("PRAGMA foreign_key_check").fetchall()
        if broken:
            raise ValueError(f"{path.name}: rows that refer to nothing: {broken[:5]}")


def write_instance(path: Path, schema: Schema, rows: Rows) -> None:
    """Write a new database file of any schema: its tables, indexes, views and triggers with the rows given.

    Triggers come last, so that they do not change the rows. Errors as in `write_database`.
    """
    with _new_file(path) as connection:
        for statement in schema.statements:
            connection.execute(statement)
        for table in schema.tables:
            columns = ", ".join(map(quote, table.names))
            marks = ", ".join("?" * len(table.columns))
            connection.executemany(
                f"INSERT INTO {quote(table.name)} ({columns}) VALUES ({marks})", rows.get(table.name, ())
            )
        for statement in schema.triggers:
            connection.execute(statement)
        broken = [row for table in schema.tables for row in _broken_references(connection, table)]
        if broken:
            raise ValueError(f"{path.name}: rows that refer to nothing: {broken[:5]}")


def _broken_references(connection: apsw.Connection, table: Table) -> list[tuple[Value, ...]]:
    """A table's rows that refer to no row of a table of the schema.

    Users' schemas also declare keys to tables that are not there or to columns that are not UNIQUE, which SQLite only
    minds with PRAGMA foreign_keys = ON: of the first every row is broken, of the second it cannot tell.
    """
    parents = {fold(key.table) for key in table.foreign_keys}
    try:
        rows = connection.execute(f"PRAGMA foreign_key_check({quote(table.name)})").fetchall()
    except apsw.SQLError as error:
        if "foreign key mismatch" not in str(error):
            raise
        return []
    return [row for row in rows if fold(row[2]) in parents]


@contextmanager
def _new_file(path: Path) -> Iterator[apsw.Connection]:
    """A connection to a new file, in one transaction."""
    if path.exists():
        raise ValueError(f"{path}: exists already; databases are written once, into an empty folder")
    connection = apsw.Connection(str(path))
    try:
        for pragma in ("page_size = 4096", "encoding = 'UTF-8'", "auto_vacuum = NONE", "journal_mode = DELETE"):
            connection.execute(f"PRAGMA {pragma}").fetchall()
        with connection:
            yield connection
    except apsw.FullError as error:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path)) from error
    finally:
        connection.close()

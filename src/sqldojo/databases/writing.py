"""Rows to a SQLite file with the same bytes on every machine.

apsw carries its own SQLite, pinned with it; page size, encoding and journal mode are set here rather than left to
the build's defaults. All rows go in by one transaction in a given order, so no page depends on anything else.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import apsw

from sqldojo.databases.rows import Row


def write_database(path: Path, schema: Mapping[str, str], tables: Mapping[str, Sequence[Row]]) -> None:
    """Write a new database file, every table of `schema` with its rows and no file beside it.

    ValueError when `path` exists or a row refers to one that does not, OSError when the disk is full.
    """
    if path.exists():
        raise ValueError(f"{path}: exists already; databases are written once, into an empty folder")
    connection = apsw.Connection(str(path))
    try:
        for pragma in ("page_size = 4096", "encoding = 'UTF-8'", "auto_vacuum = NONE", "journal_mode = DELETE"):
            connection.execute(f"PRAGMA {pragma}").fetchall()
        with connection:
            for table, statement in schema.items():
                connection.execute(statement)
                rows = tables[table]
                if rows:
                    marks = ", ".join("?" * len(rows[0]))
                    connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
            broken = connection.execute("PRAGMA foreign_key_check").fetchall()
            if broken:
                raise ValueError(f"{path.name}: rows that refer to nothing: {broken[:5]}")
    except apsw.FullError as error:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path)) from error
    finally:
        connection.close()

"""Queries that nobody has read, on a user's own database of any size, and its schema: sandbox.py for files not ours.

As there, a query runs in a process that can be killed. What differs is where it reads (user_database.py), that errors
speak of the user's file, and that one table of a module that this build lacks does not spoil the others.
"""

from __future__ import annotations

from contextlib import closing, suppress
from pathlib import Path

import apsw

from sqldojo.databases.execution import (
    ERROR,
    Limits,
    QueryResult,
    connect_virtual_tables,
    run_on,
    virtual_tables,
)
from sqldojo.databases.outline import Outline, outlines_of
from sqldojo.databases.sandbox import explain, kill_after
from sqldojo.databases.schema import schema_of
from sqldojo.databases.user_database import (
    Readable,
    cannot_read,
    change_stamp,
    check_user_file,
    connect_to,
    connect_user_database,
    readable,
)
from sqldojo.databases.workers import Died, Killed, shared_workers
from sqldojo.errors import UserError

_TRIES = 5


def run_on_user_database(
    path: Path, sql: str, limits: Limits = Limits(), *, preview: int | None = None, schema_readable: bool = False
) -> QueryResult:
    """The full result of one query on a user's database, or its first `preview` rows.

    With `schema_readable` the query may read sqlite_schema instead of data. Whatever is wrong with the query is in the
    result; UserError when the file cannot be read, or is changed again and again meanwhile.
    """
    check_user_file(path)
    for _ in range(_TRIES):
        before, source = change_stamp(path), readable(path)
        arguments = path, source, sql, limits, preview, schema_readable
        try:
            result = shared_workers().call(run_on_readable, *arguments, seconds=kill_after(limits))
        except (Killed, Died) as end:
            return QueryResult(ERROR, message=explain(end, limits))
        except UserError:  # what looks like damage is none where the pages changed under the reader
            if not _may_be_misread(path, source, before):
                raise
            continue
        if not _may_be_misread(path, source, before):
            return result
    raise UserError(f"{path}: is changed by another program while it is read; ask again when that has finished")


def _may_be_misread(path: Path, source: Readable, before: tuple[int, ...]) -> bool:
    return source.changing and not source.locked and change_stamp(path) != before


def run_on_readable(
    path: Path, source: Readable, sql: str, limits: Limits, preview: int | None, schema_readable: bool
) -> QueryResult:
    """What a worker does for `run_on_user_database`."""

    def connect() -> apsw.Connection:
        connection = connect_to(source)
        for name in virtual_tables(connection):
            with suppress(apsw.SQLError):  # of a module that this build lacks: whoever reads it will be told
                connect_virtual_tables(connection, [name])
        return connection

    try:
        return run_on(connect, path, sql, limits, preview=preview, schema_readable=schema_readable)
    except UserError as error:
        if isinstance(error.__cause__, apsw.Error):
            raise cannot_read(path, error.__cause__) from error.__cause__
        raise


def user_schema(path: Path) -> str:
    """The CREATE statements of a user's database as `schema_text` has them; UserError when it cannot be read."""
    try:
        with closing(connect_user_database(path)) as connection:
            text = schema_of(connection)
    except apsw.Error as error:
        raise cannot_read(path, error) from error
    if not text:
        raise UserError(f"{path}: there is no table in it; give a database with at least one")
    return text


def user_outlines(path: Path) -> tuple[Outline, ...]:
    """The tables and views of a user's database, at a glance; UserError when it cannot be read."""
    try:
        with closing(connect_user_database(path)) as connection:
            return outlines_of(connection)
    except apsw.Error as error:
        raise cannot_read(path, error) from error

"""Several statements on one database, writes included, where nothing they change outlives them.

A session works on a copy of its own, in a folder that is removed afterwards. Its statements may do whatever stays
within that copy: TEMP tables, DDL, PRAGMA, VACUUM. Refused are all ways to another file (ATTACH, VACUUM INTO,
extensions, settings that name folders) and those that would lift a limit. The journal and sorting stay in memory.

Covered, as in execution.py: endless and exploding statements (steps, wall clock, heap, growth of the file). Whoever
runs text that a model or a data set wrote does so in a worker process, as `run_in_session` does.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import apsw

from sqldojo.databases.execution import (
    COUNTING_FILES,
    ERROR,
    STEPS_BETWEEN_CHECKS,
    Guard,
    Limits,
    QueryResult,
    connect_virtual_tables,
    run_on,
    say,
    set_limits,
    virtual_tables,
)
from sqldojo.databases.private_copies import Copy, private_copy, temporary_folder
from sqldojo.databases.sandbox import explain, kill_after, run_untrusted
from sqldojo.databases.schema_model import quote
from sqldojo.databases.scripts import is_comment
from sqldojo.databases.workers import Died, Killed, shared_workers

# They name files or folders, lift a limit, or open the schema table to writes.
_REFUSED_PRAGMAS = {
    "data_store_directory", "hard_heap_limit", "lock_proxy_file", "max_page_count", "mmap_size", "soft_heap_limit",
    "temp_store", "temp_store_directory", "writable_schema",
}  # fmt: skip
_REFUSED_FUNCTIONS = {"load_extension", "fts3_tokenizer"}
_BEFORE_A_STATEMENT = re.compile(r"(?:[\s;]|--[^\n]*(?:\n|$)|/\*.*?(?:\*/|$))*", re.DOTALL)
_CHANGES_ROWS = re.compile(r"(insert|update|delete|replace)\b", re.IGNORECASE)


class StatementFailed(Exception):
    """A statement that SQLite or the session refused or stopped; the message says why, in the engine's words if any."""


class Session:
    """One connection that may write to the database file `path`; the limits hold for each statement.

    While `reading_only` is set, a statement may ask no more than a query of execution.py (but it may read the clock).
    `columns` are those of the last statement, none if it gave no rows.
    """

    def __init__(self, path: Path, limits: Limits, *, vfs: str | None = None) -> None:
        self.path, self.limits = path, limits
        self.reading_only = False
        self.columns: tuple[str, ...] = ()
        flags = apsw.SQLITE_OPEN_READWRITE
        self._connection = apsw.Connection(str(path), flags=flags, vfs=vfs, statementcachesize=0)
        self._connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
        set_limits(self._connection, limits)
        self._connection.limit(apsw.SQLITE_LIMIT_ATTACHED, 1)  # VACUUM attaches a nameless database
        self._connection.pragma("journal_mode", "memory")
        self._connection.pragma("synchronous", "off")
        pages, page_bytes = self._connection.pragma("page_count"), self._connection.pragma("page_size")
        self._connection.pragma("max_page_count", pages + limits.heap_bytes // page_bytes)
        self._new_guard()
        self._connection.authorizer = self._authorize
        self._connection.set_progress_handler(lambda: self._guard.check_budget(), STEPS_BETWEEN_CHECKS)

    def only_read(self) -> None:
        """Set `reading_only`. Virtual tables prepare themselves before, since some compile writes even when read."""
        self._connection.authorizer = None
        self._connect_virtual_tables()
        self._connection.authorizer = self._authorize
        self.reading_only = True

    def _connect_virtual_tables(self) -> None:
        for name in virtual_tables(self._connection):
            with suppress(apsw.SQLError):  # of a module that this build lacks: whoever reads it will be told
                connect_virtual_tables(self._connection, [name])

    def close(self) -> None:
        """Close the connection, and free the process's heap limit."""
        self._connection.close()
        apsw.hard_heap_limit(0)

    def run(self, sql: str, *, most_rows: int | None = None, commit: bool = True) -> list[tuple[object, ...]]:
        """The rows of one statement, the first `most_rows` of them; nothing but comments gives none.

        What changes rows begins a transaction, as Python's own driver has it, and `commit` ends it before rows are
        read. StatementFailed for a statement that fails, after which everything uncommitted is undone.
        """
        guard = self._new_guard()
        self.columns = ()
        try:
            return self._run(sql, most_rows, commit, guard)
        except apsw.NoMemError as error:
            why = f"the statement needs more than {self.limits.heap_bytes:,} bytes of memory"
            raise StatementFailed(why) from error
        except apsw.IOError as error:
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(self.path)) from error
        except (apsw.Error, ValueError) as error:  # ValueError: a NUL character, or text that is no Unicode
            raise StatementFailed(guard.refusal or guard.fault or say(error)) from error
        finally:
            if commit:  # after a success there is none
                self.rollback()

    def _run(self, sql: str, most_rows: int | None, commit: bool, guard: Guard) -> list[tuple[object, ...]]:
        def admit(cursor: apsw.Cursor, _text: str, _bindings: object) -> bool:
            """Called by apsw before the statement runs."""
            if cursor.has_vdbe:
                self.columns = tuple(column[0] for column in cursor.description)
                if self.reading_only and (cursor.is_explain or not self.columns):
                    guard.refuse("only reading is allowed")
            return not guard.refusal

        begin = sql[_start(sql) :]
        if not _is_single(begin):
            raise StatementFailed("only one statement is allowed")
        if _CHANGES_ROWS.match(begin) and not self._connection.in_transaction:
            if self.reading_only:
                raise StatementFailed("only reading is allowed")
            self._connection.execute("BEGIN")
        cursor = self._connection.cursor()
        cursor.exec_trace = admit
        cursor.execute(sql)
        if commit:
            self.commit()
        rows, held = [], 0
        for row in cursor:
            if most_rows is None or len(rows) < most_rows:
                rows.append(row)
                held += sum(len(value) for value in row if isinstance(value, str | bytes))
            if held > self.limits.heap_bytes:
                raise StatementFailed(f"the result has more than {self.limits.heap_bytes:,} bytes")
        return rows

    def commit(self) -> None:
        """End the transaction, if there is one."""
        if self._connection.in_transaction:
            self._connection.execute("COMMIT")

    def rollback(self) -> None:
        """Undo the transaction, if there is one."""
        if self._connection.in_transaction:
            self._new_guard()
            self._connection.execute("ROLLBACK")

    def prepare(self, statements: Sequence[str]) -> None:
        """Run set-up statements up to the first that fails, which is no error: benchmarks have such records."""
        for statement in statements:
            try:
                self.run(statement)
            except StatementFailed:
                return

    def hand_over(self) -> apsw.Connection:
        """The connection for a single query of execution.py, which sets its own limits and closes it."""
        self._connection.authorizer = None
        self._connection.set_progress_handler(None)
        self._connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
        self._connection.config(apsw.SQLITE_DBCONFIG_DQS_DML, 0)
        self._connect_virtual_tables()
        return self._connection

    def _new_guard(self) -> Guard:
        self._guard = Guard(self.limits)
        self._guard.connection = self._connection
        return self._guard

    def _authorize(self, action: int, first: str | None, second: str | None, *more: str | None) -> int:
        if self.reading_only:
            return self._guard.authorize(action, first, second, *more)
        if action == apsw.SQLITE_ATTACH and first != "":
            return self._guard.refuse("no other database may be attached")
        if action == apsw.SQLITE_PRAGMA and (first or "").lower() in _REFUSED_PRAGMAS:
            return self._guard.refuse(f"PRAGMA {first} is not allowed")
        if action == apsw.SQLITE_FUNCTION and (second or "").lower() in _REFUSED_FUNCTIONS:
            return self._guard.refuse(f"the function {second}() is not allowed")
        return apsw.SQLITE_OK


def _start(sql: str) -> int:
    """Where the first statement begins, after comments and empty statements."""
    return _BEFORE_A_STATEMENT.match(sql).end()


def _is_single(sql: str) -> bool:
    """Whether nothing but comments follows the first semicolon that ends a statement, as Python's driver has it."""
    for semicolon in re.finditer(";", sql):
        if apsw.complete(sql[: semicolon.end()]):
            return is_comment(sql[semicolon.end() :])
    return True


@contextmanager
def session_folder() -> Iterator[Path]:
    """A new folder for the files of one session, removed afterwards even if its worker was killed."""
    with tempfile.TemporaryDirectory(dir=temporary_folder(), prefix="session-") as folder:
        yield Path(folder)


def own_copy(copy: Copy, folder: Path) -> Path:
    """A copy of a private copy that may be written to, replacing an earlier one in `folder`."""
    path = folder / "database.sqlite"
    shutil.copyfile(copy.path, path)
    return path


def run_in_session(
    path: Path, setup: Sequence[str], sql: str, limits: Limits = Limits(), preview: int | None = None
) -> QueryResult:
    """The full result of a query, or its first `preview` rows, on the database `path` as `setup` leaves it.

    Without `setup` the same as `run_untrusted`. Whatever is wrong with the query is in the result; UserError when the
    file cannot be read.
    """
    if not setup:
        return run_untrusted(path, sql, limits, preview=preview)
    copy = private_copy(path)
    with session_folder() as folder:
        arguments = copy, folder, tuple(setup), sql, limits, preview
        try:
            return shared_workers().call(query_after_setup, *arguments, seconds=limits.seconds + kill_after(limits))
        except (Killed, Died) as end:
            return QueryResult(ERROR, message=explain(end, limits))


def query_after_setup(
    copy: Copy, folder: Path, setup: Sequence[str], sql: str, limits: Limits, preview: int | None
) -> QueryResult:
    """What a worker does for `run_in_session`."""

    def connect() -> apsw.Connection:
        session = Session(own_copy(copy, folder), limits, vfs=COUNTING_FILES)
        session.prepare(setup)
        return session.hand_over()

    return run_on(connect, copy.source, sql, limits, preview=preview)


@contextmanager
def prepared_file(path: Path, setup: Sequence[str], limits: Limits = Limits()) -> Iterator[Path]:
    """A database file as `setup` leaves `path`, its TEMP tables among the others, for whoever reads a schema.

    `path` itself when there is no set-up. UserError when the file cannot be read.
    """
    if not setup:
        yield path
        return
    copy = private_copy(path)
    with session_folder() as folder:
        try:
            shared_workers().call(prepare_file, copy, folder, tuple(setup), limits, seconds=2 * kill_after(limits))
        except (Killed, Died):
            own_copy(copy, folder)
        yield folder / "database.sqlite"


def prepare_file(copy: Copy, folder: Path, setup: Sequence[str], limits: Limits) -> None:
    """What a worker does for `prepared_file`."""
    made = "FROM sqlite_temp_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite%' ORDER BY rowid"
    with closing(Session(own_copy(copy, folder), limits)) as session:
        session.prepare(setup)
        for kind, name, statement in session.run(f"SELECT upper(type), name, sql {made}"):
            quoted = quote(str(name))
            hidden = f"DROP {kind} IF EXISTS main.{quoted}"  # which the TEMP one hides
            session.prepare([hidden, str(statement).replace(str(kind), f"{kind} main.", 1)])
            if kind == "TABLE":
                session.prepare([f"INSERT INTO main.{quoted} SELECT * FROM temp.{quoted}"])

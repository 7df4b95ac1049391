"""Running one untrusted query on one database file: read-only, bounded, and judged by SQLite itself.

The text is never edited. SQLite compiles it under an authorizer that lets reading through and nothing else, so a
write, ATTACH, PRAGMA, EXPLAIN or VACUUM INTO is refused by what it means, not by how it is spelt. Each statement has
a connection of its own; nothing it does can reach the next one, in this thread or another.

Covered: writes, several statements, the schema table, the clock (whatever way it is read: a VFS counts the reads),
chance and engine state, endless and exploding queries (virtual-machine steps, wall clock, rows, value length, heap).
Not covered here: a single SQLite instruction that runs for very long, which no in-process limit can stop.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import apsw

from sqldojo.errors import UserError

OK, REJECTED, ERROR = "ok", "rejected", "error"

_READING = {apsw.SQLITE_SELECT, apsw.SQLITE_READ, apsw.SQLITE_FUNCTION, apsw.SQLITE_RECURSIVE}
# Their results depend on chance, on the engine or on the connection's past, so two runs of one query may differ.
_UNSTABLE_FUNCTIONS = {
    "random", "randomblob", "changes", "total_changes", "last_insert_rowid", "load_extension", "fts3_tokenizer",
    "fts5_source_id",
}  # fmt: skip
_ENGINE_TABLES = ("sqlite_", "pragma_", "dbstat")
# No query can cause these: its writes, attachments and temporary files are all refused before they reach a file.
UNREADABLE = (
    apsw.CorruptError, apsw.NotADBError, apsw.BusyError, apsw.CantOpenError, apsw.IOError, apsw.ReadOnlyError,
)  # fmt: skip
_STEPS_BETWEEN_CHECKS = 1000
_SLOTS = 64
_slots = threading.Semaphore(_SLOTS)
_taking_all_slots = threading.Lock()
_CLOCK_COUNTER = "sqldojo-clock-counter"


@dataclass(frozen=True)
class Limits:
    """What one query may use. Steps come first: they end a query at the same place on a slow machine and a fast one."""

    vm_steps: int = 20_000_000
    seconds: float = 10.0
    rows: int = 10_000
    value_bytes: int = 100_000  # one INSTR may take the square of it, and nothing can stop it meanwhile
    heap_bytes: int = 256_000_000

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value <= 0:
                raise ValueError(f"{name}: must be above 0, found {value}")


@dataclass(frozen=True)
class QueryResult:
    """What a query gave: `ok` with its columns and rows, `rejected` for what may not be asked, or `error`.

    `more` says that a preview ended before the rows did; without a preview all rows are here.
    """

    status: str
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[object, ...], ...] = ()
    message: str = ""
    more: bool = False


class _ClockCounter(apsw.VFS):
    """The system's VFS, counting how often a thread's queries read the clock."""

    def __init__(self) -> None:
        super().__init__(_CLOCK_COUNTER, base="")
        self.thread = threading.local()

    def xCurrentTime(self) -> float:
        self.thread.reads = self.reads() + 1
        return super().xCurrentTime()

    def xCurrentTimeInt64(self) -> int:
        self.thread.reads = self.reads() + 1
        return super().xCurrentTimeInt64()

    def reads(self) -> int:
        return getattr(self.thread, "reads", 0)


_clock = _ClockCounter()


class _Guard:
    """The authorizer and progress handler of one query; `refusal` says why the query was refused, if it was."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.refusal = ""
        self.exhausted = ""
        self._steps = 0
        self._deadline = time.monotonic() + limits.seconds

    def authorize(self, action: int, first: str | None, second: str | None, *_: str | None) -> int:
        if action not in _READING:
            name = apsw.mapping_authorizer_function[action].removeprefix("SQLITE_").replace("_", " ")
            return self.refuse(f"only reading is allowed, not {name}")
        if action == apsw.SQLITE_READ and first and first.lower().startswith(_ENGINE_TABLES):
            return self.refuse(f"the table {first} is not part of the data")
        name = (second or "").lower()
        if action == apsw.SQLITE_FUNCTION and (name in _UNSTABLE_FUNCTIONS or name.startswith("sqlite_")):
            return self.refuse(f"the function {second}() does not depend on the data alone")
        return apsw.SQLITE_OK

    def refuse(self, why: str) -> int:
        """Remember the first reason; SQLite's own word for it is the uninformative "not authorized"."""
        self.refusal = self.refusal or why
        return apsw.SQLITE_DENY

    def check_budget(self) -> bool:
        self._steps += _STEPS_BETWEEN_CHECKS
        if self._steps > self.limits.vm_steps:
            self.exhausted = f"the query was stopped after {self.limits.vm_steps:,} steps"
        elif time.monotonic() > self._deadline:
            self.exhausted = f"the query was stopped after {self.limits.seconds:g} seconds"
        return bool(self.exhausted)


def run_query(path: Path, sql: str, limits: Limits = Limits(), *, preview: int | None = None) -> QueryResult:
    """The full result of one query on the database file `path`, or its first `preview` rows.

    Whatever is wrong with the query is in the result. UserError when the file itself cannot be read.
    """
    try:
        with _slots:
            return _run(path, sql, limits, preview)
    except apsw.NoMemError:
        pass  # the heap limit is the whole process's, so another thread's query may have used it up
    with _all_slots():
        try:
            return _run(path, sql, limits, preview)
        except apsw.NoMemError:
            return QueryResult(ERROR, message=f"the query needs more than {limits.heap_bytes:,} bytes of memory")


@contextmanager
def _all_slots() -> Iterator[None]:
    """Wait until no other query runs in this process, and keep others out meanwhile."""
    with _taking_all_slots:
        for _ in range(_SLOTS):
            _slots.acquire()
    try:
        yield
    finally:
        _slots.release(_SLOTS)


def _run(path: Path, sql: str, limits: Limits, preview: int | None) -> QueryResult:
    guard = _Guard(limits)
    reads_before = _clock.reads()
    try:
        with closing(open_read_only(path)) as connection:
            _restrict(connection, guard)
            result = _execute(connection, sql, guard, preview)
    except UNREADABLE as error:
        raise unreadable(path, error) from error
    except apsw.NoMemError:
        raise
    except (apsw.Error, UnicodeError) as error:
        status = REJECTED if guard.refusal else ERROR
        result = QueryResult(status, message=guard.refusal or guard.exhausted or _say(error))
    if _clock.reads() > reads_before:
        return QueryResult(REJECTED, message="the query reads the clock, so its answer would change with the day")
    return result


def open_read_only(path: Path) -> apsw.Connection:
    """A connection that can only read `path`, as it is, with no setting taken from the file.

    UserError when there is no such file, or only a part of one.
    """
    if not path.is_file():
        raise UserError(f"{path}: no such database file; build it with `dvc repro build_databases`")
    if not _has_whole_pages(path):
        raise unreadable(path, apsw.CorruptError("it is empty or ends in the middle of a page"))
    address = f"{path.resolve().as_uri()}?mode=ro"
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    connection = apsw.Connection(address, flags=flags, vfs=_CLOCK_COUNTER, statementcachesize=0)
    for setting, value in (
        (apsw.SQLITE_DBCONFIG_DEFENSIVE, 1),
        (apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
        # A misspelt "column" must be an error, not silently a text; which of the two it is depends on the build.
        (apsw.SQLITE_DBCONFIG_DQS_DML, 0),
        (apsw.SQLITE_DBCONFIG_DQS_DDL, 0),
    ):
        connection.config(setting, value)
    return connection


def _has_whole_pages(path: Path) -> bool:
    """SQLite itself takes a tiny file for an empty database, and the missing end of a last page for zeros."""
    with path.open("rb") as file:
        header = file.read(100)
    page_size = int.from_bytes(header[16:18], "big")
    page_size = 65536 if page_size == 1 else page_size
    return len(header) == 100 and page_size > 0 and path.stat().st_size % page_size == 0


def unreadable(path: Path, error: apsw.Error) -> UserError:
    """The one error for a database file that is locked, truncated or no database at all."""
    return UserError(
        f"{path}: cannot be read as a SQLite database ({_say(error)}); close the program that holds it, or delete "
        "the file and build it again with `dvc repro build_databases`"
    )


def _restrict(connection: apsw.Connection, guard: _Guard) -> None:
    limits = guard.limits
    apsw.hard_heap_limit(limits.heap_bytes)
    for kind, most in (
        (apsw.SQLITE_LIMIT_LENGTH, limits.value_bytes),
        (apsw.SQLITE_LIMIT_SQL_LENGTH, 100_000),
        (apsw.SQLITE_LIMIT_COLUMN, 200),
        (apsw.SQLITE_LIMIT_EXPR_DEPTH, 100),
        (apsw.SQLITE_LIMIT_COMPOUND_SELECT, 50),
        (apsw.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1_000),
        (apsw.SQLITE_LIMIT_ATTACHED, 0),
        (apsw.SQLITE_LIMIT_VARIABLE_NUMBER, 0),
    ):
        connection.limit(kind, most)
    connection.pragma("temp_store", "memory")  # so that sorting comes out of the heap's budget and never fills the disk
    connection.authorizer = guard.authorize
    connection.set_progress_handler(guard.check_budget, _STEPS_BETWEEN_CHECKS)


def _execute(connection: apsw.Connection, sql: str, guard: _Guard, preview: int | None) -> QueryResult:
    if "\0" in sql:
        return QueryResult(ERROR, message="the query holds a NUL character")
    columns: list[tuple[str, ...]] = []

    def admit(cursor: apsw.Cursor, text: str, _bindings: object) -> bool:
        """Called by apsw once for each statement, before it runs; a tail of comments compiles to nothing."""
        if not cursor.has_vdbe:
            return True
        if cursor.is_explain:
            guard.refuse("only reading is allowed, not EXPLAIN")
        elif not cursor.description:
            guard.refuse("only reading is allowed")
        elif columns:
            guard.refuse("only one statement is allowed")
        else:
            columns.append(tuple(column[0] for column in cursor.description))
            # Judge the tail before the first row, since a preview or a limit may end before SQLite reaches it.
            tail = connection.cursor()
            tail.exec_trace = admit
            tail.execute(sql[len(text) :])
        return not guard.refusal

    cursor = connection.cursor()
    cursor.exec_trace = admit
    rows: list[tuple[object, ...]] = []
    held = 0
    for row in cursor.execute(sql):
        if len(rows) == preview:
            return QueryResult(OK, columns[0], tuple(rows), more=True)
        if len(rows) == guard.limits.rows:
            return QueryResult(ERROR, message=f"the result has more than {guard.limits.rows:,} rows")
        rows.append(row)
        held += sum(len(value) for value in row if isinstance(value, str | bytes))
        if held > guard.limits.heap_bytes:
            return QueryResult(ERROR, message=f"the result has more than {guard.limits.heap_bytes:,} bytes")
    if not columns:
        return QueryResult(ERROR, message="there is no statement to run")
    return QueryResult(OK, columns[0], tuple(rows))


def _say(error: Exception) -> str:
    return str(error).removeprefix("SQLITE_ERROR: ")

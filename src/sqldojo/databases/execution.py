"""Running one query on one database file: read-only, bounded, and judged by SQLite itself.

The text is never edited. SQLite compiles it under an authorizer that lets reading through and nothing else, so a
write, ATTACH, PRAGMA, EXPLAIN or VACUUM INTO is refused by what it means, not by how it is spelt. Each statement has
a connection of its own; nothing it does can reach the next one, in this thread or another.

Covered: writes, several statements, the schema table, the clock (whatever way it is read: a VFS counts the reads),
chance and engine state, endless and exploding queries (virtual-machine steps, wall clock, rows, value length, heap).
Not covered here: a single SQLite instruction that runs for very long, and the memory of rows as Python objects. No
limit inside a process can stop those, so text that a model wrote goes through sandbox.py, which runs all this in a
process that can be killed.

Rules that are a choice. Table-valued functions over their arguments alone (json_each, json_tree) are data like any
other and allowed; those that show the engine or the schema (pragma_*, dbstat, sqlite_*) are not. A clock that is
mentioned but never read, as in a CASE branch that no row takes, cannot change this answer and is allowed; where it is
read the query is refused. 'localtime' and 'utc' ask for the host's time zone, not for the time: the sandbox's
processes live in UTC, where both change nothing, so no answer depends on where it was computed.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from contextlib import closing
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
_SCHEMA_TABLES = {"sqlite_master", "sqlite_schema"}
_SCHEMA_COLUMNS = {"type", "name", "tbl_name", "sql", ""}  # the empty one for a query that names no column
_ASKED_BY_FULL_TEXT_TABLES = {"data_version", "page_size"}
# No query can cause these: its writes, attachments and temporary files are all refused before they reach a file.
UNREADABLE = (
    apsw.CorruptError, apsw.NotADBError, apsw.BusyError, apsw.CantOpenError, apsw.IOError, apsw.ReadOnlyError,
)  # fmt: skip
STEPS_BETWEEN_CHECKS = 1000
ENGINE = f"SQLite {apsw.sqlite_lib_version()}, {apsw.sqlite3_sourceid()}"
_one_at_a_time = threading.Lock()  # the heap limit is the whole process's
_LONGEST_MESSAGE = 500
_SQL_BYTES = 100_000
_NO_STATEMENT = " \t\n\f\r;"  # what SQLite takes for white space, and the empty statement


@dataclass(frozen=True)
class Limits:
    """What one query may use. Steps come first: they end a query at the same place on a slow machine and a fast one."""

    vm_steps: int = 20_000_000
    seconds: float = 10.0
    rows: int = 10_000
    value_bytes: int = 1_000_000
    heap_bytes: int = 256_000_000

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value <= 0:
                raise ValueError(f"{name}: must be above 0, found {value}")


@dataclass(frozen=True)
class QueryResult:
    """What a query gave: `ok` with its columns and rows, `rejected` for what may not be asked, or `error`.

    `more` says that a preview ended before the rows did; without a preview all rows are here. `of_schema` says that
    they come from the schema table, and then no data is in them.
    """

    status: str
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[object, ...], ...] = ()
    message: str = ""
    more: bool = False
    of_schema: bool = False


class _ClockCounter(apsw.VFS):
    """A VFS of SQLite's own, which also counts how often a thread's queries read the clock."""

    def __init__(self, name: str, base: str) -> None:
        super().__init__(name, base)
        self.name = name

    def xCurrentTime(self) -> float:
        _clock_reads.count = _clock_reads_so_far() + 1
        return super().xCurrentTime()

    def xCurrentTimeInt64(self) -> int:
        _clock_reads.count = _clock_reads_so_far() + 1
        return super().xCurrentTimeInt64()


def _clock_reads_so_far() -> int:
    return getattr(_clock_reads, "count", 0)


_clock_reads = threading.local()
_file_system = _ClockCounter("sqldojo-files", "")
COUNTING_FILES = _file_system.name  # the VFS whose clock reads `run_on` counts
_memory = _ClockCounter("sqldojo-memory", "memdb")


class Guard:
    """The authorizer and progress handler of one query; `refusal` and `fault` say why they ended it, if they did.

    What it lets a query ask needs the `connection` that the query runs on. With `schema_readable` a query may read the
    schema table instead of data, for an agent that was not told the whole schema; `reads_schema` says that it does.
    """

    def __init__(self, limits: Limits, *, schema_readable: bool = False) -> None:
        self.limits, self._schema_readable = limits, schema_readable
        self.refusal = ""
        self.fault = ""
        self.connection: apsw.Connection | None = None
        self.reads_schema = False
        self._reads_data = False
        self._selects = False
        self._steps = 0
        self._deadline = time.monotonic() + limits.seconds

    def authorize(self, action: int, first: str | None, second: str | None, *_: str | None) -> int:
        if action == apsw.SQLITE_READ:
            why_not = self._why_not_read(first or "", second or "")
            if why_not:
                return self.refuse(why_not)
        elif action == apsw.SQLITE_FUNCTION:
            name = (second or "").lower()
            if name in _UNSTABLE_FUNCTIONS or name.startswith("sqlite_"):
                return self.refuse(f"the function {second}() does not depend on the data alone")
        elif action == apsw.SQLITE_SELECT:
            self._selects = True
        elif action not in _READING and not self._asked_within_a_select(action, first, second):
            name = apsw.mapping_authorizer_function[action].removeprefix("SQLITE_").replace("_", " ")
            return self.refuse(f"only reading is allowed, not {name}")
        return apsw.SQLITE_OK

    def _why_not_read(self, table: str, column: str) -> str:
        """Why a column may not be read, empty where it may.

        A query reads the schema or data and not both, so that what comes of a look at the schema holds no value of a
        row: it is shown at greater length, and to models behind an API that may see no values.
        """
        if self._schema_readable and table.lower() in _SCHEMA_TABLES:
            if column.lower() not in _SCHEMA_COLUMNS:
                return f"of {table} only type, name, tbl_name and sql may be read, not {column}"
            self.reads_schema = True
        elif table.lower().startswith(_ENGINE_TABLES) and not self._is_data(table):
            return f"the table {table} is not part of the data"
        elif self._schema_readable and self.connection.table_exists(None, table):  # what a WITH names is none
            self._reads_data = True
        return "a query may read sqlite_schema or the data, not both" if self.reads_schema and self._reads_data else ""

    def _is_data(self, table: str) -> bool:
        """A schema may have a table called pragma_notes; what the engine answers for is in no schema."""
        return not table.lower().startswith("sqlite_") and self.connection.table_exists(None, table)

    def _asked_within_a_select(self, action: int, first: str | None, second: str | None) -> bool:
        """What a full-text table has SQLite compile when it is read; a PRAGMA of the query itself comes first."""
        return action == apsw.SQLITE_PRAGMA and self._selects and first in _ASKED_BY_FULL_TEXT_TABLES and second is None

    def refuse(self, why: str) -> int:
        """Remember the first reason; SQLite's own word for it is the uninformative "not authorized"."""
        self.refusal = self.refusal or why
        return apsw.SQLITE_DENY

    def check_budget(self) -> bool:
        self._steps += STEPS_BETWEEN_CHECKS
        if self._steps > self.limits.vm_steps:
            self.fault = f"the query was stopped after {self.limits.vm_steps:,} steps"
        elif time.monotonic() > self._deadline:
            self.fault = out_of_time(self.limits)
        return bool(self.fault)


def out_of_time(limits: Limits) -> str:
    """What to say of a query that took longer than it may."""
    return f"the query was stopped after {limits.seconds:g} seconds"


def run_query(
    path: Path, sql: str, limits: Limits = Limits(), *, preview: int | None = None, reversed_scans: bool = False
) -> QueryResult:
    """The full result of one query on the database file `path`, or its first `preview` rows.

    `reversed_scans` has SQLite read backwards wherever no ORDER BY says otherwise, which exposes dependence on order.
    Whatever is wrong with the query is in the result. UserError when the file itself cannot be read.
    """

    def connect() -> apsw.Connection:
        connection = open_read_only(path)
        connect_virtual_tables(connection, virtual_tables(connection))
        return connection

    return run_on(connect, path, sql, limits, preview=preview, reversed_scans=reversed_scans)


def run_on(
    connect: Callable[[], apsw.Connection],
    path: Path,
    sql: str,
    limits: Limits,
    *,
    preview: int | None = None,
    reversed_scans: bool = False,
    schema_readable: bool = False,
) -> QueryResult:
    """As `run_query`, on the connection that `connect` opens; `path` is the file that errors name."""
    with _one_at_a_time:
        guard = Guard(limits, schema_readable=schema_readable)
        reads_before = _clock_reads_so_far()
        try:
            with closing(connect()) as connection:
                reads_before = _clock_reads_so_far()  # whoever prepared the connection may look at the clock
                if reversed_scans:
                    connection.pragma("reverse_unordered_selects", True)
                _restrict(connection, guard)
                result = _execute(connection, sql, guard, preview)
        except UNREADABLE as error:
            if error.extendedresult != apsw.SQLITE_CORRUPT_VTAB:  # how a full-text table reports various failures
                raise unreadable(path, error) from error
            result = QueryResult(ERROR, message=guard.fault or say(error))
        except apsw.NoMemError:
            result = QueryResult(ERROR, message=f"the query needs more than {limits.heap_bytes:,} bytes of memory")
        except apsw.BindingsError:
            result = QueryResult(ERROR, message="the query holds a variable (?, :name), which nothing gives a value")
        except (apsw.Error, UnicodeError) as error:
            status = REJECTED if guard.refusal else ERROR
            result = QueryResult(status, message=guard.refusal or guard.fault or say(error))
        finally:
            apsw.hard_heap_limit(0)
        if _clock_reads_so_far() > reads_before:
            return QueryResult(REJECTED, message="the query reads the clock, so its answer would change with the day")
        return result


def open_read_only(path: Path) -> apsw.Connection:
    """A connection that can only read `path`, as it is, with no setting taken from the file.

    UserError when there is no such file, or only a part of one.
    """
    check_file(path)
    return connect_read_only(f"{path.resolve().as_uri()}?mode=ro")


def connect_read_only(address: str, *, in_memory: bool = False) -> apsw.Connection:
    """A connection that can only read what a `file:` address names: a file, or SQLite's `memdb` of this process."""
    vfs = _memory if in_memory else _file_system
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    connection = apsw.Connection(address, flags=flags, vfs=vfs.name, statementcachesize=0)
    for setting, value in (
        (apsw.SQLITE_DBCONFIG_DEFENSIVE, 1),
        (apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
        # A misspelt "column" must be an error, not silently a text; which of the two it is depends on the build.
        (apsw.SQLITE_DBCONFIG_DQS_DML, 0),
        (apsw.SQLITE_DBCONFIG_DQS_DDL, 0),
    ):
        connection.config(setting, value)
    return connection


def virtual_tables(connection: apsw.Connection) -> tuple[str, ...]:
    """The names of the virtual tables in a schema."""
    sql = "SELECT name FROM sqlite_master WHERE rootpage = 0 AND type = 'table' ORDER BY name"
    return tuple(name for (name,) in connection.execute(sql))


def connect_virtual_tables(connection: apsw.Connection, names: Iterable[str]) -> None:
    """Have them prepare themselves before a guard is set: an R-tree compiles its INSERT even when it is only read."""
    for name in names:
        quoted = name.replace('"', '""')
        connection.execute(f'SELECT * FROM "{quoted}" LIMIT 0').fetchall()


def check_file(path: Path) -> None:
    """UserError when there is no such file, or it can only be a part of a database."""
    if not path.is_file():
        raise UserError(f"{path}: no such database file; build it with `dvc repro build_adversarial`")
    if not _has_whole_pages(path):
        raise unreadable(path, apsw.CorruptError("it is empty or ends in the middle of a page"))


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
        f"{path}: cannot be read as a SQLite database ({say(error)}); close the program that holds it, or put "
        "back a whole copy (`dvc repro build_adversarial` makes the shop's)"
    )


def _restrict(connection: apsw.Connection, guard: Guard) -> None:
    guard.connection = connection
    set_limits(connection, guard.limits)
    connection.authorizer = guard.authorize
    connection.set_progress_handler(guard.check_budget, STEPS_BETWEEN_CHECKS)


def set_limits(connection: apsw.Connection, limits: Limits) -> None:
    """Bound what SQLite may hold and how much it may nest; apsw.hard_heap_limit(0) frees the process's heap again."""
    apsw.hard_heap_limit(apsw.memory_used() + limits.heap_bytes)
    for kind, most in (
        (apsw.SQLITE_LIMIT_LENGTH, limits.value_bytes),
        (apsw.SQLITE_LIMIT_SQL_LENGTH, _SQL_BYTES),
        # SQLite's own defaults, set so that no build can differ; lower ones would make real schemas unreadable.
        (apsw.SQLITE_LIMIT_COLUMN, 2_000),
        (apsw.SQLITE_LIMIT_EXPR_DEPTH, 1_000),
        (apsw.SQLITE_LIMIT_COMPOUND_SELECT, 500),
        (apsw.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1_000),
        (apsw.SQLITE_LIMIT_ATTACHED, 0),
    ):
        connection.limit(kind, most)
    connection.pragma("temp_store", "memory")  # so that sorting comes out of the heap's budget and never fills the disk


def _execute(connection: apsw.Connection, sql: str, guard: Guard, preview: int | None) -> QueryResult:
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
            rest = sql[len(text) :].strip(_NO_STATEMENT)
            if rest:
                tail = connection.cursor()
                tail.exec_trace = admit
                tail.execute(rest)
        return not guard.refusal

    cursor = connection.cursor()
    cursor.exec_trace = admit
    rows: list[tuple[object, ...]] = []
    held = 0
    for row in cursor.execute(sql):
        if len(rows) == preview:
            return QueryResult(OK, columns[0], tuple(rows), more=True, of_schema=guard.reads_schema)
        if len(rows) == guard.limits.rows:
            return QueryResult(ERROR, message=f"the result has more than {guard.limits.rows:,} rows")
        rows.append(row)
        held += sum(len(value) for value in row if isinstance(value, str | bytes))
        if held > guard.limits.heap_bytes:
            return QueryResult(ERROR, message=f"the result has more than {guard.limits.heap_bytes:,} bytes")
    if not columns:
        return QueryResult(ERROR, message="there is no statement to run")
    return QueryResult(OK, columns[0], tuple(rows), of_schema=guard.reads_schema)


def say(error: Exception) -> str:
    """The engine's words, shortened: they may quote the query whole."""
    text = str(error).removeprefix("SQLITE_ERROR: ")
    return text if len(text) <= _LONGEST_MESSAGE else text[: _LONGEST_MESSAGE - 3] + "..."

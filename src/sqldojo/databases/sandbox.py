"""Running a query that nobody has read: in a process that can be killed, on a private copy of the database.

Covered: all that execution.py refuses and bounds; a query inside one long instruction (its process is killed a moment
after the time limit); one that crashes SQLite or takes all memory (the process is replaced). Whatever happens is a
result, the user's file is never opened for writing, nothing appears beside it, and the next query runs as ever.
Not covered: SQL that takes over the process through an unknown flaw of SQLite. It would run with the user's rights.
"""

from __future__ import annotations

from pathlib import Path

from sqldojo.databases.execution import ERROR, Limits, QueryResult, out_of_time, run_on
from sqldojo.databases.private_copies import Copy, open_copy, private_copy
from sqldojo.databases.workers import Died, Killed, shared_workers

_PATIENCE_SECONDS = 1.0  # for a process to see its own time limit, before it is killed


def run_untrusted(
    path: Path, sql: str, limits: Limits = Limits(), *, preview: int | None = None, schema_readable: bool = False
) -> QueryResult:
    """The full result of one query on the database file `path`, or its first `preview` rows.

    With `schema_readable` the query may read sqlite_schema instead of data. Whatever is wrong with the query is in the
    result. UserError when the file itself cannot be read.
    """
    copy = private_copy(path)
    try:
        return shared_workers().call(
            run_on_copy, copy, sql, limits, preview, schema_readable, seconds=kill_after(limits)
        )
    except (Killed, Died) as end:
        return QueryResult(ERROR, message=explain(end, limits))


def run_on_copy(
    copy: Copy, sql: str, limits: Limits, preview: int | None = None, schema_readable: bool = False
) -> QueryResult:
    """What a worker does for `run_untrusted`."""
    return run_on(
        lambda: open_copy(copy), copy.source, sql, limits, preview=preview, schema_readable=schema_readable
    )


def kill_after(limits: Limits) -> float:
    """The seconds after which a query's process is killed: somewhat more than it gives itself."""
    return limits.seconds + _PATIENCE_SECONDS


def explain(end: Killed | Died, limits: Limits) -> str:
    """What to say of a query that its process did not survive."""
    return out_of_time(limits) if isinstance(end, Killed) else f"the query was stopped: {end}"

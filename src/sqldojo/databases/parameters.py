"""Named parameters of a query: where their values come from, and the query with them written as literals.

A question stores complete SQL, because that is what a model must write. SQLite renders the literals itself, so no
quoting rule is repeated here and the text means to SQLite exactly what the bound query meant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

import apsw

from sqldojo.databases.execution import UNREADABLE, open_read_only, unreadable
from sqldojo.errors import UserError

Value = str | int | float


def expand(path: Path, sql: str, values: Mapping[str, Value]) -> str:
    """`sql` with each `:name` replaced by its value as an SQL literal, as SQLite expands it for tracing.

    `path` is a database with the tables that `sql` reads; nothing is run. UserError for SQL that does not compile
    there, for a name without a value and for a value that `sql` does not use.
    """
    expanded: list[str] = []
    used: set[str] = set()

    def stop_before_running(cursor: apsw.Cursor, _statement: str, _bindings: object) -> bool:
        used.update(name for name in cursor.bindings_names if name)
        expanded.append(cursor.expanded_sql)
        return False

    with closing(open_read_only(path)) as connection:
        cursor = connection.cursor()
        cursor.exec_trace = stop_before_running
        try:
            cursor.execute(sql, dict(values))
        except apsw.ExecTraceAbort:
            pass
        except UNREADABLE as error:
            raise unreadable(path, error) from error
        except (apsw.Error, KeyError, ValueError) as error:  # the last for text that is none, such as \0
            raise UserError(f"cannot fill in the query: {_say(error)}; correct this SQL: {sql}") from error
    if not expanded or not expanded[0].strip():
        raise UserError("there is no query to fill in; write the reference SQL")
    if expanded[0].rstrip().endswith(";"):
        raise UserError(f"a reference is one statement without a semicolon; correct this SQL: {sql}")
    unused = sorted(set(values) - used)
    if unused:
        raise UserError(f"the query does not use :{unused[0]}; use it or remove the parameter in this SQL: {sql}")
    return expanded[0]


def pool(path: Path, sql: str) -> list[Value]:
    """The values in the first column of `sql` on one database, without repeats, in the order of the query.

    UserError for SQL that fails and for a value that is no text and no number (NULL, a blob).
    """
    with closing(open_read_only(path)) as connection:
        try:
            values = [row[0] for row in connection.execute(sql)]
        except UNREADABLE as error:
            raise unreadable(path, error) from error
        except apsw.Error as error:
            raise UserError(f"the pool's query fails: {_say(error)}; correct this SQL: {sql}") from error
    for value in values:
        if not isinstance(value, str | int | float):
            raise UserError(f"the pool holds {value!r}, which no question can ask for; leave it out in this SQL: {sql}")
    return list(dict.fromkeys(values))


def shared_pool(paths: Sequence[Path], sql: str) -> list[Value]:
    """The values of the pool that every database has, in the first one's order: a question is asked on all of them.

    UserError as for `pool`.
    """
    pools = [pool(path, sql) for path in paths]
    common = set(pools[0]).intersection(*pools[1:])
    return [value for value in pools[0] if value in common]


def _say(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"no value for the parameter :{error.args[0]}"
    return str(error)

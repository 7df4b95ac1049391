"""Reading a database's schema on our own path, since queries may not look at the schema table."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import apsw

from sqldojo.databases.execution import open_read_only, unreadable


def schema_text(path: Path) -> str:
    """The CREATE TABLE and CREATE VIEW statements of a database, one a line, in the order of their creation.

    UserError when the file cannot be read or holds no table.
    """
    try:
        with closing(open_read_only(path)) as connection:
            text = schema_of(connection)
    except apsw.Error as error:
        raise unreadable(path, error) from error
    if not text:
        raise unreadable(path, apsw.NotADBError("there is no table in it"))
    return text


def schema_of(connection: apsw.Connection) -> str:
    """The same of an open database; empty where it holds no table. May raise apsw.Error."""
    query = (
        "SELECT sql FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' "
        "ORDER BY rowid"
    )
    statements = [on_one_line(sql) for (sql,) in connection.execute(query)]
    return ";\n".join(statements) + ";" if statements else ""


def on_one_line(sql: str) -> str:
    """The statement with single spaces, or as it stands when it may hold a comment, which needs its line's end."""
    return sql if "--" in sql else " ".join(sql.split())

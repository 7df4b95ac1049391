"""What a schema looks like at a glance: its tables and views with their columns, keys and references.

Made for reading, so it takes whatever a query may name, sound or not: `schema_model` is for code that fills tables.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import apsw

from sqldojo.databases.execution import open_read_only, unreadable
from sqldojo.databases.schema import on_one_line

_ENGINE = "sqlite_"  # the engine's own tables


@dataclass(frozen=True)
class Reference:
    """A declared foreign key; `parent_columns` is empty where it means the parent's primary key."""

    columns: tuple[str, ...]
    table: str
    parent_columns: tuple[str, ...]


@dataclass(frozen=True)
class Outline:
    """A table or view: columns as (name, declared type), and the statement that made it, on one line if it can be."""

    name: str
    is_view: bool
    columns: tuple[tuple[str, str], ...]
    primary_key: tuple[str, ...]
    references: tuple[Reference, ...]
    sql: str


def as_identifier(name: str) -> str:
    """The name as SQL takes it, in double quotes where it needs them."""
    plain = name.isascii() and name.isidentifier() and name.upper() not in apsw.keywords
    return name if plain else '"' + name.replace('"', '""') + '"'


def read_outlines(path: Path) -> tuple[Outline, ...]:
    """The tables and views of a database file in the order of their creation; UserError when it cannot be read.

    The tables behind a virtual table are left out.
    """
    try:
        with closing(open_read_only(path)) as connection:
            return outlines_of(connection)
    except apsw.Error as error:
        raise unreadable(path, error) from error


def outlines_of(connection: apsw.Connection) -> tuple[Outline, ...]:
    """The same of an open database. May raise apsw.Error."""
    kinds = dict(connection.execute("SELECT name, type FROM pragma_table_list WHERE schema = 'main'"))
    entries = connection.execute("SELECT name, sql FROM sqlite_master WHERE type IN ('table', 'view')").fetchall()
    return tuple(
        _outline(connection, name, kinds.get(name) == "view", sql)
        for name, sql in entries
        if kinds.get(name) != "shadow" and not name.lower().startswith(_ENGINE)
    )


def _outline(connection: apsw.Connection, name: str, is_view: bool, sql: str) -> Outline:
    query = "SELECT name, type, pk FROM pragma_table_xinfo(?) WHERE hidden != 1 ORDER BY cid"
    try:
        columns = connection.execute(query, (name,)).fetchall()
    except apsw.SQLError:  # a view of a table that is gone
        columns = []
    keys = sorted((place, column) for column, _, place in columns if place)
    return Outline(
        name=name,
        is_view=is_view,
        columns=tuple((column, declared) for column, declared, _ in columns),
        primary_key=tuple(column for _, column in keys),
        references=_references(connection, name),
        sql=on_one_line(sql),
    )


def _references(connection: apsw.Connection, name: str) -> tuple[Reference, ...]:
    query = 'SELECT id, "table", "from", "to" FROM pragma_foreign_key_list(?) ORDER BY id DESC, seq'
    found: dict[int, list[tuple[str, str, str | None]]] = {}
    for number, parent, column, parent_column in connection.execute(query, (name,)):
        found.setdefault(number, []).append((parent, column, parent_column))
    return tuple(
        Reference(
            columns=tuple(column for _, column, _ in parts),
            table=parts[0][0],
            parent_columns=tuple(column for _, _, column in parts if column is not None),
        )
        for parts in found.values()
    )

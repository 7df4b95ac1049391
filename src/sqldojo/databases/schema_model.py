"""The schema and the rows of any SQLite file as plain data, for code that makes other instances of the same schema.

SQLite itself says what is in a schema: nothing here parses SQL. What cannot be filled by inserting rows is left out:
generated columns, virtual tables with the tables behind them, and the engine's own tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import apsw

from sqldojo.databases.execution import open_read_only, unreadable
from sqldojo.databases.type_affinity import Value, affinity, fold
from sqldojo.errors import UserError

Rows = dict[str, list[tuple[Value, ...]]]  # table -> rows, their values in the order of Table.columns

_PLAIN = 0  # the column `hidden` of table_xinfo: 1 is hidden in a virtual table, 2 and 3 are generated


@dataclass(frozen=True)
class Column:
    """A column that rows can be inserted into; `affinity` is INTEGER, REAL, TEXT, NUMERIC or BLOB."""

    name: str
    declared: str
    affinity: str
    not_null: bool
    collation: str


@dataclass(frozen=True)
class ForeignKey:
    """A declared reference to a table of the schema, both sides spelt as those tables spell them."""

    columns: tuple[str, ...]
    table: str
    parent_columns: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """A table. `unique` has every set of columns that no two rows may share, the primary key first.

    `rowid_alias` is the INTEGER PRIMARY KEY that decides the physical order, if there is one.
    """

    name: str
    columns: tuple[Column, ...]
    primary_key: tuple[str, ...]
    rowid_alias: str | None
    unique: tuple[tuple[str, ...], ...]
    foreign_keys: tuple[ForeignKey, ...]
    sql: str
    strict: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in their order."""
        return tuple(column.name for column in self.columns)


@dataclass(frozen=True)
class Schema:
    """Tables with parents before children, and the statements that make them: tables, then indexes, then views."""

    tables: tuple[Table, ...]
    statements: tuple[str, ...]
    triggers: tuple[str, ...]

    def table(self, name: str) -> Table:
        """The table of this name in any letter case; KeyError when there is none."""
        return {fold(table.name): table for table in self.tables}[fold(name)]


def quote(name: str) -> str:
    """The name as an identifier in SQL, whatever characters it holds."""
    return '"' + name.replace('"', '""') + '"'


def read_schema(path: Path) -> Schema:
    """The schema of a SQLite file; UserError when it is no database or holds no table that rows can be put into."""
    try:
        with closing(open_read_only(path)) as connection:
            entries = connection.execute(
                "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY rowid"
            ).fetchall()
            strict = _ordinary_tables(connection)
            sources = {name: sql for kind, name, _, sql in entries if kind == "table" and name in strict}
            tables = _tables(connection, sources, strict)
    except apsw.Error as error:
        raise unreadable(path, error) from error
    if not tables:
        raise UserError(f"{path}: there is no table in it; give a database with at least one CREATE TABLE")
    indexes = [sql for kind, _, table, sql in entries if kind == "index" and sql and table in sources]
    views = [sql for kind, _, _, sql in entries if kind == "view"]
    triggers = [sql for kind, _, table, sql in entries if kind == "trigger"]
    edges = {table.name: [key.table for key in table.foreign_keys] for table in tables}
    by_name = {table.name: table for table in tables}
    return Schema(
        tables=tuple(by_name[name] for name in parents_first(edges)),
        statements=(*sources.values(), *indexes, *views),
        triggers=tuple(triggers),
    )


def read_rows(path: Path, schema: Schema) -> Rows:
    """Every row of every table of the schema, in the table's own order; UserError when the file cannot be read."""
    rows: Rows = {}
    try:
        with closing(open_read_only(path)) as connection:
            for table in schema.tables:
                columns = ", ".join(map(quote, table.names))
                # NOT INDEXED: a covering index would give the rows in its own order.
                query = f"SELECT {columns} FROM {quote(table.name)} NOT INDEXED"
                rows[table.name] = connection.execute(query).fetchall()
    except apsw.Error as error:
        raise unreadable(path, error) from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: table {table.name} holds a text that is no UTF-8; store it as a BLOB") from error
    return rows


def parents_first(parents: Mapping[str, Sequence[str]]) -> list[str]:
    """The tables so that those they refer to come before them where possible, otherwise in the order given.

    In a cycle the table that waits for the fewest others goes first. Tables not among the keys are ignored.
    """
    waiting = {name: {each for each in others if each != name and each in parents} for name, others in parents.items()}
    ordered: list[str] = []
    while waiting:
        name = min(waiting, key=lambda each: len(waiting[each]))  # the first of several
        del waiting[name]
        for others in waiting.values():
            others.discard(name)
        ordered.append(name)
    return ordered


def _ordinary_tables(connection: apsw.Connection) -> dict[str, bool]:
    """The tables that rows can be put into, with whether they are STRICT."""
    query = "SELECT name, strict FROM pragma_table_list WHERE schema = 'main' AND type = 'table'"
    return {name: bool(strict) for name, strict in connection.execute(query) if not fold(name).startswith("sqlite_")}


def _tables(connection: apsw.Connection, sources: Mapping[str, str], strict: Mapping[str, bool]) -> list[Table]:
    listed: dict[str, list[tuple[str, str, int, int]]] = {
        name: connection.execute(
            "SELECT name, type, \"notnull\", pk FROM pragma_table_xinfo(?, 'main') WHERE hidden = ? ORDER BY cid",
            (name, _PLAIN),
        ).fetchall()
        for name in sources
    }
    keys = {
        name: tuple(row[0] for row in sorted(rows, key=lambda row: row[3]) if row[3]) for name, rows in listed.items()
    }
    spelling = {name: {fold(row[0]): row[0] for row in rows} for name, rows in listed.items()}
    tables = []
    for name, sql in sources.items():
        columns = tuple(
            Column(
                name=column,
                declared=declared,
                affinity=affinity(declared, strict=strict[name]),
                not_null=bool(not_null),
                collation=connection.column_metadata("main", name, column)[1].upper(),
            )
            for column, declared, not_null, _ in listed[name]
        )
        unique, key_has_index = _unique_sets(connection, name, spelling[name])
        alias = keys[name][0] if len(keys[name]) == 1 and not key_has_index else None
        tables.append(
            Table(
                name=name,
                columns=columns,
                primary_key=keys[name],
                rowid_alias=alias,
                unique=tuple(dict.fromkeys(((keys[name],) if keys[name] else ()) + unique)),
                foreign_keys=_foreign_keys(connection, name, spelling, keys),
                sql=sql,
                strict=strict[name],
            )
        )
    return tables


def _unique_sets(
    connection: apsw.Connection, table: str, spelling: Mapping[str, str]
) -> tuple[tuple[tuple[str, ...], ...], bool]:
    """The sets of columns with a whole UNIQUE index, oldest first, and whether the primary key has one.

    It has none when it is the rowid itself. An index on an expression has a part without a name.
    """
    indexes = connection.execute(
        "SELECT name, origin, partial FROM pragma_index_list(?, 'main') WHERE \"unique\" ORDER BY seq DESC", (table,)
    ).fetchall()
    sets = []
    for name, _, partial in indexes:
        parts = connection.execute("SELECT name FROM pragma_index_info(?, 'main') ORDER BY seqno", (name,)).fetchall()
        columns = tuple(spelling.get(fold(part or "")) for (part,) in parts)
        if not partial and None not in columns:
            sets.append(columns)
    return tuple(sets), any(origin == "pk" for _, origin, _ in indexes)


def _foreign_keys(
    connection: apsw.Connection,
    table: str,
    spelling: Mapping[str, Mapping[str, str]],
    keys: Mapping[str, tuple[str, ...]],
) -> tuple[ForeignKey, ...]:
    """The references of a table in the order of their declaration, without those that lead to nothing in the schema."""
    tables = {fold(name): name for name in spelling}
    found: dict[int, list[tuple[str, str, str | None]]] = {}
    query = 'SELECT id, "table", "from", "to" FROM pragma_foreign_key_list(?) ORDER BY id DESC, seq'
    for number, parent, child_column, parent_column in connection.execute(query, (table,)):
        found.setdefault(number, []).append((parent, child_column, parent_column))
    foreign_keys = []
    for parts in found.values():
        parent = tables.get(fold(parts[0][0]))
        if parent is None:
            continue
        columns = tuple(spelling[table].get(fold(column)) for _, column, _ in parts)
        if all(column is None for _, _, column in parts):
            parent_columns: tuple[str | None, ...] = keys[parent]
        else:
            parent_columns = tuple(spelling[parent].get(fold(column or "")) for _, _, column in parts)
        if len(columns) == len(parent_columns) and None not in columns and None not in parent_columns:
            foreign_keys.append(ForeignKey(columns, parent, parent_columns))
    return tuple(dict.fromkeys(foreign_keys))

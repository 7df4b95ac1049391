"""The schema of a user's database as statements for databases of the same schema, with foreign keys added to it.

What such databases cannot have is left out and named: virtual tables with what stands behind them, and indexes and
views that need a function, a collation or a table that is not there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import apsw

from sqldojo.databases.schema_model import ForeignKey, quote
from sqldojo.databases.scripts import blanked
from sqldojo.databases.type_affinity import fold
from sqldojo.errors import UserError

TABLE, INDEX, VIEW, TRIGGER = "table", "index", "view", "trigger"
MOST_COLUMNS = 200  # of one table: its statement is in every prompt


@dataclass(frozen=True)
class Statement:
    """What made one thing of a schema: its kind, its name, the table that it belongs to, and the SQL."""

    kind: str
    name: str
    table: str
    sql: str


def read_statements(connection: apsw.Connection) -> tuple[list[Statement], list[str]]:
    """The statements of a schema in the order of their creation, and the names of the virtual tables left out.

    May raise apsw.Error; UserError without a table that rows can be put into, or with one that is too wide.
    """
    kinds = dict(connection.execute("SELECT name, type FROM pragma_table_list WHERE schema = 'main'"))
    statements, left_out = [], []
    entries = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY rowid").fetchall()
    for kind, name, table, sql in entries:
        if not sql or fold(name).startswith("sqlite_") or kinds.get(table) == "shadow":
            continue
        if kinds.get(name) == "virtual":
            left_out.append(f"virtual table {name}")
        elif kind in (TABLE, VIEW) or kinds.get(table) == "table":
            statements.append(Statement(kind, name, table, sql))
    tables = [each.name for each in statements if each.kind == TABLE]
    if not tables:
        raise UserError("there is no table in it that holds rows; give a database with at least one CREATE TABLE")
    for name in tables:
        ((columns,),) = connection.execute("SELECT COUNT(*) FROM pragma_table_xinfo(?)", (name,))
        if columns > MOST_COLUMNS:
            raise UserError(
                f"table {name} has {columns} columns, more than a table may have here; give a copy of the "
                f"database with at most {MOST_COLUMNS} in a table"
            )
    return statements, left_out


def write_empty(path: Path, statements: Sequence[Statement]) -> list[str]:
    """Make a new database of these statements without rows, and return what could not be made, each with the reason.

    UserError for a table that could not.
    """
    left_out: dict[tuple[str, str], str] = {}
    with closing(apsw.Connection(str(path))) as connection, connection:
        for each in sorted(statements, key=lambda each: each.kind != TABLE):  # as they come otherwise
            try:
                connection.execute(each.sql).fetchall()
            except apsw.SQLError as error:
                if each.kind == TABLE:
                    why = f"table {each.name} cannot be made again ({error}); mend its CREATE TABLE"
                    raise UserError(why) from error
                left_out[each.kind, each.name] = str(error)
        for each in statements:
            if each.kind == VIEW and (VIEW, each.name) not in left_out:
                try:
                    connection.execute(f"SELECT * FROM {quote(each.name)} LIMIT 0").fetchall()
                except apsw.SQLError as error:
                    left_out[VIEW, each.name] = str(error)
                    connection.execute(f"DROP VIEW {quote(each.name)}")
    return [f"{kind} {name} ({why})" for (kind, name), why in left_out.items()]


def with_foreign_keys(
    statements: Sequence[Statement], keys: Mapping[str, Sequence[ForeignKey]], identifier: Callable[[str], str]
) -> list[Statement]:
    """The statements with these foreign keys of each table declared too; `identifier` writes a name as SQL."""
    return [
        replace(each, sql=_declaring(each.sql, keys[each.name], identifier))
        if each.kind == TABLE and keys.get(each.name) else each
        for each in statements
    ]  # fmt: skip


def _declaring(sql: str, keys: Sequence[ForeignKey], identifier: Callable[[str], str]) -> str:
    """The CREATE TABLE with more constraints before the parenthesis that ends its columns."""
    place = blanked(sql).rindex(")")
    clauses = [
        f"FOREIGN KEY ({', '.join(map(identifier, key.columns))}) REFERENCES {identifier(key.table)} "
        f"({', '.join(map(identifier, key.parent_columns))})"
        for key in keys
    ]
    return f"{sql[:place]}, {', '.join(clauses)}{sql[place:]}"

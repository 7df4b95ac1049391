"""rowid by its other name, so that a query may use it where it is a column and not where it is a place in the file.

Where a table has an INTEGER PRIMARY KEY, `rowid` is that column; elsewhere it is where a row happens to lie. In a twin
(databases/twins.py) no table has such a key any more, so a query that means the column must say so there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from sqldojo.databases.schema_model import Table, fold, read_schema

_ROWID = {"rowid", "oid", "_rowid_"}


@dataclass(frozen=True)
class Rowids:
    """A query that names the key instead of rowid; `physical` says that it reads rowid of a table without one too."""

    sql: str
    physical: bool = False


def resolve_rowids(sql: str, database: Path) -> Rowids:
    """The query for a database without keys; the same text where it does not speak of rowid or cannot be parsed."""
    if not re.search("rowid|oid", sql, re.IGNORECASE):
        return Rowids(sql)
    try:
        tree = sqlglot.parse_one(sql, read="sqlite")
    except SqlglotError:
        return Rowids(sql)
    tables = {fold(table.name): table for table in read_schema(database).tables}
    resolved, physical = False, False
    for column in list(tree.find_all(exp.Column)):
        table = _source(column, tables) if fold(column.name) in _ROWID else None
        if table is None or fold(column.name) in map(fold, table.names):
            continue
        if table.rowid_alias is None:
            physical = True
        else:
            column.set("this", exp.to_identifier(table.rowid_alias, quoted=True))
            resolved = True
    return Rowids(tree.sql(dialect="sqlite") if resolved else sql, physical)


def _source(column: exp.Column, tables: dict[str, Table]) -> Table | None:
    """The stored table that a column without a definition belongs to; SQLite needs exactly one in the nearest FROM."""
    select = column.parent_select
    while select is not None:
        clauses = (select.args.get("from_"), *(select.args.get("joins") or ()))
        sources = [clause.this for clause in clauses if clause is not None]
        named = [each for each in sources if not column.table or fold(each.alias_or_name) == fold(column.table)]
        if named:
            only = named[0] if len(named) == 1 else None
            return tables.get(fold(only.name)) if isinstance(only, exp.Table) else None
        select = select.parent_select
    return None

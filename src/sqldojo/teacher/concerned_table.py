"""Which table a repair is about: where somebody careful looks before they change a query."""

from __future__ import annotations

import random
from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from sqldojo.repair.sql_tokens import tokens


@dataclass(frozen=True)
class _Uses:
    tables: frozenset[str]
    columns: frozenset[tuple[str, str]]  # table and column


def concerned_table(shown: str, repaired: str, generator: random.Random) -> str:
    """A table of the repaired query: one that the shown query lacks, else one whose columns the two use differently.

    A shown query that cannot be parsed is looked at word by word. Where that says nothing, any of its tables; the empty
    text where it has none or cannot be parsed.
    """
    right, wrong = _uses(repaired), _uses(shown)
    if right is None or not right.tables:
        return ""
    if wrong is None:
        words = {token.text.lower() for token in tokens(shown)}
        changed = {table for table, column in right.columns if column not in words} | (right.tables - words)
    else:
        changed = (right.tables - wrong.tables) or {table for table, _ in right.columns ^ wrong.columns}
    return generator.choice(sorted(changed & right.tables) or sorted(right.tables))


def _uses(sql: str) -> _Uses | None:
    """What a query names, in lower case; a column without a table counts where there is only one."""
    try:
        tree = sqlglot.parse_one(sql, read="sqlite")
    except SqlglotError:
        return None
    named_here = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    aliases = {
        table.alias_or_name.lower(): table.name.lower()
        for table in tree.find_all(exp.Table)
        if table.name.lower() not in named_here
    }
    tables = frozenset(aliases.values())
    only = next(iter(tables)) if len(tables) == 1 else ""
    columns = {
        (aliases.get(column.table.lower(), "") if column.table else only, column.name.lower())
        for column in tree.find_all(exp.Column)
    }
    return _Uses(tables, frozenset(columns))

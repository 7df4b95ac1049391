"""The tools of the repair agent, and what `inspect_schema` shows: short texts, since small models have to read them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from sqldojo.agent.prompt import observation, shorten
from sqldojo.agent.tool_format import RUN, Tool
from sqldojo.databases.execution import Limits, QueryResult
from sqldojo.databases.outline import Outline, Reference, read_outlines
from sqldojo.databases.private_copies import Copy, private_copy
from sqldojo.databases.schema_model import quote
from sqldojo.databases.sessions import prepared_file, run_in_session
from sqldojo.records import SUBMIT_SQL

INSPECT_SCHEMA = "inspect_schema"
REPAIR_TOOLS = (
    Tool(
        INSPECT_SCHEMA,
        "table",
        "List all tables; with the name of one, show how it is made and its first rows.",
        may_be_empty=True,
        example="",
    ),
    RUN,
    Tool(SUBMIT_SQL, "sql", "Submit the repaired query. This ends the task."),
)

_SAMPLE_ROWS = 2
_LONGEST_LINE = 500
_LONGEST_STATEMENT = 1_500
_MOST_TABLES = 40
_QUOTES = " \t\n\"'`[];"


@dataclass(frozen=True)
class TaskDatabase:
    """The database of a task as the agent's tools see it: a file, and the statements that the task runs first."""

    path: Path
    setup: tuple[str, ...]
    limits: Limits

    def run(self, sql: str, *, preview: int | None = None) -> QueryResult:
        """The result of one query, or its first rows."""
        return run_in_session(self.path, self.setup, sql, self.limits, preview)

    def outlines(self) -> tuple[Outline, ...]:
        """All tables and views, those of the setup too."""
        return _outlines(private_copy(self.path), self.setup, self.limits)


@lru_cache(maxsize=256)
def _outlines(copy: Copy, setup: tuple[str, ...], limits: Limits) -> tuple[Outline, ...]:
    with prepared_file(copy.path, setup, limits) as path:
        return read_outlines(path)


def inspect_schema(table: str, database: TaskDatabase) -> str:
    """What the tool returns: a line for each table, or one table's statement and its first rows.

    A table that is not there is an error, which names those that are.
    """
    outlines = database.outlines()
    if not table.strip():
        return _listing(outlines)
    wanted = table.strip(_QUOTES).lower()
    for outline in outlines:
        if outline.name.lower() == wanted:
            rows = database.run(f"SELECT * FROM {quote(outline.name)} LIMIT {_SAMPLE_ROWS}")
            return f"{shorten(outline.sql, _LONGEST_STATEMENT)}\n{observation(rows)}"
    names = ", ".join(outline.name for outline in outlines) or "none"
    return shorten(f"Error: no such table: {shorten(table.strip(), 60)}; the tables are {names}", _LONGEST_LINE)


def _listing(outlines: Sequence[Outline]) -> str:
    lines = [shorten(_line(outline), _LONGEST_LINE) for outline in outlines[:_MOST_TABLES]]
    if len(outlines) > _MOST_TABLES:
        lines.append(f"(and {len(outlines) - _MOST_TABLES} more)")
    return "\n".join(lines) or "(no tables)"


def _line(outline: Outline) -> str:
    """`orders(id INTEGER key, customer_id INTEGER -> customers.id)`; keys of several columns stand behind them."""
    single = {
        reference.columns[0]: _target(reference) for reference in outline.references if len(reference.columns) == 1
    }
    parts = []
    for name, declared in outline.columns:
        key = "key" if outline.primary_key == (name,) else ""
        target = f"-> {single[name]}" if name in single else ""
        parts.append(" ".join(filter(None, (name, declared, key, target))))
    if len(outline.primary_key) > 1:
        parts.append(f"key ({', '.join(outline.primary_key)})")
    parts += [
        f"({', '.join(reference.columns)}) -> {_target(reference)}"
        for reference in outline.references
        if len(reference.columns) > 1
    ]
    return f"{'view ' if outline.is_view else ''}{outline.name}({', '.join(parts)})"


def _target(reference: Reference) -> str:
    columns = ", ".join(reference.parent_columns)
    if len(reference.parent_columns) == 1:
        return f"{reference.table}.{columns}"
    return f"{reference.table}({columns})" if columns else reference.table

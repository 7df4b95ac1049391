"""What the data say about each column of a schema, added up over its databases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sqldojo.databases.execution import OK, run_query
from sqldojo.databases.schema_model import Schema, quote
from sqldojo.errors import UserError

_DAY = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*"


@dataclass(frozen=True)
class Facts:
    """Counts of a column's values: all rows, those with a value, different values, texts, numbers and ISO dates.

    `distinct` adds up the databases' own counts. `letters` is how long the texts are together.
    """

    rows: int
    filled: int
    distinct: int
    texts: int
    numbers: int
    dates: int
    letters: int


def read_facts(databases: Sequence[Path], schema: Schema) -> dict[tuple[str, str], Facts]:
    """The facts of every column by table and column; UserError when a database lacks one or cannot be read."""
    facts = {}
    for table in schema.tables:
        counts = []
        for name in table.names:
            column = quote(name)
            counts.append(
                f"COUNT(*), COUNT({column}), COUNT(DISTINCT {column}), "
                f"TOTAL(typeof({column}) = 'text'), TOTAL(typeof({column}) IN ('integer', 'real')), "
                f"TOTAL(typeof({column}) = 'text' AND {column} GLOB '{_DAY}' AND date({column}) IS NOT NULL), "
                f"TOTAL(CASE WHEN typeof({column}) = 'text' THEN length({column}) END)"
            )
        rows = [query(path, f"SELECT {', '.join(counts)} FROM {quote(table.name)}")[0] for path in databases]
        totals = [int(sum(values)) for values in zip(*rows, strict=True)]
        for place, name in enumerate(table.names):
            facts[table.name, name] = Facts(*totals[7 * place : 7 * place + 7])
    return facts


def determines(databases: Sequence[Path], table: str, one: str, other: str) -> bool:
    """Whether rows of one value of the first column never have several of the second, as a city lies in one country."""
    first, second = quote(one), quote(other)
    sql = (
        f"SELECT 1 FROM {quote(table)} WHERE {first} IS NOT NULL GROUP BY {first} "
        f"HAVING COUNT(DISTINCT {second}) > 1 LIMIT 1"
    )
    return not any(query(path, sql) for path in databases)


def query(path: Path, sql: str) -> tuple[tuple[object, ...], ...]:
    """The rows of a query of our own; UserError when the database does not give them."""
    result = run_query(path, sql)
    if result.status != OK:
        raise UserError(f"{path}: types cannot be composed from it: {result.message}; give databases of one schema")
    return result.rows

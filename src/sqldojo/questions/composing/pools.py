"""Where the values of composed conditions come from: a query for each kind of value of a column.

The query of a category reads the data, so that it lists the values of whatever family of databases it is run on.
Thresholds, years and months are written out, taken from the middle of the data, where both sides of them have rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from sqldojo.databases.parameters import shared_pool
from sqldojo.questions.composing.facts import query
from sqldojo.questions.composing.identifiers import identifier
from sqldojo.questions.composing.words import spaced
from sqldojo.questions.parameter_names import parameter_name

Pools = Mapping[tuple[str, str, str], Mapping[str, str]]  # table, column and kind of value -> parameter -> its query

EQUAL, THRESHOLD, BETWEEN, YEAR, YEARS, DAY, MONTH, YEAR_MONTH = (
    "equal", "threshold", "between", "year", "years", "day", "month", "year-month",
)  # fmt: skip
COUNT, SUM = "count", "sum"

FEWEST = 3  # values of a pool: two to train and one to reserve
_MOST = 12
_SHARES = (2, 3, 4, 5, 6, 7, 8)  # tenths of the rows below a threshold


def values(items: Sequence[str | int | float]) -> str:
    """The query that lists these values."""
    texts = ["'" + item.replace("'", "''") + "'" if isinstance(item, str) else repr(item) for item in items]
    return "VALUES " + ", ".join(f"({text})" for text in texts)


def parameter(*parts: str) -> str:
    """The name of a parameter for a column, made of its table, itself and the kind of value."""
    return parameter_name(" ".join(map(spaced, parts)))


def category_pool(databases: Sequence[Path], table: str, column: str) -> dict[str, str]:
    """The values of a column that the databases share, if they are enough."""
    name = identifier(column)
    sql = f"SELECT DISTINCT {name} FROM {identifier(table)} WHERE {name} IS NOT NULL ORDER BY {name}"
    return {parameter(table, column): sql} if len(shared_pool(databases, sql)) >= FEWEST else {}


def number_pools(databases: Sequence[Path], table: str, column: str) -> dict[str, dict[str, str]]:
    """Thresholds of a column of numbers, by kind: any, and a lower one with a higher one."""
    name, source = identifier(column), identifier(table)
    found = thresholds(databases, f"SELECT {name} AS value FROM {source} WHERE {name} IS NOT NULL")
    pools = {}
    if len(found) >= FEWEST:
        pools[THRESHOLD] = {parameter(table, column): values(found)}
    if len(found) >= 2 * FEWEST:
        half = len(found) // 2
        low, high = parameter(table, column, "from"), parameter(table, column, "to")
        pools[BETWEEN] = {low: values(found[:half]), high: values(found[half:])}
    return pools


def group_pool(databases: Sequence[Path], name: str, aggregate: str, table: str, group: str) -> dict[str, str]:
    """Thresholds for an aggregate of the rows that share a value of the column `group`, if there are enough."""
    source, key = identifier(table), identifier(group)
    sql = f"SELECT {aggregate} AS value FROM {source} WHERE {key} IS NOT NULL GROUP BY {key}"
    found = thresholds(databases, sql, shares=(1, 2, 3, 4, 5, 6))
    return {name: values(found)} if len(found) >= FEWEST else {}


def thresholds(databases: Sequence[Path], sql: str, shares: Sequence[int] = _SHARES) -> list[int | float]:
    """Round numbers near those below which these tenths of the values of `sql` (its column `value`) lie."""
    found: set[int | float] = set()
    for path in databases:
        count = query(path, f"SELECT COUNT(*) FROM ({sql})")[0][0]
        ordered = f"SELECT value FROM ({sql}) ORDER BY value LIMIT 1 OFFSET"
        places = ", ".join(f"({ordered} {count * share // 10})" for share in shares)
        found |= {_round(value) for value in query(path, f"SELECT {places}")[0] if value is not None}
    ordered = sorted(found)
    step = max(1, -(-len(ordered) // _MOST))
    return ordered[::step]


def _round(value: float) -> int | float:
    """The value with two digits that count; whole where it has no other digit."""
    rounded = float(f"{value:.2g}")
    return int(rounded) if rounded.is_integer() else rounded


def date_pools(databases: Sequence[Path], table: str, column: str) -> dict[str, dict[str, str]]:
    """The pools of a column of dates by kind, for those kinds that have enough values in all databases."""
    name, source = identifier(column), identifier(table)
    shared = {}
    for kind, pattern in ((YEAR, "%Y"), (MONTH, "%m"), (YEAR_MONTH, "%Y-%m")):
        part = f"strftime('{pattern}', {name})"
        shared[kind] = shared_pool(
            databases, f"SELECT DISTINCT {part} FROM {source} WHERE {part} IS NOT NULL ORDER BY {part}"
        )
    pools = {}
    for kind, found in shared.items():
        if len(found) >= FEWEST:
            step = max(1, len(found) // _MOST)
            pools[kind] = {parameter(table, column, kind): values(found[::step])}
    years, months = shared[YEAR], shared[YEAR_MONTH]
    if len(years) >= 2 * FEWEST:
        half = len(years) // 2
        first, last = parameter(table, column, "first year"), parameter(table, column, "last year")
        pools[YEARS] = {first: values(years[:half]), last: values(years[half:])}
    days = [f"{month}-15" for month in months[len(months) // 8 : len(months) - len(months) // 8]]
    if len(days) >= FEWEST:
        pools[DAY] = {parameter(table, column, "day"): values(days[:: max(1, len(days) // _MOST)])}
    return pools

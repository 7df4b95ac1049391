"""What the references say about the rows worth having: values beside their literals, columns that share values.

A wrong query often differs from the right one only where a cell is exactly at a literal or just beside it. So each
literal is traced to the columns it is compared with, and each of those gets the literal, its neighbours, its case
variants, the texts that nearly fit a pattern, and both ends of a date's day, month and year.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import combinations
from math import isfinite

from sqlglot import exp

from sqldojo.databases.generating import ForeignLink
from sqldojo.databases.invented_values import fits
from sqldojo.databases.schema_model import Column, Schema, Table, Value
from sqldojo.databases.type_affinity import stored
from sqldojo.verifier.columns import ColumnKey, Columns

_PREDICATES = (
    exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between, exp.In, exp.Like, exp.ILike, exp.Glob, exp.Is,
    exp.NullSafeEQ, exp.NullSafeNEQ,
)  # fmt: skip
_DATE_PARTS = (exp.TimeToStr, exp.Date, exp.TsOrDsToTimestamp, exp.Substring, exp.Like)
_SETTINGS = (exp.TimeToStr, exp.Substring, exp.Round, exp.DateAdd, exp.DataTypeParam)  # their literals are no cells
_DAY = re.compile(r"(\d{4})-(\d{2})-(\d{2})([ T]\d{2}:\d{2}(:\d{2})?)?")
_YEAR = re.compile(r"((?:19|20)\d{2})(?:-?%)?")
_YEAR_MONTH = re.compile(r"((?:19|20)\d{2})-(\d{2})(?:-?%)?")
_MONTH = re.compile(r"(?:%-|____-)?(0[1-9]|1[0-2])(?:-%|%|-__)?")
_LEAST, _HUGE = -(2**63), 10**300
_CLOCK = ("now", "subsec", "subsecond")  # what date functions take for the time of day
_LARGEST_GROUP = 50
_LARGEST_STEP = 366
_EMPTY = {"TEXT": ("",), "INTEGER": (0,), "REAL": (0.0,)}


@dataclass(frozen=True)
class Hints:
    """What a search for telling rows starts from.

    `values` are the cells worth having in a column, `literals` those that the references name. `alike` are groups of
    columns that are compared with each other, `links` the undeclared foreign keys among them, `counts` the group
    sizes that a reference compares with, `steps` the small numbers by which two cells may be told apart.
    """

    values: Mapping[ColumnKey, tuple[Value, ...]]
    literals: Mapping[ColumnKey, frozenset[Value]]
    alike: tuple[tuple[ColumnKey, ...], ...]
    links: tuple[ForeignLink, ...]
    counts: tuple[int, ...]
    steps: tuple[int, ...]


def hints(references: Iterable[exp.Expression], schema: Schema) -> Hints:
    """What the parsed references say about the rows of a database with this schema."""
    values: dict[ColumnKey, dict[Value, None]] = {}
    literals: dict[ColumnKey, set[Value]] = {}
    pairs: list[tuple[ColumnKey, ColumnKey]] = []
    counts: set[int] = set()
    steps: set[int] = set()
    columns = {(table.name, column.name): column for table in schema.tables for column in table.columns}
    for tree in references:
        resolver = Columns(tree, schema)
        for literal in tree.find_all(exp.Literal):
            predicate = literal.find_ancestor(*_PREDICATES)
            if predicate is None or isinstance(literal.parent, _SETTINGS) or _belongs_to_subquery(literal, predicate):
                continue
            if literal.this.lower() in _CLOCK and isinstance(literal.parent, exp.Func):
                continue  # such a cell would make good queries read the clock
            keys = resolver.within(predicate) or resolver.below(predicate)
            value = _value(literal)
            if isinstance(value, int) and 0 <= value <= _LARGEST_GROUP and _is_about_a_count(predicate, keys):
                counts.add(value)
            if isinstance(value, int) and abs(value) <= _LARGEST_STEP and len(keys) > 1:
                steps.add(value)
            for key in keys:
                fitting = list(dict.fromkeys(_fitting(value, predicate, columns[key])))
                values.setdefault(key, {}).update(dict.fromkeys(fitting))
                literals.setdefault(key, set()).update(_stored(value, columns[key]))
        for missing in tree.find_all(exp.Null):
            if isinstance(missing.parent, exp.Is):  # what is there and yet empty is often mixed up with what is missing
                for key in resolver.within(missing.parent):
                    values.setdefault(key, {}).update(dict.fromkeys(_EMPTY.get(columns[key].affinity, ())))
        pairs += _compared_columns(tree, resolver)
    alike, links = _relations(pairs, schema)
    return Hints(
        values={key: tuple(found) for key, found in values.items()},
        literals={key: frozenset(found) for key, found in literals.items()},
        alike=alike,
        links=links,
        counts=tuple(sorted(counts)),
        steps=tuple(sorted(steps)),
    )


def _belongs_to_subquery(literal: exp.Literal, predicate: exp.Expression) -> bool:
    """Whether a query lies between the two, as in `x IN (SELECT y FROM t LIMIT 3)`."""
    select = literal.find_ancestor(exp.Query)
    return select is not None and select.find_ancestor(*_PREDICATES) is predicate


def _value(literal: exp.Literal) -> Value:
    if literal.is_string:
        return literal.this
    number = _number(literal.this)
    sign = -1 if isinstance(literal.parent, exp.Neg) else 1
    return None if number is None else sign * number


def _number(text: str) -> int | float | None:
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        return number if isinstance(number, int) or isfinite(number) else None
    return None


def _is_about_a_count(predicate: exp.Expression, keys: tuple[ColumnKey, ...]) -> bool:
    return not keys or predicate.find(exp.Count) is not None


def _stored(value: Value, column: Column) -> list[Value]:
    """The value as the column would store it; none when it is of a kind that the column is not meant for."""
    if isinstance(value, int) and not _LEAST <= value < -_LEAST:  # SQLite reads a real number
        value = float(value) if abs(value) < _HUGE else None
    kept = stored(value, column.affinity)
    endless = isinstance(kept, float) and not isfinite(kept)
    return [kept] if fits(kept, column) and not endless else []


def _fitting(value: Value, predicate: exp.Expression, column: Column) -> Iterator[Value]:
    """The value and what lies beside it, as the column would store them."""
    for near in _neighbours(value, predicate, column):
        yield from _stored(near, column)


def _neighbours(value: Value, predicate: exp.Expression, column: Column) -> Iterator[Value]:
    number = value if isinstance(value, int | float) else _number(value) if isinstance(value, str) else None
    if column.affinity in ("INTEGER", "REAL") or isinstance(value, int | float):
        if number is not None:
            yield from _near_numbers(number, column)
        return
    if isinstance(value, str):
        dates = list(_near_dates(value, predicate))
        yield from dates or _near_texts(value, predicate)
        if number is not None and not dates:
            yield from (str(near) for near in _near_numbers(number, column))


def _near_numbers(number: int | float, column: Column) -> Iterator[int | float]:
    yield from (number, number - 1, number + 1)
    if isinstance(number, float) and column.affinity == "INTEGER":
        yield from (int(number), int(number) + 1)
    if column.affinity in ("REAL", "NUMERIC") or isinstance(number, float):
        yield from (round(number - 0.01, 6), round(number + 0.01, 6), number + 0.5, number / 2)
    elif isinstance(number, int) and number > 1:
        yield number // 2


def _near_texts(text: str, predicate: exp.Expression) -> Iterator[str]:
    """The text, its case variants, and texts a letter longer or shorter; for a pattern, texts that just fit or not."""
    if isinstance(predicate, exp.Like | exp.ILike | exp.Glob):
        many, one = ("*", "?") if isinstance(predicate, exp.Glob) else ("%", "_")
        core = text.replace(one, "q")
        inner = core.strip(many).replace(many, "")
        parts = core.strip(many).replace(many, "x")
        yield from (inner, f"{inner}x", f"x{inner}", f"x{inner}x", parts, inner.upper(), inner.lower(), inner[:-1])
        yield from (f"{inner.swapcase()}x", f"x{inner.capitalize()}")
        return
    yield from (text, text.lower(), text.upper(), text.capitalize(), text[:-1], f"{text}x")


def _near_dates(text: str, predicate: exp.Expression) -> Iterator[str]:
    """Days beside a date, and both ends of a year or a month that the predicate takes out of a date."""
    if match := _DAY.fullmatch(text):
        try:
            day = date(*map(int, match.groups()[:3]))
        except ValueError:
            return
        if match.group(4):
            yield text
        yield from _around(day)
    elif predicate.find(*_DATE_PARTS):
        if match := _YEAR.fullmatch(text):
            yield from _year_ends(int(match.group(1)))
        elif match := _YEAR_MONTH.fullmatch(text):
            year, month = map(int, match.groups())
            if 1 <= month <= 12:
                yield from _month_ends(year, month)
                yield f"{year - 1}-{month:02d}-17"
        elif match := _MONTH.fullmatch(text):
            month = int(match.group(1))
            for year in (2022, 2023):
                yield from _month_ends(year, month)
                yield f"{year}-{month % 12 + 1:02d}-{month:02d}"


def _around(day: date) -> Iterator[str]:
    """The day, the two beside it, the end of a day with its time, and the same day of another month and year."""
    if not 1 < day.year < 9999:  # such as a date that stands for never; the calendar ends there
        yield day.isoformat()
        return
    for shift in (0, -1, 1):
        with_shift = day + timedelta(days=shift)
        yield with_shift.isoformat()
    yield f"{day.isoformat()} 00:00:00"
    yield f"{day.isoformat()} 18:30:00"
    yield f"{(day - timedelta(days=1)).isoformat()} 23:59:00"
    yield date(day.year - 1, day.month, min(day.day, 28)).isoformat()
    yield date(day.year + 1, day.month, min(day.day, 28)).isoformat()
    yield date(day.year, day.month % 12 + 1, min(day.day, 28)).isoformat()
    yield date(day.year, day.month, 14).isoformat()


def _year_ends(year: int) -> Iterator[str]:
    yield from (f"{year}-01-01", f"{year}-12-31", f"{year - 1}-12-31", f"{year + 1}-01-01", f"{year}-06-15")
    yield from (f"{year}-12-31 23:59:00", f"{year - 1}-06-15")


def _month_ends(year: int, month: int) -> Iterator[str]:
    first = date(year, month, 1)
    after = date(year + month // 12, month % 12 + 1, 1)
    last = after - timedelta(days=1)
    for day in (first, last, after, first - timedelta(days=1), first + timedelta(days=19)):
        yield day.isoformat()
    yield f"{last.isoformat()} 18:30:00"


def _compared_columns(tree: exp.Expression, resolver: Columns) -> Iterator[tuple[ColumnKey, ColumnKey]]:
    """Pairs of columns that the query compares, or puts into one column of a set operation."""
    for node in tree.find_all(exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE):
        for one in resolver.within(node.this):
            for other in resolver.within(node.expression):
                yield one, other
    for node in tree.find_all(exp.In):
        if query := node.args.get("query"):
            for one, other in zip(resolver.within(node.this), resolver.selected(query.this), strict=False):
                yield one, other
    for node in tree.find_all(exp.SetOperation):
        yield from zip(resolver.selected(node.left), resolver.selected(node.right), strict=False)


def _relations(
    pairs: Iterable[tuple[ColumnKey, ColumnKey]], schema: Schema
) -> tuple[tuple[tuple[ColumnKey, ...], ...], tuple[ForeignLink, ...]]:
    """The compared pairs as groups of columns alike, and as foreign keys where one of the two is a table's key."""
    tables = {table.name: table for table in schema.tables}
    declared = {
        frozenset(((table.name, column), (key.table, parent)))
        for table in schema.tables
        for key in table.foreign_keys
        for column, parent in zip(key.columns, key.parent_columns, strict=True)
    }
    groups: list[set[ColumnKey]] = []
    links: dict[ForeignLink, None] = {}
    for one, other in dict.fromkeys(pair for pair in pairs if pair[0] != pair[1]):
        if frozenset((one, other)) in declared:
            continue
        if link := _link(tables, one, other) or _link(tables, other, one):
            links[link] = None
        elif not (_is_key(tables[one[0]], one[1]) or _is_key(tables[other[0]], other[1])):
            touching = [group for group in groups if group & {one, other}]
            groups = [group for group in groups if group not in touching]
            groups.append({one, other}.union(*touching))
    return tuple(tuple(sorted(group)) for group in groups), tuple(links)


def _link(tables: Mapping[str, Table], child: ColumnKey, parent: ColumnKey) -> ForeignLink | None:
    if child[0] == parent[0] or not _is_key(tables[parent[0]], parent[1]) or _is_key(tables[child[0]], child[1]):
        return None
    return ForeignLink(child[0], (child[1],), parent[0], (parent[1],))


def _is_key(table: Table, column: str) -> bool:
    return (column,) in table.unique or table.rowid_alias == column


def shared_values(hints: Hints) -> dict[ColumnKey, tuple[Value, ...]]:
    """The values of each hinted column, with those of the columns it is compared with."""
    values = {key: dict.fromkeys(found) for key, found in hints.values.items()}
    for group in hints.alike:
        for one, other in combinations(group, 2):
            mine, theirs = values.get(one, {}), values.get(other, {})
            if mine or theirs:
                values[one] = values[other] = {**mine, **theirs}
    return {key: tuple(found) for key, found in values.items()}

"""Rows that show something by themselves, changed so that they show it among many others.

A few rows have a highest price, a last date and groups of their own; among thousands of others they do not. So each
column is moved beyond the values that are there, or onto the ends of them, and texts become new ones.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date
from random import Random

from sqldojo.databases.editing import shifted, unused
from sqldojo.databases.schema_model import Rows, Schema, Value

ColumnKey = tuple[str, str]  # table, column
_FEW = 4  # values of a column that are moved singly


def adaptations(
    schema: Schema,
    rows: Rows,
    present: Rows,
    named: Mapping[ColumnKey, Collection[Value]],
    rng: Random,
    *,
    wanted: Sequence[Value] = (),
) -> Iterator[Rows]:
    """The rows themselves, then changed for a place among those that are `present`.

    `named` has the columns to change, each with the values that must stay, such as those that a query names. `wanted`
    are values to move others onto, beside the ends of a column.
    """
    places = {key: (schema.table(key[0]).names.index(key[1])) for key in named}
    cells = {key: _values(rows, key, place) for key, place in places.items()}
    there = {key: _values(present, key, place) for key, place in places.items()}

    def changed(start: Rows, key: ColumnKey, new: Mapping[Value, Value]) -> Rows:
        table, place = key[0], places[key]
        return {**start, table: [(*row[:place], new.get(row[place], row[place]), *row[place + 1 :])
                                 for row in start.get(table, ())]}  # fmt: skip

    yield rows
    free = {key: [value for value in values if not _stays(value, named[key])] for key, values in cells.items()}
    renamed, filled = rows, rows
    for key, values in free.items():
        texts = [value for value in values if isinstance(value, str) and _number(value) is None]
        new = {text: unused(there[key], text, rng) for text in texts}
        renamed, filled = changed(renamed, key, new), changed(filled, key, new)
        if there[key] and isinstance(there[key][-1], str):
            filled = changed(filled, key, {None: unused(there[key], there[key][0], rng)})
    starts = [start for place, start in enumerate((rows, renamed, filled)) if start not in (rows, renamed)[:place]]
    yield from starts[1:]
    moves = [(key, new) for key in places for new in _moves(free[key], cells[key], there[key], wanted)]
    for start in starts:
        for key, new in moves:
            yield changed(start, key, new)


def within(schema: Schema, rows: Rows, present: Rows, *, kept: Collection[ColumnKey]) -> Rows:
    """The rows, their texts above all that are `present` in a column replaced by the largest of these but in `kept`.

    Which text is the largest matters to more than one query: people and mutants take it for "some other value".
    """
    result = dict(rows)
    for table in schema.tables:
        for place, column in enumerate(table.names):
            if (table.name, column) in kept or not _texts(rows, table.name, place):
                continue  # `present` has thousands of rows to look through
            if texts := _texts(present, table.name, place):
                largest = max(texts)
                result[table.name] = [
                    (*row[:place], largest, *row[place + 1 :]) if _is_text(row[place]) and row[place] > largest else row
                    for row in result.get(table.name, ())
                ]
    return result


def _texts(rows: Rows, table: str, place: int) -> list[str]:
    return [row[place] for row in rows.get(table, ()) if _is_text(row[place])]


def _is_text(value: Value) -> bool:
    return isinstance(value, str) and _number(value) is None


def _values(rows: Rows, key: ColumnKey, place: int) -> list[Value]:
    return sorted({row[place] for row in rows.get(key[0], ()) if row[place] is not None}, key=_order)


def _order(value: Value) -> tuple[bool, Value]:
    return isinstance(value, str), value


def _stays(value: Value, named: Collection[Value]) -> bool:
    folded = {each.casefold() if isinstance(each, str) else each for each in named}
    return (value.casefold() if isinstance(value, str) else value) in folded


def _moves(
    free: list[Value], cells: list[Value], there: list[Value], wanted: Sequence[Value]
) -> Iterator[Mapping[Value, Value]]:
    """What to put for the free values of a column: all above or below those that are there, or one on either end."""
    if not free or not there or isinstance(there[0], str) != isinstance(there[-1], str):
        return
    numbers = {value: number for value in free if (number := _number(value)) is not None}
    known = [number for value in there if (number := _number(value)) is not None]
    ends = [max(known) + 1, min(known) - 1] if known and len(free) == len(cells) == len(numbers) else []
    for end, nearest in zip(ends, (min, max), strict=False):
        offset = end - nearest(numbers.values())
        if not min(numbers.values()) + offset <= 0 < min(known):  # amounts stay above 0
            yield {value: shifted(value, offset) for value in free}
    single = list(dict.fromkeys((free[-1], free[0], *free[:_FEW])))
    for value in single:
        for end in dict.fromkeys((there[-1], there[0], *(each for each in wanted if each in there))):
            yield {value: end}
        for end in ends:
            if not end <= 0 < min(known):
                yield {value: shifted(value, end - numbers[value])}


def _number(value: Value) -> int | float | None:
    """A number, or the day of a date, to measure distances by; None for another text."""
    if isinstance(value, str):
        if not value[:1].isdigit():  # most texts: quicker than an error
            return None
        try:
            return date.fromisoformat(value[:10]).toordinal()
        except ValueError:
            return None
    return value if isinstance(value, int | float) else None

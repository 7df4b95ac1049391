"""Small random edits of a set of rows, the steps of the search for rows that tell queries apart.

Each is one of the ways in which real data betrays a wrong query: a cell at a literal's edge, a missing value, a second
row of the same name, a tie, a parent without children, a child with another parent. Rows that an edit makes illegal
are dropped by SQLite when they are loaded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from random import Random

from sqldojo.databases.generating import ForeignLink
from sqldojo.databases.schema_model import Rows, Schema, Table, Value

Row = tuple[Value, ...]
_MOST_COPIES = 20
_DEEPEST = 2
_USUAL_STEPS = (0, 1, -1, 3, 5, 7)
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True)
class Worth:
    """What edits bring into cells: `seeds` that a query compares with, other values of `domains`, and `steps`.

    A step is a number, or a number of days, by which a cell may differ from another one of its row.
    """

    seeds: Mapping[tuple[str, str], Sequence[Value]]
    domains: Mapping[tuple[str, str], Sequence[Value]]
    steps: Sequence[int] = ()


class Editor:
    """Edits for one schema. Without anything `worth` having they bring no value into a column that was not in it."""

    def __init__(self, schema: Schema, worth: Worth | None, links: Sequence[ForeignLink] = ()) -> None:
        self._tables = {table.name: table for table in schema.tables}
        self._worth = worth
        self._references: dict[str, list[tuple[tuple[str, ...], str, tuple[str, ...]]]] = {
            table.name: [(key.columns, key.table, key.parent_columns) for key in table.foreign_keys]
            + [(link.columns, link.parent, link.parent_columns) for link in links if link.table == table.name]
            for table in schema.tables
        }
        self._bound = {
            name: {column for columns, _, _ in references for column in columns}
            for name, references in self._references.items()
        }

    def __call__(self, rows: Rows, reads: Mapping[str, Sequence[str]], rng: Random) -> Rows:
        """The rows after one random edit in one of the tables; lists that did not change are the same objects.

        `reads` names the tables to edit, each with the columns in which a change is most likely to matter.
        """
        table = self._tables[rng.choice(sorted(reads))]
        if not rows.get(table.name):
            return rows
        draw = rng.random()
        if draw < 0.4:
            return self._set_cell(rows, table, reads[table.name], rng)
        if draw < 0.55:
            return self._copy_row(rows, table, reads[table.name], rng)
        edits: tuple[Callable[[Rows, Table, Random], Rows], ...] = (
            self._copy_with_children, self._relink, self._delete_row, self._thin_out, self._swap_keys,
            self._copy_group,
        )  # fmt: skip
        return rng.choice(edits)(rows, table, rng)

    def _set_cell(self, rows: Rows, table: Table, reads: Sequence[str], rng: Random) -> Rows:
        """One cell becomes a value worth having, NULL, or that of another row."""
        number = self._place(table, reads, rng)
        if number is None:
            return self._relink(rows, table, rng)
        index = rng.randrange(len(rows[table.name]))
        row = rows[table.name][index]
        return _replaced(rows, table, index, _with(row, number, self._value(rows, table, row, number, reads, rng)))

    def _value(
        self, rows: Rows, table: Table, row: Row, number: int, reads: Sequence[str], rng: Random
    ) -> Value:
        """Something for one cell of a row: worth having, missing, an average, near another cell, or of another row."""
        column = table.columns[number]
        cells = [each[number] for each in rows[table.name]]
        if self._worth is None:
            return rng.choice(cells)
        seeds, known = (part.get((table.name, column.name)) for part in (self._worth.seeds, self._worth.domains))
        alike = [place for place, each in enumerate(table.columns) if each.affinity == column.affinity]
        fellows = [place for place in alike if place != number and table.columns[place].name in reads]
        kinds = {
            "missing": 0 if column.not_null else 12,
            "asked": 45 if seeds else 0,
            "known": 15 if known else 0,
            "stepped": 10 if seeds or not fellows else 35,
            "balancing": 10 if isinstance(row[number], int | float) else 0,
            "another": 15,
        }
        kind = rng.choices(list(kinds), list(kinds.values()))[0]
        if kind == "missing":
            return None
        if kind in ("asked", "known"):
            return rng.choice(seeds if kind == "asked" else known)
        if kind == "stepped":
            steps = self._worth.steps if self._worth.steps and rng.random() < 0.5 else _USUAL_STEPS
            return shifted(row[rng.choice(fellows or alike)], rng.choice(steps))
        return _balancing(cells, row[number], rng) if kind == "balancing" else rng.choice(cells)

    def _place(self, table: Table, reads: Sequence[str], rng: Random) -> int | None:
        """A column that may be changed freely, most often one of those read; None when there is none."""
        free = [number for number, column in enumerate(table.columns) if self._is_free(table, column.name)]
        read = [number for number in free if table.columns[number].name in reads]
        return rng.choice(read if read and rng.random() < 0.85 else free) if free else None

    def _copy_row(self, rows: Rows, table: Table, reads: Sequence[str], rng: Random) -> Rows:
        """A second row like another but for its key, and often one more cell."""
        copied = rng.choice(rows[table.name])
        changed = {**rows, table.name: [*rows[table.name], self._fresh(rows, table, copied, rng)]}
        number = self._place(table, reads, rng)
        if number is not None and rng.random() < 0.6:
            row = changed[table.name][-1]
            changed[table.name][-1] = _with(row, number, self._value(rows, table, row, number, reads, rng))
        return changed

    def _copy_with_children(self, rows: Rows, table: Table, rng: Random) -> Rows:
        """A namesake with rows of its own that are like the other's: a tie in everything that is added up."""
        original = rng.choice(rows[table.name])
        copy = self._fresh(rows, table, original, rng)
        changed = {**rows, table.name: [*rows[table.name], copy]}
        self._copy_children(changed, rows, table, original, copy, rng, depth=0)
        return changed

    def _copy_children(
        self, changed: Rows, rows: Rows, table: Table, original: Row, copy: Row, rng: Random, depth: int
    ) -> None:
        for name, references in self._references.items():
            child = self._tables[name]
            for columns, parent, parent_columns in references:
                if parent != table.name or name == table.name or depth > _DEEPEST:
                    continue
                was, now = _cells(table, original, parent_columns), _cells(table, copy, parent_columns)
                places = [child.names.index(column) for column in columns]
                for row in [row for row in rows[name] if [row[place] for place in places] == was][:_MOST_COPIES]:
                    moved = row
                    for place, value in zip(places, now, strict=True):
                        moved = _with(moved, place, value)
                    if not any(set(key) & set(columns) for key in child.unique):
                        moved = self._fresh(changed, child, moved, rng)
                    changed[name] = [*changed[name], moved]
                    self._copy_children(changed, rows, child, row, moved, rng, depth + 1)

    def _copy_group(self, rows: Rows, table: Table, rng: Random) -> Rows:
        """All rows with one value in a column become those of another value too: a tie between two groups."""
        columns = [number for number, column in enumerate(table.columns) if column.name not in table.primary_key]
        if not columns:
            return rows
        number = rng.choice(columns)
        source = rng.choice(rows[table.name])[number]
        name = table.columns[number].name
        others = [row[number] for row in rows[table.name] if row[number] not in (source, None)]
        for bound, parent, parent_columns in self._references[table.name]:
            if bound == (name,):
                others += [_cells(self._tables[parent], row, parent_columns)[0] for row in rows.get(parent, ())]
        others = [value for value in others if value != source]
        group = [row for row in rows[table.name] if row[number] == source]
        if not others or len(group) > _MOST_COPIES:
            return rows
        value = rng.choice(others)
        changed = {**rows, table.name: [row for row in rows[table.name] if row[number] != value]}
        for row in group:
            copy = self._fresh(changed, table, _with(row, number, value), rng)
            changed[table.name] = [*changed[table.name], copy]
        return changed

    def _relink(self, rows: Rows, table: Table, rng: Random) -> Rows:
        """One row gets another parent, or none."""
        references = self._references[table.name]
        if not references:
            return rows
        columns, parent, parent_columns = rng.choice(references)
        nullable = self._worth is not None and not any(
            column.not_null for column in table.columns if column.name in columns
        )
        index = rng.randrange(len(rows[table.name]))
        row = rows[table.name][index]
        if nullable and rng.random() < 0.15:
            values: list[Value] = [None] * len(columns)
        elif rows.get(parent):
            values = _cells(self._tables[parent], rng.choice(rows[parent]), parent_columns)
        else:
            return rows
        for column, value in zip(columns, values, strict=True):
            row = _with(row, table.names.index(column), value)
        return _replaced(rows, table, index, row)

    def _delete_row(self, rows: Rows, table: Table, rng: Random) -> Rows:
        """One row fewer; what refers to it goes too when the rows are loaded."""
        if len(rows[table.name]) < 2:
            return rows
        index = rng.randrange(len(rows[table.name]))
        return {**rows, table.name: rows[table.name][:index] + rows[table.name][index + 1 :]}

    def _thin_out(self, rows: Rows, table: Table, rng: Random) -> Rows:
        """Hardly any row, or none: some queries differ only where there is nothing to find."""
        if self._worth is not None:  # a messy instance is to hold as much as it can
            return rows
        kept = rng.sample(rows[table.name], min(len(rows[table.name]), rng.choice((0, 1, 2))))
        return {**rows, table.name: kept}

    def _swap_keys(self, rows: Rows, table: Table, rng: Random) -> Rows:
        """Two rows exchange everything but their key, so that the largest key is no longer the latest row."""
        if not table.primary_key or len(rows[table.name]) < 2:
            return rows
        one, other = rng.sample(range(len(rows[table.name])), 2)
        keys = {table.names.index(column) for column in table.primary_key if column in table.names}
        first, second = rows[table.name][one], rows[table.name][other]
        swapped = list(rows[table.name])
        places = range(len(first))
        swapped[one] = tuple(first[place] if place in keys else second[place] for place in places)
        swapped[other] = tuple(second[place] if place in keys else first[place] for place in places)
        return {**rows, table.name: swapped}

    def _fresh(self, rows: Rows, table: Table, row: Row, rng: Random) -> Row:
        """The row with values that no other row has in its unique columns; a foreign key among them moves on."""
        for key in table.unique or ():
            owned = [column for column in key if column not in self._bound[table.name]]
            for column in owned[:1]:
                place = table.names.index(column)
                row = _with(row, place, unused([each[place] for each in rows[table.name]], row[place], rng))
            if not owned:
                row = self._other_pair(rows, table, key, row, rng)
        return row

    def _other_pair(self, rows: Rows, table: Table, key: Sequence[str], row: Row, rng: Random) -> Row:
        columns, parent, parent_columns = rng.choice(
            [reference for reference in self._references[table.name] if set(reference[0]) & set(key)]
        )
        if rows.get(parent):
            values = _cells(self._tables[parent], rng.choice(rows[parent]), parent_columns)
            for column, value in zip(columns, values, strict=True):
                row = _with(row, table.names.index(column), value)
        return row

    def _is_free(self, table: Table, column: str) -> bool:
        return column not in self._bound[table.name] and column not in table.primary_key


def _replaced(rows: Rows, table: Table, index: int, row: Row) -> Rows:
    changed = list(rows[table.name])
    changed[index] = row
    return {**rows, table.name: changed}


def _with(row: Row, place: int, value: Value) -> Row:
    return (*row[:place], value, *row[place + 1 :])


def _cells(table: Table, row: Row, columns: Sequence[str]) -> list[Value]:
    return [row[table.names.index(column)] for column in columns]


def _balancing(cells: Sequence[Value], own: Value, rng: Random) -> Value:
    """What one cell must be for the average of its column to equal another cell; `own` where that is out of range."""
    others = [value for value in cells if isinstance(value, int | float)]
    if own in others:
        others.remove(own)
    total = sum(others)
    balancing = [value * (len(others) + 1) - total for value in others] if len(others) > 1 else []
    plausible = [value for value in balancing if 0 <= value <= 3 * max(others)]
    return rng.choice(plausible) if plausible else own


def shifted(value: Value, offset: int) -> Value:
    """A number, or the day at the start of a text, moved by an offset; other values as they are."""
    if isinstance(value, int | float):
        return value + offset
    if isinstance(value, str) and _DAY.match(value):
        try:
            return (date.fromisoformat(value[:10]) + timedelta(days=offset)).isoformat() + value[10:]
        except (ValueError, OverflowError):
            return value
    return value


def unused(taken: Sequence[Value], value: Value, rng: Random) -> Value:
    """A value of the same kind that is not taken: numbers below and above the others, texts with a number behind."""
    present = set(taken)
    numbers = [each for each in taken if isinstance(each, int)]
    if numbers and not isinstance(value, str | bytes):
        low, high = min(numbers), max(numbers)
        gaps = [number for number in range(max(1, low - 5), high + 10) if number not in present][:200]
        return rng.choice(gaps) if gaps else high + 1
    text = value if isinstance(value, str) else "k"
    for number in range(2, len(present) + 4):
        if f"{text}{number}" not in present:
            return f"{text}{number}"
    return value

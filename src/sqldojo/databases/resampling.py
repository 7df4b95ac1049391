"""Ordinary instances made of the rows a user has: fewer of them, still joined, and mixed a little.

Three such instances must differ from each other and still look like the user's data, and whatever a reference query
compares with should occur in each.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from sqldojo.databases.insertion_plan import (
    OWN,
    ForeignLink,
    Reference,
    TablePlan,
    folded,
    insertion_plan,
    positions_of,
)
from sqldojo.databases.schema_model import Rows, Schema
from sqldojo.databases.type_affinity import Value, fold, stored

_SHARES = (0.6, 0.9)  # of a table that is smaller than asked for, so that two instances of it still differ
_ROWS_OF_A_VALUE = 3
NO_PARENT = -1


def resample(
    schema: Schema,
    rows: Rows,
    rng: random.Random,
    size: int,
    wanted: Mapping[tuple[str, str], frozenset[Value]],
    links: Sequence[ForeignLink] = (),
) -> Rows:
    """About `size` rows of each table, in their order, with every row that they refer to.

    Parents are chosen before their children, and children of chosen parents before others. Rows that hold a value of
    `wanted[(table, column)]` come first of all, at least one for each value that occurs. A reference that leads nowhere
    in `rows` still does.
    """
    sample = _Sample(insertion_plan(schema, tuple(links)), rows, rng)
    for plan in sample.plans:
        sample.choose_wanted(plan, wanted, size)
    for plan in sample.plans:
        sample.fill(plan, size)
    return {name: [rows[name][number] for number in sorted(numbers)] for name, numbers in sample.chosen.items()}


def perturb(schema: Schema, rows: Rows, rng: random.Random, share: float, links: Sequence[ForeignLink] = ()) -> Rows:
    """The rows with this share of the cells exchanged for another row's cell of the same column.

    Columns of keys, UNIQUE sets, foreign keys and links, and those they refer to, stay as they are.
    """
    plans = {plan.table.name: plan for plan in insertion_plan(schema, tuple(links))}
    referred = {
        (reference.parent, position)
        for plan in plans.values()
        for reference in plan.references
        for position in reference.parent_positions
    }
    mixed: Rows = {}
    for table in schema.tables:
        plan = plans[table.name]
        fixed = {position for unique in plan.unique for position in unique.positions}
        cells = [list(row) for row in rows[table.name]]
        for position in plan.free:
            if position in fixed or (table.name, position) in referred:
                continue
            pairs = min(int(len(cells) * share / 2 + rng.random()), len(cells) // 2)
            numbers = rng.sample(range(len(cells)), 2 * pairs)
            for one, other in zip(numbers[::2], numbers[1::2], strict=True):
                cells[one][position], cells[other][position] = cells[other][position], cells[one][position]
        mixed[table.name] = [tuple(row) for row in cells]
    return mixed


class _Sample:
    """The rows chosen so far, by number; whatever is chosen brings along what it refers to."""

    def __init__(self, plans: Sequence[TablePlan], rows: Rows, rng: random.Random) -> None:
        self.plans, self.rows, self.rng = plans, rows, rng
        self.chosen: dict[str, set[int]] = {plan.table.name: set() for plan in plans}
        by_name = {plan.table.name: plan for plan in plans}
        self.parents: dict[str, list[tuple[Reference, list[int]]]] = {
            plan.table.name: [
                (each, parent_numbers(rows[plan.table.name], each, by_name[each.parent], rows[each.parent]))
                for each in plan.references
            ]
            for plan in plans
        }

    def choose(self, table: str, number: int) -> None:
        """Choose a row and all it refers to, directly or not; cycles end at rows that are chosen already."""
        open_rows = [(table, number)]
        while open_rows:
            table, number = open_rows.pop()
            if number not in self.chosen[table]:
                self.chosen[table].add(number)
                for reference, parents in self.parents[table]:
                    if parents[number] != NO_PARENT:
                        open_rows.append((reference.parent, parents[number]))

    def choose_wanted(self, plan: TablePlan, wanted: Mapping[tuple[str, str], frozenset[Value]], size: int) -> None:
        """A row for each wanted value, one that holds as many of them as any; then a few more, up to half of `size`."""
        table = plan.table
        rows = self.rows[table.name]
        holders: dict[tuple[int, Value], list[int]] = {}
        for (owner, column), values in sorted(wanted.items(), key=lambda item: item[0]):
            if fold(owner) != fold(table.name):
                continue
            position = positions_of(table)[fold(column)]
            kept = {stored(value, table.columns[position].affinity) for value in values}
            for number, row in enumerate(rows):
                if row[position] in kept:
                    holders.setdefault((position, row[position]), []).append(number)
        held: dict[int, int] = {}
        for numbers in holders.values():
            for number in numbers:
                held[number] = held.get(number, 0) + 1
        for numbers in holders.values():
            most = max(held[number] for number in numbers)
            self.choose(table.name, self.rng.choice([number for number in numbers if held[number] == most]))
        for numbers in holders.values():
            for number in self.rng.sample(numbers, min(len(numbers), _ROWS_OF_A_VALUE - 1)):
                if len(self.chosen[table.name]) < size / 2:
                    self.choose(table.name, number)

    def fill(self, plan: TablePlan, size: int) -> None:
        """Choose more rows of a table until there are about `size`, those first that bring no new parents along."""
        name = plan.table.name
        count = len(self.rows[name])
        target = min(size, max(1, int(count * self.rng.uniform(*_SHARES))))
        if len(self.chosen[name]) >= target:
            return
        places = self._places(name, count)
        open_rows = [number for number in range(count) if number not in self.chosen[name]]
        for number in sorted(open_rows, key=places.__getitem__):
            if len(self.chosen[name]) >= target:
                return
            self.choose(name, number)

    def _places(self, name: str, count: int) -> list[float]:
        """Where each row stands in the queue: by the parents that are not chosen yet, then by chance.

        Half of the parents keep their children together, so that some have all of them.
        """
        places = [self.rng.random() for _ in range(count)]
        others = [(each, parents) for each, parents in self.parents[name] if each.when != OWN]
        if others:
            reference, parents = self.rng.choice(others)
            together = [self.rng.random() for _ in self.rows[reference.parent]]
            for number, parent in enumerate(parents):
                if parent != NO_PARENT and together[parent] < 0.5:
                    places[number] = together[parent]
        for reference, parents in others:
            chosen = self.chosen[reference.parent]
            # A row without a parent is as likely as one whose parent is any of the parent's rows.
            share = len(chosen) / max(len(self.rows[reference.parent]), 1)
            for number, parent in enumerate(parents):
                missing = self.rng.random() >= share if parent == NO_PARENT else parent not in chosen
                places[number] += missing
        return places


def parent_numbers(
    children: Sequence[tuple[Value, ...]],
    reference: Reference,
    parent: TablePlan,
    parents: Sequence[tuple[Value, ...]],
) -> list[int]:
    """The number of the row that each child refers to, NO_PARENT where it refers to none.

    Values are compared with the parent's affinity and collation, as SQLite does.
    """
    columns = [parent.table.columns[position] for position in reference.parent_positions]

    def key(row: tuple[Value, ...], positions: Sequence[int]) -> tuple[Value, ...]:
        values = [stored(row[position], column.affinity) for position, column in zip(positions, columns, strict=True)]
        return tuple(map(folded, values, [column.collation for column in columns]))

    numbers: dict[tuple[Value, ...], int] = {}
    for number, row in enumerate(parents):
        numbers.setdefault(key(row, reference.parent_positions), number)
    found = []
    for row in children:
        values = key(row, reference.positions)
        found.append(NO_PARENT if None in values else numbers.get(values, NO_PARENT))
    return found

"""The rows of one table of a generated instance, one after the other.

A row that breaks a UNIQUE set is changed in the columns of that set a few times, then given up: the search for
instances needs many rows soon, not a certain number of them.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from sqldojo.databases.insertion_plan import LATER, OWN, READY, Reference, TablePlan
from sqldojo.databases.instance_shape import Shape
from sqldojo.databases.invented_values import invent
from sqldojo.databases.parent_choice import ParentChoice, Row
from sqldojo.databases.type_affinity import Value

_ATTEMPTS = 8
SPARE_KEYS = 2 * _ATTEMPTS


class RowMaker:
    """Makes `count` rows for the table of `plan` and puts them into `rows[table]`.

    `pools` are the values worth having in a column, `keys` different values for each column that is unique by itself,
    used up from the end.
    """

    def __init__(
        self,
        plan: TablePlan,
        rng: random.Random,
        shape: Shape,
        *,
        count: int,
        pools: dict[int, list[Value]],
        keys: Mapping[int, list[Value]],
        choices: Mapping[Reference, ParentChoice],
        rows: dict[str, list[Row]],
    ) -> None:
        self.plan, self.rng, self.shape = plan, rng, shape
        self.count, self.pools, self.keys, self.choices = count, pools, keys, choices
        self.all_rows = rows
        self.rows: list[Row] = rows.setdefault(plan.table.name, [])
        self.later = [reference for reference in plan.references if reference.when == LATER]
        self.now = [reference for reference in plan.references if reference.when != LATER]
        self.required = [each for each in range(len(plan.table.columns)) if each not in plan.nullable]
        self.seen: list[set] = [set() for _ in plan.unique]

    def fill(self) -> None:
        """Make the rows, without the references to tables that come later."""
        for reference in self.now:
            if reference.when == READY:
                self.choices[reference].open(self.all_rows[reference.parent])
        waiting = {position for reference in self.later for position in reference.positions}
        due = [position for position in self.required if position not in waiting]
        for _ in range(self.count):
            row = self._twin() if self.rows and self.rng.random() < self.shape.twins else self._fresh()
            if row is not None and self._settle(row, self.now, due):
                self.rows.append(row)

    def fill_later(self) -> None:
        """Set the references to tables that came later; a row that needs a parent and finds none is dropped."""
        if not self.later:
            return
        for reference in self.later:
            self.choices[reference].open(self.all_rows[reference.parent])
        rows, self.rows[:] = list(self.rows), []
        self.seen = [set() for _ in self.plan.unique]
        for row in rows:
            if self._assign(self.later, row) and self._settle(row, self.later, self.required):
                self.rows.append(row)

    def _fresh(self) -> Row | None:
        row: Row = [None] * len(self.plan.table.columns)
        for position in self.plan.free:
            row[position] = self._cell(position)
        for position in self.plan.keys:
            row[position] = self._key(position)
        for _ in range(_ATTEMPTS if self.plan.overlapping else 1):
            if self._assign(self.now, row):
                return row
        return None

    def _twin(self) -> Row:
        row = list(self._any(self.rows))
        free = self.plan.free
        for position in self.rng.sample(free, min(len(free), self.rng.randrange(3))):
            row[position] = self._cell(position)
        for position in self.plan.keys:
            row[position] = self._key(position)
        return row

    def _settle(self, row: Row, references: Sequence[Reference], due: Sequence[int]) -> bool:
        """Whether the row is now complete and like no other where it must not be, if need be by changing it."""
        for _ in range(_ATTEMPTS):
            if any(row[position] is None for position in due):
                return False
            keys = [unique.key(row) for unique in self.plan.unique]
            clash: set[int] = set()
            for unique, key, seen in zip(self.plan.unique, keys, self.seen, strict=True):
                if key in seen:
                    clash.update(unique.positions)
            if not clash:
                for key, seen in zip(keys, self.seen, strict=True):
                    if key is not None:
                        seen.add(key)
                return True
            if not self._change(row, clash, references):
                return False
        return False

    def _change(self, row: Row, clash: set[int], references: Sequence[Reference]) -> bool:
        """Other values in these positions; False when there is nothing to change or no parent left."""
        # References that share columns can only be changed together.
        touched = [each for each in references if self.plan.overlapping or not clash.isdisjoint(each.positions)]
        changed = bool(touched)
        if references is self.now:  # later the rest of the row may be referred to already
            for position in sorted(clash):
                if position in self.keys:
                    row[position] = self._key(position)
                elif position in self.plan.free:
                    row[position] = self._any(self._pool(position))
                else:
                    continue
                changed = True
        return changed and self._assign(touched, row, evenly=False)

    def _assign(self, references: Sequence[Reference], row: Row, *, evenly: bool = True) -> bool:
        """Set the columns of these references; False when one needs a parent and there is none."""
        fixed: set[int] = set()
        if self.plan.overlapping:
            fixed.update(p for each in self.plan.references if each not in references for p in each.positions)
            fixed = {position for position in fixed if row[position] is not None}
        for reference in references:
            if not self._refer(reference, row, fixed, evenly):
                return False
            if self.plan.overlapping:
                fixed.update(reference.positions)
        return True

    def _refer(self, reference: Reference, row: Row, fixed: set[int], evenly: bool) -> bool:
        positions, choice = reference.positions, self.choices[reference]
        bound = {place: row[each] for place, each in enumerate(positions) if each in fixed} if fixed else {}
        if None in bound.values() or (reference.optional and self.rng.random() < self.shape.nulls):
            return self._unbind(reference, row, fixed)
        if not reference.declared and self.rng.random() < self.shape.dangling:
            key = choice.nowhere([self._pool(position) for position in positions])
        elif reference.when == OWN:
            key = choice.pick_earlier(self.rows, bound)
        else:
            key = choice.pick(bound, evenly=evenly)
        if key is None:
            if self._unbind(reference, row, fixed):
                return True
            key = self._own_key(reference, row) if reference.when == OWN and not bound else None
        if key is None:
            return False
        for position, value in zip(positions, key, strict=True):
            row[position] = value
        return True

    def _unbind(self, reference: Reference, row: Row, fixed: set[int]) -> bool:
        """NULL in the columns that allow it, which makes the others free; False when none of them allows it."""
        open_positions = [position for position in reference.positions if position not in fixed]
        for position in open_positions:
            row[position] = None if position in reference.optional else self._any(self._pool(position))
        return any(row[position] is None for position in reference.positions)

    def _own_key(self, reference: Reference, row: Row) -> tuple[Value, ...] | None:
        """The key of the row itself, for the first row of a table that must refer to itself."""
        for position in reference.parent_positions:
            if position in reference.positions:
                row[position] = self._any(self._pool(position))
        return self.choices[reference].key_of(row)

    def _cell(self, position: int) -> Value:
        if position in self.plan.nullable and self.rng.random() < self.shape.nulls:
            return None
        if self.rows and self.rng.random() < self.shape.repeats:
            value = self._any(self.rows)[position]
            if value is not None:
                return value
        return self._any(self._pool(position))

    def _key(self, position: int) -> Value:
        if position in self.plan.nullable and self.rng.random() < self.shape.nulls:
            return None
        pool = self.keys[position]
        return pool.pop() if pool else None

    def _pool(self, position: int) -> list[Value]:
        if position not in self.pools:
            self.pools[position] = invent(self.plan.table.columns[position], self.rng, max(4, self.count))
        return self.pools[position]

    def _any(self, values: Sequence):
        return values[int(self.rng.random() * len(values))]

"""Which row of a parent table a new row refers to.

Parents without children, parents with most of the children and links that lead nowhere are what tells an INNER JOIN
from a LEFT JOIN and COUNT(*) from COUNT(column), so all three are dealt out here on purpose.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from sqldojo.databases.insertion_plan import Reference, TablePlan
from sqldojo.databases.type_affinity import Value, stored

Row = list[Value]
Key = tuple[Value, ...]

_POWER = 5.0  # at full skew a parent's place among n is n times a uniform number to this power: 2/3 get the first 1/8


class ParentChoice:
    """Picks parents for one reference of one table; `parents` is the parent's table, all of whose rows are there."""

    def __init__(
        self,
        plan: TablePlan,
        parent: TablePlan,
        reference: Reference,
        rng: random.Random,
        *,
        childless: float,
        skew: float,
    ) -> None:
        self.reference, self.rng, self.childless, self.skew = reference, rng, childless, skew
        kinds = [plan.table.columns[position].affinity for position in reference.positions]
        theirs = [parent.table.columns[position].affinity for position in reference.parent_positions]
        self._same_kinds = kinds == theirs
        self._kinds = list(zip(reference.parent_positions, kinds, theirs, strict=True))
        self._every: list[Key] = []
        self._keys: list[Key] = []
        self._deck: list[Key] = []

    def open(self, rows: Sequence[Row]) -> None:
        """Choose the rows that may be referred to, in an order that says which of them are crowded."""
        self._every = [key for row in rows if (key := self.key_of(row)) is not None]
        count = len(self._every)
        barren = min(int(count * self.childless + self.rng.random()), max(count - 1, 0))
        self._keys = self.rng.sample(self._every, count - barren)

    def key_of(self, row: Row) -> Key | None:
        """What a child holds that refers to this row; None for a row that cannot be referred to."""
        values = [row[position] for position, _, _ in self._kinds]
        if None in values:
            return None
        if not self._same_kinds:
            values = [stored(value, kind) for value, (_, kind, _) in zip(values, self._kinds, strict=True)]
            # The text '007' becomes the number 7 in the child, which SQLite compares with it as the text '7'.
            back = [stored(value, kind) for value, (_, _, kind) in zip(values, self._kinds, strict=True)]
            if back != [row[position] for position, _, _ in self._kinds]:
                return None
        return tuple(values)

    def pick(self, bound: dict[int, Value], *, evenly: bool) -> Key | None:
        """A parent's key that has the values of `bound` in their places, or None.

        The share `skew` of the picks crowds on the first parents, the rest is dealt out in turn or, unless `evenly`,
        at random. With `bound` there is too little to choose from for any of this.
        """
        if bound:
            keys = [key for key in self._every if all(key[place] == value for place, value in bound.items())]
            return self._any(keys) if keys else None
        if not self._keys:
            return None
        if self.rng.random() < self.skew:
            return self._keys[int(len(self._keys) * self.rng.random() ** _POWER)]
        if not evenly:
            return self._any(self._keys)
        if not self._deck:
            self._deck = self.rng.sample(self._keys, len(self._keys))
        return self._deck.pop()

    def pick_earlier(self, rows: Sequence[Row], bound: dict[int, Value]) -> Key | None:
        """The same for a table that refers to itself: a key of one of the rows made so far.

        The last ones of them stay without children for now.
        """
        fertile = len(rows) - int(len(rows) * self.childless)
        if bound:
            keys = [key for row in rows[:fertile] if (key := self.key_of(row)) is not None]
            keys = [key for key in keys if all(key[place] == value for place, value in bound.items())]
            return self._any(keys) if keys else None
        if not fertile:
            return None
        power = _POWER if self.rng.random() < self.skew else 1.0
        return self.key_of(rows[int(fertile * self.rng.random() ** power)])

    def nowhere(self, wanted: Sequence[Sequence[Value]]) -> Key:
        """A key that no parent has; `wanted` are the values worth having in each column of the reference."""
        taken = [{key[place] for key in self._every} for place in range(len(self._kinds))]
        return tuple([self._stranger(values, known) for values, known in zip(wanted, taken, strict=True)])

    def _stranger(self, values: Sequence[Value], taken: set[Value]) -> Value:
        outside = [value for value in values if value not in taken]
        if outside:
            return self._any(outside)
        numbers = [value for value in taken if isinstance(value, int | float)]
        if numbers:
            return max(numbers) + self.rng.randrange(1, 4)
        value = self._any(values)
        return value + b"\0" if isinstance(value, bytes) else f"{value} {self.rng.randrange(2, 5)}"

    def _any(self, values: Sequence):
        return values[int(self.rng.random() * len(values))]

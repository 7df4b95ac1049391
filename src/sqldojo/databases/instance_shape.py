"""How a generated instance looks, in seven numbers that a search can vary.

Each rate is about one kind of mistake: NULLs, ties, parents without children, crowded parents, links that lead nowhere
and namesakes are what tells a wrong query from the right one.
"""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Shape:
    """How an instance looks. `rows` are those of a table at most, half as many again where it refers to others.

    The rest are rates from 0 to 1: `nulls` of NULL in a column that allows it; `repeats` of a value that the column has
    already; `childless` parents that no row of a child table refers to; `skew` of children that crowd on few parents,
    the rest dealt out evenly; `dangling` links that lead nowhere (declared foreign keys never do); `twins`, rows
    that copy another one but for their keys and at most two columns.
    """

    rows: int
    nulls: float
    repeats: float
    childless: float
    skew: float
    dangling: float
    twins: float

    def __post_init__(self) -> None:
        if self.rows < 0:
            raise ValueError(f"rows: must not be negative, found {self.rows}")
        for field in fields(self)[1:]:
            if not 0 <= getattr(self, field.name) <= 1:
                raise ValueError(f"{field.name}: must be between 0 and 1, found {getattr(self, field.name)}")

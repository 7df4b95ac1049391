"""The rows of a database divided between the family to train on and the one to evaluate on.

Rows of large tables go to one of the two, and what belongs to them follows; those that belong to rows of both are left
out, as there are enough of them. Small tables, such as countries, are in both.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from sqldojo.databases.families import FAMILIES
from sqldojo.databases.insertion_plan import READY, TablePlan, insertion_plan
from sqldojo.databases.resampling import NO_PARENT, parent_numbers
from sqldojo.databases.schema_model import Rows, Schema

_BOTH = frozenset(FAMILIES)


def divide_rows(schema: Schema, rows: Rows, most: int, seed: int | str) -> dict[str, Rows]:
    """The rows of each family: of a table with more than `most` no row is in both.

    A table with rows that refer to each other, or that is part of a cycle of references, is in both as it is, and so is
    what it refers to: half of it would refer to nothing.
    """
    plans = insertion_plan(schema)
    by_name = {plan.table.name: plan for plan in plans}
    whole = _undivided(plans)
    owners: dict[str, list[frozenset[str]]] = {}
    for plan in plans:  # parents first
        name, rng = plan.table.name, Random(f"{seed}/division/{plan.table.name}")
        found = [_BOTH] * len(rows[name])
        if name not in whole:
            for reference in plan.references:
                numbers = parent_numbers(rows[name], reference, by_name[reference.parent], rows[reference.parent])
                for place, number in enumerate(numbers):
                    if number != NO_PARENT:
                        found[place] = found[place] & owners[reference.parent][number]
            if len(rows[name]) > most:
                found = [frozenset((rng.choice(FAMILIES),)) if each == _BOTH else each for each in found]
        owners[name] = found
    return {
        family: {
            name: [row for row, own in zip(rows[name], owners[name], strict=True) if family in own] for name in rows
        }
        for family in FAMILIES
    }


def _undivided(plans: Sequence[TablePlan]) -> set[str]:
    """The tables in a cycle of references, and those that these refer to, directly or not."""
    whole: set[str] = set()
    for plan in plans:
        for reference in plan.references:
            if reference.when != READY:
                whole |= {plan.table.name, reference.parent}
    before = -1
    while before != (before := len(whole)):
        for plan in plans:
            if plan.table.name in whole:
                whole |= {reference.parent for reference in plan.references}
    return whole

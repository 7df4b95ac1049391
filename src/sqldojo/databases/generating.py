"""Random rows for any schema: ordinary instances where the user has no rows, and candidates in the search for rows
that make a wrong query differ from the right one.

That search makes hundreds of instances, so this must be quick, and each `Shape` must look different: ties, namesakes,
NULLs, parents without children. Keys, NOT NULL, UNIQUE and declared foreign keys hold in every result; CHECK
constraints are left to SQLite, which alone can evaluate them.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence

from sqldojo.databases.insertion_plan import ForeignLink, TablePlan, insertion_plan
from sqldojo.databases.instance_shape import Shape
from sqldojo.databases.invented_values import fits, invent_keys
from sqldojo.databases.parent_choice import ParentChoice, Row
from sqldojo.databases.row_making import SPARE_KEYS, RowMaker
from sqldojo.databases.schema_model import Rows, Schema
from sqldojo.databases.type_affinity import BLOB, TEXT, Value, fold, stored

__all__ = ["ForeignLink", "Shape", "generate_rows"]

_MORE_CHILDREN = 1.5  # how many times the rows of other tables a table may have that refers to them

Pools = Mapping[str, Mapping[int, list[Value]]]  # table -> position of a column -> values


def generate_rows(
    schema: Schema,
    rng: random.Random,
    shape: Shape,
    domains: Mapping[tuple[str, str], Sequence[Value]],
    links: Sequence[ForeignLink] = (),
) -> Rows:
    """Rows for every table, the same for the same arguments and state of `rng`.

    `domains` lists the values worth having in a (table, column), names in any letter case; those of another kind than
    the column's type are left out, and a column without any gets invented ones. KeyError for a link to what is not in
    the schema.
    """
    plans = insertion_plan(schema, tuple(links))
    by_name = {plan.table.name: plan for plan in plans}
    known = _usable(plans, domains)
    rows: dict[str, list[Row]] = {}
    makers = []
    for plan in plans:
        most = math.ceil(shape.rows * _MORE_CHILDREN) if plan.references else shape.rows
        count = rng.randint(math.ceil(most * 0.6), most)
        maker = RowMaker(
            plan,
            rng,
            shape,
            count=count,
            pools=dict(known[plan.table.name]),
            keys={position: _keys(plan, position, plans, known, rng, count) for position in plan.keys},
            choices={
                each: ParentChoice(plan, by_name[each.parent], each, rng, childless=shape.childless, skew=shape.skew)
                for each in plan.references
            },
            rows=rows,
        )
        maker.fill()
        makers.append(maker)
    if any(maker.later for maker in makers):
        for maker in makers:
            maker.fill_later()
        _mend(makers, rows)
    return {table.name: [tuple(row) for row in rows[table.name]] for table in schema.tables}


def _usable(plans: Sequence[TablePlan], domains: Mapping[tuple[str, str], Sequence[Value]]) -> Pools:
    """The domains by table and position, as SQLite stores the values; columns without any are left out."""
    folded = {(fold(table), fold(column)): values for (table, column), values in domains.items()}
    pools: dict[str, dict[int, list[Value]]] = {}
    for plan in plans:
        table = plan.table
        pools[table.name] = {}
        for position, column in enumerate(table.columns):
            values = [stored(value, column.affinity) for value in folded.get((fold(table.name), fold(column.name)), ())]
            values = [value for value in values if fits(value, column, strict=table.strict)]
            if values:
                pools[table.name][position] = values
    return pools


def _keys(
    plan: TablePlan, position: int, plans: Sequence[TablePlan], known: Pools, rng: random.Random, count: int
) -> list[Value]:
    """Different values for a column, to be used up from the end: `count` in no order, then some to spare.

    What is worth having in a column that refers to this one is worth having here.
    """
    table, column = plan.table, plan.table.columns[position]
    children = [
        (child.table, reference.positions[0])
        for child in plans
        for reference in child.references
        if reference.parent == table.name and reference.parent_positions == (position,)
    ]
    worth = list(known[table.name].get(position, ()))
    for child, place in children:
        worth += [stored(value, column.affinity) for value in known[child.name].get(place, ())]
    holders = [(table, column), *((child, child.columns[place]) for child, place in children)]
    worth = [
        value
        for value in dict.fromkeys(worth)
        if all(fits(stored(value, each.affinity), each, strict=owner.strict) for owner, each in holders)
    ]
    numbers = any(each.affinity not in (TEXT, BLOB) for _, each in holders[1:])
    chosen = rng.sample(worth, min(len(worth), count))
    taken = set(worth)
    invented = invent_keys(column, table, rng, count + SPARE_KEYS, numbers=numbers)
    invented = [value for value in invented if value not in taken]
    missing = count - len(chosen)
    chosen += invented[:missing]
    rng.shuffle(chosen)
    return invented[missing:] + chosen


def _mend(makers: Sequence[RowMaker], rows: Mapping[str, list[Row]]) -> None:
    """Undo the declared references to rows that were dropped: NULL where that is allowed, else the row is dropped."""
    broken = True
    while broken:
        broken = False
        for maker in makers:
            for reference, choice in maker.choices.items():
                if not reference.declared:
                    continue
                keys = {choice.key_of(row) for row in rows[reference.parent]}
                kept = []
                for row in maker.rows:
                    key = tuple([row[position] for position in reference.positions])
                    if None not in key and key not in keys:
                        broken = True
                        if not reference.optional:
                            continue
                        for position in reference.optional:
                            row[position] = None
                    kept.append(row)
                maker.rows[:] = kept

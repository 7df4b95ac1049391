"""Messy instances for one reference after another, quickly: what takes time is made once for all of them.

That is the pattern of an instance: which cells are equal, which are missing, and which keys refer where. For each
reference the patterns get the values that it makes worth having.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import cycle
from random import Random

from sqldojo.databases.schema_model import Column, Rows, Schema, Table, Value
from sqldojo.databases.type_affinity import stored
from sqldojo.verifier.candidates import Domains, messy_candidates
from sqldojo.verifier.hints import Hints

_VALUES = 24  # of a column in a pattern


def patterned_candidates(
    schema: Schema, found: Hints, domains: Domains, rng: Random, *, count: int, seed: int | str
) -> Iterator[Rows]:
    """`count` instances, as messy_candidates makes them; by itself where a reference asks for keys."""
    if found.links or any(domains[table.name, column] for table in schema.tables for column in _bound(table)):
        yield from messy_candidates(schema, found, domains, count=count, seed=seed)
        return
    for pattern in _patterns(schema, found.counts, count, seed):
        rows: Rows = {}
        for table in schema.tables:
            bound = _bound(table)
            values = [
                {} if column.name in bound else _drawn(column, domains[table.name, column.name], rng)
                for column in table.columns
            ]
            rows[table.name] = [
                tuple([new.get(cell, cell) for new, cell in zip(values, row, strict=True)])
                for row in pattern[table.name]
            ]
        yield rows


@lru_cache(maxsize=64)
def _patterns(schema: Schema, counts: tuple[int, ...], count: int, seed: int | str) -> tuple[Rows, ...]:
    """Messy instances with numbers in place of values."""
    numbers = {
        (table.name, column.name): list(_numbers(column))
        for table in schema.tables
        for column in table.columns
        if column.name not in _bound(table)
    }
    nothing = Hints(values={}, literals={}, alike=(), links=(), counts=counts, steps=())
    return tuple(messy_candidates(schema, nothing, numbers, count=count, seed=seed))


@cache
def _numbers(column: Column) -> tuple[Value, ...]:
    return tuple(stored(number, column.affinity) for number in range(_VALUES))


def _drawn(column: Column, domain: Sequence[Value], rng: Random) -> dict[Value, Value]:
    """A value of the domain for each number of a pattern, each about as often as any other."""
    return dict(zip(_numbers(column), cycle(rng.sample(domain, len(domain))), strict=False))


def _bound(table: Table) -> set[str]:
    """The columns of keys, and those that refer to some."""
    return {column for columns in (*table.unique, *(key.columns for key in table.foreign_keys)) for column in columns}

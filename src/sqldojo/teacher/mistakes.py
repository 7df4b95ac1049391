"""Realistic mistakes in a query that is known to be right, for demonstrations that notice and mend them."""

from __future__ import annotations

import random
from collections.abc import Iterator

import sqlglot
from sqlglot import exp


def mistakes(sql: str, generator: random.Random) -> list[str]:
    """Wrong variants of a SQLite query in random order: a column that does not exist, a join on the wrong key.

    Whether a variant really fails or answers wrongly is for the caller to find out by running it.
    """
    variants = [*_unknown_columns(sql), *_wrong_join_keys(sql)]
    generator.shuffle(variants)
    return variants


def _unknown_columns(sql: str) -> Iterator[str]:
    """Each column in turn under the name that a person might guess: `customers.name` as `customer_name`."""
    tree = sqlglot.parse_one(sql, read="sqlite")
    names = {table.alias_or_name: table.name for table in tree.find_all(exp.Table)}
    for number, column in enumerate(tree.find_all(exp.Column)):
        select = column.find_ancestor(exp.Select)
        source = select.find(exp.From) if select else None
        table = column.table or (source.this.alias_or_name if source else "")
        if not isinstance(column.this, exp.Star):
            guess = f"{names.get(table, table).removesuffix('s') or 'the'}_{column.name}"
            yield _with_column(sql, number, exp.column(guess, table=column.table or None))


def _wrong_join_keys(sql: str) -> Iterator[str]:
    """Each foreign key in a join condition replaced by the same table's own id."""
    tree = sqlglot.parse_one(sql, read="sqlite")
    for number, column in enumerate(tree.find_all(exp.Column)):
        if column.find_ancestor(exp.Join) and column.name.endswith("_id") and column.table:
            yield _with_column(sql, number, exp.column("id", table=column.table))


def _with_column(sql: str, number: int, replacement: exp.Column) -> str:
    tree = sqlglot.parse_one(sql, read="sqlite")
    list(tree.find_all(exp.Column))[number].replace(replacement)
    return tree.sql(dialect="sqlite")

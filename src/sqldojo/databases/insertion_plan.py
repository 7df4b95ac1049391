"""In which order the tables of a schema can be filled, and what decides the value of each column.

Worked out once for a schema: hundreds of candidate instances are made of one. Columns are positions here, so that the
code that makes rows looks up no names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from sqldojo.databases.schema_model import Schema, Table, parents_first
from sqldojo.databases.type_affinity import Value, fold

# When the rows that a reference may point to exist: before the table is filled, as it is filled, only afterwards.
READY, OWN, LATER = "ready", "own", "later"


@dataclass(frozen=True)
class ForeignLink:
    """A relation that the schema does not declare; the columns of `table` hold values of those of `parent`."""

    table: str
    columns: tuple[str, ...]
    parent: str
    parent_columns: tuple[str, ...]


@dataclass(frozen=True)
class Reference:
    """A foreign key or a link of one table. `optional` are the positions that may be NULL, which unbinds the rest."""

    positions: tuple[int, ...]
    parent: str
    parent_positions: tuple[int, ...]
    declared: bool
    when: str
    optional: tuple[int, ...]


@dataclass(frozen=True)
class UniqueSet:
    """Positions that no two rows may share, and how the text in each of them is compared."""

    positions: tuple[int, ...]
    collations: tuple[str, ...]

    def key(self, row: tuple[object, ...] | list[object]) -> tuple[object, ...] | None:
        """What other rows must not have; None for a row with a NULL in the set, which is like no other."""
        values = tuple([row[position] for position in self.positions])
        if None in values:
            return None
        if any(collation != "BINARY" for collation in self.collations):
            return tuple(map(folded, values, self.collations))
        return values


@dataclass(frozen=True)
class TablePlan:
    """One table: its references, the columns that need values of their own, and those that may be chosen freely.

    `keys` are unique by themselves, `free` are all columns that are neither a key nor part of a reference.
    """

    table: Table
    references: tuple[Reference, ...]
    keys: tuple[int, ...]
    free: tuple[int, ...]
    unique: tuple[UniqueSet, ...]
    nullable: frozenset[int]
    overlapping: bool  # two references share a column


@lru_cache(maxsize=8)
def insertion_plan(schema: Schema, links: tuple[ForeignLink, ...] = ()) -> tuple[TablePlan, ...]:
    """The plan of each table, parents before children as far as there are no cycles.

    A link that shares a column with a declared foreign key is left out: the foreign key says all there is to say.
    KeyError for a link to a table or a column that the schema has not.
    """
    found = {table.name: _references(schema, table, links) for table in schema.tables}
    order = parents_first({name: [each.parent for each in references] for name, references in found.items()})
    done: set[str] = set()
    plans = []
    for name in order:
        plans.append(_plan(schema.table(name), found[name], done))
        done.add(name)
    return tuple(plans)


@dataclass(frozen=True)
class _Relation:
    columns: tuple[int, ...]
    parent: str
    parent_columns: tuple[int, ...]
    declared: bool


def _references(schema: Schema, table: Table, links: tuple[ForeignLink, ...]) -> list[_Relation]:
    own = positions_of(table)
    relations = []
    for key in table.foreign_keys:
        theirs = positions_of(schema.table(key.table))
        columns = tuple(own[fold(column)] for column in key.columns)
        parent_columns = tuple(theirs[fold(each)] for each in key.parent_columns)
        if (key.table, parent_columns) != (table.name, columns):  # a column that refers to itself holds always
            relations.append(_Relation(columns, key.table, parent_columns, True))
    taken = {position for relation in relations for position in relation.columns}
    for link in links:
        if fold(link.table) != fold(table.name):
            continue
        parent = schema.table(link.parent)
        theirs = positions_of(parent)
        columns = tuple(own[fold(column)] for column in link.columns)
        parent_columns = tuple(theirs[fold(each)] for each in link.parent_columns)
        if (parent.name, parent_columns) != (table.name, columns) and taken.isdisjoint(columns):
            relations.append(_Relation(columns, parent.name, parent_columns, False))
            taken.update(columns)
    return relations


def positions_of(table: Table) -> Mapping[str, int]:
    """The position of each column by its folded name."""
    return {fold(column.name): position for position, column in enumerate(table.columns)}


def _plan(table: Table, relations: list[_Relation], done: set[str]) -> TablePlan:
    position = positions_of(table)
    never_null = {position[fold(name)] for name in table.primary_key}
    nullable = frozenset(
        each for each, column in enumerate(table.columns) if not column.not_null and each not in never_null
    )
    references = []
    for relation in relations:
        when = OWN if relation.parent == table.name else READY if relation.parent in done else LATER
        optional = tuple(each for each in relation.columns if each in nullable)
        references.append(
            Reference(relation.columns, relation.parent, relation.parent_columns, relation.declared, when, optional)
        )
    # Rows of the table itself can only be referred to when the rest of a row is known. Where references share columns
    # the longest leaves the fewest to choose from, so it chooses first.
    references.sort(key=lambda reference: (reference.when == OWN, -len(reference.positions)))
    bound = [each for reference in references for each in reference.positions]
    unique = tuple(
        UniqueSet(
            tuple(position[fold(name)] for name in names),
            tuple(table.columns[position[fold(name)]].collation for name in names),
        )
        for names in table.unique
    )
    single = dict.fromkeys(each.positions[0] for each in unique if len(each.positions) == 1)
    keys = tuple(each for each in single if each not in bound)
    free = tuple(each for each in range(len(table.columns)) if each not in bound and each not in keys)
    return TablePlan(table, tuple(references), keys, free, unique, nullable, len(bound) > len(set(bound)))


def folded(value: Value, collation: str) -> Value:
    """The value so that two are equal in Python when SQLite takes them for equal under the collation."""
    if not isinstance(value, str):
        return value
    return fold(value) if collation == "NOCASE" else value.rstrip(" ") if collation == "RTRIM" else value

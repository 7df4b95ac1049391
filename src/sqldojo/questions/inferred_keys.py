"""Foreign keys that a schema does not declare, inferred from names, types and values.

A column refers to another table where its name says so (`customer_id`, `CustomerId`, `customer`), that table has a key
of the same type, and every value that was looked at is a value of that key. Keys of several columns are not inferred.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqldojo.databases.schema_model import Column, ForeignKey, Schema, Table, quote
from sqldojo.databases.table_sampling import searches
from sqldojo.databases.type_affinity import INTEGER, NUMERIC, REAL
from sqldojo.databases.user_source import Connection
from sqldojo.verifier.mutation.names import key_of, points_to, words

_ROWS_LOOKED_AT, _VALUES = 2_000, 200  # of a column that may refer
_SMALL = 5_000  # rows of a table without an index on its key that is looked through
_NUMBERS = (INTEGER, REAL, NUMERIC)


@dataclass(frozen=True)
class InferredKey:
    """A foreign key of `table`, and how many different values were found among those of the parent's key."""

    table: str
    key: ForeignKey
    values: int


def infer_foreign_keys(connection: Connection, schema: Schema) -> list[InferredKey]:
    """The keys, in the order of tables and columns; none for a column that is part of a declared one.

    Where no row of a table has a value, the name alone decides. May raise apsw.Error.
    """
    return [found for table in schema.tables for found in _of_table(connection, schema, table)]


def _of_table(connection: Connection, schema: Schema, table: Table) -> Iterator[InferredKey]:
    declared = {column for key in table.foreign_keys for column in key.columns}
    own_key = key_of(table.name, table.names)
    for column in table.columns:
        if column.name in declared or (column.name == own_key and _called_by(column.name, table)):
            continue
        values = _values(connection, table, column)
        for parent, key in _parents(schema, table, column, certain=not values or column.name == own_key):
            if _is_key(connection, parent, key) and _are_in(connection, parent, key, values):
                yield InferredKey(table.name, ForeignKey((column.name,), parent.name, (key.name,)), len(values))
                break


def _called_by(column: str, table: Table) -> bool:
    """Whether a column has the table in its name, as customer_id has customers; `id` is any table's own."""
    return words(column) == "id" or points_to(column, table.name, ("id",))


def _parents(schema: Schema, table: Table, column: Column, *, certain: bool) -> list[tuple[Table, Column]]:
    """The tables that a column's name may mean, each with its key, those that it calls by their name first.

    With `certain` these alone: where there are no values to look at, and for a key that is another table's too.
    """
    found = []
    for parent in schema.tables:
        if parent is table or words(column.name) == "id":
            continue
        name = key_of(parent.name, parent.names)
        key = next((each for each in parent.columns if each.name == name), None)
        if key is None or not _alike(column, key):
            continue
        called = points_to(column.name, parent.name, ("id",))
        # `country` may refer to the key of countries as country_id would, if its values agree.
        stem, key_name = (f"{column.name}_id", ("id",)), (column.name, parent.names)
        alike = any(points_to(name, parent.name, names) for name, names in (stem, key_name))
        if called or (alike and not certain):
            found.append((called, parent, key))
    found.sort(key=lambda each: (not each[0], -len(words(each[1].name))))
    return [(parent, key) for _, parent, key in found]


def _alike(one: Column, other: Column) -> bool:
    return one.affinity == other.affinity or (one.affinity in _NUMBERS and other.affinity in _NUMBERS)


def _values(connection: Connection, table: Table, column: Column) -> list[object]:
    name = quote(column.name)
    sql = (
        f"SELECT DISTINCT {name} FROM (SELECT {name} FROM {quote(table.name)} LIMIT {_ROWS_LOOKED_AT}) "
        f"WHERE {name} IS NOT NULL LIMIT {_VALUES}"
    )
    return [value for (value,) in connection.execute(sql)]


def _is_key(connection: Connection, table: Table, column: Column) -> bool:
    """Whether no two rows share a value of the column: as declared, or as it is in a small table without a key."""
    if (column.name,) in table.unique or table.rowid_alias == column.name:
        return True
    if table.primary_key or not _is_small(connection, table):
        return False
    name = quote(column.name)
    sql = f"SELECT COUNT(*), COUNT(DISTINCT {name}) FROM {quote(table.name)}"
    ((rows, different),) = connection.execute(sql)
    return rows == different


def _are_in(connection: Connection, parent: Table, key: Column, values: list[object]) -> bool:
    """Whether all values are values of a parent's key; False where only reading a large table could tell."""
    if values and not searches(connection, parent.name, (key.name,)) and not _is_small(connection, parent):
        return False
    sql = f"SELECT 1 FROM {quote(parent.name)} WHERE {quote(key.name)} = ? LIMIT 1"
    return all(connection.execute(sql, (value,)).fetchall() for value in values)


def _is_small(connection: Connection, table: Table) -> bool:
    sql = f"SELECT COUNT(*) FROM (SELECT 1 FROM {quote(table.name)} LIMIT {_SMALL + 1})"
    ((rows,),) = connection.execute(sql)
    return rows <= _SMALL

"""What rows should hold whatever the mutants are: missing values, ties, namesakes, parents with and without children.

A wrong query that no operator thinks of mostly shows on one of these. Each is a query that says whether the rows have
it, so the search pursues it just like a mutant: 0 is the reference, and the variant says 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sqldojo.databases.schema_model import Column, ForeignKey, Schema, Table, quote
from sqldojo.verifier.instance_search import Target

_NO = "SELECT 0"


def situations(schema: Schema, reads: Mapping[str, Sequence[str]]) -> list[Target]:
    """A target for each table and column in `reads` (table -> columns), and for each declared reference among them."""
    targets = []
    for table in schema.tables:
        if table.name not in reads:
            continue
        for column in table.columns:
            if column.name in reads[table.name]:
                variants = tuple(f"SELECT EXISTS ({sql})" for sql in _of_column(table, column))
                targets.append(Target(_NO, variants, {table.name: (column.name,)}))
        for key in table.foreign_keys:
            if key.table in reads and key.table != table.name:
                variants = tuple(f"SELECT EXISTS ({sql})" for sql in _of_reference(table, key))
                targets.append(Target(_NO, variants, {table.name: key.columns, key.table: key.parent_columns}))
    return targets


def _of_column(table: Table, column: Column) -> Iterator[str]:
    """A missing value, an equal pair at each end, and for texts a pair that differs in case, for numbers an average."""
    name, cell = quote(table.name), quote(column.name)
    if not column.not_null:
        yield f"SELECT 1 FROM {name} WHERE {cell} IS NULL"
    if (column.name,) in table.unique:
        return
    for end in ("MAX", "MIN"):
        at_the_end = f"{cell} = (SELECT {end}({cell}) FROM {name})"
        yield f"SELECT {cell} FROM {name} WHERE {at_the_end} GROUP BY 1 HAVING COUNT(*) > 1"
    if column.affinity == "TEXT":
        yield f"SELECT 1 FROM {name} GROUP BY LOWER({cell}) HAVING COUNT(DISTINCT {cell}) > 1"
    elif column.affinity in ("INTEGER", "REAL") and not any(column.name in key.columns for key in table.foreign_keys):
        yield f"SELECT 1 FROM {name} WHERE {cell} = (SELECT AVG({cell}) FROM {name} HAVING MIN({cell}) < MAX({cell}))"


def _of_reference(table: Table, key: ForeignKey) -> Iterator[str]:
    """A parent without children, with one and with several, and two with most; a child without a parent."""
    child, parent = quote(table.name), quote(key.table)
    joined = " AND ".join(
        f"c.{quote(column)} = p.{quote(parent_column)}"
        for column, parent_column in zip(key.columns, key.parent_columns, strict=True)
    )
    counted = f"SELECT (SELECT COUNT(*) FROM {child} c WHERE {joined}) AS n FROM {parent} p"
    yield f"SELECT 1 FROM ({counted}) WHERE n = 0"
    yield f"SELECT 1 FROM ({counted}) WHERE n = 1"
    yield f"SELECT 1 FROM ({counted}) WHERE n > 1"
    most = f"SELECT MAX(n) FROM ({counted})"
    yield f"SELECT n FROM ({counted}) WHERE n = ({most}) GROUP BY n HAVING COUNT(*) > 1 AND n > 0"
    missing = " OR ".join(f"{quote(column)} IS NULL" for column in key.columns)
    if not all(column.not_null for column in table.columns if column.name in key.columns):
        yield f"SELECT 1 FROM {child} WHERE {missing}"

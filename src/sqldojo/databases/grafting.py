"""Adding a few rows of one instance to another: what they show together is then shown there too.

Keys get values that are free, and what refers to them follows. A key that is `kept`, because a query names it, stays
and merges with the row that has it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random

from sqldojo.databases.editing import unused
from sqldojo.databases.generating import ForeignLink
from sqldojo.databases.schema_model import Rows, Schema, Table, Value, parents_first

ColumnKey = tuple[str, str]


def shrink(rows: Rows, holds: Callable[[Rows], bool]) -> Rows:
    """As few of the rows as the property needs, by dropping halves, quarters and so on of each table in turn.

    (Delta debugging: Zeller and Hildebrandt, IEEE TSE 2002.) `holds(rows)` is taken for granted.
    """
    for table in rows:
        size = max(1, len(rows[table]) // 2)
        while rows[table]:
            start, dropped = 0, False
            while start < len(rows[table]):
                fewer = {**rows, table: rows[table][:start] + rows[table][start + size :]}
                if holds(fewer):
                    rows, dropped = fewer, True
                else:
                    start += size
            if size == 1 and not dropped:
                break
            size = max(1, size // 2)
    return rows


def graft(
    schema: Schema,
    rows: Rows,
    added: Rows,
    rng: Random,
    *,
    links: Sequence[ForeignLink] = (),
    kept: Mapping[ColumnKey, Sequence[Value]],
) -> Rows:
    """`rows` with those of `added` behind them, under keys of their own; `kept` lists the key values that stay."""
    renamed: dict[ColumnKey, dict[Value, Value]] = {}
    result: Rows = {table: list(present) for table, present in rows.items()}
    for table in _parents_first(schema, links):  # so that new keys are known where they are referred to
        references = [(key.columns, key.table, key.parent_columns) for key in table.foreign_keys]
        references += [(link.columns, link.parent, link.parent_columns) for link in links if link.table == table.name]
        sources = {
            column: (parent, parent_column)
            for columns, parent, parent_columns in references
            for column, parent_column in zip(columns, parent_columns, strict=True)
        }
        own = {key[0] for key in table.unique if len(key) == 1}
        for row in added.get(table.name, ()):
            cells = list(row)
            for place, column in enumerate(table.names):
                key = (table.name, column)
                if cells[place] is None:
                    continue
                if column in sources and sources[column][0] != table.name:
                    cells[place] = renamed.get(sources[column], {}).get(cells[place], cells[place])
                elif column in own and cells[place] not in kept.get(key, ()):
                    taken = [each[place] for each in result[table.name]]
                    fresh = unused(taken, cells[place], rng) if cells[place] in taken else cells[place]
                    renamed.setdefault(key, {})[cells[place]] = fresh
                    cells[place] = fresh
            result[table.name].append(tuple(cells))
    return result


def _parents_first(schema: Schema, links: Sequence[ForeignLink]) -> list[Table]:
    """The tables in the order of the declared references and of the links."""
    parents = {table.name: [key.table for key in table.foreign_keys] for table in schema.tables}
    for link in links:
        parents[link.table].append(link.parent)
    return [schema.table(name) for name in parents_first(parents)]

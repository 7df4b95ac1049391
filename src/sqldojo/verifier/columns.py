"""Which table and column each name in a query stands for, through aliases, derived tables and CTEs."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from sqldojo.databases.schema_model import Schema
from sqldojo.verifier.mutation.trees import from_items

ColumnKey = tuple[str, str]  # table, column, spelt as in the schema


class Columns:
    """The names of one parsed query, resolved against a schema."""

    def __init__(self, tree: exp.Expression, schema: Schema) -> None:
        self._tree = tree
        self._tables = {
            table.name.lower(): (table.name, {column.name.lower(): column.name for column in table.columns})
            for table in schema.tables
        }
        self._definitions: dict[str, list[exp.Expression]] = {}
        for select in tree.find_all(exp.Select):
            for expression in select.expressions:
                if isinstance(expression, exp.Alias):
                    self._definitions.setdefault(expression.alias.lower(), []).append(expression.this)
        for cte in tree.find_all(exp.CTE, exp.Subquery):
            alias = cte.args.get("alias")
            names = alias.columns if isinstance(alias, exp.TableAlias) else []
            select = cte.this.find(exp.Select) if names else None
            for name, expression in zip(names, select.expressions if select else [], strict=False):
                self._definitions.setdefault(name.name.lower(), []).append(expression)

    def within(self, node: exp.Expression) -> tuple[ColumnKey, ...]:
        """The stored columns that an expression reads itself, not those of the queries inside it."""
        found: dict[ColumnKey, None] = {}
        for column in _own_columns(node):
            found.update(dict.fromkeys(self._resolve(column, depth=0)))
        return tuple(found)

    def read(self) -> dict[str, tuple[str, ...]]:
        """The stored columns that the query names anywhere, by table."""
        found: dict[str, dict[str, None]] = {}
        for column in self._tree.find_all(exp.Column):
            for table, name in self._resolve(column, depth=0):
                found.setdefault(table, {})[name] = None
        return {table: tuple(names) for table, names in found.items()}

    def below(self, node: exp.Expression) -> tuple[ColumnKey, ...]:
        """The stored columns that the queries inside an expression select."""
        selects = [query for query in node.find_all(exp.Select) if query is not node]
        found = [key for select in selects for expression in select.expressions for key in self.within(expression)]
        return tuple(dict.fromkeys(found))

    def selected(self, query: exp.Expression) -> list[ColumnKey]:
        """The stored column behind each plain column of a query's select list; others are left out."""
        select = query.find(exp.Select)
        plain = [expression.unalias() for expression in select.expressions] if select else []
        return [key for expression in plain if isinstance(expression, exp.Column) for key in self.within(expression)]

    def _resolve(self, column: exp.Column, depth: int) -> Iterator[ColumnKey]:
        name = column.name.lower()
        select = column.find_ancestor(exp.Select)
        while select is not None:
            for alias, table in _sources(select):
                known = self._tables.get(table.lower())
                if known and name in known[1] and column.table.lower() in ("", alias.lower()):
                    yield known[0], known[1][name]
                    return
            select = select.find_ancestor(exp.Select)
        if depth < 3:  # definitions may refer to each other in a recursive CTE
            for definition in self._definitions.get(name, ()):
                for inner in _own_columns(definition):
                    if inner is not column:
                        yield from self._resolve(inner, depth + 1)


def _own_columns(node: exp.Expression) -> list[exp.Column]:
    owner = node if isinstance(node, exp.Query) else node.find_ancestor(exp.Query)
    return [column for column in node.find_all(exp.Column) if column.find_ancestor(exp.Query) is owner]


def _sources(select: exp.Select) -> Iterator[tuple[str, str]]:
    """Alias and name of the tables in a SELECT's own FROM and JOINs."""
    for source, _ in from_items(select):
        if isinstance(source, exp.Table):
            yield source.alias_or_name, source.name

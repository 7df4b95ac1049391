"""Which tables each SELECT of a query sees, and which column a name means there.

sqlglot's own scopes copy and qualify the tree; mutants need neither, only the answer to `what could a person have
written here instead`, for a tree that stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from sqldojo.verifier.mutation.names import key_of
from sqldojo.verifier.mutation.trees import from_items, is_aggregate, needs_quotes, nested_queries, own_nodes


@dataclass(frozen=True, eq=False)
class Source:
    """One table, CTE or subquery in a FROM clause. `table` is the schema's own name, None for a derived one."""

    alias: str
    table: str | None
    columns: tuple[str, ...]
    known: bool  # whether `columns` is all there is
    join: exp.Join | None  # None for the first in FROM

    @property
    def key(self) -> str | None:
        """The column that looks like its key."""
        return key_of(self.table, self.columns) if self.table else None

    def has(self, name: str) -> str | None:
        """The column as the schema spells it, or None."""
        return next((column for column in self.columns if column.lower() == name.lower()), None)


@dataclass(eq=False)
class Scope:
    """One SELECT, what it reads from, and the SELECT around it whose columns it may use too."""

    select: exp.Select
    parent: Scope | None
    recursive: bool  # inside a recursive CTE, where many faults never end
    sources: list[Source] = field(default_factory=list)

    def source(self, column: exp.Column) -> Source | None:
        """Where a column comes from in this very SELECT; None if from outside, from an alias, or unknown."""
        qualifier, name = column.table.lower(), column.name
        for source in self.sources:
            if qualifier in ("", source.alias.lower()) and source.has(name):
                return source
        return None

    def resolve(self, column: exp.Column) -> tuple[Scope, Source] | None:
        """Where a column comes from, looking outwards."""
        scope: Scope | None = self
        while scope is not None:
            source = scope.source(column)
            if source:
                return scope, source
            scope = scope.parent
        return None

    def column(self, source: Source, name: str) -> exp.Column:
        """A new reference to a source's column, qualified where the bare name could mean another."""
        alone = len(self.sources) == 1 and not any(source.alias.lower() == s.alias.lower() for s in self._outer())
        bare = alone and not (self.parent and self._captured(name))
        table = None if bare else exp.to_identifier(source.alias, quoted=needs_quotes(source.alias))
        return exp.column(exp.to_identifier(name, quoted=needs_quotes(name)), table=table)

    def _captured(self, name: str) -> bool:
        return any(source.has(name) for source in self._outer())

    def _outer(self) -> Iterator[Source]:
        scope = self.parent
        while scope is not None:
            yield from scope.sources
            scope = scope.parent

    @property
    def grouped(self) -> bool:
        """Whether rows are put together: GROUP BY, or an aggregate in the select list or HAVING."""
        select = self.select
        return bool(select.args.get("group") or select.args.get("having")) or any(
            is_aggregate(node) for item in select.expressions for node in own_nodes(item)
        )


class Query:
    """A reference's tree, indexed once for all operators."""

    def __init__(self, tree: exp.Query, columns: Mapping[str, Sequence[str]]) -> None:
        self.schema = {table.lower(): (table, tuple(names)) for table, names in columns.items()}
        self.scopes: list[Scope] = []
        self._enter(tree, None, {}, recursive=False)
        self._read_quoted_texts(tree)
        # What holds the tree, so that its root can be put aside like any other node.
        self.holder = exp.Paren(this=tree)
        self.nodes = list(tree.dfs())
        self._scope_of = {id(scope.select): scope for scope in self.scopes}

    @property
    def tree(self) -> exp.Query:
        """The whole query."""
        return self.holder.this

    def all(self, *kinds: type[exp.Expr]) -> list[exp.Expr]:
        """The nodes of these kinds in the order of the text."""
        return [node for node in self.nodes if isinstance(node, kinds)]

    def scope(self, node: exp.Expr) -> Scope | None:
        """The SELECT that a node's column names are looked up in; None in the ORDER BY of a set operation."""
        below, above = node, node.parent
        while above is not None:
            if isinstance(above, exp.Select) and below.arg_key != "with_":
                return self._scope_of.get(id(above))
            if isinstance(above, exp.SetOperation) and below.arg_key in ("order", "limit", "offset"):
                return None
            below, above = above, above.parent
        return None

    def resolve(self, column: exp.Column) -> tuple[Scope, Source] | None:
        """Where a column comes from, or None."""
        scope = self.scope(column)
        return scope.resolve(column) if scope else None

    def table(self, name: str) -> tuple[str, tuple[str, ...]] | None:
        """A table of the schema with its columns."""
        return self.schema.get(name.lower())

    def is_outer(self, node: exp.Expr, scope: Scope) -> bool:
        """Whether some column under `node` belongs to a SELECT around `scope`."""
        found = (self.resolve(column) for column in node.find_all(exp.Column))
        outside = set()
        above = scope.parent
        while above is not None:
            outside.add(id(above))
            above = above.parent
        return any(at is not None and id(at[0]) in outside for at in found)

    def _enter(
        self, query: exp.Expr, parent: Scope | None, ctes: Mapping[str, tuple[str, ...]], recursive: bool
    ) -> None:
        """Index a query and what is in it. `ctes` holds the columns of those in sight."""
        with_ = query.args.get("with_")
        if with_:
            ctes = dict(ctes)
            for cte in with_.expressions:
                names = tuple(column.name for column in cte.args["alias"].columns)
                loops = bool(with_.args.get("recursive")) and any(
                    table.name.lower() == cte.alias.lower() for table in cte.this.find_all(exp.Table)
                )
                if loops:
                    ctes[cte.alias.lower()] = names or self._names(cte.this, ctes)
                self._enter(cte.this, None, ctes, recursive or loops)
                ctes[cte.alias.lower()] = names or self._names(cte.this, ctes)
        if isinstance(query, exp.SetOperation):
            self._enter(query.left, parent, ctes, recursive)
            self._enter(query.right, parent, ctes, recursive)
        elif isinstance(query, exp.Subquery):
            self._enter(query.this, parent, ctes, recursive)
        elif isinstance(query, exp.Select):
            scope = Scope(query, parent, recursive)
            self.scopes.append(scope)
            for item, join in from_items(query):
                if isinstance(item, exp.Subquery):
                    self._enter(item.this, parent, ctes, recursive)
                scope.sources.append(self._source(item, join, ctes))
            for nested in nested_queries(query):
                self._enter(nested, scope, ctes, recursive)

    def _source(self, item: exp.Expr, join: exp.Join | None, ctes: Mapping[str, tuple[str, ...]]) -> Source:
        if isinstance(item, exp.Subquery) and isinstance(item.this, exp.Query):
            names = self._names(item.this, ctes)
            return Source(item.alias, None, names, "*" not in names, join)
        if isinstance(item, exp.Table) and isinstance(item.this, exp.Identifier):
            if item.name.lower() in ctes:
                names = ctes[item.name.lower()]
                return Source(item.alias_or_name, None, names, "*" not in names, join)
            if item.name.lower() in self.schema:
                table, names = self.schema[item.name.lower()]
                return Source(item.alias_or_name, table, names, True, join)
        return Source(item.alias_or_name, None, (), False, join)

    def _names(self, query: exp.Expr, ctes: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
        """The column names of a query's result; a "*" among them where they are not known."""
        while isinstance(query, exp.SetOperation | exp.Subquery):
            query = query.left if isinstance(query, exp.SetOperation) else query.this
        if not isinstance(query, exp.Select):
            return ("*",)
        with_ = query.args.get("with_")
        if with_:
            ctes = {**ctes, **{cte.alias.lower(): self._names(cte.this, ctes) for cte in with_.expressions}}
        names: list[str] = []
        for item in query.expressions:
            if item.is_star:
                sources = [self._source(source, join, ctes) for source, join in from_items(query)]
                wanted = item.table.lower() if isinstance(item, exp.Column) else ""
                for source in sources:
                    if wanted in ("", source.alias.lower()):
                        names += source.columns if source.known else ("*",)
            else:
                names.append(item.alias_or_name)
        return tuple(name for name in names if name)

    def _read_quoted_texts(self, tree: exp.Query) -> None:
        """Turn "x" into 'x' where no column of that name is in sight, as SQLite does."""
        scopes = {id(scope.select): scope for scope in self.scopes}
        for column in list(tree.find_all(exp.Column)):
            if column.table or not isinstance(column.this, exp.Identifier) or not column.this.quoted:
                continue
            select = column.find_ancestor(exp.Select)
            scope = scopes.get(id(select))
            if scope is None or scope.resolve(column):
                continue
            around: list[Scope] = []
            while scope is not None:
                around.append(scope)
                scope = scope.parent
            aliases = {item.alias.lower() for each in around for item in each.select.expressions if item.alias}
            if all(s.known for each in around for s in each.sources) and column.name.lower() not in aliases:
                column.replace(exp.Literal.string(column.name))

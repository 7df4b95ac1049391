"""Faults in where a filter stands: in the subquery or around it, on some rows or on all, told by the wrong column."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from sqldojo.verifier.mutation.edits import Edit, and_where, conjunction, terms
from sqldojo.verifier.mutation.names import is_name
from sqldojo.verifier.mutation.scopes import Query, Scope, Source
from sqldojo.verifier.mutation.subqueries import members, scope_of, where_terms
from sqldojo.verifier.mutation.trees import from_items, own_nodes

_ORDERING = (exp.EQ, exp.LT, exp.LTE, exp.GT, exp.GTE)


def told_by_name(query: Query) -> Iterator[Edit]:
    """Rows told by their name: name IN (SELECT name ... WHERE condition), which namesakes of a fitting row meet too."""
    for scope, conditions, term in where_terms(query):
        if len(scope.sources) != 1 or not scope.sources[0].table or scope.recursive:
            continue
        source = scope.sources[0]
        if query.is_outer(term, scope):
            continue
        negated = isinstance(term, exp.Not)
        for name in [name for name in source.columns if is_name(name)][:1]:
            column = scope.column(source, name)
            inner = exp.select(column.copy()).from_(scope.select.args["from_"].this.copy())
            inner.set("where", exp.Where(this=term.this.copy() if negated else term.copy()))
            told: exp.Expr = exp.In(this=column, query=exp.Subquery(this=inner))
            new = [(exp.Not(this=told) if negated else told) if other is term else other for other in conditions]
            yield [(scope.select, "where", exp.Where(this=conjunction(new)))]


def any_as_all(query: Query) -> Iterator[Edit]:
    """Those with some matching row taken for those whose every row matches: AND x NOT IN (SELECT ... NOT condition)."""
    for scope, _, term in where_terms(query):
        inner = members(term) if isinstance(term, exp.In) else None
        inner_scope = scope_of(query, inner)
        where = inner.args.get("where") if inner is not None else None
        if inner_scope is None or where is None or inner.args.get("group") or inner.args.get("limit"):
            continue
        key = inner.expressions[0].unalias()
        for condition in terms(where.this):
            if (
                isinstance(condition, _ORDERING)
                and not isinstance(condition.expression, exp.Column)
                and not key.is_star
            ):
                fails = exp.Not(this=exp.Paren(this=condition.copy()))
                known = exp.Not(this=exp.Is(this=key.copy(), expression=exp.Null()))
                others = [other for other in terms(where.this) if other is not condition]
                listed = inner.copy()
                listed.set("where", exp.Where(this=conjunction([*others, known, fails])))
                failing = exp.In(this=term.this.copy(), query=exp.Subquery(this=listed))
                yield [and_where(scope.select, exp.Not(this=failing))]


def outer_filter_copied(query: Query) -> Iterator[Edit]:
    """A condition of the outer WHERE repeated in a subquery on the same table: another base of a percentage."""
    for scope in query.scopes:
        outer = scope.parent
        where = outer.select.args.get("where") if outer else None
        if not where or not isinstance(scope.select.parent, exp.Subquery) or len(scope.sources) != 1:
            continue
        inner = scope.sources[0]
        tables = [source for source in outer.sources if source.table and source.table == inner.table]
        for term in terms(where.this):
            columns = list(term.find_all(exp.Column))
            simple = not any(isinstance(node, exp.Query) for node in term.dfs())
            if not tables or not columns or not simple:
                continue
            if all(outer.source(column) in tables for column in columns):
                copy = term.copy()
                for column in list(copy.find_all(exp.Column)):
                    own = scope.column(inner, column.name)
                    column.set("table", own.args.get("table"))
                yield [and_where(scope.select, copy)]
                first = scope.column(inner, columns[0].name)
                yield [and_where(scope.select, exp.Not(this=exp.Is(this=first, expression=exp.Null())))]


def filter_moved_out(query: Query) -> Iterator[Edit]:
    """A condition of a CTE or subquery applied to its result instead, where the result has the column."""
    for scope, source, inner in _derived(query):
        where = inner.args.get("where")
        listed = {item.unalias(): item.alias_or_name for item in inner.expressions}
        if not (inner.args.get("group") or inner.args.get("limit") or inner.args.get("distinct") or _has_window(inner)):
            continue
        conditions = terms(where.this if where else None)
        for moved in conditions:
            columns = list(moved.find_all(exp.Column))
            if columns and all(column in listed for column in columns):
                copy = moved.copy()
                for column in list(copy.find_all(exp.Column)):
                    outside = scope.column(source, listed[column])
                    column.set("this", outside.this)
                    column.set("table", outside.args.get("table"))
                rest = conjunction([term for term in conditions if term is not moved])
                yield [(inner, "where", exp.Where(this=rest) if rest else None), and_where(scope.select, copy)]


def filter_moved_in(query: Query) -> Iterator[Edit]:
    """A condition on a CTE's or subquery's result applied inside it instead, before grouping, LIMIT or a window."""
    for scope, source, inner in _derived(query):
        where = scope.select.args.get("where")
        if not where or not (inner.args.get("group") or inner.args.get("limit") or _has_window(inner)):
            continue
        inside = {item.alias_or_name.lower(): item.unalias() for item in inner.expressions}
        conditions = terms(where.this)
        for moved in conditions:
            columns = list(own_nodes(moved))
            columns = [node for node in columns if isinstance(node, exp.Column)]
            if any(isinstance(node, exp.Query) for node in moved.dfs()) or not columns:
                continue
            if all(scope.source(c) is source and isinstance(inside.get(c.name.lower()), exp.Column) for c in columns):
                copy = moved.copy()
                for column in list(copy.find_all(exp.Column)):
                    column.replace(inside[column.name.lower()].copy())
                rest = conjunction([term for term in conditions if term is not moved])
                yield [(scope.select, "where", exp.Where(this=rest) if rest else None), and_where(inner, copy)]


def _derived(query: Query) -> Iterator[tuple[Scope, Source, exp.Select]]:
    """(scope, source, its SELECT) for each CTE that is read once and each subquery in FROM."""
    ctes = {cte.alias.lower(): cte.this for cte in query.all(exp.CTE)}
    read = [table.name.lower() for table in query.all(exp.Table)]
    for scope in query.scopes:
        for (item, _), source in zip(from_items(scope.select), scope.sources, strict=True):
            inner = None
            if isinstance(item, exp.Subquery):
                inner = item.this
            elif isinstance(item, exp.Table) and source.table is None and read.count(item.name.lower()) == 1:
                inner = ctes.get(item.name.lower())
            if isinstance(inner, exp.Select) and not inner.args.get("with_"):
                yield scope, source, inner


def _has_window(select: exp.Select) -> bool:
    return any(isinstance(node, exp.Window) for item in select.expressions for node in own_nodes(item))

"""Faults in a subquery: IN or EXISTS turned into a join and back, NOT IN with NULL, a filter on the wrong side."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from sqldojo.verifier.mutation.edits import Edit, conjunction, swap, terms
from sqldojo.verifier.mutation.joins import EXTRA, EXTRA_KEY
from sqldojo.verifier.mutation.scopes import Query, Scope, Source


def in_as_join(query: Query) -> Iterator[Edit]:
    """x IN (SELECT y ...) as a join with the subquery: a row comes once for each match."""
    for scope, conditions, term in where_terms(query):
        inner = members(term) if isinstance(term, exp.In) else None
        inner_scope = scope_of(query, inner)
        if (
            inner is None
            or inner_scope is None
            or isinstance(term.this, exp.Tuple)
            or query.is_outer(inner, inner_scope)
        ):
            continue
        key = inner.expressions[0].unalias()
        if len(inner.expressions) == 1 and not key.is_star and not inner.args.get("distinct"):
            listed = inner.copy()
            listed.set("expressions", [exp.alias_(key.copy(), EXTRA_KEY)])
            yield _joined(scope, conditions, term, listed, _with_alias(query, scope, term.this))


def exists_as_join(query: Query) -> Iterator[Edit]:
    """EXISTS (SELECT ... WHERE y = x) as a join: a row comes once for each match."""
    for scope, conditions, term in where_terms(query):
        inner = term.this if isinstance(term, exp.Exists) and isinstance(term.this, exp.Select) else None
        tie = _tie(query, inner) if inner is not None else None
        if tie is None or inner.args.get("group") or inner.args.get("limit"):
            continue
        inside, outside, rest = tie
        listed = inner.copy()
        listed.set("expressions", [exp.alias_(inside.copy(), EXTRA_KEY)])
        listed.set("where", exp.Where(this=conjunction(rest)) if rest else None)
        yield _joined(scope, conditions, term, listed, _with_alias(query, scope, outside))


def join_as_in(query: Query) -> Iterator[Edit]:
    """A join with a table that is only tested, as IN: a row comes once, however many matches it has."""
    for scope in query.scopes:
        joins = scope.select.args.get("joins") or []
        if any(item.is_star and not isinstance(item, exp.Count) for item in scope.select.expressions):
            continue
        for source in scope.sources:
            join, where = source.join, scope.select.args.get("where")
            if join is None or join.side or join.args.get("on") is None or not source.table:
                continue
            ties = [term for term in terms(join.args["on"]) if _tie_of(query, scope, source, term)]
            local = [term for term in terms(join.args["on"]) if term not in ties]
            filters = [term for term in terms(where.this if where else None) if _only_from(query, scope, source, term)]
            if len(ties) != 1 or not all(_only_from(query, scope, source, term) for term in local):
                continue
            moved = {id(node) for part in (join.args["on"], *filters) for node in part.dfs()}
            if any(found == (scope, source) for column in scope.select.find_all(exp.Column) if id(column) not in moved
                   for found in [query.resolve(column)]):  # fmt: skip
                continue
            inside, outside = _tie_of(query, scope, source, ties[0])
            inner = exp.select(inside.copy()).from_(join.this.copy())
            if local or filters:
                inner.set("where", exp.Where(this=conjunction([*local, *filters])))
            rest = [term.copy() for term in terms(where.this if where else None) if term not in filters]
            member = exp.In(this=outside.copy(), query=exp.Subquery(this=inner))
            yield [
                (scope.select, "joins", [other.copy() for other in joins if other is not join]),
                (scope.select, "where", exp.Where(this=conjunction([*rest, member]))),
            ]


def not_in_as_not_exists(query: Query) -> Iterator[Edit]:
    """NOT IN taken for NOT EXISTS, which differs where either side is NULL."""
    for node in query.all(exp.In):
        inner = members(node)
        if inner is None or not isinstance(node.parent, exp.Not) or isinstance(node.this, exp.Tuple):
            continue
        scope = scope_of(query, inner)
        key = inner.expressions[0].unalias()
        if (
            scope is None
            or inner.args.get("group")
            or inner.args.get("limit")
            or scope.grouped
            or len(inner.expressions) != 1
        ):
            continue
        outside = _with_alias(query, query.scope(node), node.this)
        if outside is None or key.is_star:
            continue
        exists = inner.copy()
        exists.set("expressions", [exp.Literal.number(1)])
        inside = _with_alias(query, scope, key) if isinstance(key, exp.Column) else key.copy()
        if inside is None or (
            isinstance(outside, exp.Column) and any(outside.table.lower() == s.alias.lower() for s in scope.sources)
        ):
            continue
        where = exists.args.get("where")
        exists.set(
            "where",
            exp.Where(
                this=conjunction([*terms(where.this if where else None), exp.EQ(this=inside, expression=outside)])
            ),
        )
        yield swap(node, exp.Exists(this=exists))


def not_exists_as_not_in(query: Query) -> Iterator[Edit]:
    """NOT EXISTS taken for NOT IN, which no row passes once the list holds a NULL."""
    for node in query.all(exp.Exists):
        inner = node.this
        tie = _tie(query, inner) if isinstance(node.parent, exp.Not) and isinstance(inner, exp.Select) else None
        if tie is None or inner.args.get("limit"):
            continue
        inside, outside, rest = tie
        listed = inner.copy()
        listed.set("expressions", [inside.copy()])
        listed.set("where", exp.Where(this=conjunction(rest)) if rest else None)
        yield swap(node, exp.In(this=outside.copy(), query=exp.Subquery(this=listed)))


def repeated_as_not_in(query: Query) -> Iterator[Edit]:
    """No other row with this value (NOT EXISTS ... id <> id) as NOT IN the values that occur twice, NULL among them."""
    for node in query.all(exp.Exists):
        scope = scope_of(query, node.this)
        where = node.this.args.get("where") if isinstance(node.this, exp.Select) else None
        conditions = terms(where.this if where else None)
        if scope is None or len(conditions) != 2 or len(scope.sources) != 1 or scope.parent is None:
            continue
        same = next((term for term in conditions if isinstance(term, exp.EQ)), None)
        other = next((term for term in conditions if isinstance(term, exp.NEQ)), None)
        tie = _tie_of(query, scope, scope.sources[0], same) if same is not None and other is not None else None
        if tie and _tie_of(query, scope, scope.sources[0], other, exp.NEQ):
            inside, outside = tie
            twice = exp.GT(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(1))
            listed = node.this.copy()
            listed.set("expressions", [inside.copy()])
            listed.set("where", None)
            listed.set("group", exp.Group(expressions=[inside.copy()]))
            listed.set("having", exp.Having(this=twice))
            yield swap(node, exp.In(this=outside.copy(), query=exp.Subquery(this=listed)))


def where_terms(query: Query) -> Iterator[tuple[Scope, list[exp.Expr], exp.Expr]]:
    """(scope, conditions, one of them) for each condition of each WHERE."""
    for scope in query.scopes:
        where = scope.select.args.get("where")
        conditions = terms(where.this if where else None)
        for term in conditions:
            yield scope, conditions, term


def _joined(
    scope: Scope, conditions: list[exp.Expr], term: exp.Expr, listed: exp.Expr, outside: exp.Expr | None
) -> Edit:
    rest = conjunction([other for other in conditions if other is not term])
    on = exp.EQ(this=exp.column(EXTRA_KEY, EXTRA), expression=outside)
    join = exp.Join(this=exp.Subquery(this=listed, alias=exp.TableAlias(this=exp.to_identifier(EXTRA))), on=on)
    joins = [each.copy() for each in scope.select.args.get("joins") or []]
    return [(scope.select, "joins", [*joins, join]), (scope.select, "where", exp.Where(this=rest) if rest else None)]


def members(node: exp.In) -> exp.Select | None:
    """The SELECT that IN looks into, or None."""
    inner = node.args.get("query")
    inner = inner.this if isinstance(inner, exp.Subquery) else inner
    return inner if isinstance(inner, exp.Select) else None


def scope_of(query: Query, select: exp.Expr | None) -> Scope | None:
    """The scope of a SELECT, or None."""
    return next((scope for scope in query.scopes if scope.select is select), None)


def _tie(query: Query, inner: exp.Select | None) -> tuple[exp.Column, exp.Column, list[exp.Expr]] | None:
    """(inner column, outer column, other conditions) where one equality ties a subquery to the row outside."""
    scope = scope_of(query, inner)
    where = inner.args.get("where") if inner is not None else None
    if scope is None or where is None or scope.parent is None:
        return None
    ties, rest = [], []
    for term in terms(where.this):
        found = None
        if isinstance(term, exp.EQ) and isinstance(term.left, exp.Column) and isinstance(term.right, exp.Column):
            for inside, outside in ((term.left, term.right), (term.right, term.left)):
                at = query.resolve(outside)
                if scope.source(inside) and at is not None and at[0] is scope.parent:
                    found = inside, _with_alias(query, scope.parent, outside)
        if found:
            ties.append(found)
        else:
            rest.append(term)
    if len(ties) != 1 or any(query.is_outer(term, scope) for term in rest):
        return None
    return (*ties[0], rest)


def _tie_of(
    query: Query, scope: Scope, source: Source, term: exp.Expr, kind: type[exp.Expr] = exp.EQ
) -> tuple[exp.Column, exp.Column] | None:
    """(column of the source, column of another) for the equality that joins the source."""
    if isinstance(term, kind) and isinstance(term.left, exp.Column) and isinstance(term.right, exp.Column):
        for one, other in ((term.left, term.right), (term.right, term.left)):
            mine, theirs = query.resolve(one), query.resolve(other)
            if mine == (scope, source) and theirs is not None and theirs[1] is not source:
                return one, other
    return None


def _only_from(query: Query, scope: Scope, source: Source, term: exp.Expr) -> bool:
    columns = list(term.find_all(exp.Column))
    return bool(columns) and all(query.resolve(column) == (scope, source) for column in columns)


def _with_alias(query: Query, scope: Scope | None, node: exp.Expr) -> exp.Expr | None:
    """A copy in which every column is qualified, so that it means the same beside other tables."""
    copy = node.copy()
    columns = [copy] if isinstance(copy, exp.Column) else list(copy.find_all(exp.Column))
    if any(isinstance(each, exp.Query) for each in copy.dfs()):
        return None if scope is None else copy
    for column in columns:
        found = scope.resolve(column) if scope else None
        if found is None:
            return copy
        if not column.table:
            column.set("table", exp.to_identifier(found[1].alias, quoted=True))
    return copy

"""Faults with NULL: taken for zero or for an empty text, let in or left out without being asked."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from sqldojo.verifier.mutation.edits import Edit, and_where, set_arguments, swap
from sqldojo.verifier.mutation.names import KEY, NUMBER, kind
from sqldojo.verifier.mutation.scopes import Query
from sqldojo.verifier.mutation.trees import is_aggregate, own_nodes

_FEW = 4


def coalesce_dropped(query: Query) -> Iterator[Edit]:
    """COALESCE, IFNULL or NULLIF left out."""
    for node in query.all(exp.Coalesce, exp.Nullif):
        yield swap(node, node.this.copy())


def aggregate_coalesced(query: Query) -> Iterator[Edit]:
    """0 for the sum, average, minimum or maximum of no value, where NULL is right."""
    for node in query.all(exp.Sum, exp.Avg, exp.Min, exp.Max):
        outer = node.parent if isinstance(node.parent, exp.Filter) else node
        if isinstance(outer.parent, exp.Window | exp.Coalesce) or not is_aggregate(node):
            continue
        scope = query.scope(node)
        above = scope.select.parent if scope else None
        compared = isinstance(above, exp.Subquery) and isinstance(above.parent, exp.EQ | exp.In)
        if not compared and not isinstance(node, exp.Max | exp.Min):
            yield swap(outer, exp.Coalesce(this=outer.copy(), expressions=[exp.Literal.number(0)]))
    for node in query.all(exp.Subquery):
        if isinstance(node.parent, exp.Select | exp.Alias) and isinstance(node.this, exp.Select):
            yield swap(node, exp.Coalesce(this=node.copy(), expressions=[exp.Literal.number(0)]))


def nothing_as_no_row(query: Query) -> Iterator[Edit]:
    """No row at all where the aggregates of nothing are a row of NULLs, as a plain ORDER BY ... LIMIT 1 gives it."""
    select = query.tree
    if not isinstance(select, exp.Select) or select.args.get("group") or select.args.get("having"):
        return
    columns = [item.unalias() for item in select.expressions]
    of_nothing_null = exp.Max | exp.Min | exp.Sum | exp.Avg
    if columns and all(isinstance(item, of_nothing_null) and is_aggregate(item) for item in columns):
        some = exp.GT(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(0))
        yield set_arguments(select, having=exp.Having(this=some))


def value_coalesced(query: Query) -> Iterator[Edit]:
    """NULL counted as 0 inside an aggregate or arithmetic, as 0 or '' in a comparison.

    Of a product one factor is enough: whichever is NULL, the product is NULL, and 0 when it counts as 0. A product that
    SUM adds up is left alone: SUM leaves NULL out, which is to count it as 0, but for the sum of nothing known.
    """
    for node in query.all(exp.Avg, exp.Min, exp.Max):
        if isinstance(node.this, exp.Column) and kind(node.this.name) == NUMBER:
            yield swap(node.this, _zero(node.this))
    for node in query.all(exp.Add, exp.Sub, exp.Mul):
        columns = [side for side in (node.left, node.right) if isinstance(side, exp.Column)]
        if isinstance(node, exp.Mul):
            columns = [] if isinstance(node.parent, exp.Sum) else columns[:1]
        for side in columns:
            yield swap(side, _zero(side))
    for node in query.all(exp.NEQ, exp.LT, exp.LTE):
        if isinstance(node.this, exp.Column) and isinstance(node.expression, exp.Literal):
            instead = exp.Literal.string("") if node.expression.is_string else exp.Literal.number(0)
            yield swap(node.this, exp.Coalesce(this=node.this.copy(), expressions=[instead]))


def unknown_let_in(query: Query) -> Iterator[Edit]:
    """Rows without a value kept: x <> v as x <> v OR x IS NULL, likewise <, =, BETWEEN, IN, LIKE and what is NOT so."""
    for node in query.all(exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.EQ):
        against = exp.Literal if isinstance(node, exp.EQ) else exp.Expr
        value = node.expression
        if isinstance(node.this, exp.Column) and isinstance(value, against) and not isinstance(value, exp.Column):
            yield swap(node, exp.Paren(this=exp.Or(this=node.copy(), expression=_is_null(node.this))))
        elif isinstance(value, exp.Literal) and not node.this.find(exp.AggFunc, exp.Query):
            for column in list(node.this.find_all(exp.Column))[:2]:
                yield swap(node, exp.Paren(this=exp.Or(this=node.copy(), expression=_is_null(column))))
    for node in query.all(exp.Between, exp.In, exp.Like):
        alone = not node.args.get("query") and not isinstance(node.parent, exp.Not | exp.Escape)
        if alone and isinstance(node.this, exp.Column):
            yield swap(node, exp.Paren(this=exp.Or(this=node.copy(), expression=_is_null(node.this))))
    for node in query.all(exp.Not):
        inner = node.this.unnest()
        if isinstance(inner, exp.In | exp.Between | exp.Glob | exp.EQ) and isinstance(inner.this, exp.Column):
            yield swap(node, exp.Paren(this=exp.Or(this=node.copy(), expression=_is_null(inner.this))))
    for node in query.all(exp.Like):
        if node.args.get("negate") and isinstance(node.this, exp.Column):
            yield swap(node, exp.Paren(this=exp.Or(this=node.copy(), expression=_is_null(node.this))))


def unequal_with_null(query: Query) -> Iterator[Edit]:
    """IS NOT v taken for <> v and IS for =, and the reverse: whether NULL differs from a value, and equals NULL."""
    other = {exp.NullSafeNEQ: exp.NEQ, exp.NullSafeEQ: exp.EQ, exp.NEQ: exp.NullSafeNEQ, exp.EQ: exp.NullSafeEQ}
    for node in query.all(*other):
        if not isinstance(node, exp.EQ) or _both_may_be_null(query, node):
            yield swap(node, other[type(node)](this=node.this.copy(), expression=node.expression.copy()))


def null_as_empty(query: Query) -> Iterator[Edit]:
    """IS NULL taken for = '' or for = NULL, and the empty text taken for NULL too."""
    for node in query.all(exp.Is):
        if not isinstance(node.expression, exp.Null):
            continue
        empty = exp.EQ(this=node.this.copy(), expression=exp.Literal.string(""))
        place = node.parent if isinstance(node.parent, exp.Not) else node
        if place is node:
            yield swap(place, empty)
            yield swap(place, exp.EQ(this=node.this.copy(), expression=exp.Null()))
            yield swap(place, exp.Paren(this=exp.Or(this=node.copy(), expression=empty.copy())))
        else:
            unequal = exp.NEQ(this=node.this.copy(), expression=exp.Literal.string(""))
            yield swap(place, unequal)
            yield swap(place, exp.NEQ(this=node.this.copy(), expression=exp.Null()))
    for node in query.all(exp.EQ, exp.NEQ):
        if node.expression.is_string and not node.expression.this:
            null = exp.Is(this=node.this.copy(), expression=exp.Null())
            yield swap(node, exp.Not(this=null) if isinstance(node, exp.NEQ) else null)


def guard_added(query: Query) -> Iterator[Edit]:
    """AND x IS NOT NULL that nobody asked for: on what is listed, grouped by or added up."""
    for scope in query.scopes:
        if scope.recursive or isinstance(scope.select.parent, exp.Exists):
            continue
        select = scope.select
        parts = [*select.expressions, *(select.args["group"].expressions if select.args.get("group") else [])]
        seen: list[exp.Expr] = []
        for column in (node for part in parts for node in own_nodes(part) if isinstance(node, exp.Column)):
            source = scope.source(column)
            if (
                source
                and not column.is_star
                and column not in seen
                and column.name.lower() != (source.key or "").lower()
            ):
                seen.append(column)
        for column in seen[:_FEW]:
            yield [and_where(select, exp.Not(this=_is_null(column)))]


def foreign_guard_added(query: Query) -> Iterator[Edit]:
    """AND x IS NOT NULL on a column that the query does not even use: an address, a foreign key."""
    for scope in query.scopes:
        if scope.recursive or isinstance(scope.select.parent, exp.Exists | exp.SetOperation):
            continue
        used = {column.name.lower() for column in scope.select.find_all(exp.Column)}
        names = [(s, n) for s in scope.sources if s.table for n in s.columns if n.lower() not in used and n != s.key]
        names.sort(key=lambda item: kind(item[1]) != KEY)
        for source, name in names[:2]:
            yield [and_where(scope.select, exp.Not(this=_is_null(scope.column(source, name))))]


def _zero(column: exp.Expr) -> exp.Expr:
    return exp.Coalesce(this=column.copy(), expressions=[exp.Literal.number(0)])


def _is_null(column: exp.Expr) -> exp.Expr:
    return exp.Is(this=column.copy(), expression=exp.Null())


def _both_may_be_null(query: Query, node: exp.Expr) -> bool:
    """Whether two columns are compared of which neither is its table's own key."""
    for column in (node.this, node.expression):
        found = query.resolve(column) if isinstance(column, exp.Column) else None
        if found is None or (found[1].key or "").lower() == column.name.lower():
            return False
    return True

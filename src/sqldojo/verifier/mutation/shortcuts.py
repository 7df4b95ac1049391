"""Short cuts that are right by luck: two matches counted instead of two kinds, the second row for the second value."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from sqldojo.verifier.mutation.edits import Edit, conjunction, swap
from sqldojo.verifier.mutation.scopes import Query
from sqldojo.verifier.mutation.subqueries import members, where_terms


def both_as_count(query: Query) -> Iterator[Edit]:
    """IN (... = a) AND IN (... = b), or two EXISTS, as one look for a or b with more than one match."""
    for scope, conditions, term in where_terms(query):
        for other in conditions[conditions.index(term) + 1 :]:
            merged = _merged(term, other)
            if merged is not None:
                rest = [each for each in conditions if each is not term and each is not other]
                yield [(scope.select, "where", exp.Where(this=conjunction([*rest, merged])))]


def _merged(term: exp.Expr, other: exp.Expr) -> exp.Expr | None:
    both = (term, other)
    if all(isinstance(each, exp.In) for each in both) and term.this == other.this:
        selects = [members(each) for each in both]
    elif all(isinstance(each, exp.Exists) for each in both):
        selects = [each.this if isinstance(each.this, exp.Select) else None for each in both]
    else:
        return None
    if None in selects or any(select.args.get("group") for select in selects):
        return None
    select = selects[0].copy()
    theirs = list(selects[1].find_all(exp.Literal))
    mine = list(select.find_all(exp.Literal))
    differing = [pair for pair in zip(mine, theirs, strict=False) if pair[0] != pair[1]]
    if len(mine) != len(theirs) or len(differing) != 1:
        return None
    literal, wanted = differing[0]
    comparison = literal.parent
    if not isinstance(comparison, exp.EQ) or comparison.expression is not literal:
        return None
    literal.replace(wanted.copy())
    if select != selects[1]:
        return None
    listed = exp.In(this=comparison.this.copy(), expressions=[literal.copy(), wanted.copy()])
    comparison.replace(listed)
    several = exp.GT(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(1))
    if isinstance(term, exp.In):
        select.set("group", exp.Group(expressions=[select.expressions[0].unalias().copy()]))
        select.set("having", exp.Having(this=several))
        return exp.In(this=term.this.copy(), query=exp.Subquery(this=select))
    select.set("expressions", [exp.Count(this=exp.Star())])
    return exp.GT(this=exp.Subquery(this=select), expression=exp.Literal.number(1))


def second_as_next_row(query: Query) -> Iterator[Edit]:
    """The greatest value below the greatest as the second row in order, which a tie makes the greatest."""
    for scope in query.scopes:
        select = scope.select
        where = select.args.get("where")
        best = select.expressions[0].unalias() if len(select.expressions) == 1 else None
        if not isinstance(best, exp.Max | exp.Min) or where is None or not isinstance(best.this, exp.Column):
            continue
        beyond = exp.LT if isinstance(best, exp.Max) else exp.GT
        comparison = where.this
        inner = comparison.expression.unnest() if isinstance(comparison, beyond) else None
        if not isinstance(inner, exp.Select) or comparison.this != best.this or not inner.find(type(best)):
            continue
        row = select.copy()
        row.set("expressions", [best.this.copy()])
        row.set("where", None)
        down = isinstance(best, exp.Max)
        order = exp.Ordered(this=best.this.copy(), desc=down, nulls_first=not down)
        row.set("order", exp.Order(expressions=[order]))
        row.set("limit", exp.Limit(expression=exp.Literal.number(1)))
        row.set("offset", exp.Offset(expression=exp.Literal.number(1)))
        # As a scalar subquery, so that only the tie tells them apart, not that no second row is no row.
        yield swap(select, exp.Select(expressions=[exp.Subquery(this=row)]) if select is query.tree else row)

"""Faults in how conditions are put together: one forgotten, AND for OR, parentheses and NOT lost or added."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from sqldojo.verifier.mutation.edits import Edit, conjunction, set_arguments, swap, terms, wrapped
from sqldojo.verifier.mutation.scopes import Query

_PREDICATES = (exp.Exists, exp.In, exp.Like, exp.Glob, exp.Between, exp.Is)


def where_term_dropped(query: Query) -> Iterator[Edit]:
    """Each condition of a WHERE left out, but for those that join tables or reach out of a subquery."""
    yield from (edit for clause, outer, edit in _dropped_terms(query) if clause is exp.Where and not outer)


def correlation_dropped(query: Query) -> Iterator[Edit]:
    """Each condition left out that ties a subquery to the row outside."""
    yield from (edit for clause, outer, edit in _dropped_terms(query) if clause is exp.Where and outer)


def on_term_dropped(query: Query) -> Iterator[Edit]:
    """Each condition of an ON left out that is not the join's key."""
    yield from (edit for clause, _, edit in _dropped_terms(query) if clause is exp.Join)


def having_term_dropped(query: Query) -> Iterator[Edit]:
    """Each condition of a HAVING left out."""
    yield from (edit for clause, _, edit in _dropped_terms(query) if clause is exp.Having)


def case_condition_dropped(query: Query) -> Iterator[Edit]:
    """Each of several conditions after CASE WHEN (or in FILTER, or in the select list) left out."""
    yield from (edit for clause, _, edit in _dropped_terms(query) if clause is None)


def disjunct_dropped(query: Query) -> Iterator[Edit]:
    """Each alternative of an OR left out."""
    for chain in _chains(query, exp.Or):
        parts = terms(chain, exp.Or)
        for left_out in parts:
            yield swap(chain, conjunction([part for part in parts if part is not left_out], exp.Or))


def and_for_or(query: Query) -> Iterator[Edit]:
    """Each OR replaced by AND, as the flat text then reads."""
    for chain in _chains(query, exp.Or):
        parts = terms(chain, exp.Or)
        for at in range(len(parts) - 1):
            joined = conjunction(parts[at : at + 2])
            yield swap(chain, conjunction([*parts[:at], joined, *parts[at + 2 :]], exp.Or))


def or_for_and(query: Query) -> Iterator[Edit]:
    """Each AND replaced by OR, as the flat text then reads; not beside the key of a join."""
    for chain in _chains(query, exp.And):
        parts = terms(chain)
        for at in range(len(parts) - 1):
            if not any(joins_tables(query, part) for part in parts[at : at + 2]):
                yield swap(chain, exp.Or(this=conjunction(parts[: at + 1]), expression=conjunction(parts[at + 1 :])))


def parentheses_lost(query: Query) -> Iterator[Edit]:
    """Parentheses left out where the text then means something else."""
    for node in query.all(exp.Paren):
        parent = node.parent
        if isinstance(parent, exp.Binary | exp.Unary) and not isinstance(parent, exp.Paren):
            inner = node.unnest()
            if isinstance(inner, exp.Binary) and wrapped(inner, type(parent)) is not inner:
                yield [(parent, node.arg_key, inner.copy())]


def negation_dropped(query: Query) -> Iterator[Edit]:
    """NOT left out: NOT IN, NOT EXISTS, NOT LIKE, IS NOT NULL, NOT (...)."""
    for node in query.all(exp.Not):
        yield swap(node, node.this.copy())
    for node in query.all(exp.Like):
        if node.args.get("negate"):
            yield set_arguments(node, negate=None)


def negation_added(query: Query) -> Iterator[Edit]:
    """NOT added to IN, EXISTS, LIKE, BETWEEN, IS NULL."""
    for node in query.all(*_PREDICATES):
        if isinstance(node, exp.Like):
            if not node.args.get("negate"):
                yield set_arguments(node, negate=True)
        elif not isinstance(node.parent, exp.Not):
            yield swap(node, exp.Not(this=node.copy()))


def joins_tables(query: Query, term: exp.Expr) -> bool:
    """Whether a condition is the key of a join: columns of two tables of one SELECT are equal."""
    if not isinstance(term, exp.EQ) or not isinstance(term.left, exp.Column) or not isinstance(term.right, exp.Column):
        return False
    left, right = query.resolve(term.left), query.resolve(term.right)
    return bool(left and right and left[0] is right[0] and left[1] is not right[1])


def _dropped_terms(query: Query) -> Iterator[tuple[type[exp.Expr] | None, bool, Edit]]:
    """(clause, whether it reaches outside, edit) for each condition that can be left out."""
    for node in query.all(exp.Where, exp.Having):
        if isinstance(node.parent, exp.Select) and len(terms(node.this)) == 1:
            scope = query.scope(node.this)
            if scope and not joins_tables(query, node.this):
                yield type(node), query.is_outer(node.this, scope), [(node.parent, node.arg_key, None)]
    for node in query.all(exp.Join):
        on = node.args.get("on")
        if on is not None and len(terms(on)) == 1 and not isinstance(on, exp.EQ | exp.Boolean):
            yield exp.Join, False, [(node, "on", exp.true())]
    for chain in _chains(query, exp.And):
        parts = terms(chain)
        clause = _clause(chain)
        scope = query.scope(chain)
        for left_out in parts:
            if scope and not joins_tables(query, left_out):
                rest = conjunction([part for part in parts if part is not left_out])
                yield clause, query.is_outer(left_out, scope), swap(chain, rest)


def _chains(query: Query, kind: type[exp.Connector]) -> Iterator[exp.Expr]:
    """The topmost node of every chain of AND (or OR)."""
    for node in query.all(kind):
        above = node.parent
        while isinstance(above, exp.Paren):
            above = above.parent
        if not isinstance(above, kind):
            yield node


def _clause(node: exp.Expr) -> type[exp.Expr] | None:
    above = node.parent
    while above is not None and not isinstance(above, exp.Query):
        if isinstance(above, exp.Where) and isinstance(above.parent, exp.Filter):
            return None
        if isinstance(above, exp.Where | exp.Having | exp.Join):
            return type(above)
        above = above.parent
    return None

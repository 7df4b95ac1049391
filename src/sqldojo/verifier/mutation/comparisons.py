"""Faults in one comparison: its boundary, its direction, its ends."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from sqldojo.verifier.mutation.edits import Edit, conjunction, swap, terms
from sqldojo.verifier.mutation.scopes import Query

_BOUNDARY = {exp.LT: exp.LTE, exp.LTE: exp.LT, exp.GT: exp.GTE, exp.GTE: exp.GT}
_MIRRORED = {exp.LT: exp.GT, exp.LTE: exp.GTE, exp.GT: exp.LT, exp.GTE: exp.LTE}
_NEGATED = {exp.EQ: exp.NEQ, exp.NEQ: exp.EQ, exp.NullSafeEQ: exp.NullSafeNEQ, exp.NullSafeNEQ: exp.NullSafeEQ}


def _as(node: exp.Expr, kind: type[exp.Expr]) -> Edit:
    return swap(node, kind(this=node.this.copy(), expression=node.expression.copy()))


def boundary(query: Query) -> Iterator[Edit]:
    """< and <=, > and >= exchanged."""
    for node in query.all(*_BOUNDARY):
        yield _as(node, _BOUNDARY[type(node)])


def mirrored(query: Query) -> Iterator[Edit]:
    """< and >, <= and >= exchanged."""
    for node in query.all(*_MIRRORED):
        yield _as(node, _MIRRORED[type(node)])


def equality_negated(query: Query) -> Iterator[Edit]:
    """= and <>, IS and IS NOT exchanged; not between two columns, where <> is a product of tables."""
    for node in query.all(*_NEGATED):
        if not (isinstance(node, exp.EQ) and _two_columns(node)):
            yield _as(node, _NEGATED[type(node)])


def equality_widened(query: Query) -> Iterator[Edit]:
    """= taken for >= and for <=."""
    for node in query.all(exp.EQ):
        if not _two_columns(node) and not isinstance(node.this, exp.Tuple):
            yield _as(node, exp.GTE)
            yield _as(node, exp.LTE)


def pair_order(query: Query) -> Iterator[Edit]:
    """a.id < b.id against a.id <> b.id: each pair once, or both ways round; and the inequality taken for <= or >=."""
    for node in query.all(exp.LT, exp.GT, exp.NEQ):
        if _two_columns(node):
            for kind in (exp.LT, exp.GT, exp.NEQ):
                if not isinstance(node, kind):
                    yield _as(node, kind)


def between_opened(query: Query) -> Iterator[Edit]:
    """BETWEEN without its upper end, its lower end, both."""
    for node in query.all(exp.Between):
        for low, high in ((exp.GTE, exp.LT), (exp.GT, exp.LTE), (exp.GT, exp.LT)):
            value = node.this
            lower = low(this=value.copy(), expression=node.args["low"].copy())
            upper = high(this=value.copy(), expression=node.args["high"].copy())
            yield swap(node, exp.Paren(this=exp.And(this=lower, expression=upper)))


def range_closed(query: Query) -> Iterator[Edit]:
    """x > a AND x < b, with one end or none included, taken for BETWEEN a AND b."""
    for node, at, lower, upper, chain in ranges(query):
        if isinstance(lower, exp.GT) or isinstance(upper, exp.LT):
            between = exp.Between(this=lower.this.copy(), low=lower.expression.copy(), high=upper.expression.copy())
            new = [between if i == at else term for i, term in enumerate(chain) if term is not upper]
            yield swap(node, conjunction(new))


def ranges(query: Query) -> Iterator[tuple[exp.Expr, int, exp.Expr, exp.Expr, list[exp.Expr]]]:
    """(chain, place, lower, upper, its terms) for every x > a AND x < b, each end included or not."""
    for node in query.all(exp.And):
        if isinstance(node.parent, exp.And):
            continue
        chain = terms(node)
        for at, lower in enumerate(chain):
            for upper in chain:
                ends = isinstance(lower, exp.GT | exp.GTE) and isinstance(upper, exp.LT | exp.LTE)
                if ends and lower.this == upper.this:
                    yield node, at, lower, upper, chain


def _two_columns(node: exp.Expr) -> bool:
    return isinstance(node.this, exp.Column) and isinstance(node.expression, exp.Column)

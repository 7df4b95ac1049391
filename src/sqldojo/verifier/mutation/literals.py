"""Faults in a constant: a number off by one or by a digit, a text in other letters, a list with an item too many."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from sqlglot import exp

from sqldojo.verifier.mutation.edits import Edit, set_arguments, swap
from sqldojo.verifier.mutation.scopes import Query, Scope, Source

_COMPARING = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Between, exp.In)
_PLACES = (exp.Limit, exp.Offset, exp.Ordered, exp.Group, exp.Round, exp.WindowSpec, exp.DataType, exp.Select)
_PLAIN = re.compile(r"\d{0,15}\.?\d{0,15}")  # no exponent: ten times 1e308 is no number


def number_off_by_one(query: Query) -> Iterator[Edit]:
    """A number one more and one less, a decimal fraction by one in its last place."""
    for node in query.all(exp.Literal):
        if node.is_string or isinstance(node.parent, _PLACES) or _is_scale(node):
            continue
        scope = query.scope(node)
        if scope is not None and scope.recursive and not isinstance(node.parent, _COMPARING):
            continue  # a counter that no longer counts never stops
        step = Decimal(1).scaleb(min(0, Decimal(node.this).as_tuple().exponent))
        for value in (Decimal(node.this) + step, Decimal(node.this) - step):
            yield swap(node, number(value))


def number_rescaled(query: Query) -> Iterator[Edit]:
    """A compared number with a digit too many or too few, and with its sign lost."""
    for node in query.all(exp.Literal):
        if node.is_string or not isinstance(node.parent, (*_COMPARING, exp.Neg)) or not _PLAIN.fullmatch(node.this):
            continue
        if not Decimal(node.this):
            continue
        if isinstance(node.parent, exp.Neg):
            yield swap(node.parent, node.copy())
            continue
        yield swap(node, number(Decimal(node.this) * 10))
        if Decimal(node.this) >= 10:
            yield swap(node, number(Decimal(node.this) // 10))


def digits_off_by_one(query: Query) -> Iterator[Edit]:
    """A number written as a text ('2023', '05') one more and one less."""
    for node in _compared_texts(query):
        if re.fullmatch(r"\d{1,9}", node.this):
            for value in (int(node.this) + 1, int(node.this) - 1):
                if value >= 0:
                    yield swap(node, exp.Literal.string(str(value).zfill(len(node.this))))


def text_case(query: Query) -> Iterator[Edit]:
    """A compared text in other letters: all small, all capital, or with a capital in front."""
    for node in _compared_texts(query):
        variants = dict.fromkeys((node.this.lower(), node.this.capitalize(), node.this.upper()))
        for text in [text for text in variants if text != node.this][:2]:
            yield swap(node, exp.Literal.string(text))


def text_altered(query: Query) -> Iterator[Edit]:
    """A compared text in the plural or singular."""
    for node in _compared_texts(query):
        if re.search(r"[^\W\d]", node.this):
            text = node.this[:-1] if node.this.endswith("s") else node.this + "s"
            yield swap(node, exp.Literal.string(text))


def text_exchanged(query: Query) -> Iterator[Edit]:
    """A compared text replaced by the next other one of the query."""
    compared = list(_compared_texts(query))
    for at, node in enumerate(compared):
        others = [other.this for other in (*compared[at + 1 :], *compared[:at]) if other.this != node.this]
        if others and not isinstance(node.parent, exp.In):
            yield swap(node, exp.Literal.string(others[0]))


def item_dropped(query: Query) -> Iterator[Edit]:
    """Each item of IN (...) left out."""
    for node in query.all(exp.In):
        if len(node.expressions) > 1:
            for item in node.expressions:
                rest = [other.copy() for other in node.expressions if other is not item]
                yield set_arguments(node, expressions=rest)


def item_added(query: Query) -> Iterator[Edit]:
    """A value let in (or left out) that was not asked for: the greatest other one that the column has."""
    for node, column, items, other in _other_values(query):
        more = exp.In(this=column.copy(), expressions=[*(item.copy() for item in items), other])
        yield swap(node, exp.Not(this=more) if isinstance(node, exp.NEQ) else more)


def value_exchanged(query: Query) -> Iterator[Edit]:
    """Another value of the column instead, also for `all but this one`."""
    for node, column, _, other in _other_values(query):
        if not isinstance(node, exp.In):
            yield swap(node, exp.EQ(this=column.copy(), expression=other))


def _other_values(query: Query) -> Iterator[tuple[exp.Expr, exp.Column, list[exp.Expr], exp.Expr]]:
    """(condition, column, its constants, another value of the column) for =, <> and IN with constants."""
    for node in query.all(exp.EQ, exp.NEQ, exp.In):
        column = node.this
        items = node.expressions if isinstance(node, exp.In) else [node.expression]
        if isinstance(column, exp.Column) and items and all(map(is_constant, items)):
            found = query.resolve(column)
            if found and found[1].table:
                yield node, column, items, extreme(exp.Max, found[0], found[1], column.name, items)


def is_constant(node: exp.Expr) -> bool:
    """Whether the node is a number or a text, possibly with a sign."""
    return isinstance(node, exp.Literal) or (isinstance(node, exp.Neg) and isinstance(node.this, exp.Literal))


def number(value: Decimal) -> exp.Expr:
    """The literal of a number, never in scientific notation."""
    text = f"{abs(value):f}"
    return exp.Neg(this=exp.Literal.number(text)) if value < 0 else exp.Literal.number(text)


def extreme(
    aggregate: type[exp.AggFunc], scope: Scope, source: Source, name: str, but_not: list[exp.Expr] | None = None
) -> exp.Subquery:
    """(SELECT MAX(column) FROM table WHERE NOT column IN (...)): a value of the data, for any schema."""
    column = exp.column(exp.to_identifier(source.has(name), quoted=True))
    select = exp.select(aggregate(this=column)).from_(exp.Table(this=exp.to_identifier(source.table, quoted=True)))
    if but_not:
        kept = exp.In(this=column.copy(), expressions=[item.copy() for item in but_not])
        select.set("where", exp.Where(this=exp.Not(this=kept)))
    return exp.Subquery(this=select)


def _compared_texts(query: Query) -> Iterator[exp.Literal]:
    for node in query.all(exp.Literal):
        if node.is_string and isinstance(node.parent, _COMPARING):
            yield node


def _is_scale(node: exp.Literal) -> bool:
    """Whether a number only scales: 100.0 * x, x * 1.0."""
    return isinstance(node.parent, exp.Mul | exp.Div) and Decimal(node.this) in (1, 100)

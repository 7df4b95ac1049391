"""Faults in arithmetic: integers divided, rounding, an operator or a factor wrong."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from sqldojo.verifier.mutation.edits import Edit, set_arguments, swap
from sqldojo.verifier.mutation.names import NUMBER, kind
from sqldojo.verifier.mutation.scopes import Query

_OTHERS = {exp.Add: (exp.Sub,), exp.Sub: (exp.Add,), exp.Mul: (exp.Add,), exp.Div: (exp.Mul,), exp.Mod: (exp.Div,)}


def real_made_integer(query: Query) -> Iterator[Edit]:
    """1.0 * or CAST AS REAL left out, 100.0 written as 100: two integers are divided then."""
    for node in query.all(exp.Mul, exp.Div):
        for factor, other in ((node.left, node.right), (node.right, node.left)):
            if isinstance(factor, exp.Literal) and "." in factor.this and not float(factor.this) % 1:
                if float(factor.this) == 1 and not (isinstance(node, exp.Div) and factor is node.left):
                    yield swap(node, other.copy())
                else:
                    yield swap(factor, exp.Literal.number(int(float(factor.this))))
    for node in query.all(exp.Cast):
        yield swap(node, node.this.copy())


def integer_made_real(query: Query) -> Iterator[Edit]:
    """A division of integers made with reals: 1.0 * in front, where SQLite would drop the fraction."""
    for node in query.all(exp.Div):
        if not any(
            (isinstance(each, exp.Literal) and "." in each.this) or isinstance(each, exp.Cast) for each in node.dfs()
        ):
            yield swap(node.left, exp.Mul(this=exp.Literal.number("1.0"), expression=_bracketed(node.left)))


def real_truncated(query: Query) -> Iterator[Edit]:
    """A quotient cut to an integer by CAST."""
    for node in query.all(exp.Div, exp.Avg, exp.Round):
        if not isinstance(node.parent, exp.Cast | exp.Round | exp.Window | exp.Filter | exp.Mul | exp.Div):
            yield swap(node, exp.Cast(this=node.copy(), to=exp.DataType(this=exp.DType.USERDEFINED, kind="INTEGER")))


def round_dropped(query: Query) -> Iterator[Edit]:
    """ROUND left out."""
    for node in query.all(exp.Round):
        yield swap(node, node.this.copy())


def round_digits(query: Query) -> Iterator[Edit]:
    """ROUND to one digit more or fewer, or to none."""
    for node in query.all(exp.Round):
        digits = node.args.get("decimals")
        if digits is None:
            yield set_arguments(node, decimals=exp.Literal.number(1))
        elif isinstance(digits, exp.Literal) and digits.is_int:
            for value in dict.fromkeys((int(digits.this) + 1, max(int(digits.this) - 1, 0))):
                if value != int(digits.this):
                    yield set_arguments(node, decimals=exp.Literal.number(value))
            yield set_arguments(node, decimals=None)


def round_added(query: Query) -> Iterator[Edit]:
    """ROUND that is not asked for: around an average or quotient that is listed, before comparing or adding up."""
    for node in query.all(exp.Avg, exp.Div, exp.Sum):
        holder = node.parent
        if isinstance(holder, exp.Select | exp.Alias) and not (isinstance(node, exp.Sum) and not _is_amount(node.this)):
            yield swap(node, exp.Round(this=node.copy(), decimals=exp.Literal.number(2)))
        if isinstance(node, exp.Sum) and _is_amount(node.this):
            yield set_arguments(node, this=exp.Round(this=node.this.copy()))
    for node in query.all(exp.LT, exp.LTE, exp.GT, exp.GTE):
        if isinstance(node.this, exp.Column) and kind(node.this.name) == NUMBER and not node.expression.is_string:
            yield swap(node.this, exp.Round(this=node.this.copy()))


def round_early(query: Query) -> Iterator[Edit]:
    """The parts rounded instead of the whole: ROUND(a / b, 2) as ROUND(a, 2) / b, ROUND(AVG(x)) as AVG(ROUND(x))."""
    for node in query.all(exp.Round):
        inner, digits = node.this.unnest(), node.args.get("decimals")
        if isinstance(inner, exp.Mul | exp.Div):
            first = exp.Round(this=inner.left.copy(), decimals=digits.copy() if digits is not None else None)
            yield swap(node, type(inner)(this=first, expression=inner.right.copy()))
        elif isinstance(inner, exp.Sum | exp.Avg) and not isinstance(inner.this, exp.Distinct):
            each = exp.Round(this=inner.this.copy(), decimals=digits.copy() if digits is not None else None)
            yield swap(node, type(inner)(this=each))


def operator_exchanged(query: Query) -> Iterator[Edit]:
    """+ and -, * and +, / and * taken for one another."""
    for node in query.all(*_OTHERS):
        if not _is_scaled(node):
            for other in _OTHERS[type(node)]:
                yield swap(node, other(this=node.this.copy(), expression=node.expression.copy()))


def operands_swapped(query: Query) -> Iterator[Edit]:
    """a - b as b - a, a / b as b / a, a || b as b || a."""
    for node in query.all(exp.Sub, exp.Div, exp.DPipe, exp.Mod):
        yield swap(node, type(node)(this=_bracketed(node.right), expression=_bracketed(node.left)))


def operand_dropped(query: Query) -> Iterator[Edit]:
    """One side of an operator forgotten: quantity * price as price."""
    for node in query.all(exp.Add, exp.Sub, exp.Mul, exp.Div, exp.DPipe, exp.Mod):
        for side in (node.left, node.right):
            dropped = node.right if side is node.left else node.left
            if not (isinstance(dropped, exp.Literal) and dropped.this in ("1.0", "1")):
                yield swap(node, side.copy())


def function_dropped(query: Query) -> Iterator[Edit]:
    """ABS, TRIM, LENGTH and the like, or a minus, left out."""
    for node in query.all(exp.Anonymous):
        if (
            node.name.upper()
            in ("ABS", "TRIM", "LTRIM", "RTRIM", "LENGTH", "SUBSTR", "SUBSTRING", "REPLACE", "CEIL", "FLOOR")
            and node.expressions
        ):
            yield swap(node, node.expressions[0].copy())
    for node in query.all(exp.Neg):
        if not isinstance(node.this, exp.Literal):
            yield swap(node, node.this.copy())


def _is_scaled(node: exp.Expr) -> bool:
    return any(
        isinstance(side, exp.Literal) and side.this in ("1.0", "100.0", "100") for side in (node.left, node.right)
    )


def _is_amount(node: exp.Expr) -> bool:
    """Whether what is added up may have a fraction: a product, or a column that by its name holds amounts."""
    return isinstance(node, exp.Mul | exp.Div) or (isinstance(node, exp.Column) and kind(node.name) == NUMBER)


def _bracketed(node: exp.Expr) -> exp.Expr:
    copy = node.copy()
    return exp.Paren(this=copy) if isinstance(copy, exp.Binary) else copy

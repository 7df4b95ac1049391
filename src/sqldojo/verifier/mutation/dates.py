"""Faults in a date: its last day, a time on that day, month-of-year without the year, the wrong part of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta

from sqlglot import exp

from sqldojo.verifier.mutation.comparisons import ranges
from sqldojo.verifier.mutation.edits import Edit, conjunction, set_arguments, swap
from sqldojo.verifier.mutation.names import MOMENT, kind
from sqldojo.verifier.mutation.scopes import Query

_DAY = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
# A format's letters, each with what is taken for it.
_TAKEN_FOR = {"%m": ("%d",), "%d": ("%m",), "%Y": ("%m",), "%Y-%m": ("%m", "%Y"), "%Y-%m-%d": ("%Y-%m",), "%H": ("%M",),
              "%M": ("%m", "%H"), "%w": ("%W", "%d"), "%W": ("%w", "%m"), "%j": ("%d",), "%m-%d": ("%m",)}  # fmt: skip


def day_shifted(query: Query) -> Iterator[Edit]:
    """A date one day later and one day earlier, and a year later."""
    for node, day in _days(query):
        for other in (day + timedelta(1), day - timedelta(1), _year_later(day)):
            yield swap(node, _text(other, node.this[10:]))


def range_closed_by_day(query: Query) -> Iterator[Edit]:
    """x >= a AND x < b as BETWEEN a AND the day before b, which loses what has a time on that day."""
    for node, at, lower, upper, chain in _ranges(query):
        if isinstance(upper, exp.LT):
            before = _day(upper.expression) - timedelta(1)
            between = exp.Between(this=lower.this.copy(), low=lower.expression.copy(), high=_text(before))
            yield swap(
                node, conjunction(between if i == at else term for i, term in enumerate(chain) if term is not upper)
            )


def end_of_day(query: Query) -> Iterator[Edit]:
    """x <= a day as x < the next one and the reverse, which differ for what has a time on that day."""
    for node in query.all(exp.LTE, exp.LT):
        day = _day(node.expression)
        if day and isinstance(node, exp.LTE):
            yield swap(node, exp.LT(this=node.this.copy(), expression=_text(day + timedelta(1))))
        elif day:
            yield swap(node, exp.LTE(this=node.this.copy(), expression=_text(day - timedelta(1))))
    for node in query.all(exp.Between):
        day = _day(node.args["high"])
        if day:
            lower = exp.GTE(this=node.this.copy(), expression=node.args["low"].copy())
            upper = exp.LT(this=node.this.copy(), expression=_text(day + timedelta(1)))
            yield swap(node, exp.Paren(this=exp.And(this=lower, expression=upper)))


def range_as_part(query: Query) -> Iterator[Edit]:
    """A range of dates told by the month of its start, of any year, or by its year."""
    for node, at, lower, upper, chain in _ranges(query):
        for letters, value in (("%m", f"{_day(lower.expression):%m}"), ("%Y", f"{_day(lower.expression):%Y}")):
            part = exp.EQ(this=strftime(letters, lower.this.copy()), expression=exp.Literal.string(value))
            yield swap(
                node, conjunction(part if i == at else term for i, term in enumerate(chain) if term is not upper)
            )


def part_exchanged(query: Query) -> Iterator[Edit]:
    """strftime with another part: %d for %m, the month of any year for year and month."""
    for node, letters, value in _parts(query):
        for other in _TAKEN_FOR.get(letters, ()):
            new = strftime(other, value.copy())
            compared = (
                node.parent if isinstance(node.parent, exp.EQ | exp.NEQ) and node.parent.expression.is_string else None
            )
            if letters.startswith("%Y-%m") and compared is not None and node is compared.this:
                wanted = compared.expression.this
                short = exp.Literal.string(
                    wanted[:4] if other == "%Y" else wanted[5:7] if other == "%m" else wanted[:7]
                )
                yield swap(compared, type(compared)(this=new, expression=short))
            else:
                yield swap(node, new)


def part_as_pattern(query: Query) -> Iterator[Edit]:
    """strftime('%m', x) = '05' told by LIKE '%-05%', which the fifth day fits too; a year by its digits anywhere."""
    for node, letters, value in _parts(query):
        compared = node.parent
        if isinstance(compared, exp.EQ) and compared.this is node and compared.expression.is_string:
            wanted = compared.expression.this
            for text in {"%m": (f"%-{wanted}%", f"%{wanted}%"), "%d": (f"%-{wanted}%",), "%Y": (f"%{wanted}%",),
                         "%Y-%m": (f"%{wanted[5:7]}%",)}.get(letters, ()):  # fmt: skip
                yield swap(compared, exp.Like(this=value.copy(), expression=exp.Literal.string(text)))


def pattern_part(query: Query) -> Iterator[Edit]:
    """LIKE on a date with its year lost ('2023-05%' as '%-05%') or its last dash ('%-05-%' as '%-05%')."""
    for node in query.all(exp.Like):
        pattern = node.expression.this if node.expression.is_string else ""
        match = re.fullmatch(r"(\d{4})-(\d\d)(-?%|-\d\d%?)", pattern)
        if match:
            yield set_arguments(node, expression=exp.Literal.string(f"%-{match[2]}{match[3]}"))
            yield set_arguments(node, expression=exp.Literal.string(f"{match[1]}%"))
        if re.fullmatch(r"%-\d\d-%", pattern):
            yield set_arguments(node, expression=exp.Literal.string(pattern.replace("-%", "%")))
            yield set_arguments(node, expression=exp.Literal.string(f"%{pattern[1:4]}"))


def year_compared(query: Query) -> Iterator[Edit]:
    """A year compared with the whole date: from that year on, up to it, or the year's first and last day left out."""
    for node, letters, value in _parts(query):
        compared = node.parent
        if (
            letters != "%Y"
            or not isinstance(compared, exp.EQ)
            or compared.this is not node
            or not compared.expression.is_string
        ):
            continue
        year = compared.expression.this
        for low, high, upper in ((exp.GT, "12-31", exp.LTE), (exp.GTE, "12-31", exp.LT), (exp.GTE, "12-31", exp.LTE)):
            first = low(this=value.copy(), expression=exp.Literal.string(f"{year}-01-01"))
            last = upper(this=value.copy(), expression=exp.Literal.string(f"{year}-{high}"))
            yield swap(compared, exp.Paren(this=exp.And(this=first, expression=last)))


def part_as_number(query: Query) -> Iterator[Edit]:
    """strftime compared with a number instead of a text, which is never equal in SQLite, or listed as a number."""
    for node, letters, _ in _parts(query):
        if isinstance(node.parent, exp.Select | exp.Alias) and letters in ("%Y", "%m", "%d", "%H", "%M", "%w", "%j"):
            yield swap(node, exp.Cast(this=node.copy(), to=exp.DataType(this=exp.DType.USERDEFINED, kind="INTEGER")))
        compared = node.parent
        if (
            isinstance(compared, exp.EQ | exp.GTE | exp.GT | exp.LT | exp.LTE)
            and compared.this is node
            and compared.expression.is_string
        ) and compared.expression.this.isdigit():
            number = exp.Literal.number(int(compared.expression.this))
            yield swap(compared, type(compared)(this=node.copy(), expression=number))


def whole_day(query: Query) -> Iterator[Edit]:
    """DATE(x) left out or put around a column of dates: with and without the time of day."""
    for node in query.all(exp.Anonymous):
        if node.name.upper() in ("DATE", "DATETIME") and len(node.expressions) == 1:
            yield swap(node, node.expressions[0].copy())
    for node in query.all(exp.Column):
        if kind(node.name) != MOMENT or not isinstance(
            node.parent, exp.EQ | exp.LTE | exp.GT | exp.Between | exp.Group | exp.Distinct
        ):
            continue
        against_day = any(
            _day(value)
            for value in (node.parent.args.get("expression"), node.parent.args.get("high"))
            if value is not None
        )
        if against_day or isinstance(node.parent, exp.Group | exp.Distinct):
            yield swap(node, exp.Anonymous(this="DATE", expressions=[node.copy()]))


def modifier_changed(query: Query) -> Iterator[Edit]:
    """A modifier of a date function left out, or with the other sign."""
    for node in query.all(exp.Anonymous):
        if node.name.upper() not in ("DATE", "DATETIME", "TIME", "JULIANDAY", "UNIXEPOCH", "STRFTIME"):
            continue
        first = 2 if node.name.upper() == "STRFTIME" else 1
        for at, modifier in enumerate(node.expressions):
            if at < first or not modifier.is_string:
                continue
            yield set_arguments(node, expressions=[e.copy() for i, e in enumerate(node.expressions) if i != at])
            sign = modifier.this[:1]
            if sign in ("+", "-"):
                other = exp.Literal.string({"+": "-", "-": "+"}[sign] + modifier.this[1:])
                yield set_arguments(
                    node, expressions=[other if i == at else e.copy() for i, e in enumerate(node.expressions)]
                )


def strftime(letters: str, value: exp.Expr) -> exp.Anonymous:
    """STRFTIME('letters', value)."""
    return exp.Anonymous(this="STRFTIME", expressions=[exp.Literal.string(letters), value])


def _parts(query: Query) -> Iterator[tuple[exp.Anonymous, str, exp.Expr]]:
    """(call, format, value) of every strftime with a constant format."""
    for node in query.all(exp.Anonymous):
        if node.name.upper() == "STRFTIME" and len(node.expressions) == 2 and node.expressions[0].is_string:
            yield node, node.expressions[0].this, node.expressions[1]


def _days(query: Query) -> Iterator[tuple[exp.Literal, date]]:
    for node in query.all(exp.Literal):
        day = _day(node)
        if day:
            yield node, day


def _day(node: exp.Expr) -> date | None:
    match = _DAY.match(node.this) if isinstance(node, exp.Literal) and node.is_string else None
    try:
        day = date(*map(int, match.groups())) if match else None
    except ValueError:
        return None
    # 9999-12-31 stands for "never": it has no day after it.
    return day if day and date.min.year < day.year < date.max.year else None


def _text(day: date, time: str = "") -> exp.Literal:
    return exp.Literal.string(day.isoformat() + time)


def _year_later(day: date) -> date:
    return day.replace(year=day.year + 1, day=min(day.day, 28))


def _ranges(query: Query) -> Iterator[tuple[exp.Expr, int, exp.Expr, exp.Expr, list[exp.Expr]]]:
    """The ranges whose two ends are days."""
    for found in ranges(query):
        _, _, lower, upper, _ = found
        if _day(lower.expression) and _day(upper.expression):
            yield found

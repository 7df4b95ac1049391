"""What a query asks for, read off its syntax: the pattern by which the bank is counted, and how hard it is.

The pattern is the last of PATTERNS whose mark the query bears:

- filter: a condition or nothing; range: a comparison with < or >, BETWEEN; date: strftime, date and the like;
- aggregate: an aggregate over all rows; group: GROUP BY; join: more than one table in one FROM;
- anti-join: NOT IN or NOT EXISTS of a query, or a LEFT JOIN kept where nothing matched; having: HAVING;
- top: ORDER BY with LIMIT, or a comparison with a MAX or MIN of its own; group-top: the same over or within groups;
- ratio: a quotient of aggregates; month: a month taken out of a date; set: UNION, INTERSECT, EXCEPT; window: OVER.

The difficulty is 1 and 1 more for each further part, 4 at most: each joined table, each nested query or arm of a set
operation, GROUP BY, HAVING, ORDER BY with LIMIT, a window, each condition of a WHERE after its first.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from sqldojo.records import PATTERNS

HARDEST = 4
_RANGES = (exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between)
_DATE_FUNCTIONS = ("date", "datetime", "julianday", "strftime", "time", "unixepoch")
_EXTREMES = (exp.Max, exp.Min)


def pattern_of(tree: exp.Query) -> str:
    """The entry of PATTERNS that a query, as `sqlite_text.read` gives it, falls under."""
    return next(name for name in reversed(PATTERNS) if _MARKS[name](tree))


def difficulty_of(tree: exp.Query) -> int:
    """1 (one table, at most one condition) to HARDEST (several steps)."""
    parts = len(list(tree.find_all(exp.Join, exp.Group, exp.Having, exp.Window)))
    parts += len(list(tree.find_all(exp.Select))) - 1
    parts += sum(_is_cut(query) for query in tree.find_all(exp.Query))
    parts += sum(len(list(where.find_all(exp.And, exp.Or))) for where in tree.find_all(exp.Where))
    return min(HARDEST, 1 + parts)


def _is_cut(query: exp.Expression) -> bool:
    return bool(query.args.get("order") and query.args.get("limit"))


def _is_grouped(tree: exp.Query) -> bool:
    return tree.find(exp.Group) is not None


def _is_aggregated(tree: exp.Query) -> bool:
    return tree.find(exp.AggFunc) is not None


def _reads_dates(tree: exp.Query) -> bool:
    return any(function.name.lower() in _DATE_FUNCTIONS for function in tree.find_all(exp.Anonymous))


def _reads_months(tree: exp.Query) -> bool:
    return any(
        function.name.lower() == "strftime" and "%m" in function.sql() for function in tree.find_all(exp.Anonymous)
    )


def _is_anti_join(tree: exp.Query) -> bool:
    for negation in tree.find_all(exp.Not):
        inner = negation.this.unnest()
        if isinstance(inner, exp.Exists) or (isinstance(inner, exp.In) and inner.args.get("query")):
            return True
    joined_left = any(join.side == "LEFT" for join in tree.find_all(exp.Join))
    unmatched = any(isinstance(each.expression, exp.Null) and not isinstance(each.parent, exp.Not)
                    for where in tree.find_all(exp.Where) for each in where.find_all(exp.Is))  # fmt: skip
    return joined_left and unmatched


def _compares_with_extreme(tree: exp.Query) -> bool:
    """Whether something is equal to a MAX or MIN that a query of its own finds."""
    inner = (each for equal in tree.find_all(exp.EQ) for each in equal.find_all(exp.Subquery))
    return any(isinstance(each.this, exp.Select) and each.this.find(*_EXTREMES) for each in inner)


def _is_top(tree: exp.Query) -> bool:
    return any(map(_is_cut, tree.find_all(exp.Query))) or _compares_with_extreme(tree)


def _is_group_top(tree: exp.Query) -> bool:
    """A top of groups, or one that is found anew for each outer row."""
    for query in tree.find_all(exp.Select):
        extreme = any(each.find(*_EXTREMES) for each in query.expressions)
        is_top = _is_cut(query) or (extreme and query.parent_select is not None)
        if is_top and (query.args.get("group") or _is_correlated(query)):
            return True
    return False


def _is_correlated(query: exp.Select) -> bool:
    """Whether a nested query names a table that only a query around it has."""
    own = {table.alias_or_name.lower() for table in query.find_all(exp.Table)}
    return any(column.table and column.table.lower() not in own for column in query.find_all(exp.Column))


def _is_ratio(tree: exp.Query) -> bool:
    return any(quotient.find(exp.AggFunc) is not None for quotient in tree.find_all(exp.Div))


_MARKS: dict[str, Callable[[exp.Query], bool]] = {
    "filter": lambda _tree: True,
    "range": lambda tree: tree.find(*_RANGES) is not None,
    "date": _reads_dates,
    "aggregate": _is_aggregated,
    "group": _is_grouped,
    "join": lambda tree: tree.find(exp.Join) is not None,
    "anti-join": _is_anti_join,
    "having": lambda tree: tree.find(exp.Having) is not None,
    "top": _is_top,
    "group-top": _is_group_top,
    "ratio": _is_ratio,
    "month": _reads_months,
    "set": lambda tree: tree.find(exp.SetOperation) is not None,
    "window": lambda tree: tree.find(exp.Window) is not None,
}

"""Rewrites of one expression that mean the same for every value of its columns, NULL included.

Each rule takes one node, already a copy of its own, and returns its replacement or None. The line under its name says
why it is a theorem of SQLite. `PREDICATE_RULES` lists them with the node types that they look at.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

NodeRule = Callable[[exp.Expression], exp.Expression | None]

_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
_MIRRORED = {exp.EQ: exp.EQ, exp.NEQ: exp.NEQ, exp.LT: exp.GT, exp.GT: exp.LT, exp.LTE: exp.GTE, exp.GTE: exp.LTE}
_NEGATED = {exp.EQ: exp.NEQ, exp.NEQ: exp.EQ, exp.LT: exp.GTE, exp.GTE: exp.LT, exp.GT: exp.LTE, exp.LTE: exp.GT}


def _between_as_bounds(node: exp.Expression) -> exp.Expression | None:
    """SQLite computes BETWEEN as these two comparisons, each with its own affinity."""
    if node.args.get("symmetric"):
        return None
    low, high = exp.GTE(this=node.this, expression=node.args["low"]), exp.LTE(this=node.this.copy(),
                                                                              expression=node.args["high"])  # fmt: skip
    return exp.Paren(this=exp.And(this=low, expression=high))


def _bounds_as_between(node: exp.Expression) -> exp.Expression | None:
    """The same theorem, the other way."""
    low, high = node.left, node.right
    if isinstance(low, exp.GTE) and isinstance(high, exp.LTE) and low.left == high.left:
        return exp.Between(this=low.left, low=low.right, high=high.right)
    return None


def _list_as_or(node: exp.Expression) -> exp.Expression | None:
    """x IN (a, b) is x = a OR x = b for literals, which have neither affinity nor collation of their own."""
    items = node.expressions
    if not items or not all(isinstance(item, exp.Literal) for item in items):
        return None
    chain = exp.or_(*(exp.EQ(this=node.this.copy(), expression=item) for item in items), copy=False)
    return exp.Paren(this=chain)


def _equal_as_list(node: exp.Expression) -> exp.Expression | None:
    """The same theorem for a list of one."""
    if isinstance(node.right, exp.Literal):
        return exp.In(this=node.left, expressions=[node.right])
    return None


def _sides_swapped(node: exp.Expression) -> exp.Expression | None:
    """Affinity is symmetric; the collation is a column's, and here only one side can have one."""
    if _has_no_collation(node.left) or _has_no_collation(node.right):
        return _MIRRORED[type(node)](this=node.right, expression=node.left)
    return None


def _negated_opposite(node: exp.Expression) -> exp.Expression | None:
    """All values of SQLite are in one total order, and NOT NULL is NULL.

    Not for two columns: a join by such a condition uses no index and may take too long.
    """
    if isinstance(node.left, exp.Column) and isinstance(node.right, exp.Column):
        return None
    return exp.Not(this=exp.Paren(this=_NEGATED[type(node)](this=node.left, expression=node.right)))


def _de_morgan(node: exp.Expression) -> exp.Expression | None:
    """De Morgan's law holds in three-valued logic, and AND, OR and NOT all give 0, 1 or NULL."""
    other = exp.Or if isinstance(node, exp.And) else exp.And
    return exp.Not(this=exp.Paren(this=other(this=_negation(node.left), expression=_negation(node.right))))


def _sides_of_and_swapped(node: exp.Expression) -> exp.Expression | None:
    """AND and OR are commutative in three-valued logic, and SQLite itself computes terms in the order it likes."""
    return type(node)(this=_wrapped(node.right), expression=_wrapped(node.left))


def _case_as_iif(node: exp.Expression) -> exp.Expression | None:
    """IIF(c, a, b) is documented as CASE WHEN c THEN a ELSE b END."""
    branches = node.args["ifs"]
    if node.this is not None or len(branches) != 1 or node.args.get("default") is None:
        return None
    return exp.If(this=branches[0].this, true=branches[0].args["true"], false=node.args["default"])


def _iif_as_case(node: exp.Expression) -> exp.Expression | None:
    """The same, the other way; a branch of a CASE is an `If` too and stays."""
    if isinstance(node.parent, exp.Case) or node.args.get("false") is None:
        return None
    return exp.Case(ifs=[exp.If(this=node.this, true=node.args["true"])], default=node.args["false"])


def _simple_case_as_searched(node: exp.Expression) -> exp.Expression | None:
    """CASE x WHEN v compares x = v, with the same affinity and collation as = has."""
    if node.this is None:
        return None
    ifs = [exp.If(this=exp.EQ(this=node.this.copy(), expression=branch.this), true=branch.args["true"])
           for branch in node.args["ifs"]]  # fmt: skip
    return exp.Case(ifs=ifs, default=node.args.get("default"))


def _coalesce_as_case(node: exp.Expression) -> exp.Expression | None:
    """COALESCE gives its first argument that is not NULL; neither form has affinity or collation."""
    if len(node.expressions) != 1:
        return None
    known = exp.Not(this=exp.Is(this=node.this, expression=exp.Null()))
    return exp.Case(ifs=[exp.If(this=known, true=node.this.copy())], default=node.expressions[0])


def _factors_swapped(node: exp.Expression) -> exp.Expression | None:
    """Addition and multiplication are commutative, in 64-bit integers, when they overflow to real, and in reals."""
    return type(node)(this=_wrapped(node.right), expression=_wrapped(node.left))


def _count_star_as_count_one(node: exp.Expression) -> exp.Expression | None:
    """The constant 1 is NULL in no row."""
    return exp.Count(this=exp.Literal.number(1), big_int=True) if _counts_rows(node) else None


def _count_as_sum(node: exp.Expression) -> exp.Expression | None:
    """A group has a row at least, so the sum is never NULL; without GROUP BY it would be for no rows."""
    select = node.find_ancestor(exp.Query)
    if not isinstance(select, exp.Select) or select.args.get("group") is None or isinstance(node.parent, exp.Window):
        return None
    one = exp.Literal.number(1)
    if _counts_rows(node):
        return exp.Sum(this=one)
    if isinstance(node.this, exp.Column):
        missing = exp.Is(this=node.this, expression=exp.Null())
        return exp.Sum(this=exp.Case(ifs=[exp.If(this=missing, true=exp.Literal.number(0))], default=one))
    return None


def _average_as_total(node: exp.Expression) -> exp.Expression | None:
    """AVG is the sum as a real by the count, and TOTAL that sum; no rows give 0.0 / 0, which is NULL."""
    if not isinstance(node.this, exp.Column) or isinstance(node.parent, exp.Window | exp.Filter):
        return None
    return exp.Paren(this=exp.Div(this=exp.Anonymous(this="TOTAL", expressions=[node.this]),
                                  expression=exp.Count(this=node.this.copy(), big_int=True)))  # fmt: skip


def _count_bound_moved(node: exp.Expression) -> exp.Expression | None:
    """A count is an integer, so more than n is n + 1 or more."""
    shifts = {exp.GT: (exp.GTE, 1), exp.GTE: (exp.GT, -1), exp.LT: (exp.LTE, -1), exp.LTE: (exp.LT, 1)}
    if type(node) not in shifts or not isinstance(node.left, exp.Count) or not node.right.is_int:
        return None
    kind, step = shifts[type(node)]
    moved = int(node.right.name) + step if isinstance(node.right, exp.Literal) else -1
    return kind(this=node.left, expression=exp.Literal.number(moved)) if moved >= 0 else None


def _is_null_negated_twice(node: exp.Expression) -> exp.Expression | None:
    """IS gives 0 or 1, so two negations cancel."""
    if not isinstance(node.expression, exp.Null) or isinstance(node.parent, exp.Not):
        return None
    return exp.Not(this=exp.Paren(this=exp.Not(this=exp.Is(this=node.this, expression=exp.Null()))))


def _year_as_number(node: exp.Expression) -> exp.Expression | None:
    """strftime('%Y') gives a year of four digits, one a year, or NULL; the cast keeps them apart."""
    if not _is_year(node.left) or not _is_plain_year(node.right):
        return None
    number = exp.Cast(this=node.left, to=exp.DataType.build("INTEGER", dialect="sqlite"))
    return type(node)(this=number, expression=exp.Literal.number(int(node.right.name)))


def _year_as_dates(node: exp.Expression) -> exp.Expression | None:
    """date() reads what strftime() reads and writes year-month-day, whose order as text is the order of days.

    Comparing the column itself with dates would be another query: it would take texts that are no dates.
    """
    if not _is_year(node.left) or not _is_plain_year(node.right):
        return None
    day, year = exp.Anonymous(this="DATE", expressions=[node.left.this.this]), node.right.name
    return exp.Between(this=day, low=exp.Literal.string(f"{year}-01-01"), high=exp.Literal.string(f"{year}-12-31"))


def _exists_star(node: exp.Expression) -> exp.Expression | None:
    """EXISTS asks for a row, whatever is in it; a query that groups or counts has a row of another kind."""
    select = node.this
    if not is_plain_select(select) or select.args.get("distinct") or select.is_star:
        return None
    select.set("expressions", [exp.Star()])
    return node


def _exists_as_count(node: exp.Expression) -> exp.Expression | None:
    """A count of rows above 0 is 1 where there is a row and 0 where there is none, as EXISTS is."""
    select = node.this
    if not is_plain_select(select):
        return None
    select.set("expressions", [exp.Count(this=exp.Star(), big_int=True)])
    select.set("distinct", None)
    return exp.GT(this=exp.Subquery(this=select), expression=exp.Literal.number(0))


def _in_parentheses(node: exp.Expression) -> exp.Expression | None:
    """A comparison in parentheses is that comparison."""
    return exp.Paren(this=exp.Paren(this=node.copy()))


def is_plain_select(query: exp.Expression) -> bool:
    """Whether each row that the FROM and WHERE clauses let through is a row of the result, but for DISTINCT."""
    clauses = ("group", "having", "limit", "offset", "windows", "with_", "order")
    if not isinstance(query, exp.Select) or any(query.args.get(name) for name in clauses):
        return False
    return not any(part.find(exp.AggFunc, exp.Window, exp.Anonymous) for part in query.expressions)


def _has_no_collation(side: exp.Expression) -> bool:
    """Literals, sums and function results have none; a column has, and through a cast or a sign it still has."""
    return isinstance(side, exp.Literal | exp.Subquery | exp.AggFunc | exp.TimeToStr | exp.Add | exp.Mul | exp.Div)


def _negation(side: exp.Expression) -> exp.Expression:
    plain = side.unnest()
    if type(plain) in _NEGATED:
        return _NEGATED[type(plain)](this=plain.left, expression=plain.right)
    return exp.Not(this=exp.Paren(this=plain))


def _wrapped(side: exp.Expression) -> exp.Expression:
    return exp.Paren(this=side) if isinstance(side, exp.Binary | exp.Not | exp.Between) else side


def _counts_rows(node: exp.Expression) -> bool:
    return isinstance(node.this, exp.Star)


def _is_year(side: exp.Expression) -> bool:
    return (
        isinstance(side, exp.TimeToStr)
        and isinstance(side.this, exp.TsOrDsToTimestamp)
        and isinstance(side.this.this, exp.Column)
        and side.text("format") == "%Y"
    )


def _is_plain_year(side: exp.Expression) -> bool:
    text = side.name
    return isinstance(side, exp.Literal) and side.is_string and len(text) == 4 and text.isascii() and text.isdigit()


PREDICATE_RULES: tuple[tuple[str, tuple[type[exp.Expression], ...], NodeRule], ...] = (
    ("BETWEEN as two bounds", (exp.Between,), _between_as_bounds),
    ("two bounds as BETWEEN", (exp.And,), _bounds_as_between),
    ("IN list as OR", (exp.In,), _list_as_or),
    ("equality as IN list", (exp.EQ,), _equal_as_list),
    ("comparison turned round", _COMPARISONS, _sides_swapped),
    ("negated opposite comparison", _COMPARISONS, _negated_opposite),
    ("De Morgan", (exp.And, exp.Or), _de_morgan),
    ("AND or OR turned round", (exp.And, exp.Or), _sides_of_and_swapped),
    ("CASE as IIF", (exp.Case,), _case_as_iif),
    ("IIF as CASE", (exp.If,), _iif_as_case),
    ("simple CASE as searched CASE", (exp.Case,), _simple_case_as_searched),
    ("COALESCE as CASE", (exp.Coalesce,), _coalesce_as_case),
    ("operands of + or * swapped", (exp.Add, exp.Mul), _factors_swapped),
    ("COUNT(*) as COUNT(1)", (exp.Count,), _count_star_as_count_one),
    ("COUNT as SUM in groups", (exp.Count,), _count_as_sum),
    ("AVG as TOTAL by COUNT", (exp.Avg,), _average_as_total),
    ("bound of a count moved", _COMPARISONS, _count_bound_moved),
    ("IS NULL negated twice", (exp.Is,), _is_null_negated_twice),
    ("year as a number", (exp.EQ, exp.NEQ), _year_as_number),
    ("year as first to last date", (exp.EQ,), _year_as_dates),
    ("EXISTS with a star", (exp.Exists,), _exists_star),
    ("EXISTS as COUNT above 0", (exp.Exists,), _exists_as_count),
    ("redundant parentheses", _COMPARISONS, _in_parentheses),
)

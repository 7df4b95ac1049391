"""Faults in an aggregate: what COUNT counts, which function, each value once or every time, NULL as a value."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from sqldojo.verifier.mutation.edits import Edit, set_arguments, swap
from sqldojo.verifier.mutation.names import KEY, NUMBER, is_name, kind
from sqldojo.verifier.mutation.scopes import Query, Scope, Source
from sqldojo.verifier.mutation.trees import is_aggregate

_FEW = 8  # columns tried for one COUNT
_DISTINCT_MATTERS = (exp.Sum, exp.Avg, exp.GroupConcat)


def rows_as_values(query: Query) -> Iterator[Edit]:
    """COUNT(*) taken for COUNT(column), which leaves NULL out."""
    for node, scope in _counts(query, exp.Star):
        for source, name in _countable(scope):
            if not (len(scope.sources) == 1 and name == source.key):
                yield set_arguments(node, this=scope.column(source, name))


def rows_as_distinct_values(query: Query) -> Iterator[Edit]:
    """COUNT(*) taken for COUNT(DISTINCT column)."""
    for node, scope in _counts(query, exp.Star):
        for source, name in _countable(scope):
            if not (len(scope.sources) == 1 and name == source.key):
                yield set_arguments(node, this=_distinct(scope.column(source, name)))


def values_as_rows(query: Query) -> Iterator[Edit]:
    """COUNT(column) or COUNT(DISTINCT column) taken for COUNT(*)."""
    for node, _ in _counts(query, exp.Expr):
        if not isinstance(node.this, exp.Star):
            yield set_arguments(node, this=exp.Star())


def count_distinct_dropped(query: Query) -> Iterator[Edit]:
    """COUNT(DISTINCT column) taken for COUNT(column)."""
    for node, _ in _counts(query, exp.Distinct):
        if len(node.this.expressions) == 1:
            yield set_arguments(node, this=node.this.expressions[0].copy())


def count_distinct_added(query: Query) -> Iterator[Edit]:
    """COUNT(column) taken for COUNT(DISTINCT column)."""
    for node, scope in _counts(query, exp.Expr):
        if not isinstance(node.this, exp.Star | exp.Distinct):
            column = node.this
            source = scope.source(column) if isinstance(column, exp.Column) else None
            if not (source and len(scope.sources) == 1 and source.has(column.name) == source.key):
                yield set_arguments(node, this=_distinct(column.copy()))


def counted_column(query: Query) -> Iterator[Edit]:
    """COUNT(column) and COUNT(DISTINCT column) of another key, of the counted table or of one beside it."""
    for node, scope in _counts(query, exp.Expr):
        inner = node.this.expressions[0] if isinstance(node.this, exp.Distinct) else node.this
        if isinstance(inner, exp.Column) and scope.source(inner):
            for source, name in _countable(scope):
                column = scope.column(source, name)
                if (scope.source(inner), inner.name.lower()) != (source, name.lower()):
                    yield swap(inner, column)


def exchanged(query: Query) -> Iterator[Edit]:
    """SUM, AVG, TOTAL, MIN, MAX and COUNT taken for one another."""
    for node in query.all(exp.Sum, exp.Avg, exp.Min, exp.Max):
        for other in {
            exp.Sum: (exp.Avg, exp.Max),
            exp.Avg: (exp.Sum, exp.Max),
            exp.Min: (exp.Max,),
            exp.Max: (exp.Min,),
        }[type(node)]:
            yield swap(node, other(this=node.this.copy()))
        if isinstance(node, exp.Sum):
            yield swap(node, exp.Count(this=node.this.copy()))
            yield swap(node, exp.Count(this=exp.Star()))
            if not isinstance(node.this, exp.Distinct):
                yield swap(node, exp.Anonymous(this="TOTAL", expressions=[node.this.copy()]))
    for node in query.all(exp.Anonymous):
        if node.name.upper() == "TOTAL" and len(node.expressions) == 1:
            yield swap(node, exp.Sum(this=node.expressions[0].copy()))
    for node, _ in _counts(query, exp.Column):
        if kind(node.this.name) == NUMBER:
            yield swap(node, exp.Sum(this=node.this.copy()))
    for node in query.all(exp.Greatest, exp.Least):
        other = exp.Least if isinstance(node, exp.Greatest) else exp.Greatest
        yield swap(
            node, other(this=node.this.copy(), expressions=[e.copy() for e in node.expressions], ignore_nulls=False)
        )


def distinct_added(query: Query) -> Iterator[Edit]:
    """SUM(x) taken for SUM(DISTINCT x), likewise AVG, TOTAL and GROUP_CONCAT."""
    for node in query.all(*_DISTINCT_MATTERS):
        if isinstance(node.this, exp.Distinct | exp.Order) or not is_aggregate(node) or node.args.get("separator"):
            continue
        yield set_arguments(node, this=_distinct(node.this.copy()))


def distinct_dropped(query: Query) -> Iterator[Edit]:
    """SUM(DISTINCT x) taken for SUM(x), likewise AVG and GROUP_CONCAT."""
    for node in query.all(*_DISTINCT_MATTERS):
        if isinstance(node.this, exp.Distinct):
            yield set_arguments(node, this=node.this.expressions[0].copy())


def nulls_averaged(query: Query) -> Iterator[Edit]:
    """AVG(x) taken for the sum over the number of all rows, NULL ones too; and the sum over the values as integers."""
    for node in query.all(exp.Avg):
        if is_aggregate(node) and not isinstance(node.this, exp.Distinct) and not isinstance(node.parent, exp.Filter):
            total = exp.Anonymous(this="TOTAL", expressions=[node.this.copy()])
            yield swap(node, exp.Div(this=total, expression=exp.Count(this=exp.Star())))
            yield swap(node, exp.Div(this=exp.Sum(this=node.this.copy()), expression=exp.Count(this=node.this.copy())))


def product_split(query: Query) -> Iterator[Edit]:
    """SUM(a * b) taken for SUM(a) * SUM(b), SUM(a) / SUM(b) for AVG(a / b), likewise with minus and division inside."""
    for node in query.all(exp.Sum, exp.Avg):
        inner = node.this.unnest()
        if isinstance(inner, exp.Mul | exp.Div) and not isinstance(node.parent, exp.Window | exp.Filter):
            kind_ = type(node)
            if inner.left.find(exp.Column) and inner.right.find(exp.Column):
                split = type(inner)(this=kind_(this=inner.left.copy()), expression=kind_(this=inner.right.copy()))
                yield swap(node, exp.Paren(this=split))
    for node in query.all(exp.Div):
        if isinstance(node.left, exp.Sum) and isinstance(node.right, exp.Sum):
            yield swap(node, exp.Avg(this=exp.Div(this=node.left.this.copy(), expression=node.right.this.copy())))


def filter_dropped(query: Query) -> Iterator[Edit]:
    """FILTER (WHERE ...) of an aggregate left out."""
    for node in query.all(exp.Filter):
        yield swap(node, node.this.copy())


def conditional_counted(query: Query) -> Iterator[Edit]:
    """COUNT(CASE WHEN p THEN 1 ELSE 0 END), which counts every row, for COUNT or SUM of those with p."""
    for node in query.all(exp.Count, exp.Sum, exp.Avg):
        inner = node.this
        if isinstance(inner, exp.Case) and isinstance(node, exp.Count) and inner.args.get("default") is None:
            case = inner.copy()
            case.set("default", exp.Literal.number(0))
            yield set_arguments(node, this=case)
        elif isinstance(inner, exp.Case | exp.If | exp.Predicate) and not isinstance(node, exp.Count):
            yield swap(node, exp.Count(this=inner.copy()))


def _counts(query: Query, of: type[exp.Expr]) -> Iterator[tuple[exp.Expr, Scope]]:
    for node in query.all(exp.Count):
        scope = query.scope(node)
        if scope and isinstance(node.this, of):
            yield node, scope


def _distinct(node: exp.Expr) -> exp.Distinct:
    return exp.Distinct(expressions=[node])


def _countable(scope: Scope) -> list[tuple[Source, str]]:
    """Columns that a person could count instead: keys first, then what the query mentions, then names and the rest."""
    used = {(column.table.lower(), column.name.lower()) for column in scope.select.find_all(exp.Column)}
    ranked = []
    for source in scope.sources:
        for place, name in enumerate(source.columns):
            if name != "*":
                mentioned = bool({(source.alias.lower(), name.lower()), ("", name.lower())} & used)
                worth = (name == source.key, kind(name) == KEY, mentioned, is_name(name))
                ranked.append((tuple(not each for each in worth), place, source, name))
    ranked.sort(key=lambda item: item[:2])
    return [(source, name) for _, _, source, name in ranked[:_FEW]]

"""Faults in what is read: columns in the wrong order, another column of the kind, CASE branches, an idle filter."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from sqlglot import exp

from sqldojo.verifier.mutation.edits import Edit, and_where, conjunction, set_arguments, swap, terms
from sqldojo.verifier.mutation.literals import extreme, is_constant
from sqldojo.verifier.mutation.names import KEY, NUMBER, TEXT, is_name, kind, words
from sqldojo.verifier.mutation.scopes import Query, Scope, Source
from sqldojo.verifier.mutation.trees import is_aggregate, own_nodes

_FEW = 2
_FEW_KINDS = re.compile(r"status|state|type|kind|category|class|role|gender|sex")
_FILTERED = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between, exp.In, exp.Like, exp.Is)


def columns_swapped(query: Query) -> Iterator[Edit]:
    """Two neighbours in a select list the other way round.

    At the top, names do not count, so an alias moves along with its column; in a CTE or subquery, where columns are
    read by name, the names stay and the values change places.
    """
    for scope in query.scopes:
        select, items = scope.select, scope.select.expressions
        reader = select.parent
        while isinstance(reader, exp.SetOperation):
            reader = reader.parent
        on_top = reader is query.holder
        if isinstance(reader, exp.Exists | exp.In) or any(item.is_star for item in items):
            continue
        for at in range(len(items) - 1):
            one, two = items[at], items[at + 1]
            if on_top and not _counts_columns(select):
                pair = [two.copy(), one.copy()]
            elif not on_top and not scope.grouped and one.alias_or_name and two.alias_or_name:
                pair = [_under(two, one), _under(one, two)]
            else:
                continue
            kept = [item.copy() for item in items]
            yield set_arguments(select, expressions=[*kept[:at], *pair, *kept[at + 2 :]])


def _counts_columns(select: exp.Select) -> bool:
    """Whether GROUP BY or ORDER BY, here or around a set operation, names a column by its place."""
    places = [select.args.get("group"), select.args.get("order")]
    if isinstance(select.parent, exp.SetOperation):
        places.append(select.parent.args.get("order"))
    parts = [
        part.this if isinstance(part, exp.Ordered) else part for place in places if place for part in place.expressions
    ]
    return any(isinstance(part, exp.Literal) for part in parts)


def _under(item: exp.Expr, name_of: exp.Expr) -> exp.Expr:
    return exp.alias_(item.unalias().copy(), name_of.alias_or_name, quoted=True)


def listed_column(query: Query) -> Iterator[Edit]:
    """Another column of the kind in the select list: of the same table, or of the same name from another."""
    for column, scope, source in _columns(query):
        if (
            isinstance(column.parent, exp.Select)
            or (isinstance(column.parent, exp.Alias) and isinstance(column.parent.parent, exp.Select))
        ) and not isinstance(scope.select.parent, exp.Exists):
            for new in _others(scope, source, column):
                if isinstance(column.parent, exp.Select) and isinstance(scope.select.parent, exp.Subquery | exp.CTE):
                    new = exp.alias_(new, column.name, quoted=True)
                yield swap(column, new)


def filtered_column(query: Query) -> Iterator[Edit]:
    """Another column of the kind in a condition."""
    for column, scope, source in _columns(query):
        if (
            isinstance(column.parent, _FILTERED)
            and column.arg_key == "this"
            and not isinstance(column.parent.args.get("expression"), exp.Column)
        ):
            for new in _others(scope, source, column):
                yield swap(column, new)


def aggregated_column(query: Query) -> Iterator[Edit]:
    """Another column of the kind in SUM, AVG, MIN or MAX, or in the arithmetic within."""
    for column, scope, source in _columns(query):
        above = column.parent
        while isinstance(above, exp.Mul | exp.Add | exp.Sub | exp.Div | exp.Paren | exp.Distinct):
            above = above.parent
        if is_aggregate(above) and not isinstance(above, exp.Count):
            for new in _others(scope, source, column):
                yield swap(column, new)


def ordered_column(query: Query) -> Iterator[Edit]:
    """Another column of the kind in an ORDER BY that decides which rows are listed."""
    for column, scope, source in _columns(query):
        if isinstance(column.parent, exp.Ordered) and (
            scope.select.args.get("limit") or column.find_ancestor(exp.Window)
        ):
            for new in _others(scope, source, column):
                yield swap(column, new)


def grouped_column(query: Query) -> Iterator[Edit]:
    """Another column of the kind in GROUP BY."""
    for column, scope, source in _columns(query):
        if isinstance(column.parent, exp.Group):
            for new in _others(scope, source, column):
                yield swap(column, new)


def branches_swapped(query: Query) -> Iterator[Edit]:
    """What CASE or IIF gives, of two neighbouring branches, the other way round."""
    for node in query.all(exp.Case):
        ifs, default = node.args["ifs"], node.args.get("default")
        for one, two in itertools.pairwise(ifs):
            yield [(one, "true", two.args["true"].copy()), (two, "true", one.args["true"].copy())]
        if default is not None:
            yield [(ifs[-1], "true", default.copy()), (node, "default", ifs[-1].args["true"].copy())]
    for node in query.all(exp.If):
        if not isinstance(node.parent, exp.Case) and node.args.get("false") is not None:
            yield [(node, "true", node.args["false"].copy()), (node, "false", node.args["true"].copy())]


def branch_dropped(query: Query) -> Iterator[Edit]:
    """ELSE left out; a WHEN left out; the order of two WHENs exchanged."""
    for node in query.all(exp.Case):
        ifs = node.args["ifs"]
        if node.args.get("default") is not None:
            yield set_arguments(node, default=None)
        if len(ifs) > 1:
            for left_out in ifs:
                yield set_arguments(node, ifs=[each.copy() for each in ifs if each is not left_out])
            for at in range(len(ifs) - 1):
                order = [*ifs[:at], ifs[at + 1], ifs[at], *ifs[at + 2 :]]
                yield set_arguments(node, ifs=[each.copy() for each in order])
    for node in query.all(exp.If):
        if not isinstance(node.parent, exp.Case) and node.args.get("false") is not None:
            yield set_arguments(node, false=None)


def else_added(query: Query) -> Iterator[Edit]:
    """ELSE 0 added, or ELSE NULL for ELSE 0 in an aggregate: zeros are averaged and counted, NULL is not."""
    for node in query.all(exp.Case):
        default = node.args.get("default")
        if default is None or (isinstance(default, exp.Literal) and default.this != "0" and not default.is_string):
            yield set_arguments(node, default=exp.Literal.number(0))


def filter_added(query: Query) -> Iterator[Edit]:
    """A condition nobody asked for: one value of a column like `status` left out, the way people leave out what was
    cancelled.

    For an outer join it goes to ON, where it takes no row of the first table away. A column that the query compares
    with a constant anyway is left alone: a second condition on it is not what people add.
    """
    for scope in query.scopes:
        if scope.recursive or isinstance(scope.select.parent, exp.SetOperation):
            continue
        compared = _compared_with_constants(scope)
        for source in scope.sources:
            for name in _status_like(source)[:_FEW]:
                if (id(source), name.lower()) in compared:
                    continue
                value = extreme(exp.Min, scope, source, name)
                unequal = exp.NEQ(this=scope.column(source, name), expression=value)
                if source.join is not None and source.join.side and source.join.args.get("on") is not None:
                    yield [(source.join, "on", conjunction([*terms(source.join.args["on"]), unequal]))]
                else:
                    yield [and_where(scope.select, unequal)]


def positive_only(query: Query) -> Iterator[Edit]:
    """A condition nobody asked for: only amounts above zero."""
    for scope in query.scopes:
        if scope.recursive or isinstance(scope.select.parent, exp.Exists | exp.SetOperation):
            continue
        for source, name in _ranked(scope, lambda name: kind(name) == NUMBER)[:1]:
            yield [and_where(scope.select, exp.GT(this=scope.column(source, name), expression=exp.Literal.number(0)))]


def _status_like(source: Source) -> list[str]:
    """The text columns of a table that sort its rows into few kinds."""
    texts = [name for name in source.columns if source.table and kind(name) == TEXT and not is_name(name)]
    return [name for name in texts if _FEW_KINDS.search(words(name))]


def _compared_with_constants(scope: Scope) -> set[tuple[int, str]]:
    """(identity of the source, column in lower case) of the columns of a WHERE or ON that =, <> or IN compares."""
    joins = [join.args.get("on") for join in scope.select.args.get("joins") or ()]
    conditions = [each for each in (scope.select.args.get("where"), *joins) if each]
    found = set()
    for node in (node for each in conditions for node in own_nodes(each)):
        if not isinstance(node, exp.EQ | exp.NEQ | exp.In):
            continue
        source = scope.source(node.this) if isinstance(node.this, exp.Column) else None
        items = node.expressions if isinstance(node, exp.In) else [node.expression]
        if source and items and all(map(is_constant, items)):
            found.add((id(source), node.this.name.lower()))
    return found


def _ranked(scope: Scope, wanted: object) -> list[tuple[Source, str]]:
    found = [(source, name) for source in scope.sources if source.table for name in source.columns if wanted(name)]
    return found[:_FEW]


def _columns(query: Query) -> Iterator[tuple[exp.Column, Scope, Source]]:
    for column in query.all(exp.Column):
        scope = query.scope(column)
        source = scope.source(column) if scope and not column.is_star else None
        if source:
            yield column, scope, source


def _others(scope: Scope, source: Source, column: exp.Column) -> list[exp.Expr]:
    """A few columns that may stand in: same kind and table, then the same name in the other tables in sight.

    In a grouped SELECT outside of aggregates, only of a table whose key is grouped by: SQLite would take any row's.
    """
    name = column.name.lower()
    same = [n for n in source.columns if n.lower() != name and kind(n) == kind(name) and n != "*"]
    if kind(name) == KEY:
        same.sort(key=lambda n: n != source.key)
    twins = [(other, other.has(name)) for other in scope.sources if other is not source and other.has(name)]
    found = [*((source, n) for n in same[:_FEW]), *twins[:_FEW]]
    if scope.grouped and not _in_aggregate(column) and not isinstance(column.parent, exp.Group):
        found = [(s, n) for s, n in found if column.find_ancestor(exp.Where, exp.Join) or _is_fixed(scope, s)]
    return [scope.column(s, n) for s, n in found]


def _in_aggregate(column: exp.Column) -> bool:
    above = column.parent
    while above is not None and not isinstance(above, exp.Query):
        if is_aggregate(above):
            return True
        above = above.parent
    return False


def _is_fixed(scope: Scope, source: Source) -> bool:
    """Whether a group has one row of the source, because its key is grouped by."""
    group = scope.select.args.get("group")
    keys = [term for term in group.expressions if isinstance(term, exp.Column)] if group else []
    return any(scope.source(term) is source and term.name.lower() == (source.key or "").lower() for term in keys)

"""Faults in what one row stands for: DISTINCT, GROUP BY, and conditions before or after the grouping."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from sqldojo.verifier.mutation.edits import Edit, and_where, conjunction, set_arguments, terms
from sqldojo.verifier.mutation.names import KEY, is_name, kind
from sqldojo.verifier.mutation.scopes import Query, Scope
from sqldojo.verifier.mutation.trees import is_aggregate, own_nodes

_FEW = 3


def distinct_added(query: Query) -> Iterator[Edit]:
    """DISTINCT added to a SELECT where it can matter."""
    for scope in query.scopes:
        if not scope.select.args.get("distinct") and not _repeats_are_lost(scope):
            one_row = scope.grouped and not scope.select.args.get("group")
            if not one_row and not _lists_its_groups(scope.select):
                yield set_arguments(scope.select, distinct=exp.Distinct())


def distinct_dropped(query: Query) -> Iterator[Edit]:
    """DISTINCT dropped from a SELECT where it can matter."""
    for scope in query.scopes:
        if scope.select.args.get("distinct") and not _repeats_are_lost(scope):
            yield set_arguments(scope.select, distinct=None)


def key_as_name(query: Query) -> Iterator[Edit]:
    """GROUP BY id taken for GROUP BY name (or another column of that row that is listed)."""
    for scope, group, at, term in _terms(query):
        source = scope.source(term)
        if source and kind(term.name) == KEY:
            listed = {
                c.name.lower()
                for item in scope.select.expressions
                for c in own_nodes(item)
                if isinstance(c, exp.Column)
            }
            others = [
                n for n in source.columns if n.lower() in listed and n.lower() != term.name.lower() and kind(n) != KEY
            ]
            others += [name for name in source.columns if is_name(name) and name not in others]
            for name in others[:_FEW]:
                yield _regrouped(group, at, scope.column(source, name))


def name_as_key(query: Query) -> Iterator[Edit]:
    """GROUP BY name taken for GROUP BY id."""
    for scope, group, at, term in _terms(query):
        source = scope.source(term)
        if source and source.key and source.key.lower() != term.name.lower():
            yield _regrouped(group, at, scope.column(source, source.key))


def term_added(query: Query) -> Iterator[Edit]:
    """GROUP BY x taken for GROUP BY x, y: with the key of a table in sight."""
    for scope in query.scopes:
        group = scope.select.args.get("group")
        if group and group.expressions:
            grouped = {term.name.lower() for term in group.expressions}
            for source in scope.sources[:_FEW]:
                if source.key and source.key.lower() not in grouped:
                    more = [*(term.copy() for term in group.expressions), scope.column(source, source.key)]
                    yield set_arguments(group, expressions=more)


def term_dropped(query: Query) -> Iterator[Edit]:
    """GROUP BY x, y taken for GROUP BY x; the whole clause only where every value listed is an aggregate."""
    for scope in query.scopes:
        group = scope.select.args.get("group")
        if not group:
            continue
        if len(group.expressions) > 1:
            for left_out in group.expressions:
                yield set_arguments(
                    group, expressions=[term.copy() for term in group.expressions if term is not left_out]
                )
        elif not scope.select.args.get("having") and all(_is_total(item) for item in scope.select.expressions):
            yield set_arguments(scope.select, group=None)


def grouping_added(query: Query) -> Iterator[Edit]:
    """GROUP BY added to a list: one row a name, or one a key after a join."""
    for scope in query.scopes:
        select = scope.select
        if scope.grouped or select.args.get("distinct") or _repeats_are_lost(scope) or scope.recursive:
            continue
        if any(isinstance(node, exp.Window) for item in select.expressions for node in own_nodes(item)):
            continue
        columns = [item.unalias() for item in select.expressions]
        if len(columns) > 1 and isinstance(columns[0], exp.Column) and not columns[0].is_star:
            yield set_arguments(select, group=exp.Group(expressions=[columns[0].copy()]))
        if len(scope.sources) > 1:
            for source in scope.sources:
                if source.key:
                    yield set_arguments(select, group=exp.Group(expressions=[scope.column(source, source.key)]))


def where_as_having(query: Query) -> Iterator[Edit]:
    """A condition on single rows applied to the group's aggregate: WHERE price > 5 as HAVING AVG(price) > 5.

    The groups of a SELECT DISTINCT are its rows.
    """
    for scope in query.scopes:
        where, having = scope.select.args.get("where"), scope.select.args.get("having")
        distinct = scope.select.args.get("distinct") and not scope.grouped
        if not where or not (scope.select.args.get("group") or distinct):
            continue
        regrouped: Edit = []
        if distinct:
            listed = [item.unalias().copy() for item in scope.select.expressions]
            regrouped = [(scope.select, "distinct", None), (scope.select, "group", exp.Group(expressions=listed))]
        conditions = terms(where.this)
        for moved in conditions:
            compared = moved.this
            if (
                isinstance(moved, exp.LT | exp.LTE | exp.GT | exp.GTE)
                and isinstance(compared, exp.Column)
                and scope.source(compared)
            ):
                rest = conjunction([term for term in conditions if term is not moved])
                for aggregate in (exp.Avg, exp.Min, exp.Max):
                    after = moved.copy()
                    after.set("this", aggregate(this=compared.copy()))
                    old = [having.this] if having else []
                    yield [
                        *regrouped,
                        (scope.select, "where", exp.Where(this=rest) if rest else None),
                        (scope.select, "having", exp.Having(this=conjunction([*old, after]))),
                    ]


def where_as_filter(query: Query) -> Iterator[Edit]:
    """WHERE applied inside the aggregates instead (a FILTER): groups without such a row are listed then, with 0."""
    for scope in query.scopes:
        where = scope.select.args.get("where")
        if not where or not scope.select.args.get("group"):
            continue
        calls = [node for item in scope.select.expressions for node in own_nodes(item) if is_aggregate(node)]
        if not calls or any(isinstance(call.parent, exp.Filter) for call in calls):
            continue
        edit: Edit = [(scope.select, "where", None)]
        items = scope.select.expressions
        filtered = []
        for item in items:
            copy = item.copy()
            for node in [node for node in own_nodes(copy) if is_aggregate(node)]:
                call = exp.Filter(this=node.copy(), expression=exp.Where(this=where.this.copy()))
                if node is copy:
                    copy = call
                else:
                    node.replace(call)
            filtered.append(copy)
        yield [*edit, (scope.select, "expressions", filtered)]


def having_as_where(query: Query) -> Iterator[Edit]:
    """A condition on the group's aggregate applied to single rows: HAVING SUM(price) > 5 as WHERE price > 5."""
    for scope in query.scopes:
        having = scope.select.args.get("having")
        conditions = terms(having.this) if having else []
        for moved in conditions:
            aggregate = moved.this if isinstance(moved, exp.LT | exp.LTE | exp.GT | exp.GTE | exp.EQ) else None
            if not isinstance(aggregate, exp.Sum | exp.Avg | exp.Min | exp.Max) or isinstance(
                aggregate.this, exp.Distinct
            ):
                continue
            if any(is_aggregate(node) for node in own_nodes(moved.expression)):
                continue
            before = moved.copy()
            before.set("this", aggregate.this.copy())
            rest = conjunction([term for term in conditions if term is not moved])
            yield [
                (scope.select, "having", exp.Having(this=rest) if rest else None),
                and_where(scope.select, before),
            ]


def _terms(query: Query) -> Iterator[tuple[Scope, exp.Group, int, exp.Column]]:
    for scope in query.scopes:
        group = scope.select.args.get("group")
        for at, term in enumerate(group.expressions if group else []):
            if isinstance(term, exp.Column):
                yield scope, group, at, term


def _regrouped(group: exp.Group, at: int, column: exp.Expr) -> Edit:
    return set_arguments(
        group, expressions=[column if i == at else term.copy() for i, term in enumerate(group.expressions)]
    )


def _lists_its_groups(select: exp.Select) -> bool:
    """Whether every term that is grouped by is listed, so that no two rows are equal."""
    group = select.args.get("group")
    listed = [item.unalias() for item in select.expressions]
    aliases = {item.alias for item in select.expressions if item.alias}
    return bool(group) and all(term in listed or term.name in aliases or term.is_number for term in group.expressions)


def _is_total(item: exp.Expr) -> bool:
    """Whether an item's columns all stand inside aggregates."""
    for column in own_nodes(item):
        if isinstance(column, exp.Column):
            above = column.parent
            while above is not None and above is not item.parent and not is_aggregate(above):
                above = above.parent
            if above is None or above is item.parent:
                return False
    return True


def _repeats_are_lost(scope: Scope) -> bool:
    """Whether whoever reads this SELECT's rows cannot tell one from two."""
    select = scope.select
    if select.args.get("limit"):
        return False
    reader = select.parent
    while isinstance(reader, exp.Subquery) or (
        isinstance(reader, exp.SetOperation) and not reader.args.get("distinct")
    ):
        reader = reader.parent
    return isinstance(reader, exp.In | exp.Exists | exp.SetOperation)

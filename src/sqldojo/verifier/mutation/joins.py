"""Faults in a join: its kind, its key, a condition on the wrong side, a table too few or too many."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from sqldojo.verifier.mutation.edits import Edit, and_where, conjunction, set_arguments, swap, terms
from sqldojo.verifier.mutation.literals import extreme
from sqldojo.verifier.mutation.names import KEY, TEXT, is_name, kind, points_to
from sqldojo.verifier.mutation.scopes import Query, Scope, Source

_FEW = 3
EXTRA, EXTRA_KEY = "_other", "_key"  # names for a table that a mutant joins


def inner_as_outer(query: Query) -> Iterator[Edit]:
    """JOIN taken for LEFT JOIN, and for the LEFT JOIN from the other table (a RIGHT JOIN here)."""
    for join in query.all(exp.Join):
        if _is_inner(join) and (join.args.get("on") is not None or join.args.get("using")):
            yield set_arguments(join, side="LEFT", kind=None)
            yield set_arguments(join, side="RIGHT", kind=None)


def outer_as_inner(query: Query) -> Iterator[Edit]:
    """LEFT, RIGHT or FULL JOIN taken for JOIN, and FULL for LEFT."""
    for join in query.all(exp.Join):
        if join.side:
            yield set_arguments(join, side=None, kind=None)
        if join.side.upper() in ("FULL", "RIGHT"):
            yield set_arguments(join, side="LEFT", kind=None)


def join_dropped(query: Query) -> Iterator[Edit]:
    """A table left out that nothing but its own join needs: rows without a partner come back, repeats go."""
    for scope in query.scopes:
        joins = scope.select.args.get("joins") or []
        if not joins or any(item.is_star and not isinstance(item, exp.Count) for item in scope.select.expressions):
            continue
        for source in scope.sources:
            join = source.join
            if join is not None and not join.args.get("using") and not _is_used(query, scope, source, join):
                yield set_arguments(scope.select, joins=[other.copy() for other in joins if other is not join])
        first = joins[0]
        if (
            _is_inner(first)
            and first.args.get("on") is not None
            and not _is_used(query, scope, scope.sources[0], first)
        ):
            yield [
                (scope.select, "from_", exp.From(this=first.this.copy())),
                (scope.select, "joins", [other.copy() for other in joins[1:]]),
            ]


def key_exchanged(query: Query) -> Iterator[Edit]:
    """The key of a join, or of a subquery's tie to the row outside, replaced by another key of the same table."""
    for node in query.all(exp.EQ):
        if not isinstance(node.left, exp.Column) or not isinstance(node.right, exp.Column):
            continue
        ends = [(column, query.resolve(column)) for column in (node.left, node.right)]
        if any(found is None for _, found in ends) or ends[0][1][1] is ends[1][1][1]:
            continue
        scope = query.scope(node)
        for column, (_, source) in ends:
            for name in _alike(source, column.name):
                yield swap(column, _qualified(scope, source, name))
    for node in query.all(exp.In):
        subquery = node.args.get("query")
        inner = subquery.this if isinstance(subquery, exp.Subquery) else subquery
        if not isinstance(inner, exp.Select) or not isinstance(node.this, exp.Column) or len(inner.expressions) != 1:
            continue
        for column in (node.this, inner.expressions[0].unalias()):
            found = query.resolve(column) if isinstance(column, exp.Column) else None
            if found and kind(column.name) == KEY:
                for name in _alike(found[1], column.name):
                    yield swap(column, _qualified(query.scope(column), found[1], name))


def on_as_where(query: Query) -> Iterator[Edit]:
    """A condition of an outer join moved to WHERE, which takes the rows without a partner away again."""
    for scope in query.scopes:
        for join in scope.select.args.get("joins") or []:
            parts = terms(join.args.get("on"))
            if join.side and len(parts) > 1:
                for moved in parts:
                    rest = conjunction([part for part in parts if part is not moved])
                    if not _is_key(query, moved):
                        yield [(join, "on", rest), and_where(scope.select, moved)]


def where_as_on(query: Query) -> Iterator[Edit]:
    """A condition of WHERE moved to the ON of an outer join, where it no longer takes rows away."""
    for scope in query.scopes:
        where = scope.select.args.get("where")
        for join in scope.select.args.get("joins") or []:
            if not join.side or join.args.get("on") is None:
                continue
            parts = terms(where.this if where else None)
            for moved in parts:
                rest = conjunction([part for part in parts if part is not moved])
                yield [
                    (join, "on", conjunction([*terms(join.args["on"]), moved])),
                    (scope.select, "where", exp.Where(this=rest) if rest else None),
                ]


def child_joined(query: Query) -> Iterator[Edit]:
    """A table of details joined that is not asked for: rows repeat, and those without details go."""
    for scope, source, child, name in _children(query):
        extra = exp.select(exp.alias_(_quoted(name), EXTRA_KEY)).from_(
            exp.Table(this=exp.to_identifier(child, quoted=True))
        )
        on = exp.EQ(this=exp.column(EXTRA_KEY, EXTRA), expression=_qualified(scope, source, source.key))
        join = exp.Join(this=exp.Subquery(this=extra, alias=exp.TableAlias(this=exp.to_identifier(EXTRA))), on=on)
        joins = scope.select.args.get("joins") or []
        for side in (None, "LEFT"):
            one = join.copy()
            one.set("side", side)
            yield set_arguments(scope.select, joins=[*(each.copy() for each in joins), one])


def child_required(query: Query) -> Iterator[Edit]:
    """Only rows kept that have details in another table: customers with an order, though all are asked for."""
    for scope, source, child, name in _children(query):
        inside = exp.select(_quoted(name)).from_(exp.Table(this=exp.to_identifier(child, quoted=True)))
        yield [
            and_where(scope.select, exp.In(this=_qualified(scope, source, source.key), query=exp.Subquery(this=inside)))
        ]


def parent_required(query: Query) -> Iterator[Edit]:
    """Only rows kept whose reference leads somewhere: orders of a known customer, though all are asked for."""
    for scope, source, name, parent in _parents(query):
        yield [and_where(scope.select, _member(scope, source, name, parent))]


def parent_filtered(query: Query) -> Iterator[Edit]:
    """Only rows kept whose parent has not the least value of some kind: lines of orders that were not cancelled."""
    for scope, source, name, parent in _parents(query):
        kinds = [column for column in parent.columns if kind(column) == TEXT and not is_name(column)]
        for column in sorted(kinds, key=lambda each: "status" not in each.lower())[:1]:
            member = _member(scope, source, name, parent)
            unequal = exp.NEQ(this=_quoted(column), expression=extreme(exp.Min, scope, parent, column))
            member.args["query"].this.set("where", exp.Where(this=unequal))
            yield [and_where(scope.select, member)]


def _parents(query: Query) -> Iterator[tuple[Scope, Source, str, Source]]:
    """(scope, source, column, parent) where a column of a table in sight points to a table that is not."""
    for scope in query.scopes:
        seen = {source.table for source in scope.sources}
        count = 0
        for source in _joinable(scope):
            for name in source.columns:
                for table, columns in query.schema.values():
                    if table not in seen and count < _FEW and points_to(name, table, columns):
                        count += 1
                        yield scope, source, name, Source(table, table, columns, True, None)


def _member(scope: Scope, source: Source, name: str, parent: Source) -> exp.In:
    inside = exp.select(_quoted(parent.key)).from_(exp.Table(this=exp.to_identifier(parent.table, quoted=True)))
    return exp.In(this=_qualified(scope, source, name), query=exp.Subquery(this=inside))


def _children(query: Query) -> Iterator[tuple[Scope, Source, str, str]]:
    """(scope, source, table, column) where a column of a table not in sight points to a table in sight."""
    for scope in query.scopes:
        seen = {source.table for source in scope.sources}
        count = 0
        for source in _joinable(scope):
            for table, columns in query.schema.values():
                if table in seen or source.key is None:
                    continue
                for name in columns:
                    if count < _FEW and points_to(name, source.table, source.columns):
                        count += 1
                        yield scope, source, table, name


def _joinable(scope: Scope) -> list[Source]:
    """The scope's tables where one could join more; a subquery that only tests for rows is left alone."""
    in_test = isinstance(scope.select.parent, exp.Exists) or scope.recursive
    return [] if in_test else [source for source in scope.sources if source.table]


def _is_inner(join: exp.Join) -> bool:
    return not join.side and join.kind.upper() in ("", "INNER") and not join.method


def _is_used(query: Query, scope: Scope, source: Source, join: exp.Join) -> bool:
    """Whether a column of the source is needed outside the ON of `join`; a name that leads nowhere counts as one."""
    own = {id(node) for node in join.args["on"].dfs()} if join.args.get("on") is not None else set()
    for column in scope.select.find_all(exp.Column):
        if id(column) not in own:
            if column.is_star:
                return True
            found = query.resolve(column)
            if found == (scope, source) or (found is None and column.table.lower() == source.alias.lower()):
                return True
    return not source.known


def _is_key(query: Query, term: exp.Expr) -> bool:
    if not isinstance(term, exp.EQ) or not isinstance(term.left, exp.Column) or not isinstance(term.right, exp.Column):
        return False
    left, right = query.resolve(term.left), query.resolve(term.right)
    return left is not None and right is not None and left[1] is not right[1]


def _alike(source: Source, name: str) -> list[str]:
    """A few other columns of the source of the same kind."""
    return [
        other
        for other in source.columns
        if other.lower() != name.lower() and other != "*" and kind(other) == kind(name)
    ][:_FEW]


def _qualified(scope: Scope, source: Source, name: str) -> exp.Column:
    if source in scope.sources and any(source is each for each in scope.sources):
        return scope.column(source, name)
    return exp.column(exp.to_identifier(name, quoted=True), table=exp.to_identifier(source.alias, quoted=True))


def _quoted(name: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True))

"""Faults in what is first: LIMIT, its order, all ties against one row, the latest by id, and window functions."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from sqldojo.verifier.mutation.edits import Edit, and_where, conjunction, set_arguments, swap, terms
from sqldojo.verifier.mutation.scopes import Query

_BEST = "_best"  # the name of the column that a mutant compares with


def limit_off_by_one(query: Query) -> Iterator[Edit]:
    """LIMIT and OFFSET one more and one less."""
    for node in query.all(exp.Limit, exp.Offset):
        if isinstance(node.expression, exp.Literal) and not node.expression.is_string:
            for value in (int(node.expression.this) + 1, int(node.expression.this) - 1):
                if value >= (1 if isinstance(node, exp.Limit) else 0):
                    yield set_arguments(node, expression=exp.Literal.number(value))


def limit_dropped(query: Query) -> Iterator[Edit]:
    """LIMIT, OFFSET or both left out."""
    for node in query.all(exp.Limit):
        offset = node.parent.args.get("offset")
        yield [(node.parent, "limit", None), (node.parent, "offset", None)]
        if offset is not None:
            yield [(node.parent, "offset", None)]


def order_reversed(query: Query) -> Iterator[Edit]:
    """ASC and DESC exchanged where it matters: under LIMIT, in a window, in GROUP_CONCAT."""
    for node in query.all(exp.Ordered):
        if _order_matters(node):
            yield set_arguments(node, desc=not node.args.get("desc"), nulls_first=not node.args.get("nulls_first"))


def top_order_reversed(query: Query) -> Iterator[Edit]:
    """ASC and DESC exchanged in the ORDER BY of the whole query, for a question that declares its order."""
    for node in query.all(exp.Ordered):
        if node.parent.parent is query.tree:
            yield set_arguments(node, desc=not node.args.get("desc"), nulls_first=not node.args.get("nulls_first"))


def top_order_dropped(query: Query) -> Iterator[Edit]:
    """The ORDER BY of the whole query, or a term of it, left out, for a question that declares its order."""
    order = query.tree.args.get("order")
    if order is not None:
        yield set_arguments(query.tree, order=None)
        for left_out in order.expressions if len(order.expressions) > 1 else ():
            yield set_arguments(order, expressions=[term.copy() for term in order.expressions if term is not left_out])


def order_terms(query: Query) -> Iterator[Edit]:
    """Under LIMIT and in windows: terms of ORDER BY in another order, and each of several left out."""
    for node in query.all(exp.Order):
        several = node.expressions
        if len(several) > 1 and _order_matters(several[0]):
            yield set_arguments(node, expressions=[term.copy() for term in (several[1], several[0], *several[2:])])
            for left_out in several:
                yield set_arguments(node, expressions=[term.copy() for term in several if term is not left_out])


def nulls_moved(query: Query) -> Iterator[Edit]:
    """NULL sorted to the other end under LIMIT."""
    for node in query.all(exp.Ordered):
        if _order_matters(node) and isinstance(node.this, exp.Column):
            yield set_arguments(node, nulls_first=not node.args.get("nulls_first"))


def all_best_as_first(query: Query) -> Iterator[Edit]:
    """WHERE x = (SELECT MAX(x) ...) (or HAVING) as ORDER BY x DESC LIMIT 1: one row of those that tie."""
    for scope in query.scopes:
        if scope.select.args.get("limit") or isinstance(scope.select.parent, exp.SetOperation):
            continue
        for clause in ("where", "having"):
            node = scope.select.args.get(clause)
            conditions = terms(node.this if node else None)
            for term in conditions:
                best = _best(term)
                if best is None or (clause == "where" and scope.grouped):
                    continue
                value, downwards = best
                rest = conjunction([other for other in conditions if other is not term])
                ordered = exp.Ordered(this=value.copy(), desc=downwards, nulls_first=not downwards)
                yield [
                    (scope.select, clause, type(node)(this=rest) if rest else None),
                    (scope.select, "order", exp.Order(expressions=[ordered])),
                    (scope.select, "limit", exp.Limit(expression=exp.Literal.number(1))),
                ]


def first_as_all_best(query: Query) -> Iterator[Edit]:
    """ORDER BY x DESC LIMIT 1 as x = (SELECT MAX(x) ...): all rows that tie, and NULL never first."""
    for scope in query.scopes:
        select = scope.select
        limit, order = select.args.get("limit"), select.args.get("order")
        if (
            not limit
            or not order
            or select.args.get("offset")
            or limit.expression.name != "1"
            or select.args.get("distinct")
        ):
            continue
        ordered = order.expressions[0]
        value = _expanded(select, ordered.this)
        if value is None or any(isinstance(node, exp.Window | exp.Query) for node in value.dfs()):
            continue
        inner = select.copy()
        for key in ("order", "limit", "with_"):
            inner.set(key, None)
        pick = exp.Max if ordered.args.get("desc") else exp.Min
        if select.args.get("group"):
            inner.set("expressions", [exp.alias_(value.copy(), _BEST)])
            best = exp.select(pick(this=exp.column(_BEST))).from_(exp.Subquery(this=inner))
        elif scope.grouped:
            continue
        else:
            inner.set("expressions", [pick(this=value.copy())])
            best = inner
        equal = exp.EQ(this=value.copy(), expression=exp.Subquery(this=best))
        edit: Edit = [(select, "order", None), (select, "limit", None)]
        if select.args.get("group"):
            having = select.args.get("having")
            both = [*terms(having.this if having else None), equal]
            yield [*edit, (select, "having", exp.Having(this=conjunction(both)))]
        else:
            yield [*edit, and_where(select, equal)]


def best_in_any_group(query: Query) -> Iterator[Edit]:
    """x = (SELECT MAX(x) ... for this row's group) as x IN (SELECT MAX(x) ... GROUP BY group), of any group."""
    for node in query.all(exp.EQ):
        inner = node.expression.this if isinstance(node.expression, exp.Subquery) else None
        scope = next((each for each in query.scopes if each.select is inner), None)
        where = inner.args.get("where") if isinstance(inner, exp.Select) else None
        if scope is None or where is None or _best(node) is None:
            continue
        keys, rest = [], []
        for term in terms(where.this):
            sides = [term.left, term.right] if isinstance(term, exp.EQ) else []
            own = [side for side in sides if isinstance(side, exp.Column) and scope.source(side)]
            if len(own) == 1 and query.is_outer(term, scope):
                keys.append(own[0].copy())
            else:
                rest.append(term)
        if keys and not any(query.is_outer(term, scope) for term in rest):
            listed = inner.copy()
            listed.set("where", exp.Where(this=conjunction(rest)) if rest else None)
            listed.set("group", exp.Group(expressions=keys))
            yield swap(node, exp.In(this=node.this.copy(), query=exp.Subquery(this=listed)))


def latest_by_key(query: Query) -> Iterator[Edit]:
    """The row with the greatest id taken for the latest or the greatest one."""
    for node in query.all(exp.EQ):
        best = _best(node)
        inner = node.expression.this if isinstance(node.expression, exp.Subquery) else None
        scope = next((each for each in query.scopes if each.select is inner), None)
        outer = query.scope(node)
        if best is None or scope is None or outer is None or not isinstance(node.this, exp.Column):
            continue
        argument = scope.select.expressions[0].unalias().this
        ours, theirs = outer.source(node.this), scope.source(argument) if isinstance(argument, exp.Column) else None
        if (
            ours
            and theirs
            and ours.table
            and ours.table == theirs.table
            and ours.key
            and ours.key.lower() != node.this.name.lower()
        ):
            listed = inner.copy()
            pick = type(inner.expressions[0].unalias())
            listed.set("expressions", [pick(this=scope.column(theirs, theirs.key))])
            yield swap(node, exp.EQ(this=outer.column(ours, ours.key), expression=exp.Subquery(this=listed)))
    for node in query.all(exp.Ordered):
        scope = query.scope(node)
        if scope and _order_matters(node) and isinstance(node.this, exp.Column) and not scope.grouped:
            source = scope.source(node.this)
            if source and source.key and source.key.lower() != node.this.name.lower():
                yield set_arguments(node, this=scope.column(source, source.key))


def ranks_exchanged(query: Query) -> Iterator[Edit]:
    """ROW_NUMBER, RANK and DENSE_RANK taken for one another."""
    kinds = (exp.RowNumber, exp.Rank, exp.DenseRank)
    for node in query.all(*kinds):
        for kind in kinds:
            if not isinstance(node, kind):
                yield swap(node, kind())


def neighbours_exchanged(query: Query) -> Iterator[Edit]:
    """LAG and LEAD, FIRST_VALUE and LAST_VALUE exchanged."""
    other = {exp.Lag: exp.Lead, exp.Lead: exp.Lag, exp.FirstValue: exp.LastValue, exp.LastValue: exp.FirstValue}
    for node in query.all(*other):
        arguments = {key: value.copy() for key, value in node.args.items() if isinstance(value, exp.Expr)}
        yield swap(node, other[type(node)](**arguments))


def partition_dropped(query: Query) -> Iterator[Edit]:
    """PARTITION BY, or one of its terms, left out."""
    for node in query.all(exp.Window):
        parts = node.args.get("partition_by") or []
        for left_out in parts:
            yield set_arguments(node, partition_by=[part.copy() for part in parts if part is not left_out])


def frame_changed(query: Query) -> Iterator[Edit]:
    """A window's frame or order left out, ROWS and RANGE exchanged, and a running total told row by row."""
    for node in query.all(exp.Window):
        spec, order = node.args.get("spec"), node.args.get("order")
        if spec is not None:
            yield set_arguments(node, spec=None)
            kind = str(spec.args.get("kind", "")).upper()
            bounded = any(isinstance(spec.args.get(end), exp.Expr) for end in ("start", "end"))
            if kind in ("ROWS", "RANGE") and not bounded:
                yield set_arguments(spec, kind="RANGE" if kind == "ROWS" else "ROWS")
        if order is not None and isinstance(node.this, exp.AggFunc) and is_running(node):
            yield [(node, "order", None), (node, "spec", None)]
            if spec is None:
                rows = exp.WindowSpec(kind="ROWS", start="UNBOUNDED", start_side="PRECEDING", end="CURRENT ROW")
                yield set_arguments(node, spec=rows)


def is_running(window: exp.Window) -> bool:
    """Whether a window's function adds up or counts, so that its order makes a running total of it."""
    return isinstance(window.this, exp.Sum | exp.Avg | exp.Count | exp.Min | exp.Max)


def _order_matters(node: exp.Ordered) -> bool:
    holder = node.parent.parent if node.parent is not None else None
    if isinstance(holder, exp.Select | exp.SetOperation):
        return holder.args.get("limit") is not None
    return isinstance(holder, exp.Window | exp.GroupConcat)


def _best(term: exp.Expr) -> tuple[exp.Expr, bool] | None:
    """(x, whether the greatest is meant) of a condition x = (SELECT MAX(...) ...)."""
    if not isinstance(term, exp.EQ):
        return None
    inner = term.expression.this if isinstance(term.expression, exp.Subquery) else None
    if isinstance(inner, exp.Select) and len(inner.expressions) == 1:
        aggregate = inner.expressions[0].unalias()
        if isinstance(aggregate, exp.Max | exp.Min):
            return term.this, isinstance(aggregate, exp.Max)
    return None


def _expanded(select: exp.Select, value: exp.Expr) -> exp.Expr | None:
    """What is sorted by, with an alias or a position of the select list replaced by what it stands for."""
    if isinstance(value, exp.Literal):
        place = int(value.this) - 1 if value.is_int else -1
        return select.expressions[place].unalias() if 0 <= place < len(select.expressions) else None
    if isinstance(value, exp.Column) and not value.table:
        for item in select.expressions:
            if isinstance(item, exp.Alias) and item.alias.lower() == value.name.lower():
                return item.this
    return value

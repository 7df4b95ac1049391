"""Faults in a set operation: UNION for UNION ALL, the wrong operation, a side lost, one filter for two queries."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from sqldojo.verifier.mutation.edits import Edit, conjunction, set_arguments, swap, terms
from sqldojo.verifier.mutation.scopes import Query

_PLAIN = ("group", "having", "limit", "offset", "order", "distinct", "windows")


def union_exchanged(query: Query) -> Iterator[Edit]:
    """UNION and UNION ALL exchanged."""
    for node in query.all(exp.Union):
        yield set_arguments(node, distinct=not node.args.get("distinct"))


def operation_exchanged(query: Query) -> Iterator[Edit]:
    """UNION, INTERSECT and EXCEPT taken for one another, and the sides of EXCEPT exchanged."""
    for node in query.all(exp.SetOperation):
        for kind in (exp.Union, exp.Intersect, exp.Except):
            if not isinstance(node, kind) and _is_simple(node):
                yield swap(_place(node), _operation(kind, node, _bare(node.left), node.right))
        if isinstance(node, exp.Except) and _is_simple(node):
            yield swap(_place(node), _operation(exp.Except, node, node.right, _bare(node.left)))


def side_dropped(query: Query) -> Iterator[Edit]:
    """One side of a set operation left out."""
    for node in query.all(exp.SetOperation):
        for side in (node.left, node.right):
            new = _bare(side).copy()
            for key in ("with_", "order", "limit", "offset"):
                if node.args.get(key) is not None and new.args.get(key) is None:
                    new.set(key, node.args[key].copy())
            yield swap(_place(node), new)


def operation_as_condition(query: Query) -> Iterator[Edit]:
    """Two filters on the same rows as one: UNION (ALL) as OR, INTERSECT as AND, EXCEPT as AND NOT."""
    for node in query.all(exp.SetOperation):
        left, right = _bare(node.left), _bare(node.right)
        if not isinstance(left, exp.Select) or not isinstance(right, exp.Select) or not _is_simple(node):
            continue
        if any(side.args.get(key) for side in (left, right) for key in _PLAIN) or not _same_but_where(left, right):
            continue
        first, second = (
            terms(side.args["where"].this if side.args.get("where") else exp.true()) for side in (left, right)
        )
        one, other = conjunction(first), conjunction(second)
        if isinstance(node, exp.Union):
            condition: exp.Expr = exp.Or(this=one, expression=other)
        elif isinstance(node, exp.Intersect):
            condition = conjunction([*first, *second])
        else:
            condition = conjunction([*first, exp.Not(this=exp.Paren(this=other))])
        new = left.copy()
        new.set("where", exp.Where(this=condition))
        for key in ("with_", "order", "limit", "offset"):
            if node.args.get(key) is not None:
                new.set(key, node.args[key].copy())
        yield swap(_place(node), new)


def operation_as_membership(query: Query) -> Iterator[Edit]:
    """INTERSECT as IN and EXCEPT as NOT IN: repeated rows stay, and a NULL on the right empties NOT IN."""
    for node in query.all(exp.Intersect, exp.Except):
        left, right = _bare(node.left), _bare(node.right)
        if not isinstance(left, exp.Select) or not _is_simple(node) or any(left.args.get(key) for key in _PLAIN):
            continue
        if len(left.expressions) == 1 and not left.expressions[0].is_star and right.args.get("with_") is None:
            member: exp.Expr = exp.In(this=left.expressions[0].unalias().copy(), query=exp.Subquery(this=right.copy()))
            if isinstance(node, exp.Except):
                member = exp.Not(this=member)
            new = left.copy()
            new.set(
                "where",
                exp.Where(
                    this=conjunction([*terms(left.args["where"].this if left.args.get("where") else None), member])
                ),
            )
            for key in ("with_", "order", "limit", "offset"):
                if node.args.get(key) is not None:
                    new.set(key, node.args[key].copy())
            yield swap(_place(node), new)


def condition_as_union(query: Query) -> Iterator[Edit]:
    """WHERE a OR b as UNION ALL of two queries (rows with both come twice), and as UNION (equal rows become one)."""
    for scope in query.scopes:
        select, where = scope.select, scope.select.args.get("where")
        if not where or any(select.args.get(key) for key in _PLAIN) or scope.grouped or select.args.get("with_"):
            continue
        if isinstance(select.parent, exp.SetOperation):
            continue
        parts = terms(where.this, exp.Or)
        if len(parts) == 2:
            sides = []
            for part in parts:
                side = select.copy()
                side.set("where", exp.Where(this=part.copy()))
                sides.append(side)
            for distinct in (False, True):
                yield swap(select, exp.Union(this=sides[0].copy(), expression=sides[1].copy(), distinct=distinct))


def _operation(kind: type[exp.SetOperation], node: exp.Expr, left: exp.Expr, right: exp.Expr) -> exp.Expr:
    modifiers = {key: node.args[key].copy() for key in ("with_", "order", "limit", "offset") if node.args.get(key)}
    return kind(this=left.copy(), expression=right.copy(), distinct=True, **modifiers)


def _bare(side: exp.Expr) -> exp.Expr:
    """A side without the parentheses by which sqlglot shows that set operations are taken from the left."""
    while isinstance(side, exp.Subquery):
        side = side.this
    return side


def _place(node: exp.Expr) -> exp.Expr:
    """The node, or the parentheses around it as the side of another set operation."""
    return (
        node.parent
        if isinstance(node.parent, exp.Subquery) and isinstance(node.parent.parent, exp.SetOperation)
        else node
    )


def _is_simple(node: exp.SetOperation) -> bool:
    """Whether its right side is one SELECT, so that no parentheses (which SQLite has not) are needed."""
    return isinstance(node.right, exp.Select)


def _same_but_where(left: exp.Select, right: exp.Select) -> bool:
    def rest(select: exp.Select) -> dict[str, object]:
        args = {key: value for key, value in select.args.items() if value and key not in ("where", "expressions")}
        return {**args, "columns": [item.unalias() for item in select.expressions]}

    return rest(left) == rest(right)

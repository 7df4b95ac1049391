"""What an operator hands over: assignments to the reference's own tree, made and undone around one writing of it.

Copying the tree for each mutant costs more than writing it, so an edit is a list of (node, argument, value) to set, and
`mutated_text` puts the old values back. Whatever an edit hangs in anew must be a copy: a node has one parent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sqlglot import exp

from sqldojo.verifier.mutation.sqlite_text import write

Assignment = tuple[exp.Expr, str, object]
Edit = list[Assignment]

# How tightly SQLite binds, loosest first (https://sqlite.org/lang_expr.html); what is not here needs no parentheses.
_BINDING: tuple[tuple[type[exp.Expr], ...], ...] = (
    (exp.Or,),
    (exp.And,),
    (exp.Not,),
    (exp.EQ, exp.NEQ, exp.Is, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Between, exp.In, exp.Like, exp.Glob, exp.Match,
     exp.RegexpLike, exp.Escape),
    (exp.LT, exp.LTE, exp.GT, exp.GTE),
    (exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseLeftShift, exp.BitwiseRightShift),
    (exp.Add, exp.Sub),
    (exp.Mul, exp.Div, exp.Mod),
    (exp.DPipe, exp.JSONExtract, exp.JSONExtractScalar),
    (exp.Collate,),
    (exp.Neg, exp.BitwiseNot),
)  # fmt: skip
_LEVEL = {kind: level for level, kinds in enumerate(_BINDING) for kind in kinds}
_TIGHTEST = len(_BINDING)


def swap(node: exp.Expr, new: exp.Expr) -> Edit:
    """Put `new` where `node` is, in parentheses where the surrounding operator would tear it apart."""
    parent, key = node.parent, node.arg_key
    outer = _level(parent)
    # A chain of one operator (a AND b AND c) keeps its shape; only there equal binding needs nothing.
    chained = type(new) is type(parent) and isinstance(new, exp.And | exp.Or)
    if outer < _TIGHTEST and _level(new) <= outer and not chained and not _in_list(node):
        new = exp.Paren(this=new)
    held = parent.args[key]
    value = [new if item is node else item for item in held] if isinstance(held, list) else new
    return [(parent, key, value)]


def rewritten(node: exp.Expr, change: Callable[[exp.Expr], exp.Expr | None]) -> Edit:
    """Put a copy of `node` in its place that `change` has edited (in place, or by returning another)."""
    copy = node.copy()
    return swap(node, change(copy) or copy)


def set_arguments(node: exp.Expr, **values: object) -> Edit:
    """Set arguments of `node`."""
    return [(node, key, value) for key, value in values.items()]


def terms(condition: exp.Expr | None, kind: type[exp.Connector] = exp.And) -> list[exp.Expr]:
    """The conditions that a chain of AND (or OR) joins, in their order, also those in needless parentheses."""
    if condition is None:
        return []
    inner = condition.unnest() if isinstance(condition, exp.Paren) else condition
    if isinstance(inner, kind):
        return terms(inner.left, kind) + terms(inner.right, kind)
    return [condition]


def conjunction(conditions: Iterable[exp.Expr], kind: type[exp.Connector] = exp.And) -> exp.Expr | None:
    """Copies of the conditions joined by AND (or OR), or None when there are none."""
    joined: exp.Expr | None = None
    for condition in conditions:
        copy = wrapped(condition.copy(), kind)
        joined = copy if joined is None else kind(this=joined, expression=copy)
    return joined


def wrapped(node: exp.Expr, inside: type[exp.Expr]) -> exp.Expr:
    """`node`, in parentheses if the operator `inside` binds as tightly or tighter."""
    return exp.Paren(this=node) if _level(node) <= _LEVEL[inside] and type(node) is not inside else node


def and_where(select: exp.Select, *conditions: exp.Expr) -> Assignment:
    """Add conditions (new nodes) to a SELECT's WHERE."""
    where = select.args.get("where")
    old = [where.this] if where else []
    return select, "where", exp.Where(this=conjunction([*old, *conditions]))


def mutated_text(holder: exp.Expr, edit: Edit) -> str:
    """The text of the tree in `holder` under the edit; afterwards the tree is as it was."""
    undo = [(node, key, node.args.get(key)) for node, key, _ in edit]
    try:
        for node, key, value in edit:
            node.set(key, value)
        return write(holder.this)
    finally:
        for node, key, value in reversed(undo):
            node.set(key, value)


def _level(node: exp.Expr | None) -> int:
    return _LEVEL.get(type(node), _TIGHTEST)


def _in_list(node: exp.Expr) -> bool:
    """Whether commas, not operators, are around the node: IN (a, b)."""
    return isinstance(node.parent, exp.In) and node.arg_key == "expressions"

"""Small questions about a syntax tree that need no schema."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

_RESERVED = frozenset((
    "ADD", "ALL", "ALTER", "AND", "AS", "ASC", "BETWEEN", "BY", "CASE", "CAST", "CHECK", "COLLATE", "COLUMN",
    "COMMIT", "CONSTRAINT", "CREATE", "CROSS", "CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "DATABASE",
    "DEFAULT", "DELETE", "DESC", "DISTINCT", "DROP", "ELSE", "END", "ESCAPE", "EXCEPT", "EXISTS", "FOREIGN", "FROM",
    "FULL", "GLOB", "GROUP", "HAVING", "IF", "IN", "INDEX", "INNER", "INSERT", "INTERSECT", "INTO", "IS", "ISNULL",
    "JOIN", "KEY", "LEFT", "LIKE", "LIMIT", "MATCH", "NATURAL", "NOT", "NOTNULL", "NULL", "OFFSET", "ON", "OR",
    "ORDER", "OUTER", "PRIMARY", "REFERENCES", "REGEXP", "RIGHT", "ROLLBACK", "ROW", "SELECT", "SET", "TABLE",
    "THEN", "TO", "TRANSACTION", "UNION", "UNIQUE", "UPDATE", "USING", "VALUES", "VIEW", "WHEN", "WHERE", "WINDOW",
    "WITH",
))  # fmt: skip


def from_items(select: exp.Select) -> list[tuple[exp.Expr, exp.Join | None]]:
    """The tables and subqueries that a SELECT reads from, each with its JOIN."""
    first = select.args.get("from_")
    joins = select.args.get("joins") or []
    return ([(first.this, None)] if first else []) + [(join.this, join) for join in joins]


def is_aggregate(node: exp.Expr) -> bool:
    """Whether the node is an aggregate function's call that puts rows together (and not a window's)."""
    if isinstance(node, exp.Anonymous):
        aggregate = node.name.upper() in ("TOTAL", "STRING_AGG", "JSON_GROUP_ARRAY", "JSON_GROUP_OBJECT")
    else:
        aggregate = isinstance(node, exp.Count | exp.Sum | exp.Avg | exp.Min | exp.Max | exp.GroupConcat)
    above = node.parent
    if isinstance(above, exp.Filter):
        above = above.parent
    return aggregate and not isinstance(above, exp.Window)


def own_nodes(node: exp.Expr) -> Iterator[exp.Expr]:
    """The node and all below it, without going into nested queries."""
    return (each for each in node.dfs(prune=lambda n: isinstance(n, exp.Query)) if not isinstance(each, exp.Query))


def needs_quotes(name: str) -> bool:
    """Whether an identifier must be quoted to be safe: odd characters, or a word of SQLite's grammar."""
    return not (name.isascii() and name.isidentifier()) or name.upper() in _RESERVED


def nested_queries(select: exp.Select) -> Iterator[exp.Expr]:
    """The outermost queries inside a SELECT's own expressions, ON clauses included."""
    for key, value in select.args.items():
        if key == "with_":
            continue
        for part in value if isinstance(value, list) else [value]:
            if not isinstance(part, exp.Expr):
                continue
            if isinstance(part, exp.From):
                continue
            if isinstance(part, exp.Join):
                part = part.args.get("on")
                if part is None:
                    continue
            yield from (
                node
                for node in part.dfs(prune=lambda n: isinstance(n, exp.Select | exp.SetOperation))
                if isinstance(node, exp.Select | exp.SetOperation)
            )

"""Settling the ties of a query in a chosen way, by appending tie-breakers to the sort keys at given places of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sqlglot
from sqlglot import exp

UP, DOWN = "", "DESC"
_SCATTERED = {"across": 11, "askew": 13}  # two primes: what order they give means nothing, only that it is another one
WAYS = (UP, DOWN, *_SCATTERED)


@dataclass(frozen=True)
class Site:
    """A query or window (the n-th node of the tree), the tie-breakers to append, and the complaint.

    `values` are the tie-breakers as expressions, none where the site takes only numbers of columns.
    """

    node: int
    keys: tuple[str, ...]
    values: tuple[str, ...]
    complaint: str


def settled(tree: exp.Expression, sites: Sequence[Site], way: str) -> str:
    """The query with the ties of these sites settled in one way."""
    changed = tree.copy()
    nodes = list(changed.walk())
    for site in sites:
        append(nodes[site.node], site, way)
    return text(changed)


def append(node: exp.Expression, site: Site, way: str) -> None:
    """Append the tie-breakers of a site to the ORDER BY of `node`, the query or window that it is in."""
    order = node.args.get("order")
    if order is None:
        order = exp.Order(expressions=[])
        node.set("order", order)
    terms = sqlglot.parse_one(f"SELECT 1 ORDER BY {', '.join(_terms(site, way))}", read="sqlite").args["order"]
    for term in terms.expressions:
        order.append("expressions", term)
    if isinstance(node, exp.Query) and node.parent is not None and not node.args.get("limit"):
        # SQLite leaves out the ORDER BY of a subquery that has no LIMIT where it sees no use for it.
        node.set("limit", exp.Limit(expression=exp.Literal.number(-1)))


def _terms(site: Site, way: str) -> list[str]:
    if way not in _SCATTERED:
        return [f"{key} {way}".strip() for key in site.keys]
    scattered = [
        f"(unicode({value}) * 53 + unicode(substr({value}, -1)) * 37 + length({value}) * 17) % {_SCATTERED[way]}"
        for value in site.values
    ]
    return [*scattered, *site.keys]


def standing_alone(query: exp.Query, place: exp.Expression) -> str:
    """The text of a query with the CTEs that are visible at `place`, a node of the whole query."""
    definitions: list[str] = []
    recursive = False
    below: set[int] = set()
    ancestor: exp.Expression | None = place
    while ancestor is not None:
        clause = ancestor.args.get("with_")
        if clause is not None and not (ancestor is place and query.args.get("with_")):
            # A CTE that the place is inside of is not visible there; one further down is, and does no harm.
            definitions = [*(text(cte) for cte in clause.expressions if id(cte) not in below), *definitions]
            recursive = recursive or bool(clause.args.get("recursive"))
        below.add(id(ancestor))
        ancestor = ancestor.parent
    if not definitions:
        return text(query)
    return f"WITH {'RECURSIVE ' if recursive else ''}{', '.join(definitions)} SELECT * FROM ({text(query)})"


def text(node: exp.Expression) -> str:
    """The node as SQLite reads it."""
    return node.sql(dialect="sqlite")

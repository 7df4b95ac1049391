"""Variants of a query that mean the same but settle ties otherwise, so that an answer which rests on a tie shows.

SQL leaves three choices to the engine: which of the rows that tie on their sort keys come first, in which order a
subquery hands on its rows, and which row a subquery used as a value gives when it has several. SQLite settles them by
how it happens to run a query, and a right query written in another way gets another answer. Each of those places in a
query is a *site*. Appending its own output columns to its sort keys, once upwards and once downwards, settles the ties
there in two opposite ways; only what is left equal in every column stays open, and that cannot be seen from outside.
The whole query is run each time, so a site is reported only where it decides the final answer, nested and correlated
ones included.

A rank in the middle is the exception: of three tied rows the second is the same from either end. So ties are also
settled in two scattered orders where a site takes expressions (not in UNION and the like, nor behind a star), and the
rows that an OFFSET skips are asked for alone, where they do not depend on an outer query.

Not seen here: queries that sqlglot cannot read, windows with a frame in RANGE or GROUPS (a tie-breaker would change
what they mean), and order below the sites, such as bare columns over a plain table. What depends on the order of
stored rows is left to the twins (databases/twins.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from sqldojo.verifier.tie_settling import DOWN, UP, WAYS, Site, append, settled, standing_alone, text
from sqldojo.verifier.tie_sites import ColumnNames, sites_of
from sqldojo.verifier.view_texts import with_views


@dataclass(frozen=True)
class Probe:
    """Queries that must all give the same answer, and what is wrong with the reference when they do not.

    It is the answer of the reference, except where they ask for a part of it `alone`.
    """

    complaint: str
    variants: tuple[str, ...]
    alone: bool = False


@dataclass(frozen=True)
class TieProbes:
    """All sites of a query at once, then each by itself, to name the one at fault.

    `control` is the query as sqlglot writes it. Where that does not give the query's own answer, probes prove nothing.
    """

    control: str
    together: Probe
    single: tuple[Probe, ...]
    alone: tuple[Probe, ...]


def tie_probes(
    sql: str, column_names: ColumnNames, *, views: Sequence[str] = (), ordered: bool = False
) -> TieProbes | None:
    """The probes of a query, None where it has no site or cannot be parsed.

    `views` are the CREATE VIEW statements of its database. With `ordered` the order of the full result counts too.
    """
    try:
        tree = sqlglot.parse_one(sql, read="sqlite")
    except SqlglotError:
        return None
    if not isinstance(tree, exp.Query):
        return None
    tree = with_views(tree, views)
    _inline_named_windows(tree)
    sites = sites_of(tree, column_names, ordered=ordered)
    if not sites:
        return None
    nodes = list(tree.walk())
    return TieProbes(
        control=text(tree),
        together=Probe(
            "its answer depends on how ties are settled in several places at once: give each ORDER BY a unique column",
            _variants(tree, sites),
        ),
        single=tuple(Probe(site.complaint, _variants(tree, [site])) for site in sites),
        alone=tuple(probe for site in sites for probe in _skipped_rows(nodes[site.node], site)),
    )


def _variants(tree: exp.Expression, sites: Sequence[Site]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(settled(tree, sites, way) for way in WAYS))


def _skipped_rows(query: exp.Expression, site: Site) -> Iterator[Probe]:
    """The rows that an OFFSET skips, asked for alone."""
    offset = query.args.get("offset")
    if not isinstance(query, exp.Query) or not offset or not offset.expression.is_int:
        return
    head = query.copy()
    head.set("offset", None)
    head.set("limit", exp.Limit(expression=offset.expression.copy()))
    queries = []
    for way in (UP, DOWN):
        settled = head.copy()
        append(settled, site, way)
        queries.append(standing_alone(settled, query))
    yield Probe(site.complaint.replace("LIMIT", "OFFSET", 1), tuple(queries), alone=True)


def _inline_named_windows(tree: exp.Expression) -> None:
    """Write `OVER w` out, so that a function whose ties matter does not share its order with one whose do not."""
    for select in list(tree.find_all(exp.Select)):
        named = {window.this.name.lower(): window for window in select.args.get("windows") or ()}
        for window in list(select.find_all(exp.Window)):
            definition = named.get(window.alias.lower())
            if window.parent_select is select and definition is not None and window is not definition:
                for part in ("partition_by", "order", "spec"):
                    given = definition.args.get(part)
                    if given and not window.args.get(part):
                        window.set(part, [each.copy() for each in given] if isinstance(given, list) else given.copy())
                window.set("alias", None)

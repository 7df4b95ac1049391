"""Rewrites of a reference that mean the same on every database, to measure that the verifier accepts what is right.

A verifier that refuses everything would kill every mutant too. These rewrites are the other half of the measure: each
rule is a theorem of SQLite, with NULL, duplicates and mixed types, and says so beside its code. They assume of a
reference what is asked of every one: it runs, and its answer depends on the data alone, not on chance, the clock, ties
or the order in which rows are stored. So a plain column in a grouped query is one that its group decides, and a sum of
reals may come out in another last bit, which the comparison tolerates.

Left out because no theorem: strftime('%Y', d) = '2020' as a range of the column itself (texts that are no dates),
NOT IN without guards, GROUP BY name for GROUP BY id, COUNT(*) as SUM(1) without groups.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.tokens import TokenType

from sqldojo.verifier.equivalent_predicates import PREDICATE_RULES, NodeRule
from sqldojo.verifier.equivalent_queries import QUERY_RULES
from sqldojo.verifier.equivalent_subqueries import SUBQUERY_RULES
from sqldojo.verifier.qualified_names import TableColumns

_LOSING_ORDER = ("query in a derived table", "query in a CTE")
_CASELESS = (TokenType.STRING, TokenType.IDENTIFIER, TokenType.NUMBER, TokenType.VAR, TokenType.HEX_STRING)


@dataclass(frozen=True)
class Rewrite:
    """One way of writing a reference otherwise; `kind` is the rule that made it."""

    kind: str
    sql: str


def equivalents(reference: str, columns: TableColumns, *, ordered: bool = False) -> list[Rewrite]:
    """The rewrites of a reference that rules are known for, each text once, in a fixed order.

    `columns` are the column names of each table. With `ordered` the order of rows counts: the reference's own ORDER BY
    stays where it is, since one inside a derived table orders nothing. Empty for a query that sqlglot cannot read.
    """
    try:
        tree = sqlglot.parse_one(reference, read="sqlite")
    except SqlglotError:
        return []
    if not isinstance(tree, exp.Query):
        return []
    found: dict[str, str] = {}
    for kind, sql in (*_texts(reference), *_trees(tree, columns)):
        if sql != reference and not (ordered and kind in _LOSING_ORDER):
            found.setdefault(sql, kind)
    return [Rewrite(kind, sql) for sql, kind in found.items()]


def _texts(reference: str) -> Iterator[tuple[str, str]]:
    """Case of keywords, white space, comments and the last semicolon say nothing."""
    yield "semicolon at the end", f"{reference};"
    yield "comments", f"/* this and that; */ {reference} -- and more"
    tokens = sqlglot.tokenize(reference, read="sqlite")
    for kind, change in (("keywords in lower case", str.lower), ("keywords in upper case", str.upper)):
        parts, end = [], 0
        for token in tokens:
            text = reference[token.start : token.end + 1]
            parts += [reference[end : token.start], text if token.token_type in _CASELESS else change(text)]
            end = token.end + 1
        yield kind, "".join([*parts, reference[end:]])
    yield "white space", "\n\t".join(reference[token.start : token.end + 1] for token in tokens)


def _trees(tree: exp.Expression, columns: TableColumns) -> Iterator[tuple[str, str]]:
    for kind, node_types, rule in PREDICATE_RULES:
        for changed in _each_node(tree, node_types, rule):
            yield kind, changed.sql(dialect="sqlite")
    for kind, query_rule in (*QUERY_RULES, *SUBQUERY_RULES):
        for changed in query_rule(tree.copy(), columns):
            yield kind, changed.sql(dialect="sqlite")


def _each_node(
    tree: exp.Expression, node_types: tuple[type[exp.Expression], ...], rule: NodeRule
) -> Iterator[exp.Expression]:
    """The query once for each node that the rule changes, with that node changed."""
    for index in range(len(list(tree.find_all(*node_types)))):
        changed = tree.copy()
        node = list(changed.find_all(*node_types))[index]
        replacement = rule(node.copy() if node.parent is None else _detached(node))
        if replacement is not None:
            node.replace(replacement)
            yield changed


def _detached(node: exp.Expression) -> exp.Expression:
    """A copy that still knows its parent, since some rules ask where the node stands."""
    copy = node.copy()
    copy.parent, copy.arg_key = node.parent, node.arg_key
    return copy

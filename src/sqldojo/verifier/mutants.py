"""Wrong variants of a reference query, each with one fault: what a family of databases must tell from the reference.

A verifier is as strong as the mistakes it was tried against. Each mutant is the reference after one edit at one place
by one operator (mutation/catalogue.py names them and the mistake that each stands for). Some are equivalent to the
reference by chance of the query; whoever searches for rows that make a mutant differ lists those as survivors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqldojo.verifier.mutation.catalogue import OPERATORS, ORDERED_OPERATORS
from sqldojo.verifier.mutation.edits import Edit, mutated_text
from sqldojo.verifier.mutation.scopes import Query
from sqldojo.verifier.mutation.sqlite_text import Unparsable as Unparsable
from sqldojo.verifier.mutation.sqlite_text import read, write

MOST = 150  # mutants of one reference: enough for any question, and a bound for queries of a page


@dataclass(frozen=True)
class Mutant:
    """One wrong (or, by chance, equivalent) variant: the operator's name and the whole query."""

    operator: str
    sql: str


def mutants(
    reference: str,
    columns: Mapping[str, Sequence[str]],
    *,
    ordered: bool = False,
    most: int = MOST,
    only: Collection[str] | None = None,
) -> list[Mutant]:
    """Every single-fault variant of a SELECT, by operator and then by place; at most `most`, shared out fairly.

    `columns` maps each table to its columns. `ordered` says that the order of the rows is part of the answer, and
    `only` names the operators that are wanted, if not all. No text occurs twice and none is the reference's own.
    Unparsable for a reference that sqlglot cannot read and write back.
    """
    query = Query(read(reference), columns)
    looping = _inside_loops(query)
    seen = {write(query.tree)}
    found: list[Mutant] = []
    for operator in (*OPERATORS, *(ORDERED_OPERATORS if ordered else ())):
        if only is not None and operator.name not in only:
            continue
        for edit in operator.edits(query):
            if looping and not operator.ends and _touches(edit, looping):
                continue
            sql = mutated_text(query.holder, edit)
            if sql not in seen:
                seen.add(sql)
                found.append(Mutant(operator.name, sql))
    return _fair_share(found, most)


def _fair_share(found: list[Mutant], most: int) -> list[Mutant]:
    """At most `most`: every operator keeps what it has up to a common number, spread evenly over its places."""
    counts = Counter(mutant.operator for mutant in found)
    if len(found) <= most:
        return found
    quota = 0
    while sum(min(count, quota + 1) for count in counts.values()) <= most:
        quota += 1
    spare = most - sum(min(count, quota) for count in counts.values())
    kept: list[Mutant] = []
    for name, count in counts.items():
        share = min(count, quota)
        if count > quota and spare:
            share, spare = share + 1, spare - 1
        mine = [mutant for mutant in found if mutant.operator == name]
        kept += [mine[place * count // share] for place in range(share)]
    return kept


def _inside_loops(query: Query) -> set[int]:
    """The nodes of recursive CTEs, where a fault in what ends the loop would never end, and what they hang from."""
    inside: set[int] = set()
    for scope in query.scopes:
        if scope.recursive:
            inside |= {id(node) for node in scope.select.dfs()}
            above = scope.select.parent
            while isinstance(above, exp.SetOperation | exp.Subquery | exp.CTE):
                inside.add(id(above))
                above = above.parent
    return inside


def _touches(edit: Edit, nodes: set[int]) -> bool:
    return any(id(node) in nodes for node, _, _ in edit)

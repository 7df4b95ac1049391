"""The oracle of the audit: many small messy databases, made for one reference, that say what can be told apart at all.

A mutant that the shop's databases do not tell from its reference may mean the same, or the shop may lack a row. The
oracle's databases hold the reference's literals, what lies beside them, NULLs, namesakes, ties and keys that lead
nowhere, in all proportions. What no one of them tells apart is presumed to mean the same: no proof, but the best that
search by execution can say.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from random import Random

import sqlglot

from sqldojo.databases.schema_model import Rows, Schema
from sqldojo.databases.scratch import Scratch
from sqldojo.verifier.candidates import messy_candidates, seeded_domains
from sqldojo.verifier.hints import hints
from sqldojo.verifier.instance_search import Target, kills


@lru_cache(maxsize=1)
def scratch_of(schema: Schema) -> Scratch:
    """One in-memory database of this process for our own queries, empty until rows are loaded."""
    return Scratch(schema)


def compiling(schema: Schema, queries: Sequence[str]) -> list[bool]:
    """Which of the queries run at all, tried without rows."""
    scratch = scratch_of(schema)
    scratch.load({})
    return [scratch.run(query) is not None for query in queries]


def ask_oracle(
    reference: str, variants: Sequence[str], schema: Schema, *, instances: int, seed: int, all_kills: bool
) -> list[frozenset[int]]:
    """For each instance of the oracle, the places of those variants that it tells from the reference.

    Without `all_kills`, a variant that one instance has killed is not shown to the next ones.
    """
    target = Target(reference, tuple(variants), {})
    left = {(0, place) for place in range(1, len(variants) + 1)}  # variant 0 is the empty result
    scratch = scratch_of(schema)
    found = []
    for rows in _instances(reference, schema, instances, seed) if left else ():
        scratch.load(rows)
        killed = kills(scratch, [target], left)
        found.append(frozenset(place - 1 for _, place in killed))
        if not all_kills:
            left -= killed
            if not left:
                break
    return found


def _instances(reference: str, schema: Schema, count: int, seed: int) -> list[Rows]:
    found = hints([sqlglot.parse_one(reference, read="sqlite")], schema)
    domains = seeded_domains(schema, {}, found, Random(f"{seed}/oracle/{reference}"))
    return messy_candidates(schema, found, domains, count=count, seed=seed)

"""The oracle of the audit: many small messy databases, made for one reference, that say what can be told apart at all.

A mutant that the shop's databases do not tell from its reference may mean the same, or the shop may lack a row. The
oracle's databases hold the reference's literals, what lies beside them, NULLs, namesakes, ties and keys that lead
nowhere, in all proportions. What no one of them tells apart is presumed to mean the same: no proof, but the best that
search by execution can say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from random import Random

import sqlglot

from sqldojo.databases.editing import Editor, Worth
from sqldojo.databases.schema_model import Schema
from sqldojo.databases.scratch import Scratch
from sqldojo.databases.scripts import without_comments
from sqldojo.verifier.audit import Subject
from sqldojo.verifier.candidates import Domains, asked_values, seeded_domains
from sqldojo.verifier.hints import Hints, hints
from sqldojo.verifier.instance_search import Target, kills
from sqldojo.verifier.patterned_candidates import patterned_candidates


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
    subject: Subject, variants: Sequence[str], schema: Schema, *, instances: int, seed: int, all_kills: bool
) -> list[frozenset[int]]:
    """For each instance of the oracle, the places of those variants that it tells from the subject's reference.

    Without `all_kills`, a variant that one instance has killed is not shown to the next ones.
    """
    target = Target(subject.reference, tuple(variants), {})
    left = {(0, place) for place in range(1, len(variants) + 1)}  # variant 0 is the empty result
    scratch = scratch_of(schema)
    found = []
    for _ in oracle_instances(subject, variants, scratch, count=instances, seed=seed) if left else ():
        killed = kills(scratch, [target], left)
        found.append(frozenset(place - 1 for _, place in killed))
        if not all_kills:
            left -= killed
            if not left:
                break
    return found


def oracle_instances(
    subject: Subject, variants: Sequence[str], scratch: Scratch, *, count: int, seed: int | str
) -> Iterator[None]:
    """Load up to `count` databases made for a reference and variants of it, one after the other, into `scratch`.

    Only the tables that the queries name have rows. Instances on which the question would not be asked are left out.
    """
    found, domains = _worth_having(subject, scratch.schema, seed)
    named = _named_by([subject.reference, *variants, *(pool for pool, _ in subject.asked)], scratch.schema)
    rng = Random(f"{seed}/values/{subject.reference}")
    for rows in patterned_candidates(named, found, domains, rng, count=count, seed=seed):
        scratch.load(rows)
        if is_asked(subject, scratch):
            yield


def is_asked(subject: Subject, scratch: Scratch) -> bool:
    """Whether the rows that are loaded list all values of the question."""
    return all((value,) in (scratch.run(pool) or ()) for pool, value in subject.asked)


def oracle_editor(subject: Subject, schema: Schema, seed: int | str) -> Editor:
    """Edits of the oracle's databases for a reference."""
    found, domains = _worth_having(subject, schema, seed)
    return Editor(schema, Worth(asked_values(found, domains), domains, found.steps), found.links)


def _worth_having(subject: Subject, schema: Schema, seed: int | str) -> tuple[Hints, Domains]:
    found = hints([sqlglot.parse_one(subject.reference, read="sqlite")], schema)
    return found, seeded_domains(schema, {}, found, Random(f"{seed}/oracle/{subject.reference}"))


def _named_by(queries: Sequence[str], schema: Schema) -> Schema:
    """The schema without the tables that the queries cannot read: making rows is what takes the oracle its time."""
    words = {word.lower() for query in queries for word in re.findall(r"\w+", query)}
    if any(_view_words(statement) <= words for statement in schema.statements if _is_view(statement)):
        return schema  # what a view reads is not told apart
    kept = {table.name for table in schema.tables if set(re.findall(r"\w+", table.name.lower())) <= words}
    while more := {key.table for table in schema.tables if table.name in kept for key in table.foreign_keys} - kept:
        kept |= more
    return replace(schema, tables=tuple(table for table in schema.tables if table.name in kept))


def _is_view(statement: str) -> bool:
    return statement.upper().startswith("CREATE VIEW")


def _view_words(statement: str) -> set[str]:
    """The words of a view's name; fewer for an odd one, which then counts as named more often."""
    rest = without_comments(statement[len("CREATE VIEW") :])
    name = re.split(r"\bAS\b|\(", rest, maxsplit=1, flags=re.IGNORECASE)[0]
    return set(re.findall(r"\w+", name.lower()))

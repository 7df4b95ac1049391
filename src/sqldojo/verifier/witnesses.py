"""Which wrong variants of a reference a database lets pass, and few rows that show the difference.

What a worker does of one reference for the search in extending.py. Databases are held in memory, since each of
thousands of queries would otherwise open its file anew; they are our own, and references that were let through before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from random import Random

from sqldojo.databases.execution import Limits
from sqldojo.databases.grafting import shrink
from sqldojo.databases.schema_model import Rows, Schema, read_rows
from sqldojo.databases.scratch import Scratch
from sqldojo.verifier.audit import Subject
from sqldojo.verifier.audit_oracle import compiling, is_asked, oracle_editor, oracle_instances, scratch_of
from sqldojo.verifier.family import reads
from sqldojo.verifier.instance_search import Instance, Kill, Target, differ, improve, kills
from sqldojo.verifier.mutants import mutants

_FILES = 8  # held in memory: the instances of both families
_EDITS, _MOST_ROWS = 150, 200  # of an instance that is to show everything at once


@dataclass(frozen=True)
class Witness:
    """The few rows that tell these variants from their reference."""

    rows: Rows
    variants: tuple[str, ...]


def passing(scratch: Scratch, subject: Subject, variants: Sequence[str]) -> list[str]:
    """The variants whose answer on the rows that are loaded is the reference's.

    One that fails or takes too much is not accepted there, so it does not pass; nor does any where the reference fails.
    """
    wanted = scratch.run(subject.reference)
    if wanted is None:
        return []
    return [
        variant
        for variant in variants
        if (found := scratch.run(variant)) is not None and not differ(wanted, found, ordered=subject.ordered)
    ]


def passing_on(
    subject: Subject, variants: Sequence[str], database: Path, schema: Schema, limits: Limits
) -> list[str]:
    """As `passing`, on the rows of a file that does not change."""
    return passing(_in_memory(database, schema, limits), subject, variants)


def left_by(subject: Subject, databases: Sequence[Path], schema: Schema, limits: Limits) -> tuple[int, list[str]]:
    """How many mutants of a reference compile, and those that pass on all of the databases. Unparsable as `mutants`."""
    columns = {table.name: table.names for table in schema.tables}
    made = [mutant.sql for mutant in mutants(subject.reference, columns, ordered=subject.ordered)]
    made = [sql for sql, compiles in zip(made, compiling(schema, made), strict=True) if compiles]
    left = made
    for database in databases:
        left = passing_on(subject, left, database, schema, limits)
    return len(made), left


def witnesses_for(
    subject: Subject,
    variants: Sequence[str],
    database: Path,
    schema: Schema,
    limits: Limits,
    *,
    instances: int,
    seed: str,
    together: bool,
) -> tuple[list[Witness], list[str]]:
    """Rows for those variants that pass on the database and can be told from the reference; the other such variants.

    The rows are found among so many `instances` of the oracle; each variant is shown by the first that kills it. Those
    that none kills are presumed to mean the same as the reference. With `together` the first witness shows as many of
    all variants, if any passes, as the search can: some are only shown one beside the other.
    """
    passed = passing_on(subject, variants, database, schema, limits)
    if not passed:
        return [], []
    scratch = scratch_of(schema)
    first = _all_at_once(subject, variants, scratch, instances, seed) if together else []
    found, left = _one_by_one(subject, passed, scratch, instances, seed)
    return [*first, *found], left


def _one_by_one(
    subject: Subject, variants: Sequence[str], scratch: Scratch, instances: int, seed: str
) -> tuple[list[Witness], list[str]]:
    target = Target(subject.reference, tuple(variants), {})
    left = {(0, place) for place in range(1, len(variants) + 1)}  # variant 0 is the empty result
    found = []
    for _ in oracle_instances(subject, variants, scratch, count=instances, seed=seed):
        if killed := kills(scratch, [target], left):
            found.append(_smallest(subject, target, scratch.rows(), killed, scratch))
            left -= killed
            if not left:
                break
    return found, [variants[place - 1] for _, place in sorted(left)]


def _all_at_once(
    subject: Subject, variants: Sequence[str], scratch: Scratch, instances: int, seed: str
) -> list[Witness]:
    """The instance of the oracle that shows most, edited towards what it does not show."""
    target = Target(subject.reference, tuple(variants), reads(subject.reference, scratch.schema))
    aims = frozenset((0, place) for place in range(1, len(variants) + 1))
    best = Instance({}, frozenset())
    for _ in oracle_instances(subject, variants, scratch, count=instances, seed=seed):
        if len(killed := kills(scratch, [target], aims)) > len(best.kills):
            best = Instance(scratch.rows(), killed)
    better = improve(
        scratch, [target], best, aims=aims, precious=aims, focus=aims, rng=Random(f"{seed}/edits/{subject.reference}"),
        edit=oracle_editor(subject, scratch.schema, seed), tries=_EDITS, most_rows=_MOST_ROWS,
    )  # fmt: skip
    best = better if is_asked(subject, scratch) else best
    return [_smallest(subject, target, best.rows, best.kills & aims, scratch)] if best.rows else []


def _smallest(
    subject: Subject, target: Target, rows: Rows, killed: frozenset[Kill], scratch: Scratch
) -> Witness:
    """As few of the rows as show these kills."""

    def shows(fewer: Rows) -> bool:
        scratch.load(fewer)
        return is_asked(subject, scratch) and kills(scratch, [target], killed) == killed

    scratch.load(shrink(rows, shows))  # without rows that refer to what was left out
    return Witness(scratch.rows(), tuple(target.variants[place - 1] for _, place in sorted(killed)))


@lru_cache(maxsize=_FILES)
def _in_memory(path: Path, schema: Schema, limits: Limits) -> Scratch:
    """The rows of a file that does not change, by the limits of grading."""
    scratch = Scratch(schema, vm_steps=limits.vm_steps, most_rows=limits.rows)
    scratch.load(read_rows(path, schema))
    return scratch

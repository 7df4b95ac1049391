"""The audit of the question bank: exactly the references that may be asked, on the databases they are asked on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

from sqldojo.databases.execution import Limits
from sqldojo.databases.families import FAMILIES, family_paths
from sqldojo.errors import UserError
from sqldojo.files import read_records
from sqldojo.questions.subjects import subjects_of
from sqldojo.questions.withdrawing import withdraw
from sqldojo.records import FilledType, QuestionType, Review
from sqldojo.verifier.audit import ReferenceAudit
from sqldojo.verifier.audit_running import AuditParams, audit


def read_bank(folder: Path) -> tuple[list[QuestionType], list[FilledType]]:
    """The types of a bank and the references that were made of them; UserError when it was not built yet."""
    if not (folder / "types.jsonl").is_file():
        raise UserError(f"{folder / 'types.jsonl'}: no such file; build it with `dvc repro build_adversarial`")
    return read_records(folder / "types.jsonl", QuestionType), read_records(folder / "filled.jsonl", FilledType)


def audit_bank(
    types: Sequence[QuestionType], filled: Sequence[FilledType], databases: Path, params: AuditParams, limits: Limits
) -> list[ReferenceAudit]:
    """The audit of the filled types, or of some of each; `databases` is the folder of both families.

    UserError when a database is missing, ReferenceFailed when a reference does not run.
    """
    subjects = subjects_of(types, some_of_each(filled, params.values_per_type, params.seed))
    return audit(subjects, {family: family_paths(databases, family) for family in FAMILIES}, params, limits)


def proved(
    types: Sequence[QuestionType], filled: Sequence[FilledType], audits: Sequence[ReferenceAudit]
) -> tuple[list[QuestionType], list[FilledType], list[Review]]:
    """The types and the audited filled types that every rewrite is judged rightly for, and what is taken back.

    No wrong rewrite is known to pass, and no right one was refused, as one that takes too many steps is. What was not
    audited is left out: the oracle of the audit is another than that of the databases, and may find more.
    """
    misjudged = {
        (audit.subject.family, audit.subject.reference): [
            *(f"{mutant.sql} passes" for mutant in audit.mutants if mutant.missed),
            *(f"{rewrite.sql} is refused" for rewrite in audit.rewrites if rewrite.refused),
        ]
        for audit in audits
    }
    audited = [each for each in filled if (each.family, each.reference) in misjudged]
    return withdraw(types, audited, {key: found[0] for key, found in misjudged.items() if found})


def some_of_each(filled: Sequence[FilledType], most: int, seed: int) -> list[FilledType]:
    """Up to `most` of each type and family, drawn by `seed`, in the order given; all for 0."""
    groups: dict[tuple[str, str], list[int]] = {}
    for place, each in enumerate(filled):
        groups.setdefault((each.type, each.family), []).append(place)
    kept: set[int] = set()
    for (name, family), places in groups.items():
        few = min(most or len(places), len(places))
        kept.update(Random(f"{seed}/audit/{family}/{name}").sample(places, few))
    return [each for place, each in enumerate(filled) if place in kept]

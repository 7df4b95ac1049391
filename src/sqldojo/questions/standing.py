"""Whether accepted types stand on all databases of their families, once the adversarial ones were built for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from sqldojo.databases.execution import Limits
from sqldojo.databases.worker_process import begin_step
from sqldojo.databases.workers import Died, Killed, shared_workers
from sqldojo.questions.check import OF_VALUES, Instances, fault_of, prepared
from sqldojo.questions.rules import Fault
from sqldojo.records import FilledType, QuestionType, Review

_SECONDS_PER_STEP = 300.0  # of one reference: a few dozen queries, each of which ends by its own limits


def standing(
    question_types: Sequence[QuestionType],
    filled: Sequence[FilledType],
    databases: Mapping[str, Sequence[Path]],
    limits: Limits,
) -> tuple[list[QuestionType], list[FilledType], list[Review]]:
    """The types and filled types that may be asked on these databases, and a review of each type that may not.

    `databases` are all files of each family. Values whose answer says nothing are left out; a type is withdrawn when
    its reference has any other fault, or when no value is left for a split that it was accepted for.
    """
    groups = {each.id: [one for one in filled if one.type == each.id] for each in question_types}
    with prepared(databases) as families:
        calls = [(groups[each.id], families, limits) for each in question_types]
        found = shared_workers().map(_faults, calls, seconds=_SECONDS_PER_STEP)
    kept_types, kept, withdrawn = [], [], []
    for question_type, faults in zip(question_types, found, strict=True):
        if isinstance(faults, Killed | Died):
            faults = [Fault("over-limit", repr(faults))] * len(groups[question_type.id])
        left, fault = _left(groups[question_type.id], faults)
        if fault:
            withdrawn.append(Review(question_type.id, question_type.proposer, question_type.pattern, accepted=False,
                                    rule=fault.rule, evidence=fault.evidence))  # fmt: skip
        else:
            kept_types.append(question_type)
            kept += left
    return kept_types, kept, withdrawn


def _left(filled: Sequence[FilledType], faults: Sequence[Fault | None]) -> tuple[list[FilledType], Fault | None]:
    """The filled types without a fault, and the fault that withdraws their type."""
    left = [each for each, fault in zip(filled, faults, strict=True) if fault is None]
    splits = {each.split for each in left}
    for each, fault in zip(filled, faults, strict=True):
        if fault and (fault.rule not in OF_VALUES or each.split not in splits):
            return left, fault
    return left, None


def _faults(filled: Sequence[FilledType], families: Mapping[str, Instances], limits: Limits) -> list[Fault | None]:
    """What is wrong with each; what a worker does for one type."""
    found = []
    for number, each in enumerate(filled):
        begin_step(number)
        found.append(fault_of(each.reference, families[each.family], limits, ordered=each.ordered))
    return found

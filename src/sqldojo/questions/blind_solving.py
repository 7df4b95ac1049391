"""The blind solver: another model than the proposer must reach a reference's answer from the question alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqldojo.databases.execution import Limits
from sqldojo.questions.accepted_types import Accepted
from sqldojo.questions.rules import Fault
from sqldojo.records import FilledType, QuestionType
from sqldojo.verifier.grading import CORRECT, grade


@dataclass(frozen=True)
class BlindTask:
    """A question for the solver, which is shown `text` alone; `number` tells the tries at one type apart."""

    type: QuestionType
    filled: FilledType
    text: str
    number: int


# The SQL that a model submits to each task; None where it submits none.
Solve = Callable[[Sequence[BlindTask]], Sequence[str | None]]


def unsolved(
    accepted: Sequence[Accepted], solve: Solve, databases: Mapping[str, Sequence[Path]], tries: int, limits: Limits
) -> dict[str, Fault]:
    """The types of which at most half of the tries reach the reference's answer, by their id.

    Values and phrasings are asked in turn. ReferenceFailed when a reference does not run.
    """
    tasks = [_task(each, number) for each in accepted for number in range(tries)]
    solved: Counter[str] = Counter()
    last: dict[str, str] = {}
    for task, sql in zip(tasks, solve(tasks), strict=True):
        filled, verdict = task.filled, None
        if sql:
            verdict = grade(filled.reference, sql, databases[filled.family], limits, ordered=filled.ordered)
        if verdict and verdict.verdict == CORRECT:
            solved[filled.type] += 1
        else:
            last[filled.type] = f"{task.text} -> {sql or 'no query'} ({verdict.reason if verdict else 'no call'})"
    return {
        each.type.id: Fault("blind-solver", f"{solved[each.type.id]} of {tries} tries; {last[each.type.id]}")
        for each in accepted
        if solved[each.type.id] * 2 <= tries
    }


def _task(accepted: Accepted, number: int) -> BlindTask:
    filled = accepted.fillings[number % len(accepted.fillings)].filled
    phrasings = accepted.type.phrasings
    text = phrasings[number % len(phrasings)].format(**filled.parameters)
    return BlindTask(accepted.type, filled, text, number)

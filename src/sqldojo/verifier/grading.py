"""The one grader: teaching, training, evaluation and the command line all ask `grade` or `grade_all`.

A submission is right when it gives the reference's full result on every database. Several databases, one of them
built to be awkward, are what tells a right query from one that is right by luck. Submissions run and are compared in
worker processes, one submission in one of them; only the verdict comes back.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sqldojo.databases.execution import ERROR, OK, Limits
from sqldojo.databases.private_copies import Copy, private_copy
from sqldojo.databases.sandbox import explain, kill_after, run_on_copy
from sqldojo.databases.worker_process import begin_step
from sqldojo.databases.workers import Died, Killed, shared_workers
from sqldojo.verifier.comparison import first_difference
from sqldojo.verifier.references import Reference, ReferenceFailed, load, reference_results

__all__ = ["CORRECT", "ERROR", "REJECTED", "WRONG", "ReferenceFailed", "Verdict", "grade", "grade_all"]

CORRECT, WRONG, REJECTED = "correct", "wrong", "rejected"


@dataclass(frozen=True)
class Verdict:
    """What the grader says: `correct`, `wrong`, `rejected` (may not be asked) or `error` (does not run).

    `database` is the stem of the file that decided it, `reason` is for people; the reward looks at `verdict` alone.
    """

    verdict: str
    reason: str
    database: str
    milliseconds: float


def grade(
    reference: str,
    submission: str,
    databases: Sequence[Path],
    limits: Limits = Limits(),
    *,
    ordered: bool = False,
) -> Verdict:
    """The verdict on a submission; ReferenceFailed when the reference itself gives no result.

    With `ordered` the order of rows counts, as the question must say. UserError for a file that cannot be read.
    """
    return grade_all(reference, [submission], databases, limits, ordered=ordered)[0]


def grade_all(
    reference: str,
    submissions: Sequence[str],
    databases: Sequence[Path],
    limits: Limits = Limits(),
    *,
    ordered: bool = False,
) -> list[Verdict]:
    """The verdicts on several submissions to one question, in their order; equal ones are run once."""
    copies = [private_copy(database) for database in databases]
    expected = reference_results(reference, copies, limits)
    different = list(dict.fromkeys(submissions))
    calls = [(copies, expected, submission, limits, ordered) for submission in different]
    outcomes = shared_workers().map(judge, calls, seconds=kill_after(limits))
    verdicts = {
        submission: _ended(outcome, copies, limits) if isinstance(outcome, Killed | Died) else outcome
        for submission, outcome in zip(different, outcomes, strict=True)
    }
    return [verdicts[submission] for submission in submissions]


def judge(
    copies: Sequence[Copy], expected: Sequence[Reference], submission: str, limits: Limits, ordered: bool
) -> Verdict:
    """What a worker does for one submission: database by database, until one decides."""
    started = time.perf_counter()
    verdict, reason, decisive = CORRECT, "", copies[-1]
    for step, (copy, reference) in enumerate(zip(copies, expected, strict=True)):
        wanted = load(reference)
        begin_step(step)
        result = run_on_copy(copy, submission, limits)
        if result.status != OK:
            verdict, reason, decisive = (ERROR if result.status == ERROR else REJECTED), result.message, copy
            break
        difference = first_difference(wanted, (result.columns, result.rows), ordered=ordered)
        if difference:
            verdict, reason, decisive = WRONG, difference, copy
            break
    return Verdict(verdict, reason, decisive.source.stem, round((time.perf_counter() - started) * 1000, 3))


def _ended(end: Killed | Died, copies: Sequence[Copy], limits: Limits) -> Verdict:
    """The verdict on a submission that its process did not survive; the time is that of its last database."""
    return Verdict(ERROR, explain(end, limits), copies[end.step].source.stem, round(end.seconds * 1000, 3))

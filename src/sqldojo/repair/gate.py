"""The gate: only tasks whose reference passes their own tests here, and whose buggy SQL does not.

Published records are noisy (references that fail, set-ups of other engines), engines differ, and some tests need a
permission that the user did not give. What is left out is told record by record.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

from sqldojo.repair.judging import Judge, needs_test_code
from sqldojo.repair.places import has_family
from sqldojo.repair.task import Hidden, RepairTask
from sqldojo.verifier.grading import ReferenceFailed

TEST_CODE = "test code not allowed"
NO_REFERENCE = "no reference"
NO_ISSUE_SQL = "no buggy SQL"
REFERENCE_FAILS = "the reference does not run or does more than read"
REFERENCE_DOES_NOT_PASS = "the reference does not pass the tests"
BUG_PASSES = "the buggy SQL passes"
BUG_PASSES_TESTS = "the buggy SQL passes the tests, and only other data tells it from the reference"
REASONS = (
    TEST_CODE,
    NO_REFERENCE,
    NO_ISSUE_SQL,
    REFERENCE_FAILS,
    REFERENCE_DOES_NOT_PASS,
    BUG_PASSES,
    BUG_PASSES_TESTS,
)


@dataclass(frozen=True)
class Dropped:
    """A task that was left out, and why; a line of the manifest."""

    id: str
    db_id: str
    reason: str


@dataclass(frozen=True)
class Gated:
    """The tasks that were kept, their hidden halves in the same order, and what was left out, by reason too."""

    tasks: tuple[RepairTask, ...]
    hidden: tuple[Hidden, ...]
    dropped: tuple[Dropped, ...]
    counts: Mapping[str, int]


def gate(
    tasks: Sequence[RepairTask],
    hidden: Sequence[Hidden],
    judge: Judge,
    report: Callable[[int, str], object] = lambda _done, _note: None,
) -> Gated:
    """Keep what `judge`, as a reward, says is sound; `report(done, note)` is called after each task.

    `counts` names how many were judged and kept, and how many were dropped for each reason that occurs.
    """
    pairs = list(zip(tasks, hidden, strict=True))
    reasons: list[str] = []
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        try:
            for reason in threads.map(partial(_reason, judge), tasks, hidden):
                reasons.append(reason)
                report(len(reasons), f"{reasons.count('')} kept")
        finally:
            threads.shutdown(cancel_futures=True)
    kept = [pair for pair, reason in zip(pairs, reasons, strict=True) if not reason]
    dropped = [Dropped(task.id, task.db_id, reason) for task, reason in zip(tasks, reasons, strict=True) if reason]
    found = Counter(row.reason for row in dropped)
    return Gated(
        tuple(task for task, _ in kept),
        tuple(half for _, half in kept),
        tuple(dropped),
        {"judged": len(pairs), "kept": len(kept), **{reason: found[reason] for reason in REASONS if found[reason]}},
    )


def _reason(judge: Judge, task: RepairTask, hidden: Hidden) -> str:
    """Why a task is left out; nothing for one that is kept."""
    if not hidden.sol_sql:
        return NO_REFERENCE
    if not task.issue_sql:
        return NO_ISSUE_SQL
    if needs_test_code(hidden) and not judge.allow_test_code:
        return TEST_CODE
    try:
        judgement = judge.judge(task, hidden, hidden.sol_sql)
    except ReferenceFailed:
        return REFERENCE_FAILS
    if not judgement.passed:
        return REFERENCE_FAILS if judgement.does_not_run else REFERENCE_DOES_NOT_PASS
    if judge.judge(task, hidden, task.issue_sql).passed:
        return BUG_PASSES
    # The published evaluator knows one database, and gives nobody a point when the buggy SQL passes there.
    on_family = has_family(judge.database_root, task.db_id)
    if on_family and not judge.judge(task, hidden, hidden.sol_sql, strict=True).passed:
        return BUG_PASSES_TESTS
    return ""

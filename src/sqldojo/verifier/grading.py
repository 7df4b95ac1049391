"""The one grader: teaching, training, evaluation and the command line all ask `grade`.

A submission is right when it gives the reference's full result on every database. Several databases, one of them
built to be awkward, are what tells a right query from one that is right by luck.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from sqldojo.databases.execution import ERROR, OK, Limits, QueryResult, run_query
from sqldojo.verifier.comparison import first_difference

CORRECT, WRONG, REJECTED = "correct", "wrong", "rejected"


class ReferenceFailed(Exception):
    """A reference query that does not run: our fault, so it stops the stage and is never scored as a wrong answer."""


@dataclass(frozen=True)
class Verdict:
    """What the grader says: `correct`, `wrong`, `rejected` (may not be asked) or `error` (does not run).

    `database` is the stem of the file that decided it, `reason` is for people; the reward looks at `verdict` alone.
    """

    verdict: str
    reason: str
    database: str
    milliseconds: float


def grade(reference: str, submission: str, databases: Sequence[Path], limits: Limits = Limits()) -> Verdict:
    """The verdict on a submission; ReferenceFailed when the reference itself gives no result.

    References run first, on connections of their own, so nothing a submission does can change what is expected.
    """
    started = time.perf_counter()
    expected = [reference_result(database, reference, limits) for database in databases]
    verdict, reason, decisive = CORRECT, "", databases[-1]
    for database, wanted in zip(databases, expected, strict=True):
        result = run_query(database, submission, limits)
        if result.status != OK:
            verdict, reason, decisive = (ERROR if result.status == ERROR else REJECTED), result.message, database
            break
        difference = first_difference((wanted.columns, wanted.rows), (result.columns, result.rows))
        if difference:
            verdict, reason, decisive = WRONG, difference, database
            break
    return Verdict(verdict, reason, decisive.stem, round((time.perf_counter() - started) * 1000, 3))


def reference_result(database: Path, reference: str, limits: Limits) -> QueryResult:
    """The reference's result, computed once for each content of the database file; ReferenceFailed if it has none."""
    status = database.stat()
    return _cached_reference(database, (status.st_size, status.st_mtime_ns), reference, limits)


@lru_cache(maxsize=4096)
def _cached_reference(database: Path, _version: tuple[int, int], reference: str, limits: Limits) -> QueryResult:
    result = run_query(database, reference, limits)
    if result.status != OK:
        raise ReferenceFailed(f"{database}: the reference {result.status}: {result.message}: {reference}")
    return result

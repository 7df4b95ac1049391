"""One trial of a submission: set-up, the submission itself, then the tests, all on one connection, as published.

Runs in a worker process or, where tests are code of others, in a child process of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from sqldojo.databases.execution import Limits
from sqldojo.databases.private_copies import Copy
from sqldojo.databases.sessions import Session, own_copy
from sqldojo.repair import published, test_interpreter
from sqldojo.repair.published import Row
from sqldojo.repair.test_shapes import recognise

PASSED, DOES_NOT_RUN, FAILED, REFERENCE_FAILS = "passed", "does not run", "failed", "reference fails"


@dataclass(frozen=True)
class Trial:
    """What is tried: statements to run before it, the submission, and what judges it.

    With `reading_only` neither the submission nor the reference nor a test can change anything after the set-up.
    """

    setup: tuple[str, ...]
    submission: tuple[str, ...]
    reference: tuple[str, ...]
    tests: tuple[str, ...]
    ordered: bool
    reading_only: bool


@dataclass(frozen=True)
class Outcome:
    """How a trial ended; `message` is the engine's about the submission's own statement that does not run."""

    outcome: str
    message: str = ""


# A test's source, the session and the rows that the submission gave, to whether the test passes.
TestRunner = Callable[[str, Trial, Session, list[Row] | None], bool]


def run_on_copy(copy: Copy, folder: Path, trial: Trial, limits: Limits) -> Outcome:
    """What a worker does for a trial whose tests are all recognised."""
    with closing(Session(own_copy(copy, folder), limits)) as session:
        return run(trial, session, interpret)


def run(trial: Trial, session: Session, passes: TestRunner) -> Outcome:
    """How a trial ends on a fresh session. A record's clean-up is left out: the copy is thrown away."""
    session.prepare(trial.setup)
    if trial.reading_only:
        session.only_read()
    done = published.execute(session, trial.submission)
    if done.failed:
        return Outcome(DOES_NOT_RUN, done.message)
    if trial.tests:
        passed = all(passes(test, trial, session, done.rows) for test in trial.tests)
    else:
        passed = published.default_test(session, trial.submission, trial.reference, conditions_of(trial))
    if passed:
        return Outcome(PASSED)
    # Without reading_only the submission may be to blame for it.
    if trial.reading_only and published.execute(session, trial.reference).failed:
        return Outcome(REFERENCE_FAILS)
    return Outcome(FAILED)


def conditions_of(trial: Trial) -> dict[str, bool]:
    """The record's conditions, as a test gets them."""
    return {"order": True} if trial.ordered else {}


def interpret(test: str, trial: Trial, session: Session, rows: list[Row] | None) -> bool:
    """Whether a recognised test passes; ValueError for another."""
    function = recognise(test)
    if function is None:
        raise ValueError("this test is not of a shape that can be judged without running it")
    names = published.names_for_tests(session, rows)
    arguments = arguments_of(trial, session, None)
    return test_interpreter.passes(function, arguments, names)


def arguments_of(trial: Trial, session: Session, connection: object) -> Sequence[object]:
    """What a test is called with; lists are its own, since it may change them."""
    return list(trial.submission), list(trial.reference), str(session.path), connection, conditions_of(trial)

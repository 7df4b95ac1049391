"""The judge of repair tasks: as the published evaluator has it, or as a reward that cannot be tricked.

`strict` is the published evaluation of one record: set-up, then the buggy SQL as if it were the submission (a record
whose buggy SQL passes counts as failed for everybody), then all again with the submission, on a fresh copy; 180 seconds
in all. Its score may be compared with published ones, and it is open to whatever those are open to: the submission, the
reference and the tests share one connection, so a submission can change the data or hide a table behind a TEMP view
before the reference reads it.

Otherwise it judges for training and for our own scores, without the buggy SQL (the gate has seen that fail):

- For category Query nothing can be changed once the set-up is done. SQLite's authorizer holds the submission, the
  reference and the tests to what any query of an agent may ask, so only reading statements can pass, and nothing a
  submission does is there when the reference runs. Comments of the submission are dropped before it is judged, since
  some tests look for words in its text, and the row limit goes by how it begins. The clock may be read, as references
  of data sets do. What the tests themselves let pass (rows as a set, two decimals) still passes.
- Other categories are about changes, and are judged as published. So a submission could trick their tests; do not
  train on them with this reward alone.
- Where the task's database has a family of four instances, a passing submission is also one statement that gives the
  reference's full result on each of them (verifier.grading).

Reasons are for the model's eyes as well: they name what is wrong with the submission's own text, and never anything
that the reference, the tests or a comparison with them would tell.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sqldojo.databases.execution import Limits
from sqldojo.databases.private_copies import Copy, private_copy
from sqldojo.databases.sandbox import explain
from sqldojo.databases.scripts import without_comments
from sqldojo.databases.sessions import session_folder
from sqldojo.databases.workers import Died, Killed, shared_workers
from sqldojo.errors import UserError
from sqldojo.repair.places import has_family, instance_paths, template
from sqldojo.repair.task import QUERY, Hidden, RepairTask
from sqldojo.repair.test_process import run_in_child
from sqldojo.repair.test_shapes import recognise
from sqldojo.repair.trial import DOES_NOT_RUN, PASSED, REFERENCE_FAILS, Outcome, Trial, run_on_copy
from sqldojo.verifier.grading import CORRECT, WRONG, ReferenceFailed, grade

STRICT_SECONDS = 180.0  # of the published evaluator, for a record
_FAILED_TEST = "a hidden test fails: the result is not what the user wants"
_NOTHING = "the submission is empty"


@dataclass(frozen=True)
class Judgement:
    """Whether a submission solves its task, and if not, why, in words that give nothing hidden away.

    `does_not_run` tells a submission that fails or may not be asked from one that gives something else.
    """

    passed: bool
    reason: str = ""
    does_not_run: bool = False


@dataclass(frozen=True)
class Judge:
    """Judges submissions on the databases below `database_root`; `limits` are for each statement in reward mode.

    `allow_test_code` says that the user lets tests run that cannot be judged without running them.
    """

    database_root: Path
    limits: Limits = Limits()
    allow_test_code: bool = False

    def judge(self, task: RepairTask, hidden: Hidden, submission: Sequence[str], *, strict: bool = False) -> Judgement:
        """The judgement on a submission of one statement an item.

        UserError when the task's database is missing or a test may not be run. ReferenceFailed when the reference
        does not run, which the gate rules out.
        """
        if not self.allow_test_code and needs_test_code(hidden):
            raise UserError(f"{task.id}: has a test that can only be judged by running it; set allow_test_code: true")
        copy = private_copy(template(self.database_root, task.db_id))
        if strict:
            return self._as_published(task, hidden, tuple(submission), copy)
        return self._for_reward(task, hidden, submission, copy)

    def _as_published(self, task: RepairTask, hidden: Hidden, submission: tuple[str, ...], copy: Copy) -> Judgement:
        # No limit but the time, and the engine's own on a value.
        limits = dataclasses.replace(self.limits, vm_steps=2**62, seconds=STRICT_SECONDS, value_bytes=10**9)
        started = time.monotonic()
        if task.issue_sql:
            outcome = self._try(_trial(task, hidden, task.issue_sql), copy, limits, STRICT_SECONDS)
            if outcome.outcome == PASSED:
                return Judgement(False, "the issue's own SQL passes the tests, so the record counts as failed")
        left = STRICT_SECONDS - (time.monotonic() - started)
        return _judgement(self._try(_trial(task, hidden, submission), copy, limits, max(1.0, left)))

    def _for_reward(self, task: RepairTask, hidden: Hidden, submission: Sequence[str], copy: Copy) -> Judgement:
        reading_only = task.category == QUERY
        statements = tuple(map(without_comments, submission) if reading_only else submission)
        if not any(statement.strip() for statement in statements):
            return Judgement(False, _NOTHING)
        trial = _trial(task, hidden, statements, reading_only=reading_only)
        # Set-up, the submission, the tests: each may take the time of one statement.
        outcome = self._try(trial, copy, self.limits, 3 * self.limits.seconds + 1)
        if outcome.outcome == REFERENCE_FAILS:
            raise ReferenceFailed(f"{task.id}: the reference does not run on {copy.source}")
        if outcome.outcome != PASSED:
            return _judgement(outcome)
        return self._on_family(task, hidden, statements)

    def _on_family(self, task: RepairTask, hidden: Hidden, statements: Sequence[str]) -> Judgement:
        """The verdict on the four instances, where there are some; they do not know what a set-up made."""
        if task.preprocess_sql or not has_family(self.database_root, task.db_id):
            return Judgement(True)
        if len(statements) > 1:
            return Judgement(False, "only one statement is allowed")
        family = instance_paths(self.database_root, task.db_id)
        verdict = grade(hidden.sol_sql[0], statements[0], family, self.limits, ordered=hidden.ordered)
        if verdict.verdict == CORRECT:
            return Judgement(True)
        if verdict.verdict == WRONG:  # its reason would tell what is expected
            return Judgement(False, "the result is wrong on other data of the same schema")
        return Judgement(False, f"the submission does not run: {verdict.reason}", does_not_run=True)

    def _try(self, trial: Trial, copy: Copy, limits: Limits, seconds: float) -> Outcome:
        with session_folder() as folder:
            if any(recognise(test) is None for test in trial.tests):
                return run_in_child(copy, folder, trial, limits, seconds)
            try:
                return shared_workers().call(run_on_copy, copy, folder, trial, limits, seconds=seconds)
            except (Killed, Died) as end:
                return Outcome(DOES_NOT_RUN, explain(end, limits))


def needs_test_code(hidden: Hidden) -> bool:
    """Whether a test can only be judged by running it, which the user has to allow."""
    return any(recognise(test) is None for test in hidden.test_cases)


def _trial(task: RepairTask, hidden: Hidden, submission: tuple[str, ...], *, reading_only: bool = False) -> Trial:
    return Trial(task.preprocess_sql, submission, hidden.sol_sql, hidden.test_cases, hidden.ordered, reading_only)


def _judgement(outcome: Outcome) -> Judgement:
    if outcome.outcome == PASSED:
        return Judgement(True)
    if outcome.outcome == DOES_NOT_RUN:
        return Judgement(False, f"the submission does not run: {outcome.message}", does_not_run=True)
    return Judgement(False, _FAILED_TEST)

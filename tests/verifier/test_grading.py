"""The grader: the verdicts of tests/sql/grader_cases.sql, its reasons, and references that fail."""

from __future__ import annotations

import random
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from sqlite_files import write_database

from sqldojo.databases import sandbox
from sqldojo.databases.execution import Limits
from sqldojo.databases.workers import Workers
from sqldojo.errors import UserError
from sqldojo.verifier.grading import CORRECT, ERROR, REJECTED, WRONG, ReferenceFailed, grade, grade_all

CASES = Path(__file__).parents[1] / "sql" / "grader_cases.sql"
LIMITS = Limits(vm_steps=2_000_000)
COUNTING = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT {}) SELECT i FROM n"


@dataclass(frozen=True)
class Case:
    title: str
    database: str
    verdict: str
    reference: str
    submission: str


def read_cases(path: Path) -> tuple[dict[str, list[str]], list[Case]]:
    """The scripts of each database's instances, and the cases; ValueError or TypeError for a malformed block."""
    scripts, cases = {}, []
    for block in path.read_text(encoding="utf-8").split("\n\n")[1:]:
        head, _, rest = block.strip().partition("\n")
        if head.startswith("-- define: "):
            scripts[head.removeprefix("-- define: ")] = rest.split("-- instance\n")
            continue
        headers, sql = block.strip().split("\n-- reference\n")
        reference, submission = sql.split("\n-- submission\n")
        fields = dict(line.removeprefix("-- ").split(": ", 1) for line in headers.splitlines())
        cases.append(Case(reference=reference, submission=submission, **fields))
    return scripts, cases


SCRIPTS, ALL_CASES = read_cases(CASES)


@pytest.fixture(scope="module")
def databases(tmp_path_factory):
    root = tmp_path_factory.mktemp("cases")
    return {
        name: [write_database(root / f"{name}_{number}.sqlite", script) for number, script in enumerate(scripts, 1)]
        for name, scripts in SCRIPTS.items()
    }


def test_the_fixture_has_cases_of_every_verdict():
    assert len({case.title for case in ALL_CASES}) == len(ALL_CASES) >= 40
    assert {case.verdict for case in ALL_CASES} == {CORRECT, WRONG, REJECTED, ERROR}


@pytest.mark.parametrize("case", ALL_CASES, ids=lambda case: case.title)
def test_verdict(case, databases):
    verdict = grade(case.reference, case.submission, databases[case.database], LIMITS)
    assert verdict.verdict == case.verdict, verdict.reason
    assert bool(verdict.reason) == (verdict.verdict != CORRECT)
    assert verdict.milliseconds > 0


@pytest.mark.parametrize("case", [case for case in ALL_CASES if case.verdict == CORRECT], ids=lambda case: case.title)
def test_the_reference_and_a_right_answer_may_change_places(case, databases):
    assert grade(case.submission, case.reference, databases[case.database], LIMITS).verdict == CORRECT
    assert grade(case.reference, case.reference, databases[case.database], LIMITS).verdict == CORRECT


def test_the_verdict_names_the_first_database_that_differs_and_why(databases):
    verdict = grade("SELECT name FROM goods", "SELECT name FROM goods WHERE price > 0", databases["goods"], LIMITS)
    assert (verdict.verdict, verdict.database) == (WRONG, "goods_2")
    assert verdict.reason == "3 rows where 4 are expected; row ('ink') is expected 2 times, not 1"
    verdict = grade("SELECT name FROM goods", "SELECT 1", databases["goods"], LIMITS)
    assert (verdict.verdict, verdict.database) == (WRONG, "goods_1")


@pytest.mark.parametrize(
    "reference",
    ["SELECT age FROM staff", "DELETE FROM staff", "SELECT date('now')", "", COUNTING.format(10_001),
     "SELECT name FROM staff; SELECT 1"],
)  # fmt: skip
def test_a_reference_that_fails_is_our_fault_and_never_a_verdict(databases, reference):
    with pytest.raises(ReferenceFailed, match=r"staff_1\.sqlite: the reference (error|rejected): "):
        grade(reference, "SELECT name FROM staff", databases["staff"], LIMITS)
    with pytest.raises(ReferenceFailed):  # a failure is not kept as a result
        grade(reference, reference, databases["staff"], LIMITS)


def test_a_reference_that_fails_on_the_last_instance_alone_still_raises(databases):
    reference = "SELECT COALESCE(SUM(CASE WHEN price IS NULL THEN abs(-9223372036854775808) END), 0) FROM goods"
    with pytest.raises(ReferenceFailed, match="goods_2"):
        grade(reference, "SELECT 'wrong on the first'", databases["goods"], LIMITS)


def test_ten_thousand_rows_are_graded_in_full(databases):
    staff = databases["staff"]
    limits = Limits()
    all_rows = COUNTING.format(10_000)
    assert grade(all_rows, f"{all_rows} ORDER BY i DESC", staff, limits).verdict == CORRECT
    assert grade(all_rows, f"SELECT MAX(i, 2) FROM ({all_rows})", staff, limits).verdict == WRONG


def test_what_the_file_holds_now_is_what_counts(tmp_path):
    path = write_database(tmp_path / "a.sqlite", "CREATE TABLE t(a); INSERT INTO t VALUES (1);")
    assert grade("SELECT a FROM t", "SELECT 1", [path], LIMITS).verdict == CORRECT
    path.unlink()
    write_database(path, "CREATE TABLE t(a); INSERT INTO t VALUES (1), (2), (3);")
    verdict = grade("SELECT a FROM t", "SELECT 1", [path], LIMITS)
    assert verdict.reason == "1 rows where 3 are expected; row (2) is expected 1 times, not 0"


def test_several_submissions_get_the_verdicts_that_each_gets_alone(databases):
    cases = [case for case in ALL_CASES if case.database == "staff" and case.reference == ALL_CASES[0].reference]
    submissions = [case.submission for case in cases] + ["SELECT name FROM staff", "SLECT", "DELETE FROM staff"] * 3
    found = grade_all(ALL_CASES[0].reference, submissions, databases["staff"], LIMITS)
    for verdict, submission in zip(found, submissions, strict=True):
        alone = grade(ALL_CASES[0].reference, submission, databases["staff"], LIMITS)
        assert (verdict.verdict, verdict.reason, verdict.database) == (alone.verdict, alone.reason, alone.database)
    assert grade_all("SELECT name FROM staff", [], databases["staff"], LIMITS) == []


def test_equal_submissions_run_once(databases, monkeypatch):
    run = []
    whole = Workers.map

    def recording(self, function, calls, *, seconds):
        calls = list(calls)
        run.extend((function.__name__, call) for call in calls)
        return whole(self, function, calls, seconds=seconds)

    monkeypatch.setattr(Workers, "map", recording)
    reference = "SELECT name FROM staff -- equal submissions"
    verdicts = grade_all(reference, ["SELECT name FROM staff", "SELECT 1"] * 8, databases["staff"], LIMITS)
    assert [verdict.verdict for verdict in verdicts] == [CORRECT, WRONG] * 8
    names = [name for name, _ in run]
    assert names.count("judge") == 2
    assert names.count("store_result") == len(databases["staff"])
    assert names.index("judge") == len(databases["staff"])  # every reference before any submission
    grade_all(reference, ["SELECT 1"], databases["staff"], LIMITS)
    assert [name for name, _ in run].count("store_result") == len(databases["staff"])


def test_order_counts_only_where_the_question_says_so(databases):
    reference, other = "SELECT name FROM staff ORDER BY id", "SELECT name FROM staff ORDER BY id DESC"
    assert grade(reference, other, databases["staff"], LIMITS).verdict == CORRECT
    assert grade(reference, reference, databases["staff"], LIMITS, ordered=True).verdict == CORRECT
    verdict = grade(reference, other, databases["staff"], LIMITS, ordered=True)
    assert (verdict.verdict, verdict.database) == (WRONG, "staff_1")
    assert re.fullmatch(r"row 1 is \('\w+'\) where \('\w+'\) is expected", verdict.reason)


def test_a_submission_that_hangs_on_one_database_is_an_error_there_and_the_others_are_graded(databases, monkeypatch):
    monkeypatch.setattr(sandbox, "_PATIENCE_SECONDS", 0.2)
    limits = Limits(seconds=0.3)
    stuck = "instr(printf('%.999000c', 'a'), printf('%.499000c', 'a') || 'b')"
    reference = "SELECT name FROM goods"
    hanging = f"{reference} WHERE CASE WHEN (SELECT COUNT(*) FROM goods WHERE price IS NULL) THEN {stuck} ELSE 1 END"
    submissions = [f"{reference} -- {number}" for number in range(8)]
    submissions[2:2] = [hanging]
    assert grade(reference, f"{reference} WHERE price > 0", databases["goods"], limits).database == "goods_2"
    verdicts = grade_all(reference, submissions, databases["goods"], limits)
    assert [verdict.verdict for verdict in verdicts] == [CORRECT] * 2 + [ERROR] + [CORRECT] * 6
    assert (verdicts[2].database, verdicts[2].reason) == ("goods_2", "the query was stopped after 0.3 seconds")
    assert verdicts[2].milliseconds >= 500, "as long as it really ran, its patience included"
    with pytest.raises(ReferenceFailed, match=r"goods_2\.sqlite: the reference error: the query was stopped"):
        grade(hanging, reference, databases["goods"], limits)


def test_verdicts_are_the_same_in_any_number_of_threads(databases):
    submissions = [case.submission for case in ALL_CASES if case.database == "staff"][:20]
    reference = "SELECT name FROM staff"

    def verdicts(_):
        found = grade_all(reference, submissions, databases["staff"], LIMITS)
        return [(verdict.verdict, verdict.reason, verdict.database) for verdict in found]

    with ThreadPoolExecutor(8) as threads:
        results = list(threads.map(verdicts, range(16)))
    assert results == [results[0]] * 16


def test_a_broken_database_is_the_users_fault_and_no_verdict(databases, tmp_path):
    path = tmp_path / "a.sqlite"
    path.write_bytes(databases["staff"][0].read_bytes()[:5000])
    with pytest.raises(UserError, match=r"a\.sqlite"):
        grade("SELECT 1", "SELECT 1", [path], LIMITS)


@pytest.mark.parametrize("column", ["id", "name", "team", "pay", "born"])
def test_a_row_less_is_seen_for_every_column_and_row(databases, column):
    """Rows with the same value are there to be forgotten."""
    for row in random.Random(column).sample(range(1, 5), 4):
        submission = f"SELECT {column} FROM staff WHERE id <> {row}"
        assert grade(f"SELECT {column} FROM staff", submission, databases["staff"], LIMITS).verdict == WRONG

"""The grader: the verdicts of tests/sql/grader_cases.sql, its reasons, and references that fail."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

import pytest
from sqlite_files import write_database

from sqldojo.databases.execution import Limits
from sqldojo.errors import UserError
from sqldojo.verifier import grading
from sqldojo.verifier.grading import CORRECT, ERROR, REJECTED, WRONG, ReferenceFailed, grade

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
    assert (verdict.verdict, verdict.database, verdict.reason) == (WRONG, "goods_2", "3 rows where 4 are expected")
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


def test_the_reference_runs_once_for_each_content_of_a_file(tmp_path, monkeypatch):
    path = write_database(tmp_path / "a.sqlite", "CREATE TABLE t(a); INSERT INTO t VALUES (1);")
    asked = []
    run_query = grading.run_query
    monkeypatch.setattr(grading, "run_query", lambda *args: asked.append(args[1]) or run_query(*args))
    for _ in range(3):
        assert grade("SELECT a FROM t -- ours", "SELECT a FROM t", [path], LIMITS).verdict == CORRECT
    assert asked.count("SELECT a FROM t -- ours") == 1
    path.unlink()
    write_database(path, "CREATE TABLE t(a); INSERT INTO t VALUES (1), (2), (3);")
    assert grade("SELECT a FROM t -- ours", "SELECT 1", [path], LIMITS).reason == "1 rows where 3 are expected"


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

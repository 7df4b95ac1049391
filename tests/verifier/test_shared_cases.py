"""The cases that all graders were measured on, where the folder shared with other projects is at hand."""

import json
from pathlib import Path

import pytest
from sqlite_files import write_database

from sqldojo.verifier.grading import grade

CASES = Path(__file__).parents[2].parent / "shared" / "cases" / "grader_cases.json"
pytestmark = pytest.mark.skipif(not CASES.is_file(), reason="no ../shared beside this repository")


@pytest.mark.parametrize(
    "case", json.loads(CASES.read_text(encoding="utf-8")) if CASES.is_file() else [], ids=lambda case: case["id"]
)
def test_verdict(case, tmp_path):
    scripts = case.get("databases") or [case["schema_sql"]]
    databases = [write_database(tmp_path / f"{number}.sqlite", script) for number, script in enumerate(scripts)]
    verdict = grade(case["reference"], case["submission"], databases)
    assert verdict.verdict == case["expected"], f"{verdict.reason}; {case['why']}"

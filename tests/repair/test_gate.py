"""What the gate lets through, and what it says of the rest."""

import pytest
from repair_records import CODE_TEST, PLAIN_TEST, RIGHT, SCHEMA, WRONG, task_and_hidden, write_template
from sqlite_files import write_database

from sqldojo.databases.execution import Limits
from sqldojo.databases.families import INSTANCES
from sqldojo.errors import UserError
from sqldojo.repair import gate as gates
from sqldojo.repair.gate import gate
from sqldojo.repair.judging import Judge

NEVER = "def test_case(pred_sqls, sol_sqls, db_path, conn, conditions):\n    assert 0\n"


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    root = tmp_path_factory.mktemp("database")
    write_template(root, "books")
    return root


CASES = [
    ({}, ""),
    ({"tests": ()}, ""),
    ({"sol_sql": ()}, gates.NO_REFERENCE),
    ({"issue_sql": ()}, gates.NO_ISSUE_SQL),
    ({"tests": (PLAIN_TEST, CODE_TEST)}, gates.TEST_CODE),
    ({"sol_sql": ("SELECT absent",)}, gates.REFERENCE_FAILS),
    ({"sol_sql": ("CREATE TEMP TABLE x AS SELECT 1", RIGHT)}, gates.REFERENCE_FAILS),
    ({"sol_sql": ("SELECT 1 WHERE 0",)}, gates.REFERENCE_DOES_NOT_PASS),
    ({"tests": (NEVER,)}, gates.REFERENCE_DOES_NOT_PASS),
    ({"issue_sql": (f"{RIGHT} ORDER BY 1",)}, gates.BUG_PASSES),
    ({"issue_sql": ("nonsense",)}, ""),
    ({"setup": ("nonsense",)}, ""),
]


def test_each_is_kept_or_dropped_for_its_reason(root):
    pairs = [task_and_hidden(**changes) for changes, _ in CASES]
    seen = []
    gated = gate(*zip(*pairs, strict=True), Judge(root, Limits()), lambda done, note: seen.append((done, note)))
    reasons = [reason for _, reason in CASES]
    kept = [pair for pair, reason in zip(pairs, reasons, strict=True) if not reason]
    assert list(zip(gated.tasks, gated.hidden, strict=True)) == kept
    assert [(row.db_id, row.reason) for row in gated.dropped] == [("books", reason) for reason in reasons if reason]
    assert gated.counts == {
        "judged": 12, "kept": 4, gates.TEST_CODE: 1, gates.NO_REFERENCE: 1, gates.NO_ISSUE_SQL: 1,
        gates.REFERENCE_FAILS: 2, gates.REFERENCE_DOES_NOT_PASS: 2, gates.BUG_PASSES: 1,
    }  # fmt: skip
    assert seen[0] == (1, "1 kept") and seen[-1] == (12, "4 kept")


def test_with_permission_test_code_is_judged(root):
    pair = task_and_hidden(tests=(PLAIN_TEST, CODE_TEST))
    assert gate([pair[0]], [pair[1]], Judge(root, Limits(), allow_test_code=True)).tasks == (pair[0],)


def test_a_bug_that_only_a_family_shows_is_told_apart(tmp_path):
    write_template(tmp_path, "books")
    for name in INSTANCES:
        write_database(
            tmp_path / "books" / "family" / f"{name}.sqlite", f"{SCHEMA}; INSERT INTO maker VALUES (4, 'Di')"
        )
    judge = Judge(tmp_path, Limits())
    hidden_bug = task_and_hidden(issue_sql=(f"{RIGHT} HAVING m.name <> 'Di'",))
    plain = task_and_hidden(issue_sql=(WRONG,))
    gated = gate(*zip(hidden_bug, plain, strict=True), judge)
    assert gated.tasks == (plain[0],) and gated.dropped[0].reason == gates.BUG_PASSES_TESTS


def test_a_missing_database_is_no_reason_to_drop_a_task(tmp_path):
    with pytest.raises(UserError, match="books_template"):
        gate(*zip(task_and_hidden(), strict=True), Judge(tmp_path, Limits()))


def test_nothing_is_judged_as_nothing(root):
    assert gate([], [], Judge(root, Limits())).counts == {"judged": 0, "kept": 0}

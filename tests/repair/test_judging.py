"""The judge: the published verdict in strict mode, and a reward that only a right reading query earns."""

import dataclasses
import time

import pytest
from repair_records import CODE_TEST, PLAIN_TEST, RIGHT, SCHEMA, WRONG, task_and_hidden, write_template
from sqlite_files import write_database

from sqldojo.databases.execution import Limits
from sqldojo.databases.families import INSTANCES
from sqldojo.errors import UserError
from sqldojo.repair.judging import Judge, Judgement, needs_test_code
from sqldojo.verifier.grading import ReferenceFailed

SHORT = Limits(vm_steps=1_000_000, seconds=5.0)
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n"


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    root = tmp_path_factory.mktemp("database")
    write_template(root, "books")
    return root


@pytest.fixture(scope="module")
def judge(root):
    return Judge(root, SHORT)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(
    ("submission", "passed"),
    [
        ([RIGHT], True),
        ([RIGHT + ";"], True),
        (["SELECT 1", RIGHT], True),
        (["-- mine\n" + RIGHT + " -- done"], True),
        (["SELECT name, (SELECT COUNT(*) FROM item i WHERE i.maker_id = m.maker_id) FROM maker m ORDER BY name"], True),
        ([WRONG], False),
        ([RIGHT, "SELECT 1"], False),
        ([RIGHT + "; SELECT 1"], False),
        (["SELECT name, 0 FROM maker WHERE 0"], False),
        (["nonsense"], False),
        ([], False),
        ([""], False),
        (["-- nothing"], False),
    ],
)
def test_submissions(judge, submission, passed, strict):
    task, hidden = task_and_hidden()
    judgement = judge.judge(task, hidden, submission, strict=strict)
    assert judgement.passed is passed
    assert bool(judgement.reason) is not passed


ONE_MAKER = "IF NOT EXISTS maker AS SELECT 1 AS maker_id, 'Ada' AS name"
TRICKS = {
    "hides a table behind a TEMP view": [f"CREATE TEMP VIEW {ONE_MAKER}", WRONG],
    "hides a table behind a TEMP table": [f"CREATE TEMP TABLE {ONE_MAKER}", WRONG],
    "deletes what it misses": ["DELETE FROM maker WHERE maker_id = 3", WRONG],
    "deletes what it misses, with the query": [WRONG, "DELETE FROM maker WHERE maker_id = 3", WRONG],
    "adds what it has too much": ["INSERT OR IGNORE INTO item VALUES (9, 3, 'Vase', 1.0)", WRONG],
    "makes all rows the same": ["UPDATE maker SET name = 'Ada'", "UPDATE item SET maker_id = NULL",
                                "SELECT 'Ada', 0"],
    "replaces the tables": ["DROP TABLE item", "CREATE TABLE item(item_id, maker_id)",
                            "INSERT INTO item VALUES (1, 1), (2, 2), (3, 3)", WRONG],
}  # fmt: skip


@pytest.mark.parametrize("trick", TRICKS)
def test_tricks_that_the_published_evaluator_falls_for_earn_no_reward(judge, trick):
    task, hidden = task_and_hidden()
    assert judge.judge(task, hidden, TRICKS[trick], strict=True).passed
    judgement = judge.judge(task, hidden, TRICKS[trick])
    assert not judgement.passed and "only reading is allowed" in judgement.reason


@pytest.mark.parametrize(
    "submission",
    [
        ["PRAGMA writable_schema = 1", "UPDATE sqlite_master SET sql = ''", WRONG],
        ["PRAGMA case_sensitive_like = 1", WRONG],
        ["BEGIN", WRONG, "ROLLBACK"],
        ["ATTACH ':memory:' AS x", WRONG],
        ["CREATE TEMP TRIGGER g AFTER INSERT ON item BEGIN DELETE FROM maker; END", WRONG],
        ["EXPLAIN " + RIGHT],
        ["SELECT * FROM pragma_table_info('maker')"],
        ["SELECT name, COUNT(*) FROM sqlite_master"],
        ["SELECT load_extension('x')"],
        ["SELECT writefile('x', 'y')"],
        ["WITH x AS (SELECT 1) DELETE FROM maker WHERE maker_id = 3"],
        ["INSERT INTO maker VALUES (8, 'x') RETURNING name, 0"],
        ["SELECT '/*'; DELETE FROM maker WHERE maker_id = 3; SELECT '*/'", WRONG],
        ["SELECT 1 --\n; DELETE FROM maker", WRONG],
    ],
)
def test_only_reading_statements_earn_a_reward(judge, submission):
    task, hidden = task_and_hidden()
    assert not judge.judge(task, hidden, submission).passed
    assert judge.judge(task, hidden, [RIGHT]).passed


def test_what_a_test_changes_of_the_text_is_held_to_reading_too(judge):
    """Comments that are cut out of a string literal leave another statement, which is no more allowed than any."""
    task, hidden = task_and_hidden(tests=())
    hidden_write = "/* */DELETE FROM maker WHERE maker_id = 3"
    submission = [f"SELECT '--\n{hidden_write}'", WRONG]
    assert not judge.judge(task, hidden, submission).passed


def test_words_in_a_comment_do_not_count(judge):
    word_test = PLAIN_TEST.replace("return result", "assert check_sql_function_usage(pred_sqls, ['EXISTS']) == 1")
    task, hidden = task_and_hidden(tests=(word_test,), sol_sql=(f"{RIGHT} HAVING EXISTS (SELECT 1)",))
    assert judge.judge(task, hidden, hidden.sol_sql).passed
    assert judge.judge(task, hidden, [f"{RIGHT} -- EXISTS"], strict=True).passed
    assert not judge.judge(task, hidden, [f"{RIGHT} -- EXISTS"]).passed
    assert not judge.judge(task, hidden, [f"{RIGHT} /* EXISTS */"]).passed


def test_order_counts_where_the_record_says_so(judge):
    right, wrong = "SELECT name FROM maker ORDER BY name DESC", "SELECT name FROM maker ORDER BY name"
    for ordered in (True, False):
        task, hidden = task_and_hidden(sol_sql=(right,), ordered=ordered, issue_sql=("SELECT 1",))
        for strict in (True, False):
            assert judge.judge(task, hidden, [right], strict=strict).passed
            assert judge.judge(task, hidden, [wrong], strict=strict).passed is not ordered


def test_the_buggy_sql_counts_in_strict_mode_alone(judge):
    task, hidden = task_and_hidden(issue_sql=(RIGHT,))
    assert judge.judge(task, hidden, [RIGHT]).passed
    strict = judge.judge(task, hidden, [RIGHT], strict=True)
    assert not strict.passed and "issue" in strict.reason


def test_the_buggy_sql_leaves_nothing_behind(judge):
    task, hidden = task_and_hidden(issue_sql=("DELETE FROM item", "CREATE TEMP VIEW maker AS SELECT 1"))
    assert judge.judge(task, hidden, [RIGHT], strict=True).passed
    assert not judge.judge(task, hidden, [WRONG], strict=True).passed


@pytest.mark.parametrize("strict", [False, True])
def test_a_set_up_runs_first_and_may_fail_in_part(judge, strict):
    setup = ("CREATE TEMP TABLE more(maker_id)", "INSERT INTO more VALUES (1), (1)", "nonsense", "DELETE FROM more")
    task, hidden = task_and_hidden(
        setup=setup, sol_sql=("SELECT COUNT(*) FROM more",), issue_sql=("SELECT COUNT(*) FROM item",)
    )
    assert judge.judge(task, hidden, ["SELECT 2"], strict=strict).passed
    assert not judge.judge(task, hidden, ["SELECT 4"], strict=strict).passed


@pytest.mark.parametrize("strict", [False, True])
def test_other_categories_may_change_data(judge, strict):
    test = """def test_case(pred_sqls, sol_sqls, db_path, conn, conditions):
    for maker, expected in ((1, 2), (2, 0)):
        rows, error, late = execute_queries(f"SELECT COUNT(*) FROM item WHERE maker_id = {maker}", db_path, conn)
        assert not error and not late
        assert rows[0][0] == expected, (maker, rows)
"""
    task, hidden = task_and_hidden(
        category="Management",
        issue_sql=("DELETE FROM item WHERE maker_id > 0",),
        sol_sql=("DELETE FROM item WHERE maker_id = 2",),
        tests=(test,),
    )
    assert judge.judge(task, hidden, ["DELETE FROM item WHERE title = 'Chair'"], strict=strict).passed
    assert not judge.judge(task, hidden, ["DELETE FROM item"], strict=strict).passed
    assert not judge.judge(task, hidden, ["SELECT 1"], strict=strict).passed
    reading = dataclasses.replace(task, category="Query")
    assert not judge.judge(reading, hidden, ["DELETE FROM item WHERE maker_id = 2"]).passed


@pytest.fixture(scope="module")
def family_judge(tmp_path_factory):
    root = tmp_path_factory.mktemp("family")
    write_template(root, "books")
    for number, name in enumerate(INSTANCES):
        more = f"; INSERT INTO maker VALUES (8, 'Dan'), (9, 'Dan{number}'); INSERT INTO item VALUES (8, 9, 'X', 1)"
        write_database(root / "books" / "family" / f"{name}.sqlite", SCHEMA.strip().rstrip(";") + more)
    return Judge(root, SHORT)


@pytest.mark.parametrize(
    ("submission", "passed", "why"),
    [
        ([RIGHT], True, ""),
        (["VALUES ('Ada', 2), ('Ben', 1), ('Cleo', 0)"], False, "other data"),
        ([f"{RIGHT} UNION ALL {RIGHT}"], False, "other data"),
        (["SELECT 1", RIGHT], False, "only one statement"),
        ([RIGHT.replace("m.name", 'm.name || substr("", 1)')], False, "does not run"),
        ([WRONG], False, "hidden test"),
    ],
)
def test_a_family_has_a_say(family_judge, submission, passed, why):
    judgement = family_judge.judge(*task_and_hidden(), submission)
    assert judgement.passed is passed and why in judgement.reason


def test_the_published_verdict_knows_the_template_alone(family_judge):
    task, hidden = task_and_hidden()
    assert family_judge.judge(task, hidden, ["VALUES ('Ada', 2), ('Ben', 1), ('Cleo', 0)"], strict=True).passed


def test_reasons_name_no_expected_row(family_judge):
    reason = family_judge.judge(*task_and_hidden(), ["VALUES ('Ada', 2), ('Ben', 1), ('Cleo', 0)"]).reason
    assert not any(word in reason for word in ("Dan", "Ada", "Cleo", "rows", "expected", "COUNT"))


def test_test_code_needs_permission(root, judge):
    task, hidden = task_and_hidden(tests=(PLAIN_TEST, CODE_TEST))
    assert needs_test_code(hidden)
    with pytest.raises(UserError, match=r"T1.*allow_test_code"):
        judge.judge(task, hidden, [RIGHT])
    allowed = Judge(root, SHORT, allow_test_code=True)
    assert allowed.judge(task, hidden, [RIGHT], strict=True).passed
    assert not allowed.judge(task, hidden, [WRONG]).passed
    # Right, but without the word that the second test looks for.
    other = ["SELECT name, (SELECT COUNT(*) FROM item i WHERE i.maker_id = m.maker_id) FROM maker m"]
    assert not allowed.judge(task, hidden, other).passed


SECRET = "zebra"
SECRETIVE = [
    f"def test_case(pred_sqls, sol_sqls, db_path, conn, conditions):\n    {line}\n"
    for line in (
        f"assert ex_base(pred_sqls, sol_sqls, db_path, conn) == 1, '{SECRET}'",
        f"assert pred_sqls[0] == '{SECRET}'",
        f"execute_queries('SELECT {SECRET}', db_path, conn)[0][0]",
        f"assert {{'a': 1}}['{SECRET}']",
        f"int('{SECRET}')",
    )
]


@pytest.mark.parametrize("submission", ["SELECT 1", WRONG, "nonsense", "DELETE FROM item", "", "SELECT 1; SELECT 2"])
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("test", SECRETIVE)
def test_reasons_quote_nothing_hidden(judge, submission, strict, test):
    task, hidden = task_and_hidden(sol_sql=(f"SELECT '{SECRET}' AS {SECRET}",), tests=(test,))
    judgement = judge.judge(task, hidden, [submission], strict=strict)
    assert not judgement.passed
    assert SECRET not in judgement.reason.lower()


def test_reasons_quote_nothing_hidden_of_test_code(root):
    task, hidden = task_and_hidden(
        sol_sql=(f"SELECT '{SECRET}'",), tests=(SECRETIVE[0].replace("    assert", "    import re\n    assert"),)
    )
    judgement = Judge(root, SHORT, allow_test_code=True).judge(task, hidden, ["SELECT 1"])
    assert judgement == Judgement(False, "a hidden test fails: the result is not what the user wants")


def test_a_submission_without_end_is_stopped(judge):
    """In strict mode that would take three minutes."""
    judgement = judge.judge(*task_and_hidden(), [ENDLESS])
    assert not judgement.passed and "1,000,000 steps" in judgement.reason


def test_a_submission_that_hangs_is_stopped(root):
    long = "printf('%.999000c', 'a')"
    stuck = "SELECT " + " + ".join([f"instr({long}, printf('%.499000c', 'a') || 'b')"] * 90)
    started = time.monotonic()
    judgement = Judge(root, Limits(seconds=0.3)).judge(*task_and_hidden(), [stuck])
    assert not judgement.passed and "seconds" in judgement.reason
    assert time.monotonic() - started < 8


def test_a_reference_that_does_not_run_is_our_fault(judge):
    task, hidden = task_and_hidden(sol_sql=("SELECT absent FROM maker",))
    with pytest.raises(ReferenceFailed, match="T1"):
        judge.judge(task, hidden, [RIGHT])


def test_a_database_that_is_missing_is_named(judge):
    task, hidden = task_and_hidden()
    with pytest.raises(UserError, match=r"netflix_template\.sqlite"):
        judge.judge(dataclasses.replace(task, db_id="netflix"), hidden, [RIGHT])

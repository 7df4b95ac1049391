"""The published evaluator's semantics, against the vectors that its own code gave (../shared/sixgym_format.md)."""

from decimal import Decimal

import pytest
from sqlite_files import write_database

from sqldojo.databases.execution import Limits
from sqldojo.databases.sessions import Session
from sqldojo.repair import published

UNORDERED, ORDERED = None, {"order": True}
LONG = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10050) SELECT i FROM n"


@pytest.fixture
def session(tmp_path):
    script = "CREATE TABLE t(a INTEGER UNIQUE, b TEXT); INSERT INTO t VALUES (1, 'x'), (2, 'y')"
    session = Session(write_database(tmp_path / "t.sqlite", script), Limits())
    yield session
    session.close()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT DISTINCT a, COUNT(DISTINCT b) FROM t", "SELECT a, COUNT(DISTINCT b) FROM t"),
        ("SELECT\nDISTINCT a FROM t", "SELECT\nDISTINCT a FROM t"),
        ("select  distinct  x from t", "select   x from t"),
        ("SELECT 'a distinct b'", "SELECT 'a b'"),
    ],
)
def test_remove_distinct(text, expected):
    assert published.remove_distinct([text]) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT ROUND(a+b, 2) * 100 FROM t", "SELECT a+b * 100 FROM t"),
        ("SELECT round(round(x,3),1), UNROUND(q) FROM t", "SELECT x, UNq FROM t"),
        ("SELECT Round (max(a, b)) FROM t", "SELECT max(a, b) FROM t"),
        ("SELECT ROUND(a", "SELECT ROUND(a"),
        ("SELECT a FROM t", "SELECT a FROM t"),
    ],
)
def test_remove_round(text, expected):
    assert published.remove_round([text]) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT 1 -- x\nFROM t -- tail", "SELECT 1 \nFROM t -- tail"),
        ("SELECT '--a' FROM t\n\n\nWHERE 1", "SELECT '\nWHERE 1"),
        ("  SELECT /* a\nb */ 1\n", "SELECT  1"),
    ],
)
def test_remove_comments(text, expected):
    assert published.remove_comments([text]) == [expected]


def test_results_are_rounded_as_python_does_it():
    assert published.preprocess_results([(1.005, 2.675, 0.125)]) == [(1.0, 2.67, 0.12)]
    assert published.preprocess_results([(Decimal("0.125"), 7, "2.675", None, b"\0")]) == [
        (Decimal("0.13"), 7, "2.675", None, b"\0")
    ]


@pytest.mark.parametrize(
    ("prediction", "reference", "conditions", "same"),
    [
        ("select 1.234", "select 1.23", UNORDERED, True),
        ("select 1.239", "select 1.23", UNORDERED, False),
        ("select 1.0", "select 1", UNORDERED, True),
        ("select '1'", "select 1", UNORDERED, False),
        ("values (2), (1), (2)", "values (1), (2)", UNORDERED, True),
        ("values (2), (1), (2)", "values (1), (2)", ORDERED, False),
        ("values (2), (1)", "values (1), (2)", ORDERED, False),
        ("values (2), (1)", "values (1), (2)", {"order": False}, True),
        ("values (1), (2)", "select a from t order by a", ORDERED, True),
        ("select 1 where 0", "select 1 where 0", UNORDERED, False),
        ("select null", "select null", UNORDERED, True),
        (["select 1", "select 2"], "select 2", UNORDERED, True),
        ("update t set b = 'z'", "select 1", UNORDERED, False),
        ("select 1; select 2", "select 2", UNORDERED, False),
        ("select 1;", "select 1 -- tail", UNORDERED, True),
        ("select 1;;", "select 1", UNORDERED, False),
        ("nonsense", "select 1", UNORDERED, False),
        ([], "select 1", UNORDERED, False),
        ("select b, a from t", "select a, b from t", UNORDERED, False),
        ("select a as other from t", "select a from t", UNORDERED, True),
    ],
)
def test_same_results(session, prediction, reference, conditions, same):
    lists = [[statements] if isinstance(statements, str) else statements for statements in (prediction, reference)]
    ex_base = published.names_for_tests(session, None)["ex_base"]
    assert ex_base(*lists, "path", None, conditions) == int(same)


@pytest.mark.parametrize(("text", "rows"), [(LONG, 10_000), ("-- all\n" + LONG, 10_050)])
def test_a_querys_rows_end_at_ten_thousand_going_by_its_first_word(session, text, rows):
    assert len(published.execute(session, text).rows) == rows


@pytest.mark.parametrize(
    ("statements", "rows", "failure"),
    [
        (["BEGIN", "INSERT INTO t VALUES (3, 'z')", "COMMIT"], [], "no transaction is active"),
        (["SELECT a FROM t WHERE a = 1", "SELECT absent"], [(1,)], "no such column"),
        (["SELECT absent", "SELECT 1"], None, "no such column"),
        (["INSERT INTO t VALUES (3, 'z') RETURNING a"], None, "statements in progress"),
        (["INSERT OR FAIL INTO t VALUES (4, ''), (1, '')", "SELECT 1"], None, "UNIQUE"),
        (["UPDATE t SET b = 'z'", "PRAGMA user_version"], [(0,)], ""),
        (["CREATE TEMP TABLE u AS SELECT 5 AS c", "SELECT c FROM u"], [(5,)], ""),
        (['SELECT "a text"'], [("a text",)], ""),
        ([], None, ""),
        ("-- nothing", [], ""),
    ],
)
def test_statements_run_up_to_the_first_that_fails(session, statements, rows, failure):
    done = published.execute(session, statements)
    assert (done.rows, done.failed) == (rows, bool(failure))
    assert failure in done.message and not done.timed_out


def test_what_fails_is_undone_whole(session):
    published.execute(session, "INSERT OR FAIL INTO t VALUES (4, ''), (1, '')")
    assert published.execute(session, "SELECT COUNT(*) FROM t").rows == [(2,)]


def test_execute_queries_has_the_published_signature(session):
    execute_queries = published.names_for_tests(session, None)["execute_queries"]
    assert execute_queries("SELECT 7", "path", None) == ([(7,)], False, False)
    rows, failed, timed_out, message = execute_queries(["SELECT x"], "path", None, return_error=True)
    assert (rows, failed, timed_out) == (None, True, False) and "no such column" in message


@pytest.mark.parametrize(
    ("keywords", "expected"), [(["with", "Row_Number"], 1), (["WITH", "LAG"], 0), (["umb"], 1), ([], 1)]
)
def test_check_sql_function_usage(keywords, expected):
    assert (
        published.check_sql_function_usage(["WITH x AS (SELECT 1)", "SELECT row_number() OVER ()"], keywords)
        == expected
    )


def test_the_default_test_takes_comments_distinct_and_round_away(session):
    prediction = ["SELECT DISTINCT ROUND(a * 1.2345, 3) FROM t -- yes\n"]
    assert published.default_test(session, prediction, ["SELECT a * 1.2345 FROM t"], {})
    assert not published.default_test(session, prediction, ["SELECT a * 1.2 FROM t"], {})
    assert not published.default_test(session, ["SELECT a FROM t ORDER BY a"], ["SELECT 2 UNION ALL SELECT 1"], ORDERED)

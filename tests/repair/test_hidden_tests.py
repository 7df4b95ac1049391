"""The tests of generated tasks: in the published form, and such that the buggy query does not pass."""

from random import Random

import pytest
from bookstall import SQL, build_bookstall

from sqldojo.databases.execution import OK, QueryResult, run_query
from sqldojo.repair.hidden_tests import same_results, written_test


@pytest.fixture
def test_of(tmp_path):
    template = build_bookstall(tmp_path)

    def write(right, wrong, ordered=False):
        return written_test(right, wrong, ordered=ordered, run=lambda sql: run_query(template, sql), random=Random(1))

    return write


def test_most_tests_take_distinct_out(test_of):
    source = test_of(SQL["in-town"], "SELECT name FROM readers WHERE town = 'Linz'")
    assert source.splitlines()[:4] == [
        "def test_case(pred_sqls, sol_sqls, db_path, conn, conditions):",
        "    pred_sqls = remove_distinct(pred_sqls)",
        "    sol_sqls = remove_distinct(sol_sqls)",
        "    result = ex_base(pred_sqls, sol_sqls, db_path, conn, conditions)",
    ]
    compile(source, "test", "exec")


def test_a_lost_distinct_has_a_test_that_counts_rows(test_of):
    source = test_of(SQL["towns"], "SELECT town FROM readers WHERE town IS NOT NULL")
    assert "remove_distinct" not in source
    assert "assert len(pred_rows) == len(sol_rows)" in source


def test_distinct_stays_where_the_difference_lies_in_it(test_of):
    right = "SELECT COUNT(*) FROM (SELECT DISTINCT town FROM readers)"
    wrong = "SELECT COUNT(*) FROM (SELECT town FROM readers)"
    source = test_of(right, wrong)
    assert "remove_distinct" not in source
    assert "len(" not in source


def test_no_test_tells_a_right_query_from_the_reference(test_of):
    assert test_of(SQL["in-town"], "SELECT name FROM readers WHERE town IN ('Graz')") is None


def test_no_test_for_a_reference_without_rows(test_of):
    assert test_of("SELECT name FROM readers WHERE town = 'Rome'", SQL["in-town"]) is None


def test_order_counts_where_it_is_asked_for(test_of):
    turned = SQL["by-date"].replace(" DESC", "")
    assert test_of(SQL["by-date"], turned) is None
    assert "ex_base" in test_of(SQL["by-date"], turned, ordered=True)


@pytest.mark.parametrize(
    ("rows", "ordered", "expected"),
    [
        ([(2,), (1,), (1,)], False, True),
        ([(2,), (1,)], True, False),
        ([(1.001,), (2,)], True, True),
        ([(1.01,), (2,)], True, False),
        ([], False, False),
    ],
)
def test_the_published_comparison(rows, ordered, expected):
    right = QueryResult(OK, ("n",), ((1,), (2,)))
    assert same_results(right, QueryResult(OK, ("n",), tuple(rows)), ordered=ordered) is expected

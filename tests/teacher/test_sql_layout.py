"""A repaired query looks like the user's own, apart from the repair."""

import pytest

from sqldojo.teacher.sql_layout import in_layout_of


@pytest.mark.parametrize(
    ("shown", "sql", "written"),
    [
        ("SELECT a\nFROM t", "select a from t", "SELECT a\nFROM t"),
        (
            "SELECT a,\n  b\nFROM t\nWHERE a<1",
            "select a, b from t where a <= 1",
            "SELECT a,\n  b\nFROM t\nWHERE a <= 1",
        ),
        (
            "select A from T join U using(x)",
            "SELECT a FROM t LEFT JOIN u USING (x)",
            "select A from T LEFT join U using(x)",
        ),
        ("SELECT a FROM t WHERE b = 'X'", "SELECT a\nFROM t\nWHERE b = 'x'", "SELECT a FROM t WHERE b = 'x'"),
        ("SELECT COUNT (a) FROM t", "SELECT count(DISTINCT a) FROM t", "SELECT COUNT (DISTINCT a) FROM t"),
        ("SELECT 'a  b' FROM t", "select   'a  b'   from   u", "SELECT 'a  b' FROM u"),
        ("nothing alike", "SELECT 1", "SELECT 1"),
        ("", " SELECT  1 ", "SELECT 1"),
        ("SELECT a FROM t", "SELECT a\nFROM t", "SELECT a FROM t"),
    ],
)
def test_what_is_the_same_is_written_the_same(shown, sql, written):
    assert in_layout_of(shown, sql) == written


COMMENTED = [
    ("SELECT a -- x\nFROM t", "select a from t"),
    ("SELECT a", " select a -- x\n/ 2 "),
    ("SELECT a", "select /* x */ a"),
]


@pytest.mark.parametrize(("shown", "sql"), COMMENTED)
def test_comments_need_their_lines_so_nothing_is_changed(shown, sql):
    assert in_layout_of(shown, sql) == sql.strip()


def test_a_text_equal_to_its_own_layout_stays_as_it_is():
    sql = "SELECT a.b, \"c d\", [e f], 1.50 || 'x''y'\n\tFROM a -\n 2"
    assert in_layout_of(sql, sql) == sql

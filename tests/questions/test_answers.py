import pytest
from sqlite_files import write_table

from sqldojo.databases.execution import Limits
from sqldojo.questions.answers import answers


@pytest.fixture(scope="module")
def databases(tmp_path_factory):
    folder = tmp_path_factory.mktemp("answers")
    for name, rows in (("one", [(1, 0.1), (2, 0.2), (3, 0.3)]), ("two", [(1, 5.0), (9, 7.25)])):
        write_table(folder / f"{name}.sqlite", "CREATE TABLE t (a INTEGER, b REAL)", rows)
    return folder / "one.sqlite", folder / "two.sqlite"


def digest(sql, databases):
    return answers(sql, databases, Limits())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("SELECT a, b FROM t", "SELECT a AS x, b AS y FROM t ORDER BY b DESC"),
        ("SELECT SUM(b) FROM t", "SELECT SUM(c) FROM (SELECT b AS c FROM t ORDER BY b DESC)"),
        ("SELECT b FROM t", "SELECT b + 1e-13 FROM t"),
        ("SELECT a FROM t", "SELECT a * 1.0 FROM t"),
        ("SELECT 0.0", "SELECT 1e-17"),
    ],
)
def test_what_the_grader_calls_the_same_has_one_digest(databases, one, other):
    assert digest(one, databases) == digest(other, databases)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("SELECT a FROM t", "SELECT DISTINCT 1 FROM t"),
        ("SELECT a FROM t WHERE 0", "SELECT a, b FROM t WHERE 0"),
        ("SELECT a, b FROM t", "SELECT b, a FROM t"),
        ("SELECT a FROM t", "SELECT CAST(a AS TEXT) FROM t"),
        ("SELECT a FROM t", "SELECT a FROM t UNION ALL SELECT a FROM t"),
        ("SELECT a FROM t WHERE a < 3", "SELECT a FROM t WHERE a < 4"),  # the same on the second alone
        ("SELECT 9007199254740993", "SELECT 9007199254740992"),
        ("SELECT b FROM t", "SELECT b + 1e-6 FROM t"),
        ("SELECT nothing FROM t", "SELECT nobody FROM t"),
        ("SELECT NULL", "SELECT 'None'"),
    ],
)
def test_what_it_tells_apart_has_two(databases, one, other):
    assert digest(one, databases) != digest(other, databases)

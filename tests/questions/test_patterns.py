import pytest

from sqldojo.questions.patterns import difficulty_of, pattern_of
from sqldojo.records import PATTERNS
from sqldojo.verifier.mutation.sqlite_text import read

EXAMPLES = {
    "filter": [("SELECT a FROM t", 1), ("SELECT a FROM t WHERE b = 1 OR c = 2", 2)],
    "range": [("SELECT a FROM t WHERE b BETWEEN 1 AND 2", 1)],
    "date": [("SELECT a FROM t WHERE strftime('%Y', b) = '2020'", 1), ("SELECT date(b) FROM t", 1)],
    "aggregate": [("SELECT COUNT(*) FROM t WHERE a > 1", 1)],
    "group": [("SELECT a, COUNT(*) FROM t GROUP BY a", 2)],
    "join": [("SELECT t.a FROM t JOIN u ON t.i = u.i WHERE u.a = 1", 2), ("SELECT t.a FROM t, u WHERE t.i = u.i", 2)],
    "anti-join": [
        ("SELECT a FROM t WHERE NOT i IN (SELECT i FROM u)", 2),
        ("SELECT a FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.i = t.i)", 2),
        ("SELECT t.a FROM t LEFT JOIN u ON t.i = u.i WHERE u.i IS NULL", 2),
    ],
    "having": [("SELECT a FROM t GROUP BY a HAVING COUNT(*) > 1", 3)],
    "top": [
        ("SELECT a FROM t ORDER BY b DESC LIMIT 1", 2),
        ("SELECT a FROM t WHERE b = (SELECT MAX(b) FROM t)", 2),
    ],
    "group-top": [
        ("SELECT a FROM t GROUP BY a ORDER BY COUNT(*) DESC LIMIT 1", 3),
        ("SELECT a FROM t WHERE b = (SELECT MAX(u.b) FROM t AS u WHERE u.c = t.c)", 2),
    ],
    "ratio": [("SELECT SUM(a) / COUNT(*) FROM t", 1)],
    "month": [("SELECT COUNT(*) FROM t WHERE strftime('%m', b) = '03'", 1)],
    "set": [("SELECT a FROM t EXCEPT SELECT a FROM u", 2)],
    "window": [("SELECT a, RANK() OVER (ORDER BY b) FROM t", 2)],
}
CASES = [(pattern, sql, difficulty) for pattern, examples in EXAMPLES.items() for sql, difficulty in examples]


@pytest.mark.parametrize(("pattern", "sql", "difficulty"), CASES)
def test_pattern_and_difficulty(pattern, sql, difficulty):
    assert (pattern_of(read(sql)), difficulty_of(read(sql))) == (pattern, difficulty)


def test_every_pattern_has_an_example():
    assert tuple(EXAMPLES) == PATTERNS


def test_the_hardest_is_4():
    join = "SELECT t.a FROM t JOIN u ON t.i = u.i WHERE t.b = 1 AND u.c = 2 GROUP BY t.a HAVING COUNT(*) > 1"
    assert difficulty_of(read(join)) == 4


def test_a_left_join_that_asks_for_what_is_there_is_no_anti_join():
    assert pattern_of(read("SELECT t.a FROM t LEFT JOIN u ON t.i = u.i WHERE NOT u.i IS NULL")) == "join"

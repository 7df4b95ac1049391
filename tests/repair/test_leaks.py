"""Planted leaks are found, everyday words are none."""

import pytest

from sqldojo.repair.leaks import leak

OUTER = (
    "SELECT readers.name, COUNT(sales.id) FROM readers LEFT JOIN sales ON sales.reader_id = readers.id "
    "GROUP BY readers.id"
)
INNER = OUTER.replace("LEFT JOIN", "JOIN")
DISTINCT = "SELECT DISTINCT town FROM readers"
REPEATING = "SELECT town FROM readers"
GROUPED = "SELECT town, COUNT(*) FROM readers GROUP BY town HAVING COUNT(*) > 2"
UNGROUPED = "SELECT town, COUNT(*) FROM readers WHERE COUNT(*) > 2 GROUP BY town"
RIGHT_NAME = "SELECT title FROM books WHERE unit_price > 3"
WRONG_NAME = "SELECT title FROM books WHERE unitprice > 3"


@pytest.mark.parametrize(
    ("issue", "buggy", "right", "expected"),
    [
        (f"It should be {OUTER.lower()}.", INNER, OUTER, OUTER),
        ("Do I need a left join here?", INNER, OUTER, "LEFT JOIN"),
        ("Maybe DISTINCT is missing.", REPEATING, DISTINCT, "DISTINCT"),
        ("Should it say `distinct`?", REPEATING, DISTINCT, "DISTINCT"),
        ("The condition belongs into HAVING.", UNGROUPED, GROUPED, "HAVING"),
        ("Perhaps HAVING COUNT(*) > 2 is meant.", UNGROUPED, GROUPED, "HAVING"),
        ("The column is unit_price.", WRONG_NAME, RIGHT_NAME, "unit_price"),
        ("Its name is Unit_Price, I think.", WRONG_NAME, RIGHT_NAME, "unit_price"),
        ("Is `name` the right column?", "SELECT nmae FROM readers", "SELECT name FROM readers", "name"),
        ("It is readers.name.", "SELECT nmae FROM readers", "SELECT name FROM readers", "name"),
        ("With IS NULL it works.", "SELECT a FROM t WHERE b = NULL", "SELECT a FROM t WHERE b IS NULL", "IS NULL"),
        ("It wants price > 10.", "SELECT a FROM t WHERE price < 10", "SELECT a FROM t WHERE price > 10", "price > 10"),
        ("Use strftime for it.", "SELECT YEAR(d) FROM t", "SELECT strftime('%Y', d) FROM t", "STRFTIME"),
        ("Try SUM(x).", "SELECT COUNT(x) FROM t", "SELECT SUM(x) FROM t", "SUM"),
    ],
)
def test_planted_leaks(issue, buggy, right, expected):
    assert leak(issue, buggy, right) == expected


@pytest.mark.parametrize(
    ("issue", "buggy", "right"),
    [
        ("I want the name and the price. Return name, price.", "SELECT a FROM t", "SELECT name, price FROM t"),
        ("Which distinct towns are there? I get repeated rows.", REPEATING, DISTINCT),
        ("The sum of all prices, not the number.", "SELECT COUNT(price) FROM t", "SELECT SUM(price) FROM t"),
        ("Readers having more than two, in order.", UNGROUPED, GROUPED),
        ('It fails with: near "GROUP": syntax error.', "SELECT a FROM t HAVING a > 1 GROUP BY a",
         "SELECT a FROM t GROUP BY a HAVING a > 1"),
        ("No such column: unitprice. I want the unit price.", WRONG_NAME, RIGHT_NAME),
        ("It says: no such column: sales.name.", OUTER.replace("readers.name", "sales.name"), OUTER),
        ("Is the order wrong? Left of it there is a join of roads.", INNER, OUTER),
    ],
)  # fmt: skip
def test_everyday_words_are_no_leak(issue, buggy, right):
    assert leak(issue, buggy, right) is None

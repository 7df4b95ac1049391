"""The table where the shown and the repaired query differ."""

import random

import pytest

from sqldojo.teacher.concerned_table import concerned_table

JOINED = "SELECT o.total, c.name FROM orders o JOIN customers c ON c.id = o.customer_id"


def found(shown, repaired):
    return {concerned_table(shown, repaired, random.Random(seed)) for seed in range(8)}


@pytest.mark.parametrize(
    ("shown", "repaired", "tables"),
    [
        ("SELECT total FROM orders", JOINED, {"customers"}),
        (JOINED.replace("customers", "custmers"), JOINED, {"customers"}),
        (JOINED.replace("c.name", "c.nam"), JOINED, {"customers"}),
        (JOINED.replace("o.customer_id", "o.id"), JOINED, {"orders"}),
        ("SELECT cost FROM Orders", "SELECT total FROM orders", {"orders"}),
        # These cannot be parsed.
        (JOINED + " ORDER BY", JOINED, {"orders", "customers"}),
        (JOINED.replace("customer_id", "customerid") + " ORDER BY", JOINED, {"orders"}),
        (JOINED.replace("customers", "custmers") + " ORDER BY", JOINED, {"customers"}),
        (JOINED.replace("JOIN", "LEFT JOIN"), JOINED, {"orders", "customers"}),
        ("SELECT 1", "WITH t AS (SELECT a FROM u) SELECT a FROM t", {"u"}),
        ("SELECT 1", "SELECT 2", {""}),
        ("SELECT 1", "SELECT FROM WHERE", {""}),
    ],
)
def test_it_is_one_that_the_repair_is_about(shown, repaired, tables):
    assert found(shown, repaired) == tables

"""Mistakes: each differs from the query in one place, and they are the same for one seed."""

import random

import pytest

from sqldojo.teacher.mistakes import mistakes

JOIN = "SELECT customers.name FROM orders JOIN customers ON customers.id = orders.customer_id"


def test_every_mistake_of_a_simple_query():
    assert sorted(mistakes("SELECT name, price FROM products WHERE price < 5", random.Random(1))) == [
        "SELECT name, price FROM products WHERE product_price < 5",
        "SELECT name, product_price FROM products WHERE price < 5",
        "SELECT product_name, price FROM products WHERE price < 5",
    ]


def test_a_join_is_also_made_on_the_wrong_key():
    found = mistakes(JOIN, random.Random(1))
    assert "SELECT customers.name FROM orders JOIN customers ON customers.id = orders.id" in found
    assert "SELECT customers.customer_name FROM orders JOIN customers ON customers.id = orders.customer_id" in found
    assert len(found) == 4


def test_an_alias_is_guessed_by_its_table():
    found = mistakes("SELECT c.name FROM customers AS c", random.Random(1))
    assert found == ["SELECT c.customer_name FROM customers AS c"]


def test_a_column_is_guessed_by_the_table_of_its_own_select():
    sql = "SELECT name FROM customers WHERE id IN (SELECT customer_id FROM orders)"
    found = mistakes(sql, random.Random(1))
    assert "SELECT name FROM customers WHERE id IN (SELECT order_customer_id FROM orders)" in found
    assert "SELECT customer_name FROM customers WHERE id IN (SELECT customer_id FROM orders)" in found


@pytest.mark.parametrize("sql", ["SELECT COUNT(*) FROM customers", "SELECT c.* FROM customers AS c", "SELECT 1"])
def test_a_query_without_columns_has_none(sql):
    assert mistakes(sql, random.Random(1)) == []


def test_a_column_of_a_subquery_without_a_name():
    found = mistakes("SELECT x FROM (SELECT name AS x FROM customers)", random.Random(1))
    assert "SELECT x FROM (SELECT customer_name AS x FROM customers)" in found
    assert "SELECT the_x FROM (SELECT name AS x FROM customers)" in found


def test_the_order_depends_on_the_generator_alone():
    orders = {tuple(mistakes(JOIN, random.Random(seed))) for seed in range(20)}
    assert len(orders) > 5
    assert mistakes(JOIN, random.Random(3)) == mistakes(JOIN, random.Random(3))


def test_no_mistake_is_the_query_itself():
    assert JOIN not in mistakes(JOIN, random.Random(1))

"""The bookshop: the same bytes for a seed, and for each seed everything that queries stumble over."""

import pytest
from world_checks import assert_bytes_follow_the_seed, assert_keys_and_traps

from sqldojo.databases.bookshop import bookshop_rows, write_bookshop
from sqldojo.databases.execution import run_query
from sqldojo.databases.schema import schema_text
from sqldojo.databases.schema_model import read_rows, read_schema

# What there must be some of.
TRAPS = {
    "namesakes": "SELECT name FROM customers GROUP BY name HAVING COUNT(*) > 1",
    "authors of one name": "SELECT name FROM authors GROUP BY name HAVING COUNT(*) > 1",
    "titles of two books": "SELECT title FROM books GROUP BY title HAVING COUNT(*) > 1",
    "books of several authors": "SELECT book_id FROM book_authors GROUP BY book_id HAVING COUNT(*) > 1",
    "books of no author": "SELECT 1 FROM books WHERE book_id NOT IN (SELECT book_id FROM book_authors)",
    "books without a publisher": "SELECT 1 FROM books WHERE publisher_id IS NULL",
    "books never sold": "SELECT 1 FROM books WHERE book_id NOT IN (SELECT book_id FROM order_lines)",
    "books never reviewed": "SELECT 1 FROM books WHERE book_id NOT IN (SELECT book_id FROM reviews)",
    "the highest price twice": "SELECT 1 FROM books WHERE price = (SELECT MAX(price) FROM books) LIMIT -1 OFFSET 1",
    "customers without an order": "SELECT 1 FROM customers LEFT JOIN orders USING (customer_id) WHERE order_id IS NULL",
    "orders of nobody known": "SELECT 1 FROM orders WHERE customer_id IS NULL",
    "orders of no store": "SELECT 1 FROM orders WHERE store_id IS NULL",
    "orders without lines": "SELECT 1 FROM orders WHERE order_id NOT IN (SELECT order_id FROM order_lines)",
    "reviews without stars": "SELECT 1 FROM reviews WHERE stars IS NULL",
    "sold below its price": "SELECT 1 FROM order_lines JOIN books USING (book_id) WHERE unit_price < price",
}  # fmt: skip


@pytest.fixture(scope="module")
def bookshop(tmp_path_factory):
    path = tmp_path_factory.mktemp("bookshop") / "bookshop.sqlite"
    write_bookshop(path, 17)
    return path


def test_tables_and_rows(bookshop):
    schema = read_schema(bookshop)
    assert {table: len(rows) for table, rows in read_rows(bookshop, schema).items()} == {
        "publishers": 12, "authors": 40, "books": 84, "book_authors": 112, "stores": 6, "customers": 64, "orders": 180,
        "order_lines": 330, "reviews": 130,
    }  # fmt: skip
    keys = {(table.name, key.table) for table in schema.tables for key in table.foreign_keys}
    assert keys == {
        ("books", "publishers"), ("book_authors", "books"), ("book_authors", "authors"), ("orders", "customers"),
        ("orders", "stores"), ("order_lines", "orders"), ("order_lines", "books"), ("reviews", "books"),
        ("reviews", "customers"),
    }  # fmt: skip
    assert len(schema_text(bookshop)) < 1200  # it is in every prompt


def test_the_same_bytes_for_a_seed_and_others_for_another(tmp_path):
    assert_bytes_follow_the_seed(write_bookshop, tmp_path)


@pytest.mark.parametrize("seed", [1, 2, 17])
def test_keys_hold_and_every_trap_is_set(seed, tmp_path):
    assert_keys_and_traps(write_bookshop, bookshop_rows, TRAPS, seed, tmp_path)


def test_nobody_orders_or_reviews_before_joining(bookshop):
    early = "SELECT COUNT(*) FROM {0} JOIN customers USING (customer_id) WHERE {1} < joined_on"
    for table, column in (("orders", "ordered_on"), ("reviews", "written_on")):
        assert run_query(bookshop, early.format(table, column)).rows == ((0,),)

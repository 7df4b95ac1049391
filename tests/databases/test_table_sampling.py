"""Samples of large tables: bounded, closed under foreign keys, the same each time, found by searches alone."""

from contextlib import closing

import pytest
from awkward_database import awkward
from sqlite_files import write_database

from sqldojo.databases.schema_model import read_rows, read_schema
from sqldojo.databases.table_sampling import sample_tables, searches
from sqldojo.databases.user_database import open_user_database
from sqldojo.errors import UserError

LARGE = """
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, photo BLOB);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers(id), total REAL);
CREATE INDEX of_customer ON orders (customer_id);
CREATE TABLE codes (code TEXT PRIMARY KEY, order_id INTEGER REFERENCES orders(id)) WITHOUT ROWID;
CREATE TABLE logs (rowid TEXT, oid TEXT, _rowid_ TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
  INSERT INTO customers SELECT i * 1000, 'Customer ' || i, zeroblob(5000) FROM n WHERE i <= 1000;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
  INSERT INTO orders SELECT i, (i * 7919 % 1000 + 1) * 1000, i / 4.0 FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
  INSERT INTO codes SELECT char(97 + i % 26) || printf('%05d', i), i FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900) INSERT INTO logs SELECT i, i, i FROM n;
"""


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    return write_database(tmp_path_factory.mktemp("large") / "large.sqlite", LARGE)


def sample(path, most=250, seed=17):
    schema = read_schema(path)
    with closing(open_user_database(path)) as connection:
        return schema, sample_tables(connection, schema, seed, most=most)


def test_every_row_is_a_row_of_the_table_and_none_comes_twice(large):
    schema, found = sample(large)
    own = read_rows(large, schema)
    for table in ("orders", "codes", "logs"):
        assert set(found.rows[table]) <= set(own[table])
        assert len(set(found.rows[table])) == len(found.rows[table])
    assert {row[:2] for row in found.rows["customers"]} <= {row[:2] for row in own["customers"]}
    assert found.whole == frozenset()


def test_about_as_many_rows_come_as_are_sought_with_all_that_they_refer_to(large):
    _, found = sample(large)
    rows = found.rows
    assert len(rows["codes"]) == len(rows["logs"]) == 250 or 250 <= len(rows["codes"]) < 258
    customers, orders = {row[0] for row in rows["customers"]}, {row[0] for row in rows["orders"]}
    assert {row[1] for row in rows["orders"]} <= customers and {row[1] for row in rows["codes"]} <= orders
    assert 250 <= len(orders) <= 250 + 8 + len(rows["codes"]) and 250 <= len(customers) <= 258 + len(orders)


def test_rows_come_from_all_parts_of_a_table_in_its_order(large):
    _, found = sample(large)
    keys = [row[0] for row in found.rows["customers"]]
    assert keys == sorted(keys) and min(keys) < 100_000 and max(keys) > 900_000
    letters = {row[0][0] for row in found.rows["codes"]}
    assert len(letters) > 12


def test_some_rows_share_a_parent_though_they_lie_far_apart(large):
    """An index finds the children of a customer; chance alone would hardly find two of its three orders."""
    _, found = sample(large)
    of_customer = {}
    for key, customer, _ in found.rows["orders"]:
        of_customer.setdefault(customer, []).append(key)
    assert sum(len(each) >= 3 for each in of_customer.values()) > 20


def test_the_same_seed_gives_the_same_rows_and_another_others(large):
    assert sample(large)[1] == sample(large)[1]
    assert sample(large)[1].rows["orders"] != sample(large, seed=18)[1].rows["orders"]


def test_long_values_are_cut_and_sizes_are_told(large):
    _, found = sample(large)
    assert {len(row[2]) for row in found.rows["customers"]} == {200}
    assert found.sizes["orders"] == 3000 and found.sizes["customers"] == 999_001
    assert found.sizes["codes"] is None


def test_small_tables_are_read_whole_whatever_they_are_like(tmp_path):
    path = awkward(tmp_path / "awkward.sqlite")
    schema, found = sample(path)
    assert found.whole == {table.name for table in schema.tables}
    own = read_rows(path, schema)
    assert {name: sorted(map(repr, rows)) for name, rows in found.rows.items()} == {
        name: sorted(map(repr, rows)) for name, rows in own.items()
    }
    assert found.sizes["order"] == 80 and found.sizes["empty one"] == 0


def test_wide_tables_are_sampled_less(tmp_path):
    """2 tables of 100 columns have a million cells for 5,000 rows; with 20 such tables it is 500."""
    script = "".join(
        f"CREATE TABLE t{n} (id INTEGER PRIMARY KEY, {', '.join(f'c{k} INT' for k in range(99))});"
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600) "
        f"INSERT INTO t{n} (id) SELECT i FROM n;"
        for n in range(20)
    )
    schema, found = sample(write_database(tmp_path / "wide.sqlite", script), most=5_000)
    assert {len(found.rows[table.name]) for table in schema.tables} <= set(range(500, 508))


def test_only_keys_and_indexes_are_searched(large):
    with closing(open_user_database(large)) as connection:
        assert searches(connection, "orders", ("id",)) and searches(connection, "orders", ("customer_id",))
        assert searches(connection, "codes", ("code",)) and not searches(connection, "orders", ("total",))


def test_a_text_that_is_no_utf8_is_told_with_its_table(tmp_path):
    script = "CREATE TABLE t (a TEXT); INSERT INTO t VALUES (CAST(x'e9' AS TEXT))"
    path = write_database(tmp_path / "latin.sqlite", script)
    with pytest.raises(UserError, match=r"^table t holds a text that is no UTF-8"):
        sample(path)

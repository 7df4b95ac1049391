"""Foreign keys inferred from names, types and values, and those that are not."""

import pytest
from awkward_database import awkward, many_tables
from sqlite_files import write_database

from sqldojo.databases.schema_model import read_schema
from sqldojo.databases.user_source import reading
from sqldojo.questions import inferred_keys
from sqldojo.questions.inferred_keys import infer_foreign_keys


def inferred(path):
    with reading(path) as connection:
        found = infer_foreign_keys(connection, read_schema(path))
    return {
        (each.table, *each.key.columns): (each.key.table, *each.key.parent_columns, each.values) for each in found
    }


SHOP = """
CREATE TABLE {customers} (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE orders (id INTEGER PRIMARY KEY, {column} {type});
INSERT INTO {customers} VALUES (1, 'Ann'), (2, 'Bob'), (7, 'Cy');
INSERT INTO orders VALUES (1, {values}), (2, 1), (3, NULL);
"""


@pytest.mark.parametrize(
    ("customers", "column"),
    [
        ("customers", "customer_id"), ("Customer", "CustomerId"), ("customer", "customer"),
        ("customers", "customer_code"), ("customers", "old_customer_id"), ("Customers", "customerID"),
    ],
)  # fmt: skip
def test_a_name_that_calls_a_table_and_values_that_are_its_keys_make_a_key(tmp_path, customers, column):
    path = write_database(
        tmp_path / "t.sqlite", SHOP.format(customers=customers, column=column, type="INTEGER", values=7)
    )
    assert inferred(path) == {("orders", column): (customers, "id", 2)}


@pytest.mark.parametrize(
    ("column", "kind", "values"),
    [
        ("customer_id", "INTEGER", 8),  # no customer has it
        ("customer_id", "TEXT", "'7'"),  # of another type
        ("client_id", "INTEGER", 7),  # another name
        ("customer_name", "INTEGER", 7),
    ],
)
def test_what_does_not_agree_is_no_key(tmp_path, column, kind, values):
    script = SHOP.format(customers="customers", column=column, type=kind, values=values)
    assert inferred(write_database(tmp_path / "t.sqlite", script)) == {}


def test_a_key_without_an_index_must_be_one_in_fact(tmp_path):
    script = "CREATE TABLE singer (Singer_ID INT, Name TEXT); CREATE TABLE song (Title TEXT, Singer_ID INT);" \
             "INSERT INTO singer VALUES (1, 'A'), (2, 'B'); INSERT INTO song VALUES ('x', 1), ('y', 1);"  # fmt: skip
    assert inferred(write_database(tmp_path / "a.sqlite", script)) == {
        ("song", "Singer_ID"): ("singer", "Singer_ID", 1)
    }
    again = script + "INSERT INTO singer VALUES (1, 'C')"
    assert inferred(write_database(tmp_path / "b.sqlite", again)) == {}


def test_large_tables_are_not_read_to_find_out(tmp_path, monkeypatch):
    script = "CREATE TABLE singer (Singer_ID INT, Name TEXT); CREATE TABLE song (Title TEXT, Singer_ID INT);" \
             "INSERT INTO singer VALUES (1, 'A'), (2, 'B'); INSERT INTO song VALUES ('x', 1), ('y', 1);"  # fmt: skip
    monkeypatch.setattr(inferred_keys, "_SMALL", 1)
    assert inferred(write_database(tmp_path / "a.sqlite", script)) == {}


def test_the_table_that_a_column_calls_by_its_name_is_meant_and_half_a_key_is_none(tmp_path):
    script = """
    CREATE TABLE orders (id INTEGER PRIMARY KEY);
    CREATE TABLE order_items (order_id INTEGER, number INTEGER, PRIMARY KEY (order_id, number));
    CREATE TABLE shipments (id INTEGER PRIMARY KEY, order_id INTEGER, order_item_id INTEGER);
    CREATE TABLE employee_details (employee_id INTEGER PRIMARY KEY, phone TEXT);
    CREATE TABLE employees (id INTEGER PRIMARY KEY, name TEXT);
    INSERT INTO orders VALUES (1), (2);
    INSERT INTO order_items VALUES (1, 1), (2, 1);
    INSERT INTO shipments VALUES (1, 1, 1), (2, 2, 2);
    INSERT INTO employees VALUES (5, 'A');
    INSERT INTO employee_details VALUES (5, '1');
    """
    assert inferred(write_database(tmp_path / "t.sqlite", script)) == {
        ("order_items", "order_id"): ("orders", "id", 2),
        ("shipments", "order_id"): ("orders", "id", 2),
        ("employee_details", "employee_id"): ("employees", "id", 1),
    }


def test_without_values_the_name_decides_alone(tmp_path):
    script = "CREATE TABLE countries (id INTEGER PRIMARY KEY); CREATE TABLE t (country INT, country_id INT);"
    assert inferred(write_database(tmp_path / "t.sqlite", script)) == {("t", "country_id"): ("countries", "id", 0)}


def test_declared_keys_are_no_matter_and_quoted_names_are_read(tmp_path):
    assert inferred(awkward(tmp_path / "awkward.sqlite")) == {("order", "group_id"): ("group", "id", 5)}


def test_each_of_sixty_tables_refers_to_the_one_before(tmp_path):
    found = inferred(many_tables(tmp_path / "many.sqlite", 60))
    assert found == {(f"t{n}", f"t{n - 1}_id"): (f"t{n - 1}", "id", 30) for n in range(1, 60)}

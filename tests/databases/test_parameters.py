import sqlite3
from contextlib import closing

import apsw
import pytest
from sqlite_files import write_database

from sqldojo.databases.execution import run_query
from sqldojo.databases.parameters import expand, pool, shared_pool
from sqldojo.errors import UserError


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "shop.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE customers (id INTEGER, city TEXT)")
        connection.executemany("INSERT INTO customers VALUES (?, ?)", [(1, "L'Aquila"), (2, None), (3, "L'Aquila")])
        connection.commit()
    return path


def test_values_become_literals_that_mean_the_same_to_sqlite(database):
    sql = expand(database, "SELECT id FROM customers WHERE city = :city AND id < :id", {"city": "L'Aquila", "id": 3})
    assert sql == "SELECT id FROM customers WHERE city = 'L''Aquila' AND id < 3"
    assert run_query(database, sql).rows == ((1,),)


@pytest.mark.parametrize(
    ("value", "literal"), [(10, "10"), (10.0, "10.0"), (2.5, "2.5"), ("10", "'10'"), (":x", "':x'")]
)
def test_types_are_kept(database, value, literal):
    assert expand(database, "SELECT :value", {"value": value}) == f"SELECT {literal}"


def test_a_parameter_used_twice_is_filled_in_twice(database):
    assert expand(database, "SELECT :n, :n + 1", {"n": 4}) == "SELECT 4, 4 + 1"


def test_a_name_in_a_text_is_no_parameter(database):
    assert expand(database, "SELECT ':city', :city", {"city": "Rome"}) == "SELECT ':city', 'Rome'"


@pytest.mark.parametrize(
    ("sql", "values", "complaint"),
    [
        ("SELECT town FROM customers", {}, "no such column: town"),
        ("SELECT id FROM customers WHERE city = :city", {}, "no value for the parameter :city"),
        ("SELECT id FROM customers", {"city": "Rome"}, "does not use :city"),
        ("", {}, "no query"),
        ("-- only a comment", {}, "no query"),
        ("SELECT 1; SELECT 2", {}, "without a semicolon"),
    ],
)
def test_sql_that_cannot_be_filled_in_is_refused(database, sql, values, complaint):
    with pytest.raises(UserError, match=complaint):
        expand(database, sql, values)


def test_expanding_runs_nothing(database):
    before = database.read_bytes()
    expand(database, "DELETE FROM customers", {})
    assert database.read_bytes() == before


def test_a_pool_is_the_first_column_without_repeats(database):
    assert pool(database, "SELECT city, id FROM customers WHERE city IS NOT NULL") == ["L'Aquila"]
    assert pool(database, "VALUES (30), (5), (30)") == [30, 5]


@pytest.mark.parametrize(("sql", "complaint"), [("SELECT town FROM customers", "no such column"),
                                                ("SELECT city FROM customers", "holds None")])  # fmt: skip
def test_a_pool_that_fails_or_holds_null_is_refused(database, sql, complaint):
    with pytest.raises(UserError, match=complaint):
        pool(database, sql)


def test_a_locked_or_damaged_file_is_not_blamed_on_the_sql(database):
    with closing(apsw.Connection(str(database))) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        with pytest.raises(UserError, match=r"shop\.sqlite: cannot be read .*locked.* close the program"):
            pool(database, "SELECT city FROM customers")
        with pytest.raises(UserError, match=r"shop\.sqlite: cannot be read .*locked"):
            expand(database, "SELECT id FROM customers", {})


def test_a_shared_pool_holds_what_every_database_has_in_the_order_of_the_first(tmp_path):
    paths = [tmp_path / f"{number}.sqlite" for number in range(2)]
    for path, towns in zip(paths, ("'Rome', 'Pisa', 'Oslo'", "'Oslo', 'Bonn', 'Rome'"), strict=True):
        values = ", ".join(f"({town})" for town in towns.split(", "))
        write_database(path, f"CREATE TABLE town (name TEXT); INSERT INTO town VALUES {values}")
    assert shared_pool(paths, "SELECT name FROM town ORDER BY rowid") == ["Rome", "Oslo"]
    assert shared_pool(paths, "SELECT name FROM town WHERE name = 'Pisa'") == []

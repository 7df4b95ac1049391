"""Each property that the adversarial instance is made for, asserted by query, and the mistakes that it tells apart."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import date, timedelta
from pathlib import Path

import apsw
import pytest

from sqldojo.databases import shop
from sqldojo.databases.families import FAMILIES, INSTANCES, family_paths
from sqldojo.databases.near_values import spelt_otherwise

COUNTS = [*range(1, shop.COUNT_THRESHOLDS[-1] + 2)]
SALES = "orders o JOIN order_items i ON i.order_id = o.id"
SPEND = f"SELECT o.customer_id, sum(i.quantity * i.unit_price) AS spend FROM {SALES} WHERE {{}} GROUP BY o.customer_id"
KEPT, ALL = "o.status <> 'cancelled' AND o.customer_id NOTNULL", "o.customer_id NOTNULL"


class Database:
    """The adversarial instance of one family, open for questions."""

    def __init__(self, family: str, connection: apsw.Connection) -> None:
        self.family = family
        self.connection = connection

    def rows(self, sql: str) -> list[tuple]:
        return self.connection.execute(sql).fetchall()

    def column(self, sql: str) -> list:
        return [row[0] for row in self.rows(sql)]

    def top(self, sql: str) -> set:
        """The keys of all rows (key, measure) that reach the largest measure."""
        rows = [row for row in self.rows(sql) if row[1] is not None]
        largest = max(measure for _, measure in rows)
        return {key for key, measure in rows if measure == largest}


@pytest.fixture(scope="module", params=FAMILIES)
def database(request: pytest.FixtureRequest, databases: Path) -> Iterator[Database]:
    path = family_paths(databases, request.param)[INSTANCES.index("adversarial")]
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        yield Database(request.param, connection)


def test_every_city_has_two_customers_of_one_name(database: Database) -> None:
    sql = "SELECT city FROM customers GROUP BY city, name HAVING count(*) = 2 AND count(DISTINCT ifnull(email, '')) = 2"
    assert {*database.column(sql)} >= {*shop.CITIES[database.family]}
    assert database.column("SELECT name FROM customers GROUP BY name HAVING count(DISTINCT city) > 1") != []


@pytest.mark.parametrize("orders", [KEPT, ALL])
def test_namesakes_are_both_top_spenders(database: Database, orders: str) -> None:
    top = database.top(SPEND.format(orders))
    names = database.column(f"SELECT name FROM customers WHERE id IN {(*top,)}")
    assert len(top) == 4 and len(set(names)) == 2
    assert sorted(names.count(name) for name in set(names)) == [2, 2]


def test_namesakes_are_the_top_spenders_of_every_place_and_others_without_cancelled_orders(database: Database) -> None:
    for column, places in (("city", shop.CITIES), ("country", shop.COUNTRIES)):
        for place in places[database.family]:
            there = f"o.customer_id IN (SELECT id FROM customers WHERE {column} = '{place}')"
            kept, everything = (database.top(SPEND.format(f"{orders} AND {there}")) for orders in (KEPT, ALL))
            for top in (kept, everything):
                names = database.column(f"SELECT name FROM customers WHERE id IN {(*top,)}")
                assert len(names) == 2 and len(set(names)) == 1, place
            assert kept & everything == set(), place


@pytest.mark.parametrize("known", ["product_id NOTNULL", "order_date NOTNULL", "status NOTNULL", "quantity > 0"])
def test_the_top_spenders_of_every_country_are_others_without_some_lines(database: Database, known: str) -> None:
    for country in shop.COUNTRIES[database.family]:
        there = f"o.customer_id IN (SELECT id FROM customers WHERE country = '{country}')"
        assert database.top(SPEND.format(there)) != database.top(SPEND.format(f"{there} AND {known}")), country


def test_the_top_spenders_of_every_country_tie_no_more_when_lines_are_rounded(database: Database) -> None:
    for country in shop.COUNTRIES[database.family]:
        spend = SPEND.format(f"o.customer_id IN (SELECT id FROM customers WHERE country = '{country}')")
        rounded = spend.replace("i.quantity * i.unit_price", "round(i.quantity * i.unit_price)")
        assert database.top(rounded) < database.top(spend), country


def test_prices_are_on_and_a_cent_beside_every_threshold(database: Database) -> None:
    prices = set(database.column("SELECT price FROM products"))
    for threshold in shop.PRICE_THRESHOLDS:
        assert {threshold - 0.01, threshold, threshold + 0.01} <= prices
        assert database.column(f"SELECT count(*) FROM products WHERE price = {threshold}")[0] > 0
        for category in shop.CATEGORIES[database.family]:
            on = f"SELECT count(*) FROM products WHERE category = '{category}' AND price = {threshold}"
            assert database.column(on)[0] > 0, category


def test_everything_in_a_category_is_a_cent_above_each_threshold_too(database: Database) -> None:
    for category in shop.CATEGORIES[database.family]:
        prices = set(database.column(f"SELECT price FROM products WHERE category = '{category}'"))
        assert {threshold + 0.01 for threshold in shop.PRICE_THRESHOLDS} | {0, None} <= prices, category


@pytest.mark.parametrize("orders", [KEPT, ALL, "o.status = 'delivered'"])
def test_spends_are_on_and_a_cent_beside_every_threshold(database: Database, orders: str) -> None:
    spends = {row[1] for row in database.rows(SPEND.format(orders))}
    for threshold in shop.SPEND_THRESHOLDS:
        assert {threshold - 0.01, threshold, threshold + 0.01} <= spends


def test_order_totals_are_on_every_threshold(database: Database) -> None:
    totals = set(database.column("SELECT sum(quantity * unit_price) FROM order_items GROUP BY order_id"))
    assert {float(threshold) for threshold in shop.SPEND_THRESHOLDS} <= totals


@pytest.mark.parametrize("threshold", shop.SPEND_THRESHOLDS)
def test_cancelled_orders_lift_someone_over_every_threshold(database: Database, threshold: int) -> None:
    kept, everything = (
        {customer for customer, spend in database.rows(SPEND.format(orders)) if (spend or 0) > threshold}
        for orders in (KEPT, ALL)
    )
    assert kept < everything


@pytest.mark.parametrize(("table", "column"), [("orders", "order_date"), ("customers", "signup_date")])
def test_dates_are_at_both_ends_of_years_and_months_and_outside_the_usual_years(
    database: Database, table: str, column: str
) -> None:
    days = set(database.column(f"SELECT {column} FROM {table}"))
    assert {f"{year}-{end}" for year in shop.YEARS for end in ("01-01", "12-31")} <= days
    firsts = [date(year, month, 1) for year in shop.YEARS for month in range(2, 13)]
    ends = [(first.isoformat(), (first - timedelta(days=1)).isoformat()) for first in firsts]
    if table == "orders":
        assert {day for pair in ends for day in pair} <= days
    else:  # each month in one year or another
        assert {first[5:7] for first, last in ends if {first, last} <= days} == {first[5:7] for first, _ in ends}
    assert {f"{shop.YEARS[0] - 1}-12-31", f"{shop.YEARS[-1] + 1}-01-01", "1970-01-01", "2099-12-31"} <= days


def test_orders_of_every_status_are_at_both_ends_of_every_year_and_outside(database: Database) -> None:
    found = set(database.rows("SELECT order_date, status FROM orders"))
    ends = [f"{year}-{end}" for year in shop.YEARS for end in ("01-01", "12-31")]
    outside = ["1999-12-31", f"{shop.YEARS[0] - 1}-12-31", f"{shop.YEARS[-1] + 1}-01-01"]
    assert {(end, status) for end in [*ends, *outside] for status in shop.STATUSES} <= found


def test_the_last_evening_of_a_year_is_in_it_and_no_range_of_days_holds_it(database: Database) -> None:
    orders = set(database.rows("SELECT order_date, status FROM orders"))
    signups = set(database.column("SELECT signup_date FROM customers"))
    for year in shop.YEARS:
        evening = f"{year}-12-31 18:30:00"
        assert {(evening, status) for status in shop.STATUSES} <= orders and evening in signups
        assert database.rows(f"SELECT strftime('%Y', '{evening}'), '{evening}' <= '{year}-12-31'") == [(str(year), 0)]


def test_no_year_has_as_many_orders_of_a_status_as_the_one_before(database: Database) -> None:
    counts = dict.fromkeys(((status, year) for status in shop.STATUSES for year in shop.YEARS), 0)
    sql = "SELECT status, CAST(substr(order_date, 1, 4) AS INTEGER), count(*) FROM orders GROUP BY 1, 2"
    counts |= {(status, year): count for status, year, count in database.rows(sql)}
    for status in (status for status in shop.STATUSES if status != "cancelled"):  # which no such question names
        for year in shop.YEARS[1:]:
            assert counts[status, year] != counts[status, year - 1], (status, year)


def test_every_column_that_allows_null_has_some(database: Database) -> None:
    for table in shop.SCHEMA:
        for _, name, _, not_null, _, key in database.rows(f"PRAGMA table_info({table})"):
            if not (not_null or key):
                missing = database.column(f"SELECT count(*) FROM {table} WHERE {name} IS NULL")[0]
                assert missing > 0, f"{table}.{name}"


@pytest.mark.parametrize(
    ("table", "reference", "in_table"),
    [
        ("customers", "customer_id", "orders"),
        ("products", "product_id", "order_items"),
        ("orders", "order_id", "order_items"),
    ],
)
def test_some_have_no_partner_and_not_in_finds_none_of_them(
    database: Database, table: str, reference: str, in_table: str
) -> None:
    partner = f"SELECT 1 FROM {in_table} WHERE {reference} = {table}.id"
    assert database.column(f"SELECT count(*) FROM {table} WHERE NOT EXISTS ({partner})")[0] >= 4
    assert database.column(f"SELECT count(*) FROM {table} WHERE id NOT IN (SELECT {reference} FROM {in_table})") == [0]


def test_every_category_sells_and_some_customers_only_cancel(database: Database) -> None:
    sold = "SELECT DISTINCT category FROM products JOIN order_items i ON i.product_id = products.id"
    assert {*shop.CATEGORIES[database.family]} <= {*database.column(sold)}
    only_cancelled = "HAVING min(status) = 'cancelled' AND max(status) = 'cancelled'"
    assert len(database.column(f"SELECT customer_id FROM orders GROUP BY customer_id {only_cancelled}")) >= 2


@pytest.mark.parametrize("measure", ["sum(i.quantity * i.unit_price)", "sum(i.quantity)"])
@pytest.mark.parametrize("key", ["p.category", "p.id", "c.id", "c.city", "c.country"])
def test_cancelled_orders_change_who_wins(database: Database, key: str, measure: str) -> None:
    joined = f"{SALES} JOIN products p ON p.id = i.product_id JOIN customers c ON c.id = o.customer_id"
    kept, everything = (
        database.top(f"SELECT {key}, {measure} FROM {joined} WHERE {which} AND {key} NOTNULL GROUP BY {key}")
        for which in (KEPT, ALL)
    )
    assert len(kept) >= 2 and len(everything) >= 2
    assert kept & everything == set()


TOPS = {
    "most expensive product": "SELECT id, price FROM products",
    "cheapest product": "SELECT id, -price FROM products",
    "first signup": "SELECT id, -julianday(signup_date) FROM customers",
    "last signup": "SELECT id, julianday(signup_date) FROM customers",
    "first order": "SELECT id, -julianday(order_date) FROM orders",
    "last order": "SELECT id, julianday(order_date) FROM orders",
    "city with most customers": "SELECT city, count(*) FROM customers WHERE city NOTNULL GROUP BY city",
    "city with fewest customers": "SELECT city, -count(*) FROM customers WHERE city NOTNULL GROUP BY city",
    "country with most customers": "SELECT country, count(*) FROM customers WHERE country NOTNULL GROUP BY country",
    "category with most products": "SELECT category, count(*) FROM products WHERE category NOTNULL GROUP BY category",
    "category with the highest average price": "SELECT category, avg(price) FROM products GROUP BY category",
    "customer with most orders": f"SELECT customer_id, count(*) FROM orders o WHERE {ALL} GROUP BY customer_id",
    "customer with most lines": f"SELECT customer_id, count(*) FROM {SALES} WHERE {ALL} GROUP BY customer_id",
    "largest order": "SELECT order_id, sum(quantity * unit_price) FROM order_items GROUP BY order_id",
    "product in most lines": "SELECT product_id, count(*) FROM order_items WHERE product_id > 0 GROUP BY 1",
    "most pieces sold": "SELECT product_id, sum(quantity) FROM order_items WHERE product_id > 0 GROUP BY 1",
    "year with most orders": "SELECT substr(order_date, 1, 4), count(*) FROM orders GROUP BY 1",
    "year with most signups": "SELECT substr(signup_date, 1, 4), count(*) FROM customers GROUP BY 1",
    "status with most orders": "SELECT status, count(*) FROM orders GROUP BY status",
}


@pytest.mark.parametrize("title", TOPS)
def test_every_top_is_tied(database: Database, title: str) -> None:
    assert len(database.top(TOPS[title])) >= 2


def test_the_dearest_products_of_every_category_tie_and_two_share_a_name(database: Database) -> None:
    for category in shop.CATEGORIES[database.family]:
        dearest = database.top(f"SELECT id, price FROM products WHERE category = '{category}'")
        names = database.column(f"SELECT name FROM products WHERE id IN {(*dearest,)}")
        assert (len(names), len(set(names))) == (3, 2), category


ORDERED = "EXISTS (SELECT 1 FROM orders WHERE customer_id = c.id)"
SOLD = "EXISTS (SELECT 1 FROM order_items WHERE product_id = p.id)"
CAPITAL = f"lower(status) IN {shop.STATUSES} AND status NOT IN (lower(status), upper(status))"
BY_STATUS = "orders o JOIN customers c ON c.id = o.customer_id GROUP BY c.id, o.status HAVING count(*) > 1"
# What each city (and so each country), category or year must have: a query for those that have it.
EVERYWHERE = {
    "two namesakes without orders": (
        "city", f"SELECT city FROM customers c WHERE NOT {ORDERED} GROUP BY city, name HAVING count(*) > 1"
    ),
    "someone without orders named like a buyer": (
        "city",
        f"SELECT c.city FROM customers c JOIN customers b ON b.city = c.city AND b.name = c.name "
        f"WHERE NOT {ORDERED} AND b.id IN (SELECT customer_id FROM orders)",
    ),
    "two namesakes without an email address": (
        "city", "SELECT city FROM customers WHERE email IS NULL GROUP BY city, name HAVING count(*) > 1"
    ),
    "two namesakes of one signup date": (
        "city", "SELECT city FROM customers GROUP BY city, name, signup_date HAVING count(*) > 1"
    ),
    "someone whose every order is cancelled": (
        "city",
        "SELECT c.city FROM customers c JOIN orders o ON o.customer_id = c.id "
        "GROUP BY c.id HAVING min(status) = 'cancelled' AND max(status) = 'cancelled'",
    ),
    "someone whose orders are all without items": (
        "city",
        f"SELECT c.city FROM customers c WHERE {ORDERED} AND NOT EXISTS (SELECT 1 FROM {SALES} "
        "WHERE o.customer_id = c.id)",
    ),
    "two namesakes with several orders of each status": (
        "city",
        f"SELECT city FROM (SELECT c.id, c.city, c.name, o.status FROM {BY_STATUS}) "
        f"GROUP BY city, name HAVING count(*) = {2 * len(shop.STATUSES)}",
    ),
    "someone without a city": ("country", "SELECT country FROM customers WHERE city IS NULL"),
    "two of one name that never sold": (
        "category", f"SELECT category FROM products p WHERE NOT {SOLD} GROUP BY category, name HAVING count(*) > 1"
    ),
    "something never sold named like something sold": (
        "category",
        f"SELECT p.category FROM products p JOIN products s ON s.category = p.category AND s.name = p.name "
        f"WHERE NOT {SOLD} AND s.id IN (SELECT product_id FROM order_items)",
    ),
    "a sale in an order of each status": (
        "category",
        f"SELECT category FROM products p JOIN (SELECT * FROM {SALES}) s ON s.product_id = p.id "
        f"WHERE status IN {shop.STATUSES} GROUP BY category HAVING count(DISTINCT status) = {len(shop.STATUSES)}",
    ),
    "something dear that never sold": (
        "category", f"SELECT category FROM products p WHERE NOT {SOLD} AND price > {shop.PRICE_THRESHOLDS[-1]}"
    ),
    "something sold only in a cancelled order": (
        "category",
        f"SELECT category FROM products p JOIN (SELECT * FROM {SALES}) s ON s.product_id = p.id "
        "GROUP BY p.id HAVING min(status) = 'cancelled' AND max(status) = 'cancelled'",
    ),
    "two things cheaper than every threshold": (
        "category",
        f"SELECT category FROM products WHERE price < {shop.PRICE_THRESHOLDS[0]} GROUP BY category "
        "HAVING count(*) > 1",
    ),
    **{
        f"a sale without {missing}": (
            "category",
            "SELECT category FROM products p JOIN order_items i ON i.product_id = p.id "
            f"LEFT JOIN orders o ON o.id = i.order_id WHERE {column} IS NULL AND {others} NOTNULL",
        )
        for missing, column, others in (
            ("an order", "i.order_id", "p.id"),
            ("a customer", "o.customer_id", "o.status"),
            ("a status", "o.status", "o.customer_id"),
        )
    },
    "someone of whom nothing else is known, nor of the order": (
        "city",
        "SELECT city FROM customers WHERE country IS NULL AND email IS NULL AND signup_date IS NULL "
        "AND id IN (SELECT customer_id FROM orders WHERE order_date IS NULL AND status IS NULL)",
    ),
    "someone of whom nothing else is known, with orders of each status without a date": (
        "country",
        "SELECT country FROM customers c JOIN orders o ON o.customer_id = c.id WHERE city IS NULL AND email IS NULL "
        "AND signup_date IS NULL GROUP BY c.id HAVING count(order_date) = 0 "
        f"AND count(DISTINCT status) = {len(shop.STATUSES)}",
    ),
    "someone of whom nothing else is known, without orders": (
        "country",
        "SELECT country FROM customers c WHERE city IS NULL AND email IS NULL AND signup_date IS NULL "
        f"AND NOT {ORDERED}",
    ),
    "someone whose orders have no status": (
        "country",
        "SELECT country FROM customers c JOIN orders o ON o.customer_id = c.id GROUP BY c.id HAVING count(status) = 0",
    ),
    "someone whose orders have statuses that only look like one, or none": (
        "country",
        "SELECT country FROM customers c JOIN orders o ON o.customer_id = c.id GROUP BY c.id "
        f"HAVING max(status IS NULL) AND NOT max(ifnull(status, '') IN {shop.STATUSES}) AND "
        f"count(DISTINCT iif({CAPITAL}, status, NULL)) = {len(shop.STATUSES)}",
    ),
    "one of the dearest that never sold": (
        "category",
        f"SELECT category FROM products p WHERE NOT {SOLD} AND price = (SELECT max(price) FROM products "
        "WHERE category = p.category)",
    ),
    "something without a price that never sold": (
        "category", f"SELECT category FROM products p WHERE NOT {SOLD} AND price IS NULL"
    ),
    "a sale without a price": (
        "category",
        "SELECT category FROM products p JOIN order_items i ON i.product_id = p.id WHERE unit_price IS NULL "
        "AND quantity > 0",
    ),
    "something taken back": (
        "category", "SELECT category FROM products p JOIN order_items i ON i.product_id = p.id WHERE quantity < 0"
    ),
    "a sale on an unknown day": (
        "category",
        f"SELECT category FROM products p JOIN (SELECT * FROM {SALES}) s ON s.product_id = p.id "
        "WHERE order_date IS NULL AND status <> 'cancelled' AND quantity > 0",
    ),
    "a signup of nowhere": ("year", "SELECT substr(signup_date, 1, 4) FROM customers WHERE country IS NULL"),
    "two namesakes of one city": (
        "year",
        "SELECT substr(signup_date, 1, 4) FROM customers WHERE city NOTNULL "
        "GROUP BY substr(signup_date, 1, 4), city, name HAVING count(*) > 1",
    ),
    "an order of each status in a capital": (
        "year",
        f"SELECT substr(order_date, 1, 4) FROM orders WHERE {CAPITAL} "
        f"GROUP BY 1 HAVING count(DISTINCT status) = {len(shop.STATUSES)}",
    ),
    "an order without a status": ("year", "SELECT substr(order_date, 1, 4) FROM orders WHERE status IS NULL"),
    "orders of each status without a customer": (
        "year",
        "SELECT substr(order_date, 1, 4) FROM orders WHERE customer_id IS NULL "
        f"GROUP BY 1 HAVING count(DISTINCT status) = {len(shop.STATUSES)}",
    ),
    "someone with several orders of each status": (
        "year",
        "SELECT year FROM (SELECT substr(order_date, 1, 4) AS year, customer_id, status FROM orders "
        "WHERE customer_id NOTNULL GROUP BY 1, 2, 3 HAVING count(*) > 1) "
        f"GROUP BY year, customer_id HAVING count(status) = {len(shop.STATUSES)}",
    ),
}


@pytest.mark.parametrize("trap", EVERYWHERE)
def test_every_value_that_a_question_can_name_has_the_trap(database: Database, trap: str) -> None:
    kind, sql = EVERYWHERE[trap]
    values = {
        "city": shop.CITIES[database.family],
        "country": shop.COUNTRIES[database.family],
        "category": shop.CATEGORIES[database.family],
        "year": map(str, shop.YEARS),
    }[kind]
    assert {*values} <= {*database.column(sql)}


NAMED = (
    ("city", "customers", shop.CITIES), ("country", "customers", shop.COUNTRIES),
    ("category", "products", shop.CATEGORIES), ("status", "orders", dict.fromkeys(FAMILIES, shop.STATUSES)),
)  # fmt: skip


@pytest.mark.parametrize(("column", "table", "values"), NAMED, ids=[column for column, _, _ in NAMED])
def test_every_value_has_others_that_only_look_like_it(
    database: Database, column: str, table: str, values: dict[str, tuple[str, ...]]
) -> None:
    """`=` tells them apart; LIKE, LOWER, a search within the text and a range of texts take them in."""
    found = set(database.column(f"SELECT {column} FROM {table} WHERE {column} NOTNULL"))
    for value in values[database.family]:
        others = found & set(spelt_otherwise(value))
        assert value in found and others == set(spelt_otherwise(value)) and value not in others
        assert {other.lower() for other in others} == {value.lower(), f"{value} (old)".lower()}
        assert min(others) < value < max(others)


def test_places_that_only_look_like_one_have_who_would_be_listed_with_it(database: Database) -> None:
    spend = "(SELECT sum(quantity * unit_price) FROM orders o JOIN order_items i ON i.order_id = o.id WHERE {}) > {}"
    for country in shop.COUNTRIES[database.family]:
        there = f"o.customer_id IN (SELECT id FROM customers WHERE country = '{country}')"
        top = max(row[1] for row in database.rows(SPEND.format(there)) if row[1])
        for other in (*spelt_otherwise(country)[:2], None):
            is_other = f"country IS {'NULL' if other is None else repr(other)}"
            more = spend.format("o.customer_id = c.id", top)
            spenders = database.column(f"SELECT id FROM customers c WHERE {is_other} AND {more}")
            assert spenders, other
            statuses = f"SELECT count(DISTINCT status) FROM orders WHERE customer_id = {spenders[0]}"
            assert database.column(statuses) == [len(shop.STATUSES)]
            assert database.column(f"SELECT count(*) FROM customers c WHERE {is_other} AND NOT {ORDERED}")[0] > 0
    for city in shop.CITIES[database.family]:
        for other in spelt_otherwise(city):
            assert database.column(f"SELECT count(*) FROM customers c WHERE city = '{other}' AND {ORDERED}")[0] > 0


def test_categories_that_only_look_like_one_have_what_would_be_listed_with_it(database: Database) -> None:
    for category in shop.CATEGORIES[database.family]:
        here = f"FROM products WHERE category = '{category}'"
        names, (top,) = set(database.column(f"SELECT name {here}")), database.column(f"SELECT max(price) {here}")
        for other in spelt_otherwise(category):
            found = database.rows(f"SELECT price, name, {SOLD} FROM products p WHERE category = '{other}'")
            assert {name for _, name, _ in found} <= names
            assert sorted((price > top) - (price < top) for price, _, _ in found) == [-1, 0, 1]
            assert [sold for price, _, sold in sorted(found)] == [0, 0, 1]
            assert min(found)[0] < shop.PRICE_THRESHOLDS[0]
        assert (top,) in database.rows("SELECT price FROM products WHERE category IS NULL")


def test_an_empty_text_is_a_value_and_not_a_missing_one(database: Database) -> None:
    assert database.column("SELECT count(*) FROM customers WHERE city = ''")[0] > shop.COUNT_THRESHOLDS[-1]
    assert database.column("SELECT min(price) FROM products WHERE category = ''")[0] < shop.PRICE_THRESHOLDS[0]


def test_there_is_a_category_for_each_price_that_has_nothing_cheaper_and_nothing_dearer(database: Database) -> None:
    one_price = "SELECT min(price) FROM products GROUP BY category HAVING min(price) = max(price)"
    found = set(database.column(one_price))
    assert {price + cent for price in shop.PRICE_THRESHOLDS for cent in (0, -0.01)} | {0} <= found
    assert database.column("SELECT category FROM products GROUP BY category HAVING count(price) = 0") != []
    nowhere = database.column("SELECT price FROM products WHERE category IS NULL AND price NOTNULL")
    assert min(nowhere) < shop.PRICE_THRESHOLDS[0] and max(nowhere) > shop.PRICE_THRESHOLDS[-1]


@pytest.mark.parametrize("key", ["customers GROUP BY city", "customers GROUP BY country", "products GROUP BY category"])
def test_groups_of_one_more_than_each_count_have_a_name_less(database: Database, key: str) -> None:
    sizes = set(database.rows(f"SELECT count(*), count(DISTINCT name) FROM {key}"))
    assert {(count + 1, count) for count in shop.COUNT_THRESHOLDS} <= sizes
    assert {count for count, _ in sizes} >= {*shop.COUNT_THRESHOLDS}


@pytest.mark.parametrize("column", ["email", "country", "signup_date"])
def test_a_city_of_one_more_than_each_count_has_a_value_less(database: Database, column: str) -> None:
    sizes = set(database.rows(f"SELECT count(*), count({column}) FROM customers WHERE city NOTNULL GROUP BY city"))
    for count in shop.COUNT_THRESHOLDS:
        assert any(size == count + 1 and known <= count for size, known in sizes), count
    days = database.rows("SELECT count(*), count(DISTINCT signup_date) FROM customers WHERE signup_date NOTNULL "
                         "AND city NOTNULL GROUP BY city HAVING count(*) > count(DISTINCT signup_date)")  # fmt: skip
    assert days != []


def test_someone_of_whom_nothing_is_known_orders_more_often_than_any_count(database: Database) -> None:
    sql = (
        "SELECT count(*), count(order_date), count(status) FROM orders JOIN customers c ON c.id = customer_id "
        "WHERE coalesce(email, city, country, signup_date) IS NULL GROUP BY c.id ORDER BY 1 DESC LIMIT 1"
    )
    ((orders, dates, statuses),) = database.rows(sql)
    assert orders > shop.COUNT_THRESHOLDS[-1] and (dates, statuses) == (0, 0)


@pytest.mark.parametrize("column", ["city", "country"])
def test_more_customers_are_of_nowhere_than_any_count(database: Database, column: str) -> None:
    nowhere = f"SELECT count(*) FROM customers WHERE {column} IS NULL"
    assert database.column(nowhere)[0] > shop.COUNT_THRESHOLDS[-1]


def test_it_is_small_enough_to_be_asked_thousands_of_times(databases: Path, database: Database) -> None:
    """A model may write a subquery for each row: orders times items must stay far below the steps a query may take."""
    orders, items, customers = (
        database.column(f"SELECT count(*) FROM {table}")[0] for table in ("orders", "order_items", "customers")
    )
    assert orders * items < 2_600_000 and customers < 600
    path = family_paths(databases, database.family)[INSTANCES.index("adversarial")]
    assert path.stat().st_size < 250_000


@pytest.mark.parametrize(
    ("counted", "sql"),
    [
        ("customers of a city", "SELECT count(*) FROM customers GROUP BY city"),
        ("products of a category", "SELECT count(*) FROM products GROUP BY category"),
        ("orders of a customer", f"SELECT count(*) FROM orders o WHERE {ALL} GROUP BY customer_id"),
        ("orders kept by a customer", f"SELECT count(*) FROM orders o WHERE {KEPT} GROUP BY customer_id"),
        ("lines of an order", "SELECT count(*) FROM order_items GROUP BY order_id"),
        ("orders of a product", "SELECT count(DISTINCT order_id) FROM order_items GROUP BY product_id"),
        ("buyers of a product", f"SELECT count(DISTINCT customer_id) FROM {SALES} GROUP BY product_id"),
        (
            "categories of a customer",
            f"SELECT count(DISTINCT category) FROM {SALES} JOIN products p ON p.id = product_id GROUP BY customer_id",
        ),
    ],
)
def test_counts_are_on_and_beside_every_threshold(database: Database, counted: str, sql: str) -> None:
    least = shop.COUNT_THRESHOLDS[0] if counted in ("customers of a city", "products of a category") else 1
    counts = set(database.column(sql))
    assert {*range(least, shop.COUNT_THRESHOLDS[-1] + 1)} <= counts
    assert max(counts) > shop.COUNT_THRESHOLDS[-1]


MISTAKES = {
    "grouping by name": (
        "SELECT name FROM orders o JOIN customers c ON c.id = o.customer_id GROUP BY c.id HAVING count(*) > {}",
        "SELECT name FROM orders o JOIN customers c ON c.id = o.customer_id GROUP BY c.name HAVING count(*) > {}",
        shop.COUNT_THRESHOLDS,
    ),
    "counting lines for orders": (
        f"SELECT count(*) FROM (SELECT 1 FROM {SALES} GROUP BY customer_id HAVING count(DISTINCT o.id) > {{}})",
        f"SELECT count(*) FROM (SELECT 1 FROM {SALES} GROUP BY customer_id HAVING count(*) > {{}})",
        shop.COUNT_THRESHOLDS,
    ),
    "counting lines for pieces": (
        "SELECT count(*) FROM (SELECT 1 FROM order_items GROUP BY product_id HAVING sum(quantity) > {})",
        "SELECT count(*) FROM (SELECT 1 FROM order_items GROUP BY product_id HAVING count(*) > {})",
        shop.COUNT_THRESHOLDS,
    ),
    "joining away orders without items": (
        "SELECT count(*) FROM (SELECT 1 FROM orders GROUP BY customer_id HAVING count(*) > {})",
        f"SELECT count(*) FROM (SELECT 1 FROM {SALES} GROUP BY customer_id HAVING count(DISTINCT o.id) > {{}})",
        shop.COUNT_THRESHOLDS,
    ),
    "counting a column for rows": (
        "SELECT count(*) FROM customers WHERE id > {}", "SELECT count(email) FROM customers WHERE id > {}", [0]
    ),
    "today's price for the price paid": (
        "SELECT count(*) FROM (SELECT 1 FROM order_items GROUP BY order_id HAVING sum(quantity * unit_price) > {})",
        "SELECT count(*) FROM (SELECT 1 FROM order_items i JOIN products p ON p.id = product_id GROUP BY order_id "
        "HAVING sum(quantity * price) > {})",
        shop.SPEND_THRESHOLDS,
    ),
    "at least for more than, in prices": (
        "SELECT count(*) FROM products WHERE price > {}", "SELECT count(*) FROM products WHERE price >= {}",
        shop.PRICE_THRESHOLDS,
    ),
    "a year too open at its end": (
        "SELECT count(*) FROM customers WHERE strftime('%Y', signup_date) = '{0}'",
        "SELECT count(*) FROM customers WHERE signup_date >= '{0}-01-01' AND signup_date < '{0}-12-31'",
        shop.YEARS,
    ),
    "a year too open at its start": (
        "SELECT count(*) FROM orders WHERE strftime('%Y', order_date) = '{0}'",
        "SELECT count(*) FROM orders WHERE order_date > '{0}-01-01' AND order_date <= '{0}-12-31'",
        shop.YEARS,
    ),
    "from a year on for in it": (
        "SELECT count(*) FROM orders WHERE strftime('%Y', order_date) = '{0}'",
        "SELECT count(*) FROM orders WHERE order_date >= '{0}-01-01'",
        shop.YEARS,
    ),
    "duplicates kept": (
        "SELECT count(DISTINCT customer_id) FROM orders o JOIN order_items i ON i.order_id = o.id WHERE quantity > {}",
        "SELECT count(customer_id) FROM orders o JOIN order_items i ON i.order_id = o.id WHERE quantity > {}",
        [0, 1],
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_wrong_query_gives_another_answer(database: Database, mistake: str) -> None:
    right, wrong, values = MISTAKES[mistake]
    for value in values:
        answers = [sorted(database.column(sql.format(value))) for sql in (right, wrong)]
        assert answers[0] != answers[1], value


def test_lines_repeat_within_an_order_and_buyers_return(database: Database) -> None:
    repeated = "SELECT 1 FROM order_items WHERE product_id NOTNULL GROUP BY order_id, product_id HAVING count(*) > 1"
    again = f"SELECT 1 FROM {SALES} GROUP BY customer_id, product_id HAVING count(DISTINCT o.id) > 1"
    assert len(database.rows(repeated)) > 10
    assert len(database.rows(again)) > 10


def test_one_product_name_occurs_in_every_category(database: Database) -> None:
    name = shop.VOCABULARIES[database.family].common_product
    categories = database.column(f"SELECT category FROM products WHERE name = '{name}'")
    assert sorted(categories) == sorted(shop.CATEGORIES[database.family])
    prices = database.column(f"SELECT DISTINCT price FROM products WHERE name = '{name}'")
    assert len(prices) > 3

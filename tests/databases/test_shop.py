"""The shop's vocabularies and its ordinary rows: families without a common value, instances with all of theirs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import apsw
import pytest

from sqldojo.databases import shop
from sqldojo.databases.families import ADVERSARIAL, EVALUATION, FAMILIES, INSTANCES, ORDINARY, TRAIN, family_paths
from sqldojo.databases.near_values import spelt_otherwise

VALUES = {
    "customers": ("name", "email", "city", "country"),
    "products": ("name", "category"),
}
INSTANCES_OF_FAMILIES = [(family, number) for family in FAMILIES for number in range(len(INSTANCES))]


@contextmanager
def reading(path: Path) -> Iterator[apsw.Connection]:
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        yield connection


def column(path: Path, sql: str) -> list:
    with reading(path) as connection:
        return [row[0] for row in connection.execute(sql)]


def words(family: str) -> set[str]:
    """Every word of the family's vocabulary in lower case."""
    vocabulary = shop.VOCABULARIES[family]
    texts = [*vocabulary.countries, *vocabulary.cities, *vocabulary.categories, *vocabulary.adjectives]
    texts += [place for country, cities in vocabulary.rare_places.items() for place in (country, *cities)]
    texts += [noun for nouns in vocabulary.products.values() for noun in nouns]
    texts += [*vocabulary.first_names, *vocabulary.last_names, vocabulary.common_product, vocabulary.email_domain]
    return {word for text in texts for word in text.lower().split()}


def test_families_share_no_word() -> None:
    assert words(TRAIN) & words(EVALUATION) == set()


@pytest.mark.parametrize("family", FAMILIES)
def test_values_are_enough_unique_and_paired(family: str) -> None:
    vocabulary = shop.VOCABULARIES[family]
    for values, least in ((shop.CITIES, 10), (shop.COUNTRIES, 5), (shop.CATEGORIES, 8)):
        assert len(set(values[family])) == len(values[family]) >= least
        assert len(values[family]) % 2 == 0
    for names in (vocabulary.first_names, vocabulary.last_names, vocabulary.adjectives):
        assert len(set(names)) == len(names)
    nouns = [noun for nouns in vocabulary.products.values() for noun in nouns]
    assert len(set(nouns)) == len(nouns)
    cities = [len(vocabulary.places[country]) for country in vocabulary.countries]
    assert cities[::2] == cities[1::2]
    assert {vocabulary.country_of(city) for city in vocabulary.cities} == set(vocabulary.countries)
    rare_cities = [city for cities in vocabulary.rare_places.values() for city in cities]
    places = [*vocabulary.countries, *vocabulary.cities, *vocabulary.rare_places, *rare_cities]
    assert len(set(places)) == len(places)
    assert len(rare_cities) == len(vocabulary.rare_places) == 2 * (len(shop.COUNT_THRESHOLDS) + 1)
    assert set(vocabulary.rare_categories) & set(vocabulary.categories) == set()


@pytest.mark.parametrize("table", sorted(VALUES))
def test_no_value_of_one_family_occurs_in_the_other(databases: Path, table: str) -> None:
    for name in VALUES[table]:
        sql = f"SELECT DISTINCT {name} FROM {table} WHERE {name} NOTNULL"
        train, evaluation = (
            {value for path in family_paths(databases, family) for value in column(path, sql)} for family in FAMILIES
        )
        assert len(train) > 5 and len(evaluation) > 5
        assert {value.lower() for value in train} & {value.lower() for value in evaluation} <= {""}


@pytest.mark.parametrize(("family", "number"), INSTANCES_OF_FAMILIES)
def test_every_instance_has_every_value_and_is_sound(databases: Path, family: str, number: int) -> None:
    path = family_paths(databases, family)[number]
    vocabulary = shop.VOCABULARIES[family]
    rare_cities = {city for cities in vocabulary.rare_places.values() for city in cities}
    for table, name, expected, rare in (
        ("customers", "city", shop.CITIES[family], rare_cities),
        ("customers", "country", shop.COUNTRIES[family], set(vocabulary.rare_places)),
        ("products", "category", shop.CATEGORIES[family], set(vocabulary.rare_categories)),
        ("orders", "status", shop.STATUSES, set()),
    ):
        found = set(column(path, f"SELECT {name} FROM {table} WHERE {name} IS NOT NULL"))
        assert found >= set(expected)
        near = {"", *(other for value in expected for other in spelt_otherwise(value))}
        assert found - set(expected) <= (rare | near if INSTANCES[number] == ADVERSARIAL else set())
    for table, name in (("customers", "signup_date"), ("orders", "order_date")):
        years = set(column(path, f"SELECT CAST(strftime('%Y', {name}) AS INTEGER) FROM {table}"))
        assert years >= set(shop.YEARS)
        # Real ISO days, in the adversarial instance some with a time.
        day = f"substr({name}, 1, 10)" if INSTANCES[number] == ADVERSARIAL else name
        assert column(path, f"SELECT count(*) FROM {table} WHERE {day} IS NOT date({name})") == [0]
    with reading(path) as connection:
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        places = set(connection.execute("SELECT city, country FROM customers WHERE city NOTNULL AND country NOTNULL"))
        statements = connection.execute("SELECT sql FROM sqlite_schema ORDER BY rowid").fetchall()
    assert {city for city, _ in places} >= set(shop.CITIES[family])
    if INSTANCES[number] == ADVERSARIAL:
        spelt = {city: zip(spelt_otherwise(city), spelt_otherwise(vocabulary.country_of(city)), strict=True)
                 for city in vocabulary.cities}  # fmt: skip
        places -= {place for each in spelt.values() for place in each}
    assert all(vocabulary.country_of(city) == country for city, country in places)
    assert [sql for (sql,) in statements] == list(shop.SCHEMA.values())


@pytest.mark.parametrize(("family", "number"), INSTANCES_OF_FAMILIES)
def test_money_is_whole_cents_and_sums_do_not_blur_thresholds(databases: Path, family: str, number: int) -> None:
    path = family_paths(databases, family)[number]
    for table, name in (("products", "price"), ("order_items", "unit_price")):
        amounts = column(path, f"SELECT {name} FROM {table} WHERE {name} NOTNULL")
        assert amounts and all(amount == round(amount, 2) for amount in amounts)
    sums = "sum(quantity * unit_price) AS reals, sum(quantity * CAST(round(unit_price * 100) AS INTEGER))"
    with reading(path) as connection:
        for key in ("customer_id", "order_id", "product_id", "status", "order_date"):
            rows = connection.execute(
                f"SELECT {sums} FROM orders JOIN order_items ON order_id = orders.id GROUP BY {key} HAVING reals > 0"
            ).fetchall()
            for threshold in shop.SPEND_THRESHOLDS:
                assert all((real > threshold) == (cents > threshold * 100) for real, cents in rows)
                assert all((real >= threshold) == (cents >= threshold * 100) for real, cents in rows)


@pytest.mark.parametrize("family", FAMILIES)
def test_ordinary_instances_have_what_real_shops_have(databases: Path, family: str) -> None:
    for path in family_paths(databases, family)[: len(ORDINARY)]:
        namesakes = column(path, "SELECT count(*) FROM customers GROUP BY name HAVING count(*) > 1")
        assert 1 <= len(namesakes) <= 12
        for sql in (
            "SELECT count(*) FROM customers WHERE email IS NULL",
            "SELECT count(*) FROM customers WHERE id NOT IN (SELECT customer_id FROM orders)",
            "SELECT count(*) FROM products WHERE id NOT IN (SELECT product_id FROM order_items)",
            "SELECT count(*) FROM order_items JOIN products ON products.id = product_id WHERE price <> unit_price",
            f"SELECT count(*) FROM products WHERE price IN {shop.PRICE_THRESHOLDS}",
        ):
            assert column(path, sql)[0] > 0, sql
        early = "SELECT count(*) FROM orders o JOIN customers c ON c.id = customer_id WHERE order_date < signup_date"
        assert column(path, early) == [0]
        outside = f"SELECT count(*) FROM orders WHERE CAST(substr(order_date, 1, 4) AS INTEGER) NOT IN {shop.YEARS}"
        assert column(path, outside) == [0]


@pytest.mark.parametrize("family", FAMILIES)
def test_every_country_and_category_is_new_in_one_ordinary_instance(databases: Path, family: str) -> None:
    """There its sums are NULL, not 0: a category has sold nothing, and of what a country bought no number is known."""
    sales = "orders o JOIN order_items i ON i.order_id = o.id"
    sold = "SELECT product_id FROM order_items"
    unsold = f"SELECT category FROM products WHERE category NOTNULL GROUP BY category HAVING NOT max(id IN ({sold}))"
    unknown = (
        f"SELECT country FROM {sales} JOIN customers c ON c.id = o.customer_id GROUP BY country "
        "HAVING count(quantity) = 0 AND count(unit_price) > 0"
    )
    first, *others = family_paths(databases, family)[: len(ORDINARY)]
    for sql, values in ((unsold, shop.CATEGORIES[family]), (unknown, shop.COUNTRIES[family])):
        new = [column(path, sql) for path in others]
        assert sorted(new[0] + new[1]) == sorted(values) and len(new[0]) == len(new[1])
        assert column(first, sql) == []


@pytest.mark.parametrize("family", FAMILIES)
def test_ordinary_instances_differ_in_skew(databases: Path, family: str) -> None:
    """The busiest tenth of the customers has a larger share of the orders in each next instance."""
    shares = []
    for path in family_paths(databases, family)[: len(ORDINARY)]:
        counts = sorted(column(path, "SELECT count(*) FROM orders GROUP BY customer_id"), reverse=True)
        shares.append(sum(counts[: len(counts) // 10]) / sum(counts))
    assert shares[2] > shares[0] * 1.2

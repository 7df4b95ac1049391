"""The rows of an ordinary shop: plausible, of a given size and skew, with the odd namesake and missing email.

Every city, country, category and usual year occurs in every instance, so a question about any of them has something
to find. In the second and third instance one half each of the countries and categories is new: nothing is sold there.
Weights are whole numbers: `pow` and `exp` differ between C libraries in the last bit.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from sqldojo.databases.rows import ShopRows
from sqldojo.databases.shop import PRICE_THRESHOLDS, STATUSES, YEARS, Vocabulary


@dataclass(frozen=True)
class Shape:
    """How one ordinary instance differs from the others."""

    percent: int  # size, of the sizes in params
    skew: int  # 0: all customers, cities and products alike; the larger, the more the first of them dominate
    growth: int  # 0: as many signups in each year; the larger, the more in later years
    statuses: tuple[int, ...]  # weights, in the order of STATUSES
    new: int | None = None  # every other country and category, from this one on, is too new to have sold anything


SHAPES = {
    "ordinary_1": Shape(percent=60, skew=0, growth=0, statuses=(15, 15, 50, 10, 10)),
    "ordinary_2": Shape(percent=100, skew=1, growth=1, statuses=(6, 10, 62, 16, 6), new=0),
    "ordinary_3": Shape(percent=160, skew=3, growth=3, statuses=(8, 22, 55, 5, 10), new=1),
}


def ordinary_rows(
    rng: random.Random, vocabulary: Vocabulary, shape: Shape, *, customers: int, products: int, orders: int
) -> ShopRows:
    """The rows of a shop with `shape.percent` percent of these sizes."""
    rows = ShopRows()
    _add_products(rows, rng, vocabulary, shape, products * shape.percent // 100)
    signups = _add_customers(rows, rng, vocabulary, shape, customers * shape.percent // 100)
    _add_orders(rows, rng, vocabulary, shape, signups, orders * shape.percent // 100)
    if shape.new is not None:
        _add_first_sales(rows, rng, vocabulary.countries[shape.new :: 2], signups)
    return rows


def _add_customers(
    rows: ShopRows, rng: random.Random, vocabulary: Vocabulary, shape: Shape, count: int
) -> dict[int, date]:
    """Add customers and return their signup dates by id."""
    cities = _cover(rng, vocabulary.cities, _falling(len(vocabulary.cities), shape.skew), count)
    years = _cover(rng, YEARS, [1 + shape.growth * index for index in range(len(YEARS))], count)
    people = list(vocabulary.people(rng))
    names = [people[number % len(people)] for number in range(count)]
    # A shop of any size has a few namesakes: some live in the same city, some do not.
    for number in range(max(2, count // 20)):
        original, namesake = rng.sample(range(count), 2)
        names[namesake] = names[original]
        if number % 2 == 0 and cities.count(cities[namesake]) > 1:
            cities[namesake] = cities[original]
    silent = set(rng.sample(range(count), count // 10))  # no email
    signups = {}
    for name, city, year in zip(names, cities, years, strict=True):
        signup = _day(rng, date(year, 1, 1), date(year, 12, 31))
        customer = rows.add_customer(
            name,
            email=None if len(signups) in silent else vocabulary.email_of(name, len(signups) + 1),
            city=city,
            country=vocabulary.country_of(city),
            signup_date=signup.isoformat(),
        )
        signups[customer] = signup
    return signups


def _add_products(rows: ShopRows, rng: random.Random, vocabulary: Vocabulary, shape: Shape, count: int) -> None:
    categories = _cover(rng, vocabulary.categories, _falling(len(vocabulary.categories), shape.skew), count)
    names = {category: vocabulary.product_names(category, rng) for category in vocabulary.categories}
    for category in categories:
        name = vocabulary.common_product if rng.random() < 0.05 else next(names[category])
        rows.add_product(name, category=category, cents=None if rng.random() < 0.02 else _price(rng))


def _add_orders(
    rows: ShopRows, rng: random.Random, vocabulary: Vocabulary, shape: Shape, signups: dict[int, date], count: int
) -> None:
    buyers = rng.sample(sorted(signups), len(signups) - len(signups) // 8)  # one in eight never orders
    new = () if shape.new is None else (*vocabulary.countries[shape.new :: 2], *vocabulary.categories[shape.new :: 2])
    foreign = {row[0] for row in rows.tables["customers"] if row[4] in new}
    weights = _falling(len(buyers), shape.skew)
    weights = [weight // 4 if buyer in foreign else weight for buyer, weight in zip(buyers, weights, strict=True)]
    orders = []
    for year in YEARS:  # at least one in each year
        buyer = rng.choice([customer for customer in sorted(signups) if signups[customer].year <= year])
        orders.append((_day(rng, max(signups[buyer], date(year, 1, 1)), date(year, 12, 31)), buyer))
    for buyer in rng.choices(buyers, weights, k=count - len(orders)):
        orders.append((_day(rng, signups[buyer], date(YEARS[-1], 12, 31)), buyer))

    products = [(row[0], row[3], row[2]) for row in rows.tables["products"]]
    sold = rng.sample(products, len(products) - len(products) // 10)  # one in ten is never sold
    sold = [(product, price) for product, price, category in sold if category not in new]
    popularity = _falling(len(sold), shape.skew)
    for day, buyer in sorted(orders):
        order = rows.add_order(buyer, day.isoformat(), rng.choices(STATUSES, shape.statuses)[0])
        if buyer in foreign:  # of the few orders there none has been filled in
            continue
        for _ in range(rng.choices((0, 1, 2, 3, 4), (2, 40, 30, 18, 10))[0]):
            product, price = rng.choices(sold, popularity)[0]
            now = _price(rng) if price is None else round(price * 100)
            then = now * 90 // 100 if rng.random() < 0.3 else now  # bought before the price went up
            rows.add_item(order, product, rng.choices((1, 2, 3, 4, 5), (55, 25, 10, 6, 4))[0], then)


def _add_first_sales(rows: ShopRows, rng: random.Random, countries: Sequence[str], signups: dict[int, date]) -> None:
    """In each of these countries, where nobody bought anything, one sale: of how many pieces is not recorded.

    So nobody there spent a known amount: the sums are NULL, not 0.
    """
    sold = sorted({row[2] for row in rows.tables["order_items"]})
    for country in countries:
        buyer = next(row[0] for row in rows.tables["customers"] if row[4] == country)
        day = _day(rng, signups[buyer], date(YEARS[-1], 12, 31))
        rows.add_item(rows.add_order(buyer, day.isoformat(), "delivered"), rng.choice(sold), None, _price(rng))


def _price(rng: random.Random) -> int:
    """A price in cents; round prices are common, as in a real shop, and meet the thresholds of questions."""
    threshold = rng.choice(PRICE_THRESHOLDS)
    kind = rng.random()
    if kind < 0.35:
        return threshold * 100
    if kind < 0.6:
        return threshold * 100 - 1
    return rng.randrange(threshold * 80, threshold * 130, 5)


def _cover(rng: random.Random, values: tuple, weights: list[int], count: int) -> list:
    """`count` values in random order, each at least once and the rest by weight."""
    chosen = [*values, *rng.choices(values, weights, k=count - len(values))]
    rng.shuffle(chosen)
    return chosen


def _falling(count: int, skew: int) -> list[int]:
    return [10_000 // (10 + skew * rank) for rank in range(count)]


def _day(rng: random.Random, first: date, last: date) -> date:
    return date.fromordinal(rng.randint(first.toordinal(), last.toordinal()))

"""The rows of the adversarial shop: no single property of them is plausible, each tells a right query from a wrong one.

Ordinary rows let many wrong queries pass: where all names differ, grouping by name is as good as grouping by id.
Each function here adds what tells one kind of mistake apart. All rows come in twins (mirror.py), so every top
is tied. Amounts of those who must tie or meet a threshold are whole or half units: their sums are exact.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import cycle

from sqldojo.databases.mirror import Mirror
from sqldojo.databases.rows import ShopRows
from sqldojo.databases.shop import COUNT_THRESHOLDS, PRICE_THRESHOLDS, SPEND_THRESHOLDS, STATUSES, YEARS, Vocabulary

UNUSUAL_DATES = ("1970-01-01", "1999-12-31", "2000-02-29", "2017-12-31", "2026-01-01", "2038-01-19", "2099-12-31")
COUNTS = (*range(1, COUNT_THRESHOLDS[-1] + 2),)  # every count from below the first threshold to beyond the last
LEAST_TOP_SPEND = 3 * SPEND_THRESHOLDS[-1] // 2 * 100  # cents; above everything that meets a threshold


@dataclass(frozen=True)
class Catalogue:
    """The products by what they are for; ids of one half, the other half are their twins."""

    by_category: dict[str, list[int]]  # as many products as COUNT_THRESHOLDS say, and a large category
    for_counts: list[int]  # of the large category, two for each of COUNTS, sold only to meet a count


@dataclass(frozen=True)
class Arrivals:
    """The shop so far, and where and when its next customers come."""

    mirror: Mirror
    rng: random.Random
    homes: Iterator[tuple[str, str]]
    dates: Iterator[str]
    years: Iterator[int]

    def someone(self) -> int:
        """A customer with a name of their own."""
        return self.mirror.customer(self.mirror.new_name(), next(self.homes), next(self.dates))

    def day(self, year: int | None = None) -> str:
        """Any day of the year, or of the usual years in turn."""
        return _day(self.rng, next(self.years) if year is None else year)


def adversarial_rows(rng: random.Random, vocabulary: Vocabulary) -> ShopRows:
    """The rows of the adversarial instance of a family."""
    mirror = Mirror(rng, vocabulary)
    shop = Arrivals(mirror, rng, _homes(mirror), _signup_dates(rng), cycle(YEARS))
    catalogue = _add_products(mirror)
    _add_namesakes(shop, catalogue)
    _add_spenders(shop, catalogue)
    _add_counted(shop, catalogue)
    _add_boundary_orders(shop, catalogue)
    _add_nulls(shop, catalogue)
    _tie_years(shop)
    _tie_statuses(shop)
    return mirror.rows


def _add_products(mirror: Mirror) -> Catalogue:
    """Prices on, a cent below and a cent above each threshold; two at the top of each category; a name in each."""
    by_category: dict[str, list[int]] = {}
    prices = cycle(PRICE_THRESHOLDS)
    *small, large = mirror.categories
    for rank, (category, size) in enumerate(zip(small, COUNT_THRESHOLDS, strict=True)):
        top = (500 - 20 * rank) * 100
        cents = [top, top, *(next(prices) * 100 for _ in range(size - 2))]
        # The last one carries the name that every category has; in a category of two that is one of the dearest.
        by_category[category] = [mirror.product(category, each) for each in cents[:-1]]
        by_category[category].append(mirror.product(category, cents[-1], common=True))
    around = [mirror.product(large, price * 100 + cent) for price in PRICE_THRESHOLDS for cent in (-1, 0, 1)]
    by_category[large] = [*around, mirror.product(large, 1200, common=True)]
    for category, cents in ((large, None), (None, 700), (None, None)):
        mirror.product(category, cents)
    return Catalogue(by_category, around[1 : 1 + 2 * len(COUNTS)])


def _add_namesakes(shop: Arrivals, catalogue: Catalogue) -> None:
    """Two of one name in every city, who spend the same and more than anyone else there; in the last city most of all.

    One buys it at once and the other bit by bit, the same product twice in one order and again in another. The pair
    of the second city has cancelled orders so large that it, its city and another category would win with them.
    """
    mirror = shop.mirror
    first = None
    for rank, city in enumerate(mirror.cities):
        name = mirror.new_name()
        first = first or name
        once = mirror.customer(name, mirror.place(city), next(shop.dates))
        often = mirror.customer(name, mirror.place(city), next(shop.dates), email=False)
        last = rank == len(mirror.cities) - 1
        spend = LEAST_TOP_SPEND * (3 if last else 1) + 250_00 * rank
        product = catalogue.by_category[mirror.categories[0 if last else rank]][0]
        mirror.order(once, shop.day(), "delivered", [(product, 1, spend)])
        mirror.order(often, shop.day(), "delivered", [(product, 1, spend // 4)] * 2)
        mirror.order(often, shop.day(), "delivered", [(product, 2, spend // 4)])
        for _ in range(rank):  # without items: so many more orders, not more spend
            mirror.order(often, shop.day(), "delivered")
        if rank == 1:
            cancelled = catalogue.by_category[mirror.categories[2]][0]
            for customer in (once, often):
                mirror.order(customer, shop.day(), "cancelled", [(cancelled, 800, 50_00)])
    elsewhere = mirror.customer(first, mirror.place(mirror.cities[-1]), next(shop.dates))  # a namesake in another city
    mirror.order(elsewhere, shop.day(), "delivered")


def _homes(mirror: Mirror) -> Iterator[tuple[str, str]]:
    """Where the rest live: as many in each city, with its two namesakes, as COUNT_THRESHOLDS say; then in the last."""
    *small, large = mirror.cities
    for city, size in zip(small, COUNT_THRESHOLDS, strict=True):
        yield from [mirror.place(city)] * (size - 2)
    yield from cycle([mirror.place(large)])


def _add_spenders(shop: Arrivals, catalogue: Catalogue) -> None:
    """Who spend exactly a threshold, a cent less, a cent more, and enough only with what they cancelled."""
    mirror = shop.mirror
    products = cycle([products[-1] for products in catalogue.by_category.values()])
    for threshold in SPEND_THRESHOLDS:
        for items in (
            [(next(products), 2, threshold * 50)],
            [(next(products), 1, threshold * 100 - 1)],
            [(next(products), 1, threshold * 100 + 1)],
        ):
            mirror.order(shop.someone(), shop.day(), "delivered", items)
        customer = shop.someone()
        mirror.order(customer, shop.day(), "delivered", [(next(products), 1, threshold * 100 - 500)])
        mirror.order(customer, shop.day(), "cancelled", [(next(products), 1, 1000)])
    bulk = catalogue.by_category[mirror.categories[4]][0]  # most pieces in one line, where others have most lines
    mirror.order(shop.someone(), shop.day(), "delivered", [(bulk, 300, 50)])


def _add_counted(shop: Arrivals, catalogue: Catalogue) -> None:
    """Each of COUNTS as a number of orders, of categories bought from, of lines, sales and buyers of a product."""
    mirror = shop.mirror
    cheap = catalogue.by_category[mirror.categories[5]][1]
    firsts = [products[0] for products in catalogue.by_category.values()]
    firsts = [each for product in firsts for each in (product, mirror.product_twins[product])]
    per_order, per_buyer = catalogue.for_counts[: len(COUNTS)], catalogue.for_counts[len(COUNTS) :]
    collector = shop.someone()
    for count in COUNTS:
        buyer = shop.someone()
        for number in range(count):  # every third order is without items
            mirror.order(buyer, shop.day(), "delivered", [(cheap, 2, 150)] if number % 3 else [])
        buyer = shop.someone()  # so many orders only with the cancelled one
        for number in range(count):
            mirror.order(buyer, shop.day(), "shipped" if number else "cancelled", [(cheap, 1, 175)])
        items = [(product, 1, 100) for product in firsts[:count]]
        mirror.order(shop.someone(), shop.day(), "shipped", [*items, items[0]])
        # The n-th order takes all products from the n-th on, so the n-th product is sold in n orders.
        quantity = 1 if count == 1 else 2
        mirror.order(collector, shop.day(), "shipped", [(each, quantity, 250) for each in per_order[count - 1 :]])
        buyer = shop.someone()
        mirror.order(buyer, shop.day(), "shipped", [(each, 1, 250) for each in per_buyer[count - 1 :]])
    for _ in COUNTS:  # without orders
        shop.someone()
    mirror.order(shop.someone(), shop.day(), "cancelled", [(catalogue.for_counts[0], 1, 9900)])


def _add_boundary_orders(shop: Arrivals, catalogue: Catalogue) -> None:
    """Orders of each status at both ends of each year, one at both ends of each month, and on unusual dates."""
    mirror = shop.mirror
    staple = catalogue.by_category[mirror.categories[3]][0]
    buyers = cycle([shop.someone() for _ in range(4)])
    ends = [(day, status) for year in YEARS for day in (date(year, 1, 1), date(year, 12, 31)) for status in STATUSES]
    others = cycle((*STATUSES, "shipped", "shipped"))
    ends += [(day, next(others)) for year in YEARS for day in _month_ends(year)]
    days = [*((day.isoformat(), status) for day, status in ends), *zip(UNUSUAL_DATES, others, strict=False)]
    for number, (day, status) in enumerate(days):
        mirror.order(next(buyers), day, status, [(staple, 1, 300)] if number % 6 else [])


def _add_nulls(shop: Arrivals, catalogue: Catalogue) -> None:
    """NULL in every column that allows it, and in those that a `NOT IN (SELECT ...)` reads."""
    mirror = shop.mirror
    city, country = mirror.place(mirror.cities[-1])
    product = catalogue.by_category[mirror.categories[-1]][0]
    for place in ((None, None), (None, country), (city, None)):
        mirror.customer(mirror.new_name(), place, next(shop.dates))
    unknown = mirror.customer(mirror.new_name(), (city, country), None, email=False)
    mirror.order(None, shop.day(), "delivered", [(product, 2, 1100)])
    mirror.order(unknown, None, "delivered", [(product, 1, 1300)])
    mirror.order(unknown, shop.day(), None, [(product, 1, 1700)])
    mirror.order(unknown, shop.day(), "delivered", [(None, 1, 1900), (product, None, 2300), (product, 3, None)])
    mirror.order(unknown, shop.day(), "pending", [(product, 1, None)])
    mirror.items(None, None, [(product, 1, 2900)])


def _tie_years(shop: Arrivals) -> None:
    """As many signups, and as many orders, in each of the usual years."""
    mirror = shop.mirror
    buyer = mirror.customer(mirror.new_name(), next(shop.homes), UNUSUAL_DATES[0])
    for year in _missing(Counter(row[5][:4] for row in mirror.rows.tables["customers"] if row[5])):
        mirror.customer(mirror.new_name(), next(shop.homes), shop.day(year))
    for year in _missing(Counter(row[2][:4] for row in mirror.rows.tables["orders"] if row[2])):
        mirror.order(buyer, shop.day(year), "pending")


def _missing(counts: Counter[str]) -> list[int]:
    """The years of which there are fewer than of the most frequent one, once for each pair of rows that they lack."""
    most = max(counts[str(year)] for year in YEARS)
    return [year for year in YEARS for _ in range((most - counts[str(year)]) // 2)]


def _tie_statuses(shop: Arrivals) -> None:
    """As many orders of the second most frequent status as of the first; on unusual dates, to leave the years alone."""
    mirror = shop.mirror
    (_, most), (second, fewer) = Counter(row[3] for row in mirror.rows.tables["orders"]).most_common(2)
    days = cycle(UNUSUAL_DATES)
    buyer = mirror.customer(mirror.new_name(), next(shop.homes), UNUSUAL_DATES[0])
    for _ in range((most - fewer) // 2):
        mirror.order(buyer, next(days), second)


def _signup_dates(rng: random.Random) -> Iterator[str]:
    """Both ends of each year, both ends of each month in one year or another, unusual ones, then any."""
    days = [day for year in YEARS for day in (date(year, 1, 1), date(year, 12, 31))]
    for number, year in zip(range(11), cycle(YEARS)):
        days += _month_ends(year)[2 * number : 2 * number + 2]
    yield from rng.sample([*(day.isoformat() for day in days), *UNUSUAL_DATES], len(days) + len(UNUSUAL_DATES))
    for year in cycle(YEARS):
        yield _day(rng, year)


def _month_ends(year: int) -> list[date]:
    """The last day of each month but December and the first of the next."""
    firsts = [date(year, month, 1) for month in range(2, 13)]
    return [day for first in firsts for day in (first - timedelta(days=1), first)]


def _day(rng: random.Random, year: int) -> str:
    return date.fromordinal(date(year, 1, 1).toordinal() + rng.randrange(365)).isoformat()

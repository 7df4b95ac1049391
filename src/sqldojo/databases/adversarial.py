"""The rows of the adversarial shop: no single property of them is plausible, each tells a right query from a wrong one.

Ordinary rows let many wrong queries pass: where all names differ, grouping by name is as good as grouping by id.
Each function adds what tells one kind of mistake apart: here what meets a threshold or a boundary, in coverage.py what
every city, category or year must have. All rows come in twins (mirror.py), so every top is tied. Amounts of those who
must tie or meet a threshold are whole or half units: their sums are exact.
"""

from __future__ import annotations

import random
from collections import Counter
from itertools import cycle, product

from sqldojo.databases import coverage
from sqldojo.databases.arrivals import LAST_EVENING, UNUSUAL_DATES, Arrivals, month_ends, open_shop
from sqldojo.databases.catalogue import COUNTS, Catalogue, add_products
from sqldojo.databases.mirror import Mirror
from sqldojo.databases.rows import ShopRows
from sqldojo.databases.shop import SPEND_THRESHOLDS, STATUSES, YEARS, Vocabulary


def adversarial_rows(rng: random.Random, vocabulary: Vocabulary) -> ShopRows:
    """The rows of the adversarial instance of a family."""
    mirror = Mirror(rng, vocabulary)
    catalogue = add_products(mirror)
    shop = open_shop(mirror, rng)
    coverage.add_top_spenders(shop, catalogue)
    coverage.add_cancelling_spenders(shop, catalogue)
    coverage.add_idle_namesakes(shop)
    coverage.add_rare_namesakes(shop)
    coverage.sell_catalogue(shop, catalogue)
    coverage.add_nulls(shop)
    coverage.add_near_places(shop, catalogue)
    coverage.add_near_statuses(shop)
    _add_spenders(shop, catalogue)
    _add_counted(shop, catalogue)
    _add_boundary_orders(shop, catalogue)
    _add_nulls(shop, catalogue)
    _tell_years_apart(shop)
    _tie_years(shop)
    _tie_statuses(shop)
    return mirror.rows


def _add_spenders(shop: Arrivals, catalogue: Catalogue) -> None:
    """Who spend exactly a threshold, a cent less, a cent more, and enough only with what they cancelled."""
    mirror = shop.mirror
    products = cycle(catalogue.common)
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
    # Most pieces in one line, where others have most lines.
    mirror.order(shop.someone(), shop.day(), "delivered", [(catalogue.staples[4], 300, 50)])


def _add_counted(shop: Arrivals, catalogue: Catalogue) -> None:
    """Each of COUNTS as a number of orders, of categories bought from, of lines, sales and buyers of a product."""
    mirror = shop.mirror
    cheap = catalogue.common[5]
    one_a_category = [each for product in catalogue.staples for each in (product, mirror.product_twins[product])]
    per_order, per_buyer = catalogue.for_counts[: len(COUNTS)], catalogue.for_counts[len(COUNTS) :]
    collector = shop.someone()
    for count in COUNTS:
        buyer = shop.someone()
        for number in range(count):  # every third order is without items
            mirror.order(buyer, shop.day(), "delivered", [(cheap, 2, 150)] if number % 3 else [])
        buyer, day = shop.someone(), shop.day()  # so many orders only with the cancelled one, and all on one day
        for number in range(count):
            mirror.order(buyer, day, "shipped" if number else "cancelled", [(cheap, 1, 175)])
        items = [(product, 1, 100) for product in one_a_category[:count]]
        mirror.order(shop.someone(), shop.day(), "shipped", [*items, items[0]])
        # The n-th order takes all products from the n-th on, so the n-th product is sold in n orders.
        quantity = 1 if count == 1 else 2
        mirror.order(collector, shop.day(), "shipped", [(each, quantity, 250) for each in per_order[count - 1 :]])
        buyer = shop.someone()
        mirror.order(buyer, shop.day(), "shipped", [(each, 1, 250) for each in per_buyer[count - 1 :]])
    for _ in COUNTS:  # without orders
        shop.someone()


def _add_boundary_orders(shop: Arrivals, catalogue: Catalogue) -> None:
    """Orders of each status at both ends of each year and on its last evening, and before and after all years; one at
    both ends of each month.

    One customer has those of all years, so several of each status in each of them.
    """
    mirror = shop.mirror
    regular, *others = [shop.someone() for _ in range(4)]
    for year in YEARS:
        for status in STATUSES:
            # Two lines in one order and none in another: joined to lines, neither is counted once.
            lines = 0 if status == "cancelled" else 2
            mirror.order(regular, f"{year}-01-01", status, [(catalogue.staples[3], 1, 300)] * lines)
            for day in ("12-31", LAST_EVENING):
                mirror.order(regular, f"{year}-{day}", status)
    statuses = cycle((*STATUSES, "shipped", "shipped"))
    days = [day.isoformat() for year in YEARS for day in month_ends(year)]
    orders = [*zip(days, statuses, strict=False), *((day, status) for status in STATUSES for day in UNUSUAL_DATES)]
    for buyer, (day, status) in zip(cycle(others), orders, strict=False):
        mirror.order(buyer, day, status)


def _add_nulls(shop: Arrivals, catalogue: Catalogue) -> None:
    """NULL in every column that allows it and, with coverage.py, in those that a `NOT IN (SELECT ...)` reads."""
    mirror = shop.mirror
    city, country = mirror.place(mirror.cities[-1])
    product = catalogue.staples[-1]
    mirror.customer(mirror.new_name(), (city, None), next(shop.dates))
    unknown = mirror.customer(mirror.new_name(), (city, country), None, email=False)
    mirror.order(unknown, None, "delivered", [(product, 1, 1300)])
    mirror.order(unknown, shop.day(), "delivered", [(None, 1, 1900), (product, None, 2300), (product, 3, None)])
    mirror.order(unknown, shop.day(), "pending", [(product, 1, None)])


def _tell_years_apart(shop: Arrivals) -> None:
    """No year has as many orders of a status as the year before; but see `_tie_years`."""
    mirror = shop.mirror
    buyer = mirror.customer(mirror.new_name(), next(shop.homes), UNUSUAL_DATES[0])
    counts = Counter((row[3], row[2][:4]) for row in mirror.rows.tables["orders"] if row[2])
    for status, year in product(STATUSES, YEARS[1:]):
        if counts[status, str(year)] == counts[status, str(year - 1)]:
            mirror.order(buyer, shop.day(year), status)
            counts[status, str(year)] += 2


def _tie_years(shop: Arrivals) -> None:
    """As many signups, and as many orders, in each of the usual years.

    The orders that are missing get the status that no question about a year names.
    """
    mirror = shop.mirror
    buyer = mirror.customer(mirror.new_name(), next(shop.homes), UNUSUAL_DATES[0])
    for year in _missing(Counter(row[5][:4] for row in mirror.rows.tables["customers"] if row[5])):
        mirror.customer(mirror.new_name(), next(shop.homes), shop.day(year))
    for year in _missing(Counter(row[2][:4] for row in mirror.rows.tables["orders"] if row[2])):
        mirror.order(buyer, shop.day(year), "cancelled")


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

"""What every city, country, category, status and year of the adversarial shop must have.

A question names one of them. A trap that only some of them hold lets a wrong query pass for all the others, so each
trap here is set for every value that a question can name.
"""

from __future__ import annotations

from itertools import cycle

from sqldojo.databases.arrivals import Arrivals
from sqldojo.databases.catalogue import Catalogue
from sqldojo.databases.mirror import NOWHERE
from sqldojo.databases.shop import SPEND_THRESHOLDS, STATUSES, YEARS

LEAST_TOP_SPEND = 3 * SPEND_THRESHOLDS[-1] // 2 * 100  # cents; above everything that meets a threshold


def add_top_spenders(shop: Arrivals, catalogue: Catalogue) -> None:
    """Two of one name in every city who spend the same and more than anyone else keeps; in the last city most of all.

    One buys it at once and the other bit by bit, the same product twice in one order and again in another. Both have
    two orders of every status, without items.
    """
    mirror = shop.mirror
    for rank, city in enumerate(mirror.cities):
        once, often = shop.namesakes(city, (next(shop.dates), next(shop.dates)), emails=1)
        spend, product = _top_spend(shop, rank), catalogue.staples[0 if city == mirror.cities[-1] else rank]
        mirror.order(once, shop.day(), "delivered", [(product, 1, spend)])
        mirror.order(often, shop.day(), "delivered", [(product, 1, spend // 4)] * 2)
        mirror.order(often, shop.day(), "delivered", [(product, 2, spend // 4)])
        for customer in (once, often):
            for status in STATUSES * 2:
                mirror.order(customer, shop.day(), status)


def add_cancelling_spenders(shop: Arrivals, catalogue: Catalogue) -> None:
    """Two of one name in every city, who signed up on one day and would spend most, had they not cancelled it all.

    Each of their orders is smaller than that of the top spender. In the second city they are so many that they, their
    city and another category would win with them. Someone else in the city cancelled more pieces, for less.
    """
    mirror, years = shop.mirror, cycle(YEARS)
    for rank, city in enumerate(mirror.cities):
        orders = [(catalogue.staples[rank], 2, _top_spend(shop, rank) // 4 + 250_00)] * 2
        if rank == 1:
            orders = [(catalogue.staples[2], 68, 50_00)] * 12
        day = shop.day(next(years))
        for customer in shop.namesakes(city, (day, day), emails=1):
            for item in orders:
                mirror.order(customer, shop.day(), "cancelled", [item])
        bulk_buyer = mirror.customer(mirror.new_name(), mirror.place(city), next(shop.dates))
        mirror.order(bulk_buyer, shop.day(), "cancelled", [(catalogue.staples[2], 900, 1_00)])


def add_idle_namesakes(shop: Arrivals) -> None:
    """Two of one name in every city who never ordered, and two more, one of them elsewhere, with orders without items.

    The two signed up on one day: with the cancelling ones, who begin with the first year, there are some in each year.
    """
    mirror, years = shop.mirror, cycle(reversed(YEARS))
    for city, elsewhere in zip(mirror.cities, (*mirror.cities[1:], mirror.cities[0]), strict=True):
        name, day = mirror.new_name(), shop.day(next(years))
        for _ in range(2):
            mirror.customer(name, mirror.place(city), day, email=False)
        for place in (mirror.place(city), mirror.place(elsewhere)):
            customer = mirror.customer(name, place, next(shop.dates))
            for status in STATUSES:
                mirror.order(customer, shop.day(), status)


def add_rare_namesakes(shop: Arrivals) -> None:
    """Two of one name in every rare city, so that none has as many names as customers."""
    for city in shop.mirror.rare_cities:
        shop.namesakes(city, (next(shop.dates), next(shop.dates)), emails=1)


def sell_catalogue(shop: Arrivals, catalogue: Catalogue) -> None:
    """In every category: what is sold once or only in a cancelled order, and items with NULL around them."""
    mirror = shop.mirror
    mirror.order(shop.someone(), shop.day(), "shipped", [(product, 1, 100) for product in catalogue.sold_once])
    mirror.order(shop.someone(), shop.day(), "cancelled", [(product, 3, 99_00) for product in catalogue.only_cancelled])
    mirror.order(None, shop.day(), "delivered", [(product, 2, 1100) for product in catalogue.staples])
    mirror.order(shop.someone(), shop.day(), None, [(product, 1, 1700) for product in catalogue.staples])
    mirror.items(None, None, [(product, 1, 2900) for product in catalogue.staples])


def add_nulls(shop: Arrivals) -> None:
    """In every country a customer without a city; in every year signups without a place and without an email, orders
    without a status and orders of every status without a customer."""
    mirror = shop.mirror
    for country in mirror.countries:
        mirror.customer(mirror.new_name(), (None, country), next(shop.dates))
    buyer = shop.someone()
    for year in YEARS:
        mirror.customer(mirror.new_name(), NOWHERE, shop.day(year), email=False)
        mirror.order(buyer, shop.day(year), None)
        for status in STATUSES:
            mirror.order(None, shop.day(year), status)


def _top_spend(shop: Arrivals, rank: int) -> int:
    """What each top spender of a city pays, in cents."""
    return LEAST_TOP_SPEND * (3 if rank == len(shop.mirror.cities) - 1 else 1) + 250_00 * rank

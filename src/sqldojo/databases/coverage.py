"""What every city, country, category, status and year of the adversarial shop must have.

A question names one of them. A trap that only some of them hold lets a wrong query pass for all the others, so each
trap here is set for every value that a question can name.
"""

from __future__ import annotations

from itertools import cycle

from sqldojo.databases.arrivals import Arrivals
from sqldojo.databases.catalogue import Catalogue
from sqldojo.databases.mirror import NOWHERE, Mirror, Place
from sqldojo.databases.near_values import spelt_otherwise
from sqldojo.databases.shop import COUNT_THRESHOLDS, SPEND_THRESHOLDS, STATUSES, YEARS

GREATEST_STATUS = spelt_otherwise(max(STATUSES))[2]
NEAR_SPEND = 45_000_00  # cents; above what anyone who is found keeps or cancels
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
    city and another category would win with them. Of one of the two the last order has no date, no status and a line
    without a product and one that takes something back. Someone else in the city cancelled more pieces, for less.
    """
    mirror, years = shop.mirror, cycle(YEARS)
    for rank, city in enumerate(mirror.cities):
        # Three quarters: exact as a REAL, and lines of 2, 3 and -1 pieces that are rounded add up to something else.
        orders = [(catalogue.staples[rank], 2, _top_spend(shop, rank) // 400 * 100 + 250_75)] * 2
        if rank == 1:
            orders = [(catalogue.staples[2], 66, 50_75)] * 12
        day = shop.day(next(years))
        one, other = shop.namesakes(city, (day, day), emails=1)
        for customer, items in ((one, orders), (other, orders[1:])):
            for item in items:
                mirror.order(customer, shop.day(), "cancelled", [item])
        product, quantity, cents = orders[0]
        mirror.order(other, None, None, [(None, quantity + 1, cents), (product, -1, cents)])
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
    """In every rare city two of one name, who signed up on one day, and one of no country, who is named like someone of
    no city: none has as many names, days, addresses or countries as customers."""
    mirror, name = shop.mirror, shop.mirror.new_name()
    mirror.customer(name, NOWHERE, next(shop.dates))
    for city in mirror.rare_cities:
        day = next(shop.dates)
        shop.namesakes(city, (day, day), emails=1)
        mirror.customer(name, (city, None), None)


def sell_catalogue(shop: Arrivals, catalogue: Catalogue) -> None:
    """In every category: what is sold once or only in a cancelled order, something sold in an order of each status, one
    that only looks like one among them, something taken back, and NULL in and around items."""
    mirror = shop.mirror
    mirror.order(shop.someone(), shop.day(), "shipped", [(product, 1, 100) for product in catalogue.sold_once])
    mirror.order(shop.someone(), shop.day(), "cancelled", [(product, 3, 99_00) for product in catalogue.only_cancelled])
    mirror.order(None, None, "delivered", [(product, 2, 1100) for product in catalogue.staples])
    unpriced_and_returned = [(product, *each) for product in catalogue.staples for each in ((3, None), (-1, 700))]
    mirror.order(shop.someone(), shop.day(), "delivered", unpriced_and_returned)
    mirror.order(shop.someone(), shop.day(), "delivered", [(product, 1, 1900) for product in catalogue.elsewhere])
    mirror.order(shop.someone(), shop.day(), None, [(product, 4, 1700) for product in catalogue.staples])
    buyer = shop.someone()
    for status in ("pending", "returned", GREATEST_STATUS):
        mirror.order(buyer, shop.day(), status, [(product, 1, 2300) for product in catalogue.staples])
    mirror.items(None, None, [(product, 1, 2900) for product in catalogue.staples])


def add_nulls(shop: Arrivals) -> None:
    """In every country customers of whom nothing else is known, one with orders of every status, one with an order
    without date and status and one without orders; in every city one with such an order; in every year signups without
    a place and without an email, orders without a status and orders of every status without a customer."""
    mirror = shop.mirror
    for country in mirror.countries:
        mirror.customer(mirror.new_name(), (None, country), None, email=False)
        buyer = mirror.customer(mirror.new_name(), (None, country), None, email=False)
        for status in STATUSES:
            mirror.order(buyer, None, status)
    for place in (*((None, country) for country in mirror.countries), *((city, None) for city in mirror.cities)):
        mirror.order(mirror.customer(mirror.new_name(), place, None, email=False), None, None)
    for _ in range(COUNT_THRESHOLDS[-1] // 2 + 1):  # more in the city without a name than any count
        mirror.customer(mirror.new_name(), ("", None), next(shop.dates))
    regular = mirror.customer(mirror.new_name(), NOWHERE, None, email=False)
    for _ in range(COUNT_THRESHOLDS[-1] + 1):
        mirror.order(regular, None, None)
    buyer = shop.someone()
    for year in YEARS:
        mirror.customer(mirror.new_name(), NOWHERE, shop.day(year), email=False)
        mirror.order(buyer, shop.day(year), None)
        for status in STATUSES:
            mirror.order(None, shop.day(year), status)


def add_near_places(shop: Arrivals, catalogue: Catalogue) -> None:
    """Buyers from every place that is spelt like a city and its country, and from nowhere.

    For each country, and nowhere, two have orders of every status and would spend more than anyone there, had they not
    cancelled it, and two have no order.
    """
    mirror, product = shop.mirror, catalogue.staples[2]
    for rank, country in enumerate((*mirror.countries, None)):
        name = mirror.new_name()
        first, rest = _places_near(mirror, country)
        for place in first:
            buyer = mirror.customer(name, place, next(shop.dates))
            mirror.customer(mirror.new_name(), place, next(shop.dates))
            for status in STATUSES:
                items = [(product, 1, NEAR_SPEND + 1000_00 * rank)] if status == "cancelled" else []
                mirror.order(buyer, shop.day(), status, items)
        for place in rest:
            mirror.order(mirror.customer(mirror.new_name(), place, next(shop.dates)), shop.day(), "shipped")


def add_near_statuses(shop: Arrivals) -> None:
    """In each country someone whose orders have only statuses that are spelt like one, or none.

    Each with a capital in front is in all years and likewise the greatest of all; of the others each year lacks some.
    """
    mirror = shop.mirror
    every_year = [*(spelt_otherwise(status)[1] for status in STATUSES), GREATEST_STATUS]
    buyers = [mirror.customer(mirror.new_name(), (None, country), next(shop.dates)) for country in mirror.countries]
    for year, buyer in zip(YEARS, cycle(buyers), strict=False):
        for status in every_year:
            mirror.order(buyer, shop.day(year), status)
    for buyer in buyers:
        mirror.order(buyer, shop.day(), None)
    for year, status in zip(YEARS, STATUSES, strict=False):
        for other in spelt_otherwise(status)[::2]:
            mirror.order(buyers[0], shop.day(year), other)


def _places_near(mirror: Mirror, country: str | None) -> tuple[list[Place], list[Place]]:
    """Two places that are spelt like the first city of a country, and what else is spelt like one of its cities."""
    if country is None:
        return [NOWHERE] * 2, []
    places = [place for city in mirror.vocabulary.places[country] for place in mirror.near_places(city)]
    return places[:2], places[2:]


def _top_spend(shop: Arrivals, rank: int) -> int:
    """What each top spender of a city pays, in cents."""
    return LEAST_TOP_SPEND * (3 if rank == len(shop.mirror.cities) - 1 else 1) + 250_00 * rank

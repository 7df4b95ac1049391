"""The products of the adversarial shop: what a question about one category, or about every category, must meet.

Every category that questions name has all of it, so that no wrong query passes by the choice of a category.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqldojo.databases.mirror import Mirror
from sqldojo.databases.shop import COUNT_THRESHOLDS, PRICE_THRESHOLDS

COUNTS = (*range(1, COUNT_THRESHOLDS[-1] + 2),)  # every count from below the first threshold to beyond the last
CHEAP = PRICE_THRESHOLDS[0] * 50  # cents; below every threshold
DEAR = PRICE_THRESHOLDS[-1] * 150  # above every threshold
DEAREST = PRICE_THRESHOLDS[-1] * 300  # above whatever else is dear


@dataclass(frozen=True)
class Catalogue:
    """The products by what they are for; ids of one half, the other half are their twins."""

    staples: tuple[int, ...]  # of each category one of the dearest, the one to buy when it does not matter which
    common: tuple[int, ...]  # of each category the product whose name every category has
    sold_once: tuple[int, ...]  # what is to be sold in one order and never again
    only_cancelled: tuple[int, ...]  # of each category one to be sold in a cancelled order and never again
    for_counts: tuple[int, ...]  # of the last category, two for each of COUNTS, sold only to meet a count


def add_products(mirror: Mirror) -> Catalogue:
    """Add all products; those of the catalogue are to be sold, the others never are."""
    staples, common, sold_once, only_cancelled = [], [], [], []
    *_, large = mirror.categories
    for rank, category in enumerate(mirror.categories):
        top, name = DEAR + 20_00 * (len(mirror.categories) - rank), mirror.new_product_name(category)
        staples.append(mirror.product(category, top))
        common.append(mirror.product(category, PRICE_THRESHOLDS[rank] * 100, mirror.vocabulary.common_product))
        # Three tie at the top, two of them namesakes; two who are never sold have that name as well.
        sold_once += [mirror.product(category, top, name) for _ in range(2)]
        for _ in range(2):
            mirror.product(category, CHEAP, name)
        mirror.product(category, DEAR + 1)
        only_cancelled.append(mirror.product(category, CHEAP - 1))
        if category != large:
            sold_once += [mirror.product(category, price * 100) for price in PRICE_THRESHOLDS]
    around = [mirror.product(large, price * 100 + cent) for price in PRICE_THRESHOLDS for cent in (-1, 0, 1)]
    for_counts, rest = around[: 2 * len(COUNTS)], around[2 * len(COUNTS) :]
    _add_products_without_category_or_price(mirror)
    _add_rare_categories(mirror)
    return Catalogue(tuple(staples), tuple(common), (*sold_once, *rest), tuple(only_cancelled), tuple(for_counts))


def _add_products_without_category_or_price(mirror: Mirror) -> None:
    """No category below, on and above the thresholds, so that `price < x` and `price >= x` always find one."""
    for cents in (CHEAP, PRICE_THRESHOLDS[0] * 100, DEAR):
        mirror.product(None, cents)
    for category in (None, mirror.categories[-1]):
        mirror.product(category, None)


def _add_rare_categories(mirror: Mirror) -> None:
    """One of each size around COUNT_THRESHOLDS, with two of one name and the dearest of all; one of a single product on
    each price; one that is dear on average and has something cheap."""
    rare = iter(mirror.rare_categories)
    for size in range(COUNT_THRESHOLDS[0], COUNT_THRESHOLDS[-1] + 2):
        category = next(rare)
        name = mirror.new_product_name(category)
        for number in range(size):
            mirror.product(category, DEAREST - 5_00 * number, name if number < 2 else None)
    for price in PRICE_THRESHOLDS:
        mirror.product(next(rare), price * 100)
    cheap_and_dear = next(rare)
    for cents in (CHEAP, DEAREST):
        mirror.product(cheap_and_dear, cents)

"""The products of the adversarial shop: what a question about one category, or about every category, must meet.

Every category that questions name has all of it, so that no wrong query passes by the choice of a category.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqldojo.databases.mirror import Mirror
from sqldojo.databases.near_values import spelt_otherwise
from sqldojo.databases.shop import COUNT_THRESHOLDS, PRICE_THRESHOLDS

COUNTS = (*range(1, COUNT_THRESHOLDS[-1] + 2),)  # every count from below the first threshold to beyond the last
CHEAP = PRICE_THRESHOLDS[0] * 50  # cents; below every threshold
DEAR = PRICE_THRESHOLDS[-1] * 150  # above every threshold
TOP = DEAR + 150_00  # of the dearest in each category, and of some elsewhere
OVER_TOP = 50_00
DEAREST = PRICE_THRESHOLDS[-1] * 300  # above whatever else is dear


@dataclass(frozen=True)
class Catalogue:
    """The products by what they are for; ids of one half, the other half are their twins."""

    staples: tuple[int, ...]  # of each category one of the dearest, the one to buy when it does not matter which
    common: tuple[int, ...]  # of each category the product whose name every category has
    sold_once: tuple[int, ...]  # what is to be sold in one order and never again
    only_cancelled: tuple[int, ...]  # of each category one to be sold in a cancelled order and never again
    for_counts: tuple[int, ...]  # of the last category, two for each of COUNTS, sold only to meet a count
    elsewhere: tuple[int, ...]  # of no category, or of one that is only spelt like another


def add_products(mirror: Mirror) -> Catalogue:
    """Add all products; those of the catalogue are to be sold, the others never are."""
    staples, common, sold_once, only_cancelled = [], [], [], []
    *_, large = mirror.categories
    elsewhere = [mirror.product(None, TOP + over) for over in (0, OVER_TOP)]
    for rank, category in enumerate(mirror.categories):
        name = mirror.new_product_name(category)
        staples.append(mirror.product(category, TOP))
        common.append(mirror.product(category, PRICE_THRESHOLDS[rank] * 100, mirror.vocabulary.common_product))
        # Three tie at the top, two of them namesakes, one never sold; two more that are not have that name as well.
        sold_once.append(mirror.product(category, TOP, name))
        for cents in (TOP, CHEAP, CHEAP):
            mirror.product(category, cents, name)
        for cents in (DEAR + 1, 0, None):
            mirror.product(category, cents)
        only_cancelled.append(mirror.product(category, CHEAP - 1))
        if category != large:
            sold_once += [mirror.product(category, price * 100) for price in PRICE_THRESHOLDS]
            for price in PRICE_THRESHOLDS:
                mirror.product(category, price * 100 + 1)
        elsewhere += _add_near_categories(mirror, category, name)
    around = [mirror.product(large, price * 100 + cent) for price in PRICE_THRESHOLDS for cent in (-1, 0, 1)]
    for_counts, rest = around[: 2 * len(COUNTS)], around[2 * len(COUNTS) :]
    _add_products_without_category_or_price(mirror)
    _add_rare_categories(mirror)
    return Catalogue(
        tuple(staples), tuple(common), (*sold_once, *rest), tuple(only_cancelled), tuple(for_counts), tuple(elsewhere)
    )


def _add_near_categories(mirror: Mirror, category: str, name: str) -> list[int]:
    """In each category that is spelt like this one, something as dear, something dearer, which is to be sold and is
    returned, and something cheap, all three named like something in this category."""
    dearer = []
    for other in spelt_otherwise(category):
        mirror.product(other, TOP, name)
        dearer.append(mirror.product(other, TOP + OVER_TOP, name))
        mirror.product(other, CHEAP, name)
    return dearer


def _add_products_without_category_or_price(mirror: Mirror) -> None:
    """No category below, on and above the thresholds, so that `price < x` and `price >= x` always find one; and
    something cheap in a category without a name, which is not the same as none."""
    for cents in (CHEAP, PRICE_THRESHOLDS[0] * 100, DEAR):
        mirror.product(None, cents)
    mirror.product(None, None)
    mirror.product("", CHEAP)


def _add_rare_categories(mirror: Mirror) -> None:
    """One of each size around COUNT_THRESHOLDS, with two of one name and the dearest of all; one that is dear on
    average and has something cheap; of a single product one on each price and one a cent below, one cheap and one dear
    of the same name, one for nothing and one without a price."""
    rare = iter(mirror.rare_categories)
    for size in range(COUNT_THRESHOLDS[0], COUNT_THRESHOLDS[-1] + 2):
        category = next(rare)
        name = mirror.new_product_name(category)
        for number in range(size):
            mirror.product(category, DEAREST - 5_00 * number, name if number < 2 else None)
    for price in PRICE_THRESHOLDS:
        for cent in (0, -1):
            mirror.product(next(rare), price * 100 + cent)
    cheap_name = mirror.new_product_name(None)
    mirror.product(None, CHEAP, cheap_name)
    for cents in (CHEAP, DEAREST):
        mirror.product(next(rare), cents, cheap_name)
    for cents in (None, 0):
        mirror.product(next(rare), cents)
    cheap_and_dear = next(rare)
    for cents in (CHEAP, DEAREST):
        mirror.product(cheap_and_dear, cents)

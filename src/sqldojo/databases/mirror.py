"""A shop in which every row has a twin, so that every top is tied.

Whatever is added is added twice: a customer with one of another name in the paired city, a product with one of the
same price in the paired category, an order with one of the same date, status and amounts by the twin of its customer
for the twins of its products. A maximum or minimum over customers, cities, countries, products, categories or
orders is then always reached by both twins, whatever the measure, and `LIMIT 1` is never the whole answer.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from itertools import chain

from sqldojo.databases.near_values import spelt_otherwise
from sqldojo.databases.rows import ShopRows
from sqldojo.databases.shop import Vocabulary

Item = tuple[int | None, int | None, int | None]  # product, quantity, cents apiece
Place = tuple[str | None, str | None]  # city, country
NOWHERE: Place = (None, None)


class Mirror:
    """Adds rows in pairs; the ids it takes and returns are those of the rows asked for, not of their twins."""

    def __init__(self, rng: random.Random, vocabulary: Vocabulary) -> None:
        self.rows = ShopRows()
        self.vocabulary = vocabulary
        self.product_twins: dict[int | None, int | None] = {None: None}
        self._customer_twins: dict[int | None, int | None] = {None: None}
        self._people = chain(vocabulary.people(rng), vocabulary.more_people())
        self._product_names = {category: vocabulary.product_names(category, rng) for category in vocabulary.categories}
        # Of every name, place and category its twin; the common product is called the same everywhere.
        common = vocabulary.common_product
        self._twins: dict[str | None, str | None] = {None: None, "": "", common: common}
        for places in (vocabulary.places, vocabulary.rare_places):
            for one, other in _pairs(places):
                self._twins.update({one: other, **dict(zip(places[one], places[other], strict=True))})
        for categories in (vocabulary.products, vocabulary.rare_categories):
            self._twins.update(_pairs(categories))
        for one, other in list(self._twins.items()):
            if one and one != other:
                self._twins.update(zip(spelt_otherwise(one), spelt_otherwise(other), strict=True))

    @property
    def countries(self) -> list[str]:
        """The countries whose twins are the other ones."""
        return [country for country, _ in _pairs(self.vocabulary.places)]

    @property
    def cities(self) -> list[str]:
        """The cities of these countries."""
        return [city for country in self.countries for city in self.vocabulary.places[country]]

    @property
    def rare_cities(self) -> list[str]:
        """The rare cities whose twins are the other ones."""
        rare = self.vocabulary.rare_places
        return [city for country, _ in _pairs(rare) for city in rare[country]]

    @property
    def categories(self) -> list[str]:
        """The categories whose twins are the other ones."""
        return [category for category, _ in _pairs(self.vocabulary.products)]

    @property
    def rare_categories(self) -> list[str]:
        """The rare categories whose twins are the other ones."""
        return [category for category, _ in _pairs(self.vocabulary.rare_categories)]

    def new_name(self) -> str:
        """A customer's name that nobody has yet; customers who share it have twins who share another."""
        name = next(self._people)
        self._twins[name] = next(self._people)
        return name

    def new_product_name(self, category: str | None) -> str:
        """A name that no product has yet; products that share it have twins that share another."""
        usual: dict[str | None, str] = dict.fromkeys((None, ""), self.vocabulary.categories[0])
        usual |= self.vocabulary.rare_categories
        usual |= {other: each for each in self.vocabulary.categories for other in spelt_otherwise(each)}
        name, twin = (
            next(self._product_names[usual.get(each, each)]) for each in (category, self._twins[category])
        )
        self._twins[name] = twin
        return name

    def place(self, city: str) -> Place:
        """The city with its country."""
        return city, self.vocabulary.country_of(city)

    def near_places(self, city: str) -> list[Place]:
        """Places whose city and country are spelt like these."""
        return [*zip(*map(spelt_otherwise, self.place(city)), strict=True)]

    def customer(self, name: str, place: Place, signup_date: str | None, *, email: bool = True) -> int:
        """Add a customer, with an email address of its own or none, and the twin."""
        twin_place = tuple(self._twins[each] for each in place)
        added = []
        for who, (city, country) in ((name, place), (self._twins[name], twin_place)):
            address = self.vocabulary.email_of(who, len(self.rows.tables["customers"]) + 1) if email else None
            added.append(
                self.rows.add_customer(who, email=address, city=city, country=country, signup_date=signup_date)
            )
        self._customer_twins[added[0]] = added[1]
        return added[0]

    def product(self, category: str | None, cents: int | None, name: str | None = None) -> int:
        """Add a product, with this name or a new one, and its twin."""
        name = name or self.new_product_name(category)
        product = self.rows.add_product(name, category=category, cents=cents)
        twin = self.rows.add_product(self._twins[name], category=self._twins[category], cents=cents)
        self.product_twins.update({product: twin, twin: product})
        return product

    def order(self, customer: int | None, date: str | None, status: str | None, items: Iterable[Item] = ()) -> None:
        """Add an order with its items, and the twin customer's for the twin products."""
        items = list(items)
        order = self.rows.add_order(customer, date, status)
        twin = self.rows.add_order(self._customer_twins[customer], date, status)
        self.items(order, twin, items)

    def items(self, order: int | None, twin: int | None, items: Iterable[Item]) -> None:
        """Add items to an order and their twins to its twin."""
        for product, quantity, cents in items:
            self.rows.add_item(order, product, quantity, cents)
            self.rows.add_item(twin, self.product_twins[product], quantity, cents)


def _pairs(values: Mapping[str, object]) -> list[tuple[str, str]]:
    keys = list(values)
    return list(zip(keys[::2], keys[1::2], strict=True))

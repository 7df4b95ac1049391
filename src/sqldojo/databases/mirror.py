"""A shop in which every row has a twin, so that every top is tied.

Whatever is added is added twice: a customer with one of another name in the paired city, a product with one of the
same price in the paired category, an order with one of the same date, status and amounts by the twin of its customer
for the twins of its products. A maximum or minimum over customers, cities, countries, products, categories or
orders is then always reached by both twins, whatever the measure, and `LIMIT 1` is never the whole answer.
"""

from __future__ import annotations

import random
from collections.abc import Iterable

from sqldojo.databases.rows import ShopRows
from sqldojo.databases.shop import Vocabulary

Item = tuple[int | None, int | None, int | None]  # product, quantity, cents apiece
Place = tuple[str | None, str | None]  # city, country


class Mirror:
    """Adds rows in pairs; the ids it takes and returns are those of the rows asked for, not of their twins."""

    def __init__(self, rng: random.Random, vocabulary: Vocabulary) -> None:
        self.rows = ShopRows()
        self.vocabulary = vocabulary
        self.product_twins: dict[int | None, int | None] = {None: None}
        self._customer_twins: dict[int | None, int | None] = {None: None}
        self._names = vocabulary.people(rng)
        self._name_twins: dict[str, str] = {}
        self._product_names = {category: vocabulary.product_names(category, rng) for category in vocabulary.categories}
        self._place_twins: dict[str | None, str | None] = {None: None}
        countries = vocabulary.countries
        for country, twin in zip(countries[::2], countries[1::2], strict=True):
            self._place_twins[country] = twin
            self._place_twins.update(zip(vocabulary.places[country], vocabulary.places[twin], strict=True))
        self._category_twins: dict[str | None, str | None] = {None: None}
        self._category_twins.update(zip(vocabulary.categories[::2], vocabulary.categories[1::2], strict=True))

    @property
    def cities(self) -> list[str]:
        """The cities whose twins are in the paired countries."""
        return [city for city in self.vocabulary.cities if city in self._place_twins]

    @property
    def categories(self) -> tuple[str, ...]:
        """The categories whose twins are the other ones."""
        return self.vocabulary.categories[::2]

    def new_name(self) -> str:
        """A name nobody has yet; customers who share it have twins who share another."""
        name = next(self._names)
        self._name_twins[name] = next(self._names)
        return name

    def place(self, city: str) -> Place:
        """The city with its country."""
        return city, self.vocabulary.country_of(city)

    def customer(self, name: str, place: Place, signup_date: str | None, *, email: bool = True) -> int:
        """Add a customer, with an email address of its own or none, and the twin."""
        twin_place = tuple(self._place_twins[each] for each in place)
        added = []
        for who, (city, country) in ((name, place), (self._name_twins[name], twin_place)):
            address = self.vocabulary.email_of(who, len(self.rows.tables["customers"]) + 1) if email else None
            added.append(
                self.rows.add_customer(who, email=address, city=city, country=country, signup_date=signup_date)
            )
        self._customer_twins[added[0]] = added[1]
        return added[0]

    def product(self, category: str | None, cents: int | None, *, common: bool = False) -> int:
        """Add a product and its twin, both with a new name of their category or both with the common one."""
        categories = (category, self._category_twins[category])
        names = [self.vocabulary.common_product] * 2
        if not common:
            names = [next(self._product_names[each or self.vocabulary.categories[0]]) for each in categories]
        product = self.rows.add_product(names[0], category=categories[0], cents=cents)
        twin = self.rows.add_product(names[1], category=categories[1], cents=cents)
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

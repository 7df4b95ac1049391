"""The rows of one shop, collected in memory before they are written.

Money is a whole number of cents here and becomes a REAL in one place, so a price of 19.99 is the same number
wherever it occurs and exact sums can be planned.
"""

from __future__ import annotations

from dataclasses import dataclass, field

Row = tuple[int | float | str | None, ...]


@dataclass(frozen=True)
class ShopRows:
    """Rows by table, in the column order of `shop.SCHEMA`; ids count from 1 in the order of adding."""

    tables: dict[str, list[Row]] = field(
        default_factory=lambda: {"customers": [], "products": [], "orders": [], "order_items": []}
    )

    def add_customer(
        self, name: str, *, email: str | None, city: str | None, country: str | None, signup_date: str | None
    ) -> int:
        """Add a customer and return its id."""
        return self._add("customers", name, email, city, country, signup_date)

    def add_product(self, name: str, *, category: str | None, cents: int | None) -> int:
        """Add a product and return its id."""
        return self._add("products", name, category, to_real(cents))

    def add_order(self, customer: int | None, date: str | None, status: str | None) -> int:
        """Add an order and return its id."""
        return self._add("orders", customer, date, status)

    def add_item(self, order: int | None, product: int | None, quantity: int | None, cents: int | None) -> int:
        """Add a line of an order, `cents` being the price of one piece, and return its id."""
        return self._add("order_items", order, product, quantity, to_real(cents))

    def _add(self, table: str, *values: int | float | str | None) -> int:
        rows = self.tables[table]
        rows.append((len(rows) + 1, *values))
        return len(rows)


def to_real(cents: int | None) -> float | None:
    """An amount as the REAL nearest to it, NULL for None."""
    return None if cents is None else cents / 100

"""The pools that shop questions draw their values from: for each parameter, the query that lists its values.

Names, cities, countries and categories come from the data; thresholds, years and statuses are the constants on which
the adversarial databases place their boundary cases. One name stands for one pool in every type, so that a value
reserved for a parameter is reserved in all of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqldojo.databases import shop


def _listed(values: Sequence[str | int | float]) -> str:
    literals = [f"'{value}'" if isinstance(value, str) else repr(value) for value in values]
    return "VALUES " + ", ".join(f"({literal})" for literal in literals)


CITY = {"city": "SELECT DISTINCT city FROM customers WHERE city IS NOT NULL ORDER BY city"}
COUNTRY = {"country": "SELECT DISTINCT country FROM customers WHERE country IS NOT NULL ORDER BY country"}
CATEGORY = {"category": "SELECT DISTINCT category FROM products WHERE category IS NOT NULL ORDER BY category"}
PRICE = {"price": _listed(shop.PRICE_THRESHOLDS)}
MINIMUM = {"minimum": _listed(shop.COUNT_THRESHOLDS)}
# Not `cancelled`: the reference of a trained type names it, so it cannot be a value that training never shows.
STATUS = {"status": _listed([status for status in shop.STATUSES if status != "cancelled"])}
# Texts, because that is what strftime('%Y', ...) gives.
YEAR = {"year": _listed([str(year) for year in shop.YEARS])}

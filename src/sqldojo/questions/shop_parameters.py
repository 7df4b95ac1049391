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

# The pools of composed types. A range is a low value with a high one, so that no draw of both is empty.
LOW_PRICE = {"low_price": _listed(shop.PRICE_THRESHOLDS[1:8])}
HIGH_PRICE = {"high_price": _listed(shop.PRICE_THRESHOLDS[8:])}
EARLY_YEAR = {"early_year": _listed([str(year) for year in shop.YEARS[:4]])}
LATE_YEAR = {"late_year": _listed([str(year) for year in shop.YEARS[4:]])}
DAY = {"day": _listed([f"{year}-{month}-01" for year in shop.YEARS[1:] for month in ("03", "09")])}
MONTH = {"month": _listed([f"{month:02}" for month in range(1, 13)])}
YEAR_MONTH = {"year_month": _listed([f"{year}-{month:02}" for year in shop.YEARS[2:] for month in (3, 5, 8, 11)])}
QUANTITY = {"quantity": _listed((2, 3, 4, 5))}  # of 1 to 5: every line has at least 1
AMOUNT = {"amount": _listed(shop.SPEND_THRESHOLDS[:6])}
UNITS = {"units": _listed((3, 4, 5, 6, 8, 10, 12, 15))}
LINES = {"lines": _listed((1, 2, 3))}
SPEND = {"spend": _listed(shop.SPEND_THRESHOLDS)}

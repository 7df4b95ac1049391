"""Better words and the hand-written pools for the shop: what its column names alone do not say."""

from __future__ import annotations

from sqldojo.questions.composing import pools
from sqldojo.questions.composing.pools import Pools
from sqldojo.questions.composing.words import Measure, Noun, Words
from sqldojo.questions.shop_parameters import (
    AMOUNT,
    CATEGORY,
    CITY,
    COUNTRY,
    DAY,
    EARLY_YEAR,
    HIGH_PRICE,
    LATE_YEAR,
    LINES,
    LOW_PRICE,
    MINIMUM,
    MONTH,
    PRICE,
    QUANTITY,
    SPEND,
    STATUS,
    UNITS,
    YEAR,
    YEAR_MONTH,
)

_LINE_AMOUNT = Measure(
    words=Noun("amount", "amounts"),
    sql="{t}quantity * {t}unit_price",
    meaning="The amount of an order line is quantity times unit price.",
)

SHOP_WORDS = Words(
    tables={"order_items": Noun("order line", "order lines")},
    columns={
        ("customers", "email"): Noun("email address", "email addresses"),
        ("customers", "signup_date"): Noun("signup date", "signup dates"),
        ("orders", "order_date"): Noun("order date", "order dates"),
        ("orders", "id"): Noun("order id", "order ids"),
        ("order_items", "id"): Noun("order line id", "order line ids"),
    },
    conditions={
        ("customers", "city", "equal"): ("live in {}", "are based in the city of {}"),
        ("customers", "city", "other"): ("live in a known city other than {}",),
        ("customers", "country", "equal"): ("live in {}", "come from the country {}"),
        ("customers", "country", "other"): ("live in a known country other than {}",),
        ("customers", "signup_date", "year"): ("signed up in {}", "have a signup date in {}"),
        ("customers", "signup_date", "before"): ("signed up before {}", "have a signup date before {}"),
        ("customers", "signup_date", "since"): ("signed up on or after {}", "have a signup date of {} or later"),
        ("customers", "signup_date", "month"): (
            "signed up in month {} of any year", "have a signup date in month {}, whatever the year",
        ),
        ("customers", "signup_date", "year-month"): (
            "signed up in {} (year and month)", "have a signup date in the month {}",
        ),
        ("products", "category", "equal"): ("belong to the category {}", "have the category {}"),
        ("products", "category", "other"): ("have a known category other than {}",),
        ("products", "price", "below"): ("cost less than {}", "have a price below {}"),
        ("products", "price", "above"): ("cost more than {}", "have a price above {}"),
        ("products", "price", "at-most"): ("cost at most {}", "have a price of {} or less"),
        ("products", "price", "at-least"): ("cost at least {}", "have a price of {} or more"),
        ("orders", "order_date", "year"): ("were placed in {}", "have an order date in {}"),
        ("orders", "order_date", "before"): ("were placed before {}", "have an order date before {}"),
        ("orders", "order_date", "since"): ("were placed on or after {}", "have an order date of {} or later"),
        ("orders", "order_date", "month"): (
            "were placed in month {} of any year", "have an order date in month {}, whatever the year",
        ),
        ("orders", "order_date", "year-month"): (
            "were placed in {} (year and month)", "have an order date in the month {}",
        ),
        ("orders", "status", "equal"): ("have the status {}", "are marked as {}"),
        ("orders", "status", "other"): ("have a known status other than {}",),
    },
    links={
        ("orders", "customers"): ("were placed by {}", "belong to {}"),
        ("order_items", "orders"): ("are part of {}", "belong to {}"),
        ("order_items", "products"): ("are for {}",),
    },
    counted={"orders": ("status", "Orders of every status count.")},
    measures={"order_items": (_LINE_AMOUNT,)},
)

SHOP_POOLS: Pools = {
    ("customers", "city", pools.EQUAL): CITY,
    ("customers", "country", pools.EQUAL): COUNTRY,
    ("products", "category", pools.EQUAL): CATEGORY,
    ("products", "price", pools.THRESHOLD): PRICE,
    ("products", "price", pools.BETWEEN): {**LOW_PRICE, **HIGH_PRICE},
    ("orders", "status", pools.EQUAL): STATUS,
    ("order_items", "unit_price", pools.THRESHOLD): PRICE,
    ("order_items", "quantity", pools.THRESHOLD): QUANTITY,
    ("order_items", "amount", pools.THRESHOLD): AMOUNT,
    ("order_items", "order_id", pools.COUNT): LINES,
    ("order_items", "amount", pools.SUM): SPEND,
    ("order_items", "quantity", pools.SUM): UNITS,
    **{
        (table, column, kind): pool
        for table, column in (("customers", "signup_date"), ("orders", "order_date"))
        for kind, pool in (
            (pools.YEAR, YEAR),
            (pools.YEARS, {**EARLY_YEAR, **LATE_YEAR}),
            (pools.DAY, DAY),
            (pools.MONTH, MONTH),
            (pools.YEAR_MONTH, YEAR_MONTH),
        )
    },
    **{
        (table, column, pools.COUNT): MINIMUM
        for table, column in (
            ("customers", "city"), ("customers", "country"), ("products", "category"), ("orders", "customer_id"),
            ("orders", "status"), ("order_items", "product_id"), ("orders", "order_date"), ("customers", "signup_date"),
        )
    },
}  # fmt: skip

"""The bookshop: an invented world of nine tables for repair tasks, with several shops and buyers without an account.

Beside the plain rows it has what queries stumble over: namesakes, books of one title, books of several authors and of
none, publishers without books, orders without lines, sales without a customer or a store, prices and stars left open,
and many ties.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

from sqldojo.databases.drawing import day, favoured, people, sometimes
from sqldojo.databases.rows import Row
from sqldojo.databases.writing import write_database

# One line a table and no more than needed: every token of this text is in every prompt.
SCHEMA = {
    table: f"CREATE TABLE {table} ({columns})"
    for table, columns in {
        "publishers": "publisher_id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT",
        "authors": "author_id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT, born_on TEXT",
        "books": "book_id INTEGER PRIMARY KEY, title TEXT NOT NULL, publisher_id INTEGER REFERENCES publishers, "
        "genre TEXT, published_on TEXT, pages INTEGER, price REAL",
        "book_authors": "book_id INTEGER REFERENCES books, author_id INTEGER REFERENCES authors, "
        "PRIMARY KEY (book_id, author_id)",
        "stores": "store_id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT",
        "customers": "customer_id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT, city TEXT, joined_on TEXT",
        "orders": "order_id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers, "
        "store_id INTEGER REFERENCES stores, ordered_on TEXT, status TEXT",
        "order_lines": "line_id INTEGER PRIMARY KEY, order_id INTEGER REFERENCES orders, "
        "book_id INTEGER REFERENCES books, quantity INTEGER, unit_price REAL",
        "reviews": "review_id INTEGER PRIMARY KEY, book_id INTEGER REFERENCES books, "
        "customer_id INTEGER REFERENCES customers, stars INTEGER, written_on TEXT",
    }.items()
}

_COUNTRIES = ("Veldland", "Osmark", "Tirenia", "Calvora", "Nordhaven", "Sundria")
_CITIES = ("Larkstead", "Port Ammel", "Brindal", "Quellburg", "Sandreach", "Old Thorne", "Wexmoor")
_GENRES = ("Crime", "Fantasy", "History", "Poetry", "Science", "Travel", "Romance", "Cooking")
_STATUSES = ("paid", "sent", "delivered", "returned", "cancelled")
_PRICES = (6.5, 7.99, 9.5, 9.99, 12.0, 12.5, 14.99, 18.0, 18.0, 22.5, 24.99, 35.0)
_PAGES = (96, 128, 160, 192, 224, 224, 256, 288, 320, 320, 384, 448, 512, 640)
_PUBLISHERS = (
    "Bluegate Press", "Hollow Oak Books", "Meridian House", "Paper Lantern", "Kestrel & Daughters", "Ninth Street",
    "Saltmarsh Editions", "Two Rivers Press", "Granary Books", "Open Window", "Copper Kettle Press", "Foxglove House",
)  # fmt: skip
_STORES = ("Harbour Store", "Station Corner", "Market Hall", "University Store", "Riverside Store", "Castle Lane")
_FIRST_NAMES = (
    "Ada", "Bertil", "Cosima", "Dorian", "Edda", "Fabian", "Gwenda", "Henrik", "Isolde", "Jarek", "Kaja", "Lorenz",
    "Mirela", "Nils", "Odette", "Piotr",
)  # fmt: skip
_LAST_NAMES = (
    "Ambrose", "Birkmann", "Corvin", "Dellaway", "Eskola", "Farrow", "Gallow", "Hallworth", "Ivarsen", "Jessop",
    "Kolbe", "Lindqvist", "Marchetti", "Norling",
)  # fmt: skip
_FIRST_WORDS = ("Silent", "Crooked", "Last", "Hidden", "Golden", "Winter", "Burning", "Borrowed", "Distant", "Paper")
_LAST_WORDS = ("Orchard", "Harbour", "Lantern", "Garden", "Bridge", "Winter", "Letters", "Compass", "Kitchen", "Island")
_OPENED, _LAST_DAY = "2019-01-01", "2024-12-31"


def write_bookshop(path: Path, seed: int) -> None:
    """Write the bookshop to the new file `path`, the same bytes for the same seed; ValueError when it exists."""
    write_database(path, SCHEMA, bookshop_rows(seed))


def bookshop_rows(seed: int) -> dict[str, list[Row]]:
    """The rows by table, in the column order of SCHEMA; dates are ISO texts."""
    rng = Random(f"{seed}/bookshop")
    rows: dict[str, list[Row]] = {
        "publishers": [
            (number, name, sometimes(rng, 10, favoured(rng, _COUNTRIES)))
            for number, name in enumerate(_PUBLISHERS, start=1)
        ],
        "authors": [
            (number, name, sometimes(rng, 10, favoured(rng, _COUNTRIES)),
             sometimes(rng, 15, day(rng, "1948-01-01", "1995-12-31")))
            for number, name in enumerate(people(rng, _FIRST_NAMES, _LAST_NAMES, 40, 3), start=1)
        ],
        "stores": [(number, name, sometimes(rng, 10, _CITIES[number // 2])) for number, name in enumerate(_STORES, 1)],
        "customers": [_customer(rng, number, name)
                      for number, name in enumerate(people(rng, _FIRST_NAMES, _LAST_NAMES, 64, 6), start=1)],
    }  # fmt: skip
    rows["books"] = _books(rng)
    rows["book_authors"] = _book_authors(rng, rows["books"])
    rows["orders"] = _orders(rng, rows["customers"])
    rows["order_lines"] = _order_lines(rng, rows["orders"], rows["books"])
    rows["reviews"] = _reviews(rng, rows["books"], rows["customers"])
    return rows


def _customer(rng: Random, number: int, name: str) -> Row:
    address = f"{name.lower().replace(' ', '.')}{number}@post.example"
    return (
        number,
        name,
        sometimes(rng, 20, address),
        sometimes(rng, 8, favoured(rng, _CITIES)),
        day(rng, _OPENED, _LAST_DAY),
    )


def _books(rng: Random) -> list[Row]:
    """Books of all publishers but the last two; four share their title with another."""
    titles = rng.sample([f"The {first} {last}" for first in _FIRST_WORDS for last in _LAST_WORDS if first != last], 80)
    titles += rng.sample(titles, 4)
    rng.shuffle(titles)
    return [
        (
            number,
            title,
            sometimes(rng, 6, rng.randint(1, len(_PUBLISHERS) - 2)),
            sometimes(rng, 5, favoured(rng, _GENRES)),
            sometimes(rng, 5, day(rng, "2010-01-01", "2024-06-30")),
            sometimes(rng, 8, rng.choice(_PAGES)),
            sometimes(rng, 5, rng.choice(_PRICES)),
        )
        for number, title in enumerate(titles, start=1)
    ]


def _book_authors(rng: Random, books: list[Row]) -> list[Row]:
    """No author for every twenty-first book, one for most, up to three; the last four authors have written none."""
    rows: list[Row] = []
    for book in books:
        count = rng.choices((1, 2, 3), (70, 22, 8))[0] if book[0] % 21 else 0
        rows += [(book[0], author) for author in sorted(rng.sample(range(1, 37), count))]
    return rows


def _orders(rng: Random, customers: list[Row]) -> list[Row]:
    """Orders in the order of their days. Those of no store came online, those of no customer were paid in cash.

    One in eight customers never orders, and the last store is new.
    """
    buyers = rng.sample(customers, len(customers) - len(customers) // 8)
    orders = []
    for _ in range(180):
        buyer = sometimes(rng, 8, favoured(rng, buyers))
        since = buyer[4] if buyer else _OPENED
        store = sometimes(rng, 35, rng.randint(1, len(_STORES) - 1))
        status = rng.choices(_STATUSES, (15, 20, 45, 8, 12))[0]
        orders.append((day(rng, since, _LAST_DAY), buyer[0] if buyer else None, store, status))
    orders.sort(key=lambda order: order[0])
    return [
        (number, buyer, store, sometimes(rng, 3, ordered_on), status)
        for number, (ordered_on, buyer, store, status) in enumerate(orders, start=1)
    ]


def _order_lines(rng: Random, orders: list[Row], books: list[Row]) -> list[Row]:
    """Up to four books an order, some at a discount; one book in eight was never sold, a few orders are empty."""
    sold = rng.sample(books, len(books) - len(books) // 8)
    rows: list[Row] = []
    for order in orders:
        count = rng.choices((0, 1, 2, 3, 4), (5, 45, 28, 14, 8))[0]
        for book in rng.sample(sold, count):
            price = book[6] if rng.randrange(4) else rng.choice(_PRICES)
            quantity = sometimes(rng, 3, rng.choices((1, 2, 3, 4, 10), (66, 20, 7, 4, 3))[0])
            rows.append((len(rows) + 1, order[0], book[0], quantity, price))
    return rows


def _reviews(rng: Random, books: list[Row], customers: list[Row]) -> list[Row]:
    """Reviews of two books in three, some by nobody who is known, some without stars."""
    reviewed = rng.sample(books, len(books) * 2 // 3)
    reviews = []
    for _ in range(130):
        customer = sometimes(rng, 10, rng.choice(customers))
        since = max(_OPENED, customer[4]) if customer else _OPENED
        stars = sometimes(rng, 6, rng.choices((1, 2, 3, 4, 5), (8, 10, 22, 34, 26))[0])
        reviews.append(
            (day(rng, since, _LAST_DAY), favoured(rng, reviewed)[0], customer[0] if customer else None, stars)
        )
    reviews.sort(key=lambda review: review[0])
    return [
        (number, book, customer, stars, written_on)
        for number, (written_on, book, customer, stars) in enumerate(reviews, start=1)
    ]

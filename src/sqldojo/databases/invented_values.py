"""Plausible values for a column of which nothing is known but its name and its type.

Plausible is enough to read a result and to make ties, month ends and rounding halves happen; whatever a query compares
with must be given by the caller, who knows the query.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from datetime import date, datetime, timedelta
from itertools import cycle

from sqldojo.databases.schema_model import Column, Table
from sqldojo.databases.type_affinity import BLOB, INTEGER, NUMERIC, REAL, TEXT, Value, fold, stored

_FIRST = ("Ada", "Boris", "Carla", "Dmitri", "Edith", "Farid", "Gwen", "Hassan", "Ivy", "Jorge", "Kofi", "Lena", "Mina",
          "Noor", "Oscar", "Petra", "Ravi", "Sofia", "Tomas", "Yuki")  # fmt: skip
_LAST = ("Abbott", "Becker", "Chen", "Dalton", "Eriksen", "Fontaine", "Gupta", "Haddad", "Ivanov", "Jung", "Kowalski",
         "Lindgren", "Mendes", "Novak", "Okafor", "Popescu", "Rahman", "Schmidt", "Tran", "Ueda")  # fmt: skip
_CITIES = ("Aarhus", "Bristol", "Cordoba", "Dakar", "Eindhoven", "Florence", "Geneva", "Havana", "Izmir", "Jakarta",
           "Krakow", "Lima", "Malmo", "Nagoya", "Oslo")  # fmt: skip
_COUNTRIES = ("Argentina", "Benin", "Colombia", "Ecuador", "Georgia", "Hungary", "Indonesia", "Jordan", "Korea",
              "Malta", "Oman", "Sweden", "Turkey", "Uruguay", "Zambia")  # fmt: skip
_STATES = ("Alberta", "Bavaria", "Catalonia", "Florida", "Hessen", "Kansas", "Nevada", "Ohio", "Tasmania", "Texas")
_COLOURS = ("amber", "black", "copper", "green", "indigo", "pearl", "red", "scarlet", "violet", "white")
_THINGS = ("anchor", "basket", "candle", "dolphin", "engine", "feather", "garden", "harbour", "island", "journal",
           "kernel", "ladder", "meadow", "needle", "orchard", "pencil", "quarry", "river", "signal",
           "tower")  # fmt: skip
_STATUSES = ("open", "closed", "active", "paused", "done", "failed")
_GROUPS = ("alpha", "beta", "gamma", "delta", "basic", "premium", "mixed")
_FIRST_DAY = date(2014, 1, 1)
_DAYS = 4200

# A column is of the first kind one of whose words is in its name.
_WORDS_OF_KINDS = {
    "email": "email mail",
    "url": "url website homepage link web",
    "phone": "phone fax telephone mobile tel",
    "postcode": "zip postal postcode postalcode zipcode",
    "country": "country nation nationality citizenship",
    "city": "city town hometown headquarters venue location birthplace",
    "state": "state province county region district",
    "gender": "gender sex",
    "moment": "datetime timestamp created updated modified update",
    "date": "date day birthday dob birth from until since deadline",
    "year": "year founded opened built",
    "month": "month",
    "time": "time hour start end duration",
    "first_name": "firstname first forename middle",
    "last_name": "lastname last surname",
    "flag": "is has flag active enabled deleted bool yn",
    "status": "status result outcome",
    "price": "price amount cost total salary fee rate value balance paid budget revenue sales payment charge income",
    "count": "quantity qty count number num rank ranking rating score points level stars goals size capacity",
    "age": "age",
    "group": "type category kind class genre theme party colour color method role department position language",
    "street": "address street line",
    "code": "code isbn sku barcode password",
    "person": "name customer author person player pilot owner manager contact employee staff student teacher artist",
    "title": "title product item book song film movie description details comment notes summary text",
}  # fmt: skip
_KIND_OF_WORD = {word: kind for kind, words in reversed(_WORDS_OF_KINDS.items()) for word in words.split()}
_RANK = {kind: rank for rank, kind in enumerate(_WORDS_OF_KINDS)}
_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_A-Za-z]+")
_LENGTH = re.compile(r"\(\s*(\d+)\s*\)")
_KINDS_OF_NUMBERS = {"year", "month", "flag", "price", "count", "age", "id"}


def invent(column: Column, rng: random.Random, size: int) -> list[Value]:
    """`size` values for the column as SQLite stores them, some of them equal, none of them NULL."""
    make = _MAKERS[_kind(column)]
    length = _length(column)
    values = [stored(make(rng, size), column.affinity) for _ in range(size)]
    return [value[:length] if isinstance(value, str) else value for value in values] if length else values


def invent_keys(column: Column, table: Table, rng: random.Random, size: int, *, numbers: bool = False) -> list[Value]:
    """Up to `size` different values in an order of their own: half the time without gaps, half the time with some.

    `numbers` asks for digits whatever the type: a column of numbers refers to this one.
    """
    span = size if rng.random() < 0.5 else 3 * size
    ids = rng.sample(range(1, span + 1), size)
    if column.affinity == BLOB and "blob" in fold(column.declared):
        return [number.to_bytes(4, "big") for number in ids]
    kind = _kind(column)
    if numbers or kind in _KINDS_OF_NUMBERS - {"year"}:
        return [stored(number, column.affinity) for number in ids]
    if kind in ("code", "title", "group") and fold(_parts(column.name)[-1]) in ("id", "code", "no", "key", "number"):
        letter = table.name[:1].upper()
        values: list[Value] = [f"{letter}{number:03d}" for number in ids]
    else:
        values = list(dict.fromkeys(invent(column, rng, 2 * size)))[:size]
        if isinstance(values[0], str):
            values += [f"{value} {number}" for value, number in zip(cycle(values), ids[len(values) :], strict=False)]
    length = _length(column)
    if length and any(isinstance(value, str) and len(value) > length for value in values):
        return [str(number)[:length] for number in ids]
    return values


def fits(value: Value, column: Column, *, strict: bool = False) -> bool:
    """Whether the value, as stored, is of a storage class that a column of this type is meant for."""
    if value is None:
        return False
    if column.affinity == INTEGER:
        return isinstance(value, int)
    if column.affinity == REAL:
        return isinstance(value, float)
    if column.affinity == TEXT:
        return isinstance(value, str)
    if column.affinity == NUMERIC:
        return isinstance(value, int | float) or (isinstance(value, str) and not _is_number_type(column))
    return not strict or "blob" not in fold(column.declared) or isinstance(value, bytes)


def _kind(column: Column) -> str:
    """What the column is about: by its type where that is telling, else by the words of its name, else by its type."""
    declared = fold(column.declared)
    if column.affinity == BLOB and "blob" in declared:
        return "bytes"
    if column.affinity == NUMERIC:
        for words, kind in ((("datetime", "timestamp"), "moment"), (("date",), "date"), (("time",), "time")):
            if any(word in declared for word in words):
                return kind
        if "bool" in declared or declared == "bit":
            return "flag"
    parts = [fold(part) for part in _parts(column.name)]
    kinds = [_KIND_OF_WORD[part] for part in parts if part in _KIND_OF_WORD]
    kind = min(kinds, key=_RANK.__getitem__, default="")
    if parts[-1] in ("id", "ids", "key", "pk") or (declared in ("", "any") and not kind):
        kind = "id" if column.affinity != TEXT else "code"
    numeric = column.affinity in (INTEGER, REAL) or (column.affinity == NUMERIC and _is_number_type(column))
    if numeric and kind not in _KINDS_OF_NUMBERS:
        return "seconds" if kind in ("date", "moment") else "count" if column.affinity == INTEGER else "price"
    if column.affinity == TEXT and kind == "flag":
        return "letter"
    return kind or "title"


def _is_number_type(column: Column) -> bool:
    declared = fold(column.declared)
    return any(word in declared for word in ("num", "dec", "bool", "bit", "money", "currency", "fixed"))


def _parts(name: str) -> list[str]:
    return _PARTS.findall(name) or [name]


def _length(column: Column) -> int | None:
    """The number of characters in VARCHAR(20), which SQLite does not enforce but a CHECK may."""
    found = _LENGTH.search(column.declared) if column.affinity == TEXT else None
    return int(found[1]) or None if found else None


def _day(rng: random.Random) -> date:
    """A day; every fourth is the first or the last one of a month."""
    day = _FIRST_DAY + timedelta(days=rng.randrange(_DAYS))
    chance = rng.random()
    if chance < 0.25:
        day = day.replace(day=1)
        return day if chance < 0.125 else day - timedelta(days=1)
    return day


def _moment(rng: random.Random) -> datetime:
    hour, minute, second = rng.choice(((0, 0, 0), (23, 59, 59), (rng.randrange(24), rng.randrange(60), 0)))
    return datetime.combine(_day(rng), datetime.min.time()).replace(hour=hour, minute=minute, second=second)


def _price(rng: random.Random) -> float:
    """An amount in cents; some are halves of a whole or of a tenth, which roundings treat differently."""
    chance = rng.random()
    if chance < 0.15:
        return rng.randrange(60) + 0.5
    if chance < 0.3:
        return (rng.randrange(600) * 10 + 5) / 100
    return rng.randrange(50, rng.choice((2_000, 50_000))) / 100


def _count(rng: random.Random) -> int:
    return rng.randrange(1, 10) if rng.random() < 0.8 else rng.randrange(0, 120)


def _words(rng: random.Random) -> str:
    return f"{rng.choice(_COLOURS)} {rng.choice(_THINGS)}"


def _street(rng: random.Random) -> str:
    return f"{rng.randrange(1, 60)} {rng.choice(_THINGS).title()} Street"


_MAKERS: dict[str, Callable[[random.Random, int], Value]] = {
    "email": lambda rng, _: f"{rng.choice(_FIRST).lower()}.{rng.choice(_LAST).lower()}@example.net",
    "url": lambda rng, _: f"https://www.{rng.choice(_THINGS)}{rng.randrange(9)}.example",
    "phone": lambda rng, _: f"555-{rng.randrange(100, 200):04d}",
    "postcode": lambda rng, _: str(rng.randrange(10_000, 10_100)),
    "country": lambda rng, _: rng.choice(_COUNTRIES),
    "city": lambda rng, _: rng.choice(_CITIES),
    "state": lambda rng, _: rng.choice(_STATES),
    "gender": lambda rng, _: rng.choice("FM"),
    "moment": lambda rng, _: _moment(rng).isoformat(" "),
    "date": lambda rng, _: _day(rng).isoformat(),
    "seconds": lambda rng, _: int((_moment(rng) - datetime(1970, 1, 1)).total_seconds()),
    "year": lambda rng, _: rng.randrange(2005, 2025),
    "month": lambda rng, _: rng.randrange(1, 13),
    "time": lambda rng, _: f"{rng.randrange(24):02d}:{rng.choice((0, 15, 30, 59)):02d}:00",
    "first_name": lambda rng, _: rng.choice(_FIRST),
    "last_name": lambda rng, _: rng.choice(_LAST),
    "flag": lambda rng, _: rng.randrange(2),
    "letter": lambda rng, _: rng.choice("YN"),
    "status": lambda rng, _: rng.choice(_STATUSES),
    "price": lambda rng, _: _price(rng),
    "count": lambda rng, _: _count(rng),
    "age": lambda rng, _: rng.randrange(18, 80),
    "group": lambda rng, _: rng.choice(_GROUPS),
    "street": lambda rng, _: _street(rng),
    "code": lambda rng, _: f"{rng.choice('ABCD')}{rng.randrange(1, 30):02d}",
    "person": lambda rng, _: f"{rng.choice(_FIRST)} {rng.choice(_LAST)}",
    "title": lambda rng, _: _words(rng),
    "id": lambda rng, size: rng.randrange(1, size + 1),
    "bytes": lambda rng, _: rng.randbytes(2),
}

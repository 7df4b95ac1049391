"""The streaming catalogue: an invented world of seven tables for repair tasks, on what is watched and how it is rated.

Beside the plain rows it has what queries stumble over: namesakes, titles of one name, titles of several genres and of
none, genres and members with nothing to their name, plays of no known member or device, open countries, and many ties.
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
        "countries": "id INTEGER PRIMARY KEY, name TEXT NOT NULL, region TEXT",
        "genres": "id INTEGER PRIMARY KEY, name TEXT NOT NULL",
        "titles": "id INTEGER PRIMARY KEY, name TEXT NOT NULL, kind TEXT, country_id INTEGER REFERENCES countries, "
        "released_on TEXT, minutes INTEGER",
        "title_genres": "title_id INTEGER REFERENCES titles, genre_id INTEGER REFERENCES genres, "
        "PRIMARY KEY (title_id, genre_id)",
        "members": "id INTEGER PRIMARY KEY, name TEXT NOT NULL, country_id INTEGER REFERENCES countries, tier TEXT, "
        "joined_on TEXT",
        "plays": "id INTEGER PRIMARY KEY, member_id INTEGER REFERENCES members, title_id INTEGER REFERENCES titles, "
        "played_on TEXT, minutes INTEGER, device TEXT",
        "ratings": "member_id INTEGER REFERENCES members, title_id INTEGER REFERENCES titles, stars INTEGER, "
        "rated_on TEXT, PRIMARY KEY (member_id, title_id)",
    }.items()
}

_COUNTRIES = (
    ("Marenga", "South"), ("Oslavia", "North"), ("Perrant", "West"), ("Quinoa Isles", "South"), ("Rothmark", "North"),
    ("Sable Coast", "West"), ("Tavoria", "East"), ("Uldenland", None), ("Vessany", "East"),
)  # fmt: skip
_GENRES = ("Adventure", "Animation", "Comedy", "Documentary", "Drama", "Horror", "Musical", "Thriller", "Western")
_KINDS = ("film", "series", "short", "special")
_TIERS = ("basic", "standard", "premium", "family")
_DEVICES = ("tv", "phone", "tablet", "laptop")
_MINUTES = {
    "film": (85, 90, 90, 98, 105, 120, 120), "series": (25, 30, 45, 45, 50), "short": (8, 12, 15, 15),
    "special": (30, 60, 60, 75), None: (60, 90),
}  # fmt: skip
_FIRST_NAMES = (
    "Amadou", "Beatrix", "Celeste", "Dmitri", "Emeka", "Farida", "Goran", "Hana", "Ilse", "Jomo", "Kerstin", "Lucio",
    "Maren", "Noor", "Oskar", "Pilar",
)  # fmt: skip
_LAST_NAMES = (
    "Abara", "Brandt", "Castell", "Dragan", "Eriksen", "Fontaine", "Gruber", "Haddad", "Isaksen", "Jurado", "Kamau",
    "Lenoir",
)  # fmt: skip
_FIRST_WORDS = ("Midnight", "Glass", "Second", "Iron", "Lost", "Velvet", "Northern", "Broken", "Electric", "Little")
_LAST_WORDS = ("Parade", "Station", "Mirror", "Tide", "Empire", "Summer", "Detective", "Circus", "Signal", "Kingdom")
_OPENED, _LAST_DAY = "2020-01-01", "2024-12-31"


def write_streaming(path: Path, seed: int) -> None:
    """Write the streaming catalogue to the new file `path`, the same bytes for the same seed.

    ValueError when it exists.
    """
    write_database(path, SCHEMA, streaming_rows(seed))


def streaming_rows(seed: int) -> dict[str, list[Row]]:
    """The rows by table, in the column order of SCHEMA; dates are ISO texts, lengths are minutes."""
    rng = Random(f"{seed}/streaming")
    rows: dict[str, list[Row]] = {
        "countries": [(number, *country) for number, country in enumerate(_COUNTRIES, start=1)],
        "genres": [(number, name) for number, name in enumerate(_GENRES, start=1)],
        "titles": _titles(rng),
        "members": [
            (
                number,
                name,
                sometimes(rng, 8, rng.randint(1, len(_COUNTRIES) - 1)),
                sometimes(rng, 6, favoured(rng, _TIERS)),
                day(rng, _OPENED, _LAST_DAY),
            )
            for number, name in enumerate(people(rng, _FIRST_NAMES, _LAST_NAMES, 56, 5), start=1)
        ],
    }
    rows["title_genres"] = _title_genres(rng, rows["titles"])
    rows["plays"] = _plays(rng, rows["members"], rows["titles"])
    rows["ratings"] = _ratings(rng, rows["members"], rows["titles"])
    return rows


def _titles(rng: Random) -> list[Row]:
    """Titles of all countries but the last; four share their name with another."""
    names = rng.sample([f"{first} {last}" for first in _FIRST_WORDS for last in _LAST_WORDS], 66)
    names += rng.sample(names, 4)
    rng.shuffle(names)
    rows: list[Row] = []
    for number, name in enumerate(names, start=1):
        kind = sometimes(rng, 4, rng.choices(_KINDS, (45, 30, 13, 12))[0])
        country = sometimes(rng, 8, rng.randint(1, len(_COUNTRIES) - 1))
        released_on = sometimes(rng, 6, day(rng, "2012-01-01", "2024-06-30"))
        rows.append((number, name, kind, country, released_on, sometimes(rng, 6, rng.choice(_MINUTES[kind]))))
    return rows


def _title_genres(rng: Random, titles: list[Row]) -> list[Row]:
    """Up to three genres a title, none for a few; nothing is of the last genre."""
    rows: list[Row] = []
    for title in titles:
        count = rng.choices((0, 1, 2, 3), (6, 54, 30, 10))[0]
        rows += [(title[0], genre) for genre in sorted(rng.sample(range(1, len(_GENRES)), count))]
    return rows


def _plays(rng: Random, members: list[Row], titles: list[Row]) -> list[Row]:
    """Plays in the order of their days, some by no known member; one member and one title in eight have none."""
    active = rng.sample(members, len(members) - len(members) // 8)
    played = rng.sample(titles, len(titles) - len(titles) // 8)
    plays = []
    for _ in range(240):
        member, title = sometimes(rng, 6, favoured(rng, active)), favoured(rng, played)
        since = member[4] if member else _OPENED
        whole = title[5] or 60
        watched = whole if rng.randrange(3) else rng.randrange(5, whole + 1, 5)
        device = sometimes(rng, 8, favoured(rng, _DEVICES))
        plays.append((day(rng, since, _LAST_DAY), member[0] if member else None, title[0],
                      sometimes(rng, 4, watched), device))  # fmt: skip
    plays.sort(key=lambda play: play[0])
    return [
        (number, member, title, sometimes(rng, 3, played_on), minutes, device)
        for number, (played_on, member, title, minutes, device) in enumerate(plays, start=1)
    ]


def _ratings(rng: Random, members: list[Row], titles: list[Row]) -> list[Row]:
    """At most one rating of a title by a member; one title in six has none, a few ratings are without stars."""
    rated = rng.sample(titles, len(titles) - len(titles) // 6)
    pairs = rng.sample([(member, title) for member in members for title in rated], 150)
    return [
        (
            member[0],
            title[0],
            sometimes(rng, 4, rng.choices((1, 2, 3, 4, 5), (7, 10, 24, 35, 24))[0]),
            sometimes(rng, 4, day(rng, member[4], _LAST_DAY)),
        )
        for member, title in sorted(pairs)
    ]

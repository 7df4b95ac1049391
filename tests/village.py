"""Two families of three small databases with people and their pets, for tests of the review."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from sqldojo.databases.families import EVALUATION, ORDINARY, TRAIN
from sqldojo.records import QuestionType

TOWNS = {TRAIN: ("Rome", "Pisa", "Turin"), EVALUATION: ("Oslo", "Bergen", "Narvik")}

TOWN = {"town": "SELECT DISTINCT town FROM people ORDER BY town"}
AGE = {"age": "VALUES (15), (25), (35), (45), (55), (65)"}

IN_TOWN = QuestionType(
    id="in-town",
    split="train",
    phrasings=("Who lives in {town}? Return only the names.", "List the people of {town}, by name alone."),
    sql="SELECT name FROM people WHERE town = :town",
    parameters=TOWN,
    proposer="composed",
)


def build_village(root: Path) -> dict[str, tuple[Path, ...]]:
    """The databases of both families: 3 to 5 people a town, aged 10 to 60 with ties; every second one has pets."""
    families = {}
    for family, towns in TOWNS.items():
        paths = tuple(root / family / f"{name}.sqlite" for name in ORDINARY)
        for size, path in enumerate(paths, start=3):
            path.parent.mkdir(parents=True, exist_ok=True)
            people = [(town, n) for place, town in enumerate(towns) for n in range(size + place)]
            with closing(sqlite3.connect(path)) as connection, connection:
                connection.execute(
                    "CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, town TEXT, age INTEGER, home_town TEXT)")
                connection.execute("CREATE TABLE pets (id INTEGER PRIMARY KEY, owner_id INTEGER, kind TEXT)")
                for key, (town, n) in enumerate(people, start=1):
                    age = 10 + 10 * ((key * 7 + size) % 6)
                    row = (key, f"{town} {n}", town, age, towns[key % 3])
                    connection.execute("INSERT INTO people VALUES (?, ?, ?, ?, ?)", row)
                    for kind in ("cat", "dog", "cat")[: key % 2 * (1 + key % 3)]:
                        connection.execute("INSERT INTO pets (owner_id, kind) VALUES (?, ?)", (key, kind))
        families[family] = paths
    return families

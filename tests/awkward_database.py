"""An invented database with everything that makes a schema awkward, and one of many tables."""

from __future__ import annotations

from pathlib import Path

from sqlite_files import write_database

COLOURS = ("rød", "grønn", "blå", "Gul")
TABLES = ("group", "order", "Größe", 'odd "name" x', "line item", "empty one", "note", "place")

_ORDERS = ", ".join(
    f"({n}, {n % 5 + 1}, '{COLOURS[n * n % 4]}', {n * 7 % 40 + 0.5}, "
    f"'20{20 + n % 4}-{n % 12 + 1:02d}-{n % 27 + 1:02d}')"
    for n in range(1, 81)
)
_GROUPS = ", ".join(f"({n}, 'Team {n}', '{COLOURS[n % 3]}')" for n in range(1, 7))
_LINES = ", ".join(f"({n}, {k}, {(n * k) % 9 + 1})" for n in range(1, 81) for k in range(1, n % 3 + 2))
_PLACES = ", ".join(f"('{chr(65 + n % 26)}{n:02d}', {n}, x'00ff{n:02x}')" for n in range(1, 61))

SCRIPT = f"""
CREATE TABLE "group" (id INTEGER PRIMARY KEY, name TEXT NOT NULL, colour TEXT); -- a team
CREATE TABLE "order" (
  id INTEGER PRIMARY KEY, group_id INTEGER, -- whose it is
  colour TEXT, price REAL CHECK (price > 0), placed_on TEXT,
  with_tax REAL GENERATED ALWAYS AS (price * 1.25) STORED, half REAL AS (price / 2) VIRTUAL
);
CREATE TABLE "Größe" ("Länge in cm" REAL, "from" TEXT, "rowid" TEXT);
CREATE TABLE "odd ""name"" x" ("a""b" TEXT, "c;d" INTEGER, "x y" TEXT UNIQUE);
CREATE TABLE "line item" (order_id INTEGER, number INTEGER, pieces INTEGER, PRIMARY KEY (order_id, number),
  FOREIGN KEY (order_id) REFERENCES "order" (id));
CREATE TABLE "empty one" (id INTEGER PRIMARY KEY, order_id INTEGER REFERENCES "order", what BLOB);
CREATE TABLE note (order_id INTEGER, number INTEGER, text TEXT,
  FOREIGN KEY (order_id, number) REFERENCES "line item" (order_id, number));
CREATE TABLE place (code TEXT PRIMARY KEY, rank INT, picture BLOB) WITHOUT ROWID;
CREATE VIEW dear AS SELECT * FROM "order" WHERE price > 20;
CREATE VIEW broken AS SELECT * FROM nowhere;
CREATE VIRTUAL TABLE search USING fts5(body);
CREATE INDEX by_group ON "order" (group_id);
CREATE TRIGGER keep AFTER DELETE ON "group" BEGIN SELECT RAISE(ABORT, 'no'); END;
INSERT INTO search VALUES ('some words');
INSERT INTO "group" VALUES {_GROUPS};
INSERT INTO "order" (id, group_id, colour, price, placed_on) VALUES {_ORDERS};
INSERT INTO "Größe" VALUES (1.5, 'here', 'r'), (2.5, 'there', NULL), (NULL, 'here', 's');
INSERT INTO "odd ""name"" x" VALUES ('q', 1, 'u'), ('it''s', 2, 'v'), (NULL, 3, 'w');
INSERT INTO "line item" VALUES {_LINES};
INSERT INTO note SELECT order_id, number, 'note ' || order_id FROM "line item" WHERE pieces > 5;
INSERT INTO place VALUES {_PLACES};
"""


def awkward(path: Path) -> Path:
    """The file `path` with the tables TABLES, two views, of which one leads nowhere, and a virtual table."""
    return write_database(path, SCRIPT)


def many_tables(path: Path, count: int) -> Path:
    """The file `path` with so many tables of 30 rows, each after the first referring to the one before by a name."""
    parts = []
    for number in range(count):
        refers = f", t{number - 1}_id INTEGER" if number else ""
        parts.append(f"CREATE TABLE t{number} (id INTEGER PRIMARY KEY, kind TEXT, amount INTEGER{refers});")
        rows = ", ".join(
            f"({n}, 'kind {n % 4}', {n * (number + 3) % 50}{f', {n * 7 % 30 + 1}' if number else ''})"
            for n in range(1, 31)
        )
        parts.append(f"INSERT INTO t{number} VALUES {rows};")
    return write_database(path, "\n".join(parts))

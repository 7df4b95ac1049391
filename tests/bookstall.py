"""A small database with people and what they bought, and references over it, for tests of generated repair tasks."""

from __future__ import annotations

from pathlib import Path

from sqlite_files import write_database

from sqldojo.databases.schema_model import Schema, read_schema
from sqldojo.repair.references import RepairReference

DB_ID = "bookstall"
SCRIPT = """
CREATE TABLE readers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, town TEXT, joined_on TEXT);
CREATE TABLE books (id INTEGER PRIMARY KEY, title TEXT NOT NULL, price REAL, pages INTEGER);
CREATE TABLE sales (id INTEGER PRIMARY KEY, reader_id INTEGER REFERENCES readers (id),
                    book_id INTEGER REFERENCES books (id), sold_on TEXT, copies INTEGER);
INSERT INTO readers VALUES (1, 'Ada Frost', 'Graz', '2022-01-05'), (2, 'Bo Lind', 'Graz', '2023-03-07'),
    (3, 'Cy Marsh', 'Linz', '2023-05-20'), (4, 'Di Noon', NULL, '2024-02-29'), (5, 'Ada Frost', 'Wels', NULL),
    (6, 'Ed Pole', 'Linz', '2021-11-30');
INSERT INTO books VALUES (1, 'Tides', 12.5, 210), (2, 'Moss', 20, 340), (3, 'Ember', NULL, 95), (4, 'Quill', 20, 180),
    (5, 'Drift', 7.25, NULL);
INSERT INTO sales VALUES (1, 1, 1, '2023-03-01', 2), (2, 1, 2, '2023-04-11', 1), (3, 2, 1, '2024-03-15', 3),
    (4, 3, 4, '2023-03-09', 1), (5, NULL, 2, '2023-05-05', 4), (6, 2, 5, '2024-07-03', NULL),
    (7, 1, 5, '2024-03-30', 1), (8, 3, 3, '2023-11-11', 2);
"""

_QUESTIONS = (
    ("in-town", False, "Which readers live in Graz? Return only the name, one row per reader.",
     "SELECT name FROM readers WHERE town = 'Graz'"),
    ("dear", False, "List the books that cost at least 12.5. Return the title and the price, one row per book.",
     "SELECT title, price FROM books WHERE price >= 12.5"),
    ("per-town", False, "How many readers are there in each town? Return the town and the number of readers.",
     "SELECT town, COUNT(*) FROM readers GROUP BY town"),
    ("sales-of-each", False, "How many sales does each reader have? Return the name and the number, 0 for none.",
     "SELECT readers.name, COUNT(sales.id) FROM readers LEFT JOIN sales ON sales.reader_id = readers.id "
     "GROUP BY readers.id"),
    ("copies-in-year", False, "How many copies were sold in 2023? Return only the number.",
     "SELECT SUM(copies) FROM sales WHERE strftime('%Y', sold_on) = '2023'"),
    ("busy", False, "Which readers have more than 1 sale? Return only the name, one row per reader.",
     "SELECT readers.name FROM sales JOIN readers ON readers.id = sales.reader_id GROUP BY readers.id "
     "HAVING COUNT(*) > 1"),
    ("dearest", False, "What is the most expensive book? When several tie, return each title.",
     "SELECT title FROM books WHERE price = (SELECT MAX(price) FROM books)"),
    ("never", False, "Which books were never sold to a reader from Graz? Return only the title.",
     "SELECT title FROM books WHERE NOT EXISTS (SELECT 1 FROM sales JOIN readers ON readers.id = sales.reader_id "
     "WHERE sales.book_id = books.id AND readers.town = 'Graz')"),
    ("no-price", False, "Which books have no price? Return only the title.",
     "SELECT title FROM books WHERE price IS NULL"),
    ("by-date", True, "List the readers with a known date of joining, the latest first: the name and the date.",
     "SELECT name, joined_on FROM readers WHERE joined_on IS NOT NULL ORDER BY joined_on DESC"),
    ("towns", False, "Which different towns are there? Return each once, without missing ones.",
     "SELECT DISTINCT town FROM readers WHERE town IS NOT NULL"),
    ("by-town", False, "How many sales went to each town? Return the town and the number, without sales to nobody.",
     "SELECT readers.town, COUNT(*) FROM sales JOIN readers ON readers.id = sales.reader_id GROUP BY readers.town"),
    ("copies-of-each", False, "How many copies of each book were sold? Return the title and the sum, 0 for none.",
     "SELECT books.title, COALESCE(SUM(sales.copies), 0) FROM books LEFT JOIN sales ON sales.book_id = books.id AND "
     "sales.sold_on < '2024-01-01' GROUP BY books.id"),
    ("share", False, "What fraction of the sales of each book was in 2023? Return the title and the fraction.",
     "SELECT books.title, AVG(CASE WHEN strftime('%Y', sales.sold_on) = '2023' THEN 1.0 ELSE 0 END) FROM sales "
     "JOIN books ON books.id = sales.book_id GROUP BY books.id"),
)  # fmt: skip

REFERENCES = [
    RepairReference(f"{DB_ID}-{name}", f"{DB_ID}-{name}", DB_ID, text, sql, ordered, 1)
    for name, ordered, text, sql in _QUESTIONS
]
SQL = {reference.id.removeprefix(f"{DB_ID}-"): reference.sql for reference in REFERENCES}


def build_bookstall(root: Path) -> Path:
    """The template of the database below `root`, laid out as generated tasks expect it."""
    return write_database(root / DB_ID / f"{DB_ID}_template.sqlite", SCRIPT)


def bookstall_schema(root: Path) -> Schema:
    """The schema of the template."""
    return read_schema(build_bookstall(root))

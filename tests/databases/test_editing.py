from itertools import pairwise
from random import Random

import pytest
from sqlite_files import write_database

from sqldojo.databases.editing import Editor, Worth
from sqldojo.databases.schema_model import read_schema
from sqldojo.databases.scratch import Scratch

SCRIPT = """
CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT, born TEXT);
CREATE TABLE book (id INTEGER PRIMARY KEY, author INTEGER NOT NULL REFERENCES author(id), title TEXT, price REAL);
CREATE TABLE written (
  author INTEGER REFERENCES author(id), book INTEGER REFERENCES book(id), PRIMARY KEY (author, book)
);
"""
ROWS = {
    "author": [(1, "Ana", "1970-05-01"), (2, "Bo", "1980-06-02"), (5, "Cy", None)],
    "book": [(1, 1, "Sea", 10.0), (2, 1, "Sky", 12.5), (3, 2, "Sun", 10.0)],
    "written": [(1, 1), (2, 3)],
}
WORTH = Worth({("book", "price"): [19.99, 20.0]}, {("author", "name"): ["ana"]})
READS = {"author": ("name",), "book": ("author", "price"), "written": ()}


@pytest.fixture
def schema(tmp_path):
    return read_schema(write_database(tmp_path / "books.sqlite", SCRIPT))


def edited(schema, count, reads=READS):
    """The rows after each of `count` edits that SQLite then judged."""
    editor, rng, scratch, rows = Editor(schema, WORTH), Random(5), Scratch(schema), ROWS
    for _ in range(count):
        rows = editor(rows, reads, rng)
        scratch.load(rows)
        rows = scratch.rows()
        yield rows
    scratch.close()


def test_the_same_generator_makes_the_same_edits(schema):
    assert list(edited(schema, 60)) == list(edited(schema, 60))


def test_an_edit_leaves_the_rows_it_was_given_alone(schema):
    before = {table: list(rows) for table, rows in ROWS.items()}
    list(edited(schema, 60))
    assert before == ROWS


def test_an_edit_touches_only_the_tables_named_and_their_children(schema):
    editor, rng = Editor(schema, WORTH), Random(3)
    for _ in range(200):
        assert editor(ROWS, {"book": ()}, rng)["author"] is ROWS["author"]


def test_the_edits_reach_every_kind_of_row_that_betrays_a_query(schema):
    states = list(edited(schema, 400))
    assert any(row[3] in (19.99, 20.0) for rows in states for row in rows["book"]), "a value worth having"
    assert any(row[1] is None for rows in states for row in rows["author"]), "a missing value"
    names = [[row[1] for row in rows["author"]] for rows in states]
    assert any(len(set(each)) < len(each) for each in names), "namesakes"
    assert any({row[0] for row in rows["author"]} - {row[1] for row in rows["book"]} for rows in states), "no child"
    sizes = [len(rows["author"]) for rows in states]
    steps = {after - before for before, after in pairwise(sizes)}
    assert {-1, 0, 1} <= steps


def test_a_copied_parent_brings_copies_of_its_children(schema):
    editor, rng, found = Editor(schema, None), Random(1), False
    for _ in range(400):
        rows = editor(ROWS, {"author": ("name",)}, rng)
        if len(rows["book"]) > len(ROWS["book"]):
            new = rows["author"][-1]
            copies = [row[2:] for row in rows["book"] if row[1] == new[0]]
            assert copies in ([("Sea", 10.0), ("Sky", 12.5)], [("Sun", 10.0)])
            found = True
    assert found

"""What inspect_schema shows: short, true, and with what the task's own set-up made."""

import pytest
from repair_tasks import SETUP, write_books
from sqlite_files import write_database

from sqldojo.agent.tool_format import plain_format
from sqldojo.databases.execution import Limits
from sqldojo.repair.tools import REPAIR_TOOLS, TaskDatabase, inspect_schema

BOOK = "book(book_id INTEGER key, title TEXT, author_id INTEGER -> author.author_id, price REAL)"


@pytest.fixture
def books(tmp_path):
    return TaskDatabase(write_books(tmp_path) / "books/books_template.sqlite", (), Limits())


def database(tmp_path, script):
    return TaskDatabase(write_database(tmp_path / "a.sqlite", script), (), Limits())


def test_without_a_table_all_are_listed_one_a_line(books):
    assert inspect_schema("", books) == f"author(author_id INTEGER key, name TEXT)\n{BOOK}"


def test_a_table_shows_how_it_is_made_and_two_rows(books):
    shown = "CREATE TABLE author (author_id INTEGER PRIMARY KEY, name TEXT NOT NULL)\nauthor_id | name\n1 | Ada\n2 | Bo"
    for name in ("author", "AUTHOR", ' "author" ', "[author];", "`author`"):
        assert inspect_schema(name, books) == shown


def test_an_unknown_table_is_an_error_that_names_the_known_ones(books):
    assert inspect_schema("authors", books) == "Error: no such table: authors; the tables are author, book"
    long = inspect_schema("x" * 100_000, books)
    assert long.startswith("Error: no such table: xxx") and len(long) < 200


def test_what_the_set_up_made_is_there(books):
    prepared = TaskDatabase(books.path, SETUP.preprocess_sql, Limits())
    assert inspect_schema("", prepared).splitlines()[2] == "restock(book_id INTEGER, copies INTEGER)"
    assert inspect_schema("restock", prepared) == (
        "CREATE TABLE restock (book_id INTEGER, copies INTEGER)\nbook_id | copies\n1 | 4\n1 | 9"
    )
    assert prepared.run("SELECT SUM(copies) FROM restock").rows == ((48,),)
    assert "restock" not in inspect_schema("", books)
    assert "no such table" in books.run("SELECT SUM(copies) FROM restock").message


def test_a_set_up_that_fails_in_part_counts_as_far_as_it_went(books):
    setup = ("CREATE TABLE extra (a)", "CREATE TABLE author (a)", "CREATE TABLE never (a)")
    listing = inspect_schema("", TaskDatabase(books.path, setup, Limits()))
    assert "extra(a)" in listing and "never" not in listing


def test_keys_of_several_columns_stand_behind_them(tmp_path):
    shown = inspect_schema("", database(tmp_path, """
        CREATE TABLE seat (hall INT, number INT, PRIMARY KEY (hall, number));
        CREATE TABLE ticket (hall INT, number INT, buyer BLOB REFERENCES person,
          FOREIGN KEY (hall, number) REFERENCES seat (hall, number));
        CREATE VIEW sold AS SELECT buyer FROM ticket;
    """))  # fmt: skip
    assert shown.splitlines() == [
        "seat(hall INT, number INT, key (hall, number))",
        "ticket(hall INT, number INT, buyer BLOB -> person, (hall, number) -> seat(hall, number))",
        "view sold(buyer BLOB)",
    ]


def test_nothing_in_it_is_endless(tmp_path):
    columns = ", ".join(f"column_{number} TEXT" for number in range(500))
    script = "".join(f"CREATE TABLE table_{number} ({columns});" for number in range(60))
    wide = database(tmp_path, script)
    listing = inspect_schema("", wide)
    assert listing.endswith("(and 20 more)") and len(listing) < 41 * 501
    assert len(inspect_schema("table_1", wide)) < 2_100


def test_an_empty_database_is_no_error(tmp_path):
    empty = database(tmp_path, "CREATE TABLE t (a); DROP TABLE t")
    assert inspect_schema("", empty) == "(no tables)"
    assert inspect_schema("t", empty) == "Error: no such table: t; the tables are none"


def test_the_tools_are_explained_as_they_are_called():
    assert plain_format(REPAIR_TOOLS).instructions == (
        "<inspect_schema></inspect_schema> List all tables; with the name of one, show how it is made and its first "
        "rows.\n"
        "<run_sql>SELECT ...</run_sql> Run one SQLite query and see its first rows.\n"
        "<submit_sql>SELECT ...</submit_sql> Submit the repaired query. This ends the task."
    )

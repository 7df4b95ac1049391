"""Aliases for tables, where that is safe."""

from random import Random

import pytest
from bookstall import SQL, bookstall_schema

from sqldojo.repair.bugs.styles import with_aliases


@pytest.fixture(scope="module")
def schema(tmp_path_factory):
    return bookstall_schema(tmp_path_factory.mktemp("schema"))


def test_tables_that_qualify_columns_get_short_names(schema):
    texts = {with_aliases(SQL["busy"], schema, Random(seed)) for seed in range(9)}
    assert texts == {
        f"SELECT r.name FROM sales{joint}s JOIN readers{joint}r ON r.id = s.reader_id GROUP BY r.id HAVING COUNT(*) > 1"
        for joint in (" ", " AS ")
    }


def test_a_table_that_qualifies_nothing_keeps_its_name(schema):
    sql = "SELECT title FROM books WHERE NOT EXISTS (SELECT 1 FROM sales WHERE book_id = books.id)"
    found = with_aliases(sql, schema, Random(0))
    assert found.replace(" AS ", " ") == sql.replace("FROM books", "FROM books b").replace("books.id", "b.id")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT a.name FROM readers a JOIN sales ON sales.reader_id = a.id",
        "SELECT name FROM readers WHERE readers.id IN (SELECT readers.id FROM readers)",
        "SELECT name FROM readers",
        "SELECT name FROM",
    ],
)
def test_other_queries_stay_as_they_are(schema, sql):
    assert with_aliases(sql, schema, Random(0)) == sql

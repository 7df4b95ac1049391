"""Each mistake is made as a user would write it, and nothing else of the text changes."""

import pytest
from bookstall import SQL, bookstall_schema

from sqldojo.repair.bugs.catalogue import bugs_of
from sqldojo.repair.bugs.edits import apply
from sqldojo.repair.bugs.kinds import KINDS


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """reference -> kind -> name -> the buggy texts"""
    schema = bookstall_schema(tmp_path_factory.mktemp("schema"))
    found = {}
    for reference, sql in SQL.items():
        for each in bugs_of(sql, schema, ordered=reference == "by-date"):
            texts = found.setdefault(reference, {}).setdefault(each.kind, {}).setdefault(each.name, [])
            texts.append(apply(sql, each.edits))
    return found


def test_every_kind_occurs(made):
    assert {kind for kinds in made.values() for kind in kinds} == set(KINDS)


def test_no_bug_leaves_the_text_as_it_is_and_none_comes_twice(made):
    for reference, kinds in made.items():
        texts = [text for names in kinds.values() for each in names.values() for text in each]
        assert SQL[reference] not in texts
        assert len(texts) == len(set(texts))


@pytest.mark.parametrize(
    ("reference", "kind", "name", "text"),
    [
        ("dear", "syntax", "comma-missing", "SELECT title price FROM books WHERE price >= 12.5"),
        ("in-town", "syntax", "comma-before-from", "SELECT name, FROM readers WHERE town = 'Graz'"),
        ("in-town", "syntax", "quote-missing", "SELECT name FROM readers WHERE town = 'Graz"),
        ("in-town", "syntax", "text-unquoted", "SELECT name FROM readers WHERE town = Graz"),
        ("in-town", "syntax", "keyword-misspelt", "SELECT name FORM readers WHERE town = 'Graz'"),
        ("per-town", "syntax", "by-missing", "SELECT town, COUNT(*) FROM readers GROUP town"),
        ("dear", "syntax", "sign-reversed", "SELECT title, price FROM books WHERE price => 12.5"),
        ("in-town", "clause", "having-for-where", "SELECT name FROM readers HAVING town = 'Graz'"),
        ("dearest", "clause", "extreme-in-where", "SELECT title FROM books WHERE price = MAX(price)"),
        ("busy", "clause", "aggregate-in-where", "SELECT readers.name FROM sales JOIN readers ON readers.id = "
         "sales.reader_id WHERE COUNT(*) > 1 GROUP BY readers.id"),
        ("per-town", "clause", "aggregate-in-group-by", "SELECT town, COUNT(*) FROM readers GROUP BY town, COUNT(*)"),
        ("in-town", "name", "table-number", "SELECT name FROM reader WHERE town = 'Graz'"),
        ("in-town", "name", "column-guessed", "SELECT reader_name FROM readers WHERE town = 'Graz'"),
        ("in-town", "alias", "undeclared-alias", "SELECT r.name FROM readers WHERE town = 'Graz'"),
        ("busy", "alias", "alias-not-used", "SELECT readers.name FROM sales JOIN readers r ON readers.id = "
         "sales.reader_id GROUP BY readers.id HAVING COUNT(*) > 1"),
        ("busy", "alias", "ambiguous-column", "SELECT readers.name FROM sales JOIN readers ON readers.id = "
         "sales.reader_id GROUP BY id HAVING COUNT(*) > 1"),
        ("copies-in-year", "dialect", "year-function", "SELECT SUM(copies) FROM sales WHERE YEAR(sold_on) = 2023"),
        ("no-price", "dialect", "isnull-function", "SELECT title FROM books WHERE ISNULL(price)"),
        ("in-town", "dialect", "dbo-prefix", "SELECT name FROM dbo.readers WHERE town = 'Graz'"),
        ("dear", "boundary", "comparison-boundary", "SELECT title, price FROM books WHERE price > 12.5"),
        ("no-price", "nulls", "equals-null", "SELECT title FROM books WHERE price = NULL"),
        ("sales-of-each", "join-kind", "outer-as-inner", "SELECT readers.name, COUNT(sales.id) FROM readers JOIN sales "
         "ON sales.reader_id = readers.id GROUP BY readers.id"),
        ("sales-of-each", "nulls", "values-as-rows", "SELECT readers.name, COUNT(*) FROM readers LEFT JOIN sales "
         "ON sales.reader_id = readers.id GROUP BY readers.id"),
        ("busy", "join-key", "comma-join", "SELECT readers.name FROM sales, readers GROUP BY readers.id "
         "HAVING COUNT(*) > 1"),
        ("towns", "duplicates", "distinct-dropped", "SELECT town FROM readers WHERE town IS NOT NULL"),
        ("per-town", "duplicates", "fan-out", "SELECT town, COUNT(*) FROM readers JOIN sales ON sales.reader_id = "
         "readers.id GROUP BY town"),
        ("by-date", "ranking", "desc-lost", "SELECT name, joined_on FROM readers WHERE joined_on IS NOT NULL "
         "ORDER BY joined_on"),
        ("copies-in-year", "dates", "part-as-number", "SELECT SUM(copies) FROM sales WHERE strftime('%Y', sold_on) = "
         "2023"),
        ("dear", "columns", "columns-swapped", "SELECT price, title FROM books WHERE price >= 12.5"),
        ("per-town", "grouping", "group-by-forgotten", "SELECT town, COUNT(*) FROM readers"),
        ("copies-in-year", "calculation", "aggregate-exchanged", "SELECT AVG(copies) FROM sales WHERE "
         "strftime('%Y', sold_on) = '2023'"),
    ],
)  # fmt: skip
def test_the_text_of_a_bug(made, reference, kind, name, text):
    assert text in made[reference][kind][name]


def test_a_fan_out_qualifies_what_the_new_table_has_too(made):
    assert (
        "SELECT title FROM books JOIN sales ON sales.book_id = books.id WHERE price IS NULL"
        in made["no-price"]["duplicates"]["fan-out"]
    )


def test_a_query_that_sqlglot_cannot_read_has_bugs_of_the_text_alone(tmp_path):
    found = bugs_of("SELECT name FROM readers WHERE town MATCH", bookstall_schema(tmp_path), ordered=False)
    assert {each.kind for each in found} == {"syntax", "clause"}


@pytest.mark.parametrize(
    ("sql", "odd"),
    [
        ("SELECT name FROM readers WHERE town = 'Graz'", "SELECT name FROM readers WHERE name = 'Graz'"),
        ("SELECT name FROM readers WHERE town = 'Graz'", "SELECT town FROM readers WHERE town = 'Graz'"),
        ("SELECT SUM(copies * book_id) FROM sales", "SELECT SUM(copies * copies) FROM sales"),
        ("SELECT title FROM books WHERE pages > 200", "SELECT title FROM books WHERE title > 200"),
        ("SELECT AVG(CASE WHEN price > 9 THEN 1.0 ELSE 0 END) FROM books",
         "SELECT AVG(CASE WHEN price > 9 THEN 1.0 ELSE 1 END) FROM books"),
        ("SELECT name FROM readers JOIN sales ON sales.reader_id = readers.id",
         "SELECT name FROM readers RIGHT JOIN sales ON sales.reader_id = readers.id"),
    ],
)  # fmt: skip
def test_what_no_user_writes_is_left_out(tmp_path, sql, odd):
    texts = {apply(sql, each.edits) for each in bugs_of(sql, bookstall_schema(tmp_path), ordered=False)}
    assert odd not in texts
    assert len(texts) > 10

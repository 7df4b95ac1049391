"""Every operator has a known mutant that changes a result, and what is not mutated keeps its meaning."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import apsw
import pytest

from sqldojo.verifier.mutants import MOST, Unparsable, mutants
from sqldojo.verifier.mutation import names
from sqldojo.verifier.mutation.catalogue import OPERATORS, ORDERED_OPERATORS
from sqldojo.verifier.mutation.sqlite_text import read, write

COLUMNS = {
    "authors": ("id", "name", "country", "born"),
    "books": ("id", "title", "author_id", "genre", "price", "pages"),
    "members": ("id", "name", "email", "town", "joined"),
    "loans": ("id", "member_id", "book_id", "lent", "status", "days", "fee"),
}
LIBRARY = """
CREATE TABLE authors (id INTEGER PRIMARY KEY, name TEXT, country TEXT, born TEXT);
CREATE TABLE books (id INTEGER PRIMARY KEY, title TEXT, author_id INTEGER, genre TEXT, price REAL, pages INTEGER);
CREATE TABLE members (id INTEGER PRIMARY KEY, name TEXT, email TEXT, town TEXT, joined TEXT);
CREATE TABLE loans
  (id INTEGER PRIMARY KEY, member_id INTEGER, book_id INTEGER, lent TEXT, status TEXT, days INTEGER, fee REAL);
INSERT INTO authors VALUES (1, 'Ada', 'SE', '1950-01-01'), (2, 'Bo', 'Oslo', '1960-05-05'), (3, 'Ada', 'SE', NULL);
INSERT INTO books VALUES
  (1, 'Dune', 1, 'Crime', 20, 100), (2, 'dune', 2, 'Poetry', 19.5, 200), (3, 'Dune', 1, 'crime', 30.25, NULL),
  (4, 'Deen', 9, NULL, 5, 150), (5, '50% off', NULL, 'Crime', 30.25, 200), (6, '50 days', 2, 'Poetry', 10, 101),
  (7, 'Crime', 3, 'Drama', 10.01, 100), (8, 'Isle', 2, 'Crimes', 20.3, 200), (9, 'Noir', 1, 'Crime', 12, 300);
INSERT INTO members VALUES
  (1, 'Ann', 'ann@x', 'Lund', '2022-03-01'), (2, 'Ann', NULL, 'Oslo', '2022-12-31 10:00:00'),
  (3, 'Bea', '', 'Lund', '2022-01-01'), (4, 'Cy', NULL, NULL, NULL), (5, 'Ada', 'ada@x', 'Oslo', '2021-05-05');
INSERT INTO loans VALUES
  (1, 1, 1, '2022-05-05', 'lost', 3, 1.5), (2, 1, 2, '2022-05-31 12:00:00', 'back', 2, 2),
  (3, 2, 1, '2022-05-31', 'back', 2, 2), (4, NULL, 3, '2021-05-10', NULL, 4, NULL),
  (5, 9, 7, '2022-06-05', 'back', 1, -0.5), (6, 3, 9, '2021-04-05', 'lost', 5, 2.25),
  (7, 3, 1, '2022-05-06', 'back', 2, 0.5),
  (8, 1, 2, '2022-01-01', 'back', 1, 1.5), (9, 3, 3, '2022-02-01', 'sent', 1, 3);
"""
FIXTURES = Path(__file__).parents[1] / "sql" / "mutants.sql"
ORDERED = {operator.name for operator in ORDERED_OPERATORS}


def read_cases() -> list[tuple[str, str, str]]:
    """(operator, reference, mutant) of each block of the fixture file."""
    cases = []
    for block in FIXTURES.read_text(encoding="utf-8").split("\n\n"):
        lines = [line.removesuffix(";") for line in block.strip().splitlines()]
        if len(lines) == 3 and lines[0].startswith("-- operator: "):
            cases.append((lines[0].removeprefix("-- operator: "), lines[1], lines[2]))
    return cases


CASES = read_cases()


@pytest.fixture(scope="module")
def library() -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    connection.execute(LIBRARY)
    return connection


def rows(connection: apsw.Connection, sql: str, *, ordered: bool = False) -> list[str]:
    """The rows as texts; apsw.InterruptError for a query that takes more than a million steps."""
    steps = iter([False] * 1000)
    connection.set_progress_handler(lambda: next(steps, True), 1000)
    found = [repr(row) for row in connection.execute(sql)]
    return found if ordered else sorted(found)


def test_every_operator_has_a_known_mutant():
    assert Counter(operator for operator, _, _ in CASES) == Counter(
        operator.name for operator in (*OPERATORS, *ORDERED_OPERATORS)
    )


def test_operators_are_named_once_and_explained():
    operators = (*OPERATORS, *ORDERED_OPERATORS)
    assert len({operator.name for operator in operators}) == len(operators)
    for operator in operators:
        assert all(part.isalpha() and part.islower() for part in operator.name.split("-"))
        assert operator.mistake and "\n" not in operator.mistake


@pytest.mark.parametrize(("operator", "reference", "mutant"), CASES, ids=[case[0] for case in CASES])
def test_the_known_mutant_is_made_and_changes_the_result(library, operator, reference, mutant):
    made = {each.sql: each.operator for each in mutants(reference, COLUMNS, ordered=operator in ORDERED)}
    assert made.get(mutant) == operator, [sql for sql, name in made.items() if name == operator]
    as_listed = operator in ORDERED
    assert rows(library, mutant, ordered=as_listed) != rows(library, reference, ordered=as_listed)


@pytest.mark.parametrize("reference", sorted({reference for _, reference, _ in CASES}))
def test_mutants_run_are_distinct_and_never_the_reference(library, reference):
    found = mutants(reference, COLUMNS)
    texts = [mutant.sql for mutant in found]
    assert len(set(texts)) == len(texts)
    assert write(read(reference)) not in texts
    assert found == mutants(reference, COLUMNS)
    for text in texts:
        rows(library, text)


# Each is written back with other letters or marks, and must still give its own answer.
ROUND_TRIPS = (
    "SELECT 7 / 2, 7 / 2.0, 7 % 4, -7 / 2, 1 - (2 - 3), 8 / (4 / 2), 2 * (3 + 4), - - 3, +'3'",
    "SELECT title || ' ' || genre || pages * 2, 1 + 2 || 3 FROM books",
    "SELECT id FROM books WHERE genre IS NOT 'Crime' AND pages IS NOT NULL AND NOT author_id IS NULL",
    "SELECT genre IS NULL, genre IS NOT NULL = 1, genre = 'Crime' IS NULL, NOT genre = 'Crime' FROM books",
    "SELECT id FROM loans AS a WHERE fee IS NOT (SELECT fee FROM loans AS b WHERE b.id = a.id + 1)",
    r"SELECT title FROM books WHERE title LIKE '50\%%' ESCAPE '\' OR title NOT LIKE 'd%'",
    "SELECT name FROM members WHERE joined < '9999-12-31' AND joined >= '0001-01-01' AND name <> '2023-02-30'",
    "SELECT title FROM books WHERE price < 1e308 AND pages > 12345678901234567890",
    "SELECT title FROM books WHERE title GLOB 'D*' AND title NOT GLOB '*x'",
    'SELECT "title" AS "a b", [genre] AS [x], `price` FROM "books" AS "t t" WHERE "t t".id > 1',
    'SELECT title FROM books WHERE genre = "Crime"',
    "SELECT CAST(price AS INT), CAST(pages AS TEXT), CAST(price AS NUMERIC), CAST(id AS DECIMAL(10, 2)) FROM books",
    "SELECT CAST('2022-05-31' AS DATE), CAST('12abc' AS STRING), CAST('7' AS BOOLEAN), CAST(7 AS VARCHAR(3)), "
    "CAST(x'41' AS TEXT), CAST('2022-05-31 10:00' AS DATETIME)",
    "SELECT STRFTIME('%Y-%m', lent), strftime('%m', lent, '+1 month'), DATE(lent), DATE(lent, 'start of month'), "
    "JULIANDAY(lent) - JULIANDAY('2022-01-01'), TIME(lent), DATETIME(lent) FROM loans",
    "SELECT SUBSTR(title, 2, 3), SUBSTRING(title, 2), SUBSTR(title, -2), INSTR(title, 'u'), TRIM(title, 'D') "
    "FROM books",
    "SELECT IIF(price > 20, 'dear', 'cheap'), CASE genre WHEN 'Crime' THEN 1 END, IFNULL(pages, 0) FROM books",
    "SELECT MAX(price, 20), MIN(pages, 150), NULLIF(genre, 'Crime'), ABS(-price), ROUND(price) FROM books",
    "SELECT LOG10(1000), FLOOR(LOG10(1000)), LOG(2, 8), MOD(7.5, 2), SIGN(-2), CEIL(1.2), POWER(2, 3)",
    "SELECT GROUP_CONCAT(title), GROUP_CONCAT(DISTINCT genre), GROUP_CONCAT(title, '; '), TOTAL(price) FROM books",
    "SELECT GROUP_CONCAT(title ORDER BY price DESC), GROUP_CONCAT(title, '/' ORDER BY id) FROM books",
    "SELECT title FROM books WHERE genre COLLATE NOCASE = 'CRIME' ORDER BY title COLLATE NOCASE DESC",
    "SELECT title FROM books ORDER BY pages DESC NULLS FIRST, id LIMIT 3 OFFSET 1",
    "SELECT title FROM books ORDER BY pages ASC NULLS LAST, id LIMIT 2, 3",
    "SELECT SUM(price) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW), NTILE(3) OVER (ORDER BY id), "
    "LAG(title, 1, '-') OVER w, RANK() OVER w, SUM(pages) FILTER (WHERE pages > 100) OVER w FROM books "
    "WINDOW w AS (PARTITION BY genre ORDER BY price DESC, id)",
    "SELECT SUM(pages) OVER (ORDER BY price GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE TIES) FROM books",
    "SELECT * FROM (VALUES (1, 'a'), (2, 'b'))",
    "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 5) SELECT x FROM n",
    "WITH RECURSIVE n(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM n LIMIT 4) SELECT x FROM n",
    "WITH a AS MATERIALIZED (SELECT id FROM books), b AS NOT MATERIALIZED (SELECT id FROM loans) "
    "SELECT COUNT(*) FROM a, b WHERE a.id = b.id",
    "SELECT title /* a; comment */ FROM books -- it's one\n WHERE price < 20",
    "SELECT m.name, l.id FROM members AS m, loans AS l LEFT JOIN books AS b ON b.id = l.book_id "
    "WHERE l.member_id = m.id",
    "SELECT * FROM members NATURAL JOIN authors",
    "SELECT id, a.name, b.country FROM members AS a LEFT JOIN authors AS b USING (id)",
    "SELECT m.id, l.id FROM members AS m FULL OUTER JOIN loans AS l ON l.member_id = m.id",
    "SELECT name FROM members EXCEPT SELECT name FROM authors UNION ALL SELECT title FROM books ORDER BY 1 LIMIT 4",
    "SELECT town FROM members UNION SELECT genre FROM books INTERSECT SELECT genre FROM books",
    "SELECT id FROM books WHERE (author_id, genre) IN (SELECT 1, 'Crime') AND NOT (price > 25 OR pages < 50)",
    "SELECT a.value, '[1, {\"b.c\": 2}]' ->> 0, '{\"b.c\": 2}' -> 'b.c', JSON_EXTRACT('{\"x\": 3}', '$.x') "
    "FROM json_each('[5, 6]') AS a",
    "SELECT 0x10, 1e3, .5, 1.50, x'ab', 'it''s', 9223372036854775807",
    "SELECT 1 & 3 | 4, 1 << 2, ~5, 5 IN (), 3 BETWEEN 2 AND 4 = 1, TRUE, 1 IS TRUE",
    "SELECT genre, COUNT(*) AS n FROM books GROUP BY 1 HAVING n > 1 ORDER BY n DESC",
    "SELECT EXISTS (SELECT 1 FROM books WHERE id = 99), (SELECT MAX(price) FROM books), NOT EXISTS (SELECT 2)",
)  # fmt: skip


@pytest.mark.parametrize("sql", ROUND_TRIPS)
def test_what_is_written_back_gives_the_same_rows(library, sql):
    text = write(read(sql))
    assert rows(library, text, ordered=True) == rows(library, sql, ordered=True)
    assert write(read(text)) == text


@pytest.mark.parametrize("sql", [sql for sql in ROUND_TRIPS if "FROM" in sql])
def test_mutants_of_odd_queries_run(library, sql):
    for mutant in mutants(sql, COLUMNS):
        rows(library, mutant.sql)


def test_mutating_leaves_the_untouched_parts_alone():
    for mutant in mutants("SELECT CAST(price AS DATE) FROM books WHERE +pages = '100' AND genre = 'Crime'", COLUMNS):
        assert "CAST(price AS DATE)" in mutant.sql or mutant.operator in ("real-made-integer", "listed-column"), mutant
        assert "+pages = '100'" in mutant.sql or mutant.sql.count("pages") != 1 or "+pages" in mutant.sql


NO_SELECTS = ("", "SELECT", "DELETE FROM books", "SELECT 1; SELECT 2", "SELECT 'a' 'b'", "VALUES (1)",
              "EXPLAIN SELECT 1", "SELECT a FROM t WHERE a = ?1", "SELECT (" * 3000,
              "SELECT 1 WHERE 2 IN (SELECT FROM books)", "SELECT 1 || FROM books", "SELECT 1 JOIN books",
              "SELECT a FROM books AS b (a)")  # fmt: skip


@pytest.mark.parametrize("sql", NO_SELECTS)
def test_what_is_no_plain_select_is_unparsable(sql):
    with pytest.raises(Unparsable):
        mutants(sql, COLUMNS)


def test_a_page_of_sql_is_capped_fairly():
    tests = " AND ".join(f"(pages > {n} OR price < {n})" for n in range(40))
    half = f"SELECT genre, COUNT(*) FROM books WHERE {tests} GROUP BY genre HAVING COUNT(*) > 1"
    everything = mutants(half, COLUMNS, most=100_000)
    found = mutants(half, COLUMNS)
    assert len(found) == MOST < len(everything)
    assert {mutant.operator for mutant in found} == {mutant.operator for mutant in everything}
    assert set(found) <= set(everything)
    counts = Counter(mutant.operator for mutant in found)
    assert max(counts.values()) - 1 <= min(counts[name] for name, made in Counter(
        mutant.operator for mutant in everything).items() if made > counts[name])  # fmt: skip


def test_loops_still_end(library):
    loop = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 5) SELECT x FROM n WHERE x > 2"
    found = mutants(loop, COLUMNS)
    assert {"comparison-boundary", "number-off-by-one", "where-term-dropped"} <= {mutant.operator for mutant in found}
    for mutant in found:
        rows(library, mutant.sql)


def test_a_quoted_text_is_told_from_a_quoted_column():
    found = {mutant.sql for mutant in mutants('SELECT "title" FROM books WHERE "genre" = "Crime"', COLUMNS)}
    assert 'SELECT "title" FROM books WHERE "genre" = \'crime\'' in found
    assert not any("'title'" in sql or "'genre'" in sql for sql in found)


def test_names_are_met_in_any_letters(library):
    shouted = {table.upper(): columns for table, columns in COLUMNS.items()}
    sql = "SELECT M.NAME, COUNT(L.ID) FROM MEMBERS AS M JOIN LOANS AS L ON L.MEMBER_ID = M.ID GROUP BY M.ID"
    found = mutants(sql, shouted)
    assert {"group-by-name", "key-exchanged", "child-joined"} - {mutant.operator for mutant in found} == {
        "child-joined"
    }
    for mutant in found:
        rows(library, mutant.sql)


def test_odd_names_are_quoted():
    connection = apsw.Connection(":memory:")
    connection.execute('CREATE TABLE "order" (id INTEGER, "group" TEXT, "two words" TEXT, "a""b" TEXT)')
    columns = {"order": ("id", "group", "two words", 'a"b')}
    found = mutants('SELECT "group" FROM "order" ORDER BY "two words" LIMIT 1', columns)
    assert 'SELECT "two words" FROM "order" ORDER BY "two words" LIMIT 1' in {mutant.sql for mutant in found}
    for mutant in found:
        rows(connection, mutant.sql)


def test_tables_that_are_not_known_give_fewer_mutants_and_no_error():
    sql = "SELECT v.name FROM a_view AS v JOIN books AS b ON b.id = v.id WHERE v.n > 3"
    found = mutants(sql, {"books": COLUMNS["books"]})
    assert {"comparison-boundary", "distinct-added", "inner-as-outer"} <= {mutant.operator for mutant in found}


def test_the_clock_and_chance_are_never_brought_in():
    for _, reference, _ in CASES:
        for mutant in mutants(reference, COLUMNS):
            assert not any(word in mutant.sql.upper() for word in ("'NOW'", "CURRENT_", "RANDOM"))


@pytest.mark.parametrize(
    ("name", "kind"),
    [("id", names.KEY), ("CustomerId", names.KEY), ("customer_id", names.KEY), ("paid", names.TEXT),
     ("order_date", names.MOMENT), ("unit_price", names.NUMBER), ("first_name", names.TEXT), ("status", names.TEXT)],
)  # fmt: skip
def test_kinds_are_told_from_names(name, kind):
    assert names.kind(name) == kind


def test_foreign_keys_are_told_from_names():
    assert names.points_to("customer_id", "customers", ("id", "name"))
    assert names.points_to("CategoryId", "Categories", ("CategoryId", "Title"))
    assert not names.points_to("product_id", "customers", ("id", "name"))
    assert not names.points_to("id", "customers", ("id", "name"))


def made_by(operator: str, reference: str) -> list[str]:
    return [mutant.sql for mutant in mutants(reference, COLUMNS) if mutant.operator == operator]


def test_a_filter_is_added_on_what_sorts_rows_into_kinds_and_is_not_compared_yet():
    assert made_by("filter-added", "SELECT fee FROM loans WHERE days > 3") == [
        'SELECT fee FROM loans WHERE days > 3 AND status <> (SELECT MIN("status") FROM "loans")'
    ]
    assert made_by("filter-added", "SELECT fee FROM loans WHERE status = 'lost'") == []
    assert made_by("filter-added", "SELECT fee FROM loans WHERE NOT status IN ('lost', 'sent')") == []
    assert made_by("filter-added", "SELECT name FROM members WHERE id > 3") == []  # towns are no kinds
    nested = "SELECT fee FROM loans WHERE fee IN (SELECT fee FROM loans WHERE status = 'lost')"
    assert made_by("filter-added", nested) == [
        "SELECT fee FROM loans WHERE fee IN (SELECT fee FROM loans WHERE status = 'lost') "
        'AND status <> (SELECT MIN("status") FROM "loans")'
    ]


def test_one_factor_of_a_product_is_coalesced_and_none_that_sum_adds_up():
    assert made_by("value-coalesced", "SELECT days * fee FROM loans") == ["SELECT COALESCE(days, 0) * fee FROM loans"]
    assert len(made_by("value-coalesced", "SELECT days + fee FROM loans")) == 2
    assert made_by("value-coalesced", "SELECT SUM(days * fee) FROM loans") == []


def test_only_the_operators_that_are_named():
    reference = "SELECT title FROM books WHERE price > 10 AND pages < 300"
    found = mutants(reference, COLUMNS, only=("comparison-boundary",))
    assert [(mutant.operator, mutant.sql) for mutant in found] == [
        ("comparison-boundary", "SELECT title FROM books WHERE price >= 10 AND pages < 300"),
        ("comparison-boundary", "SELECT title FROM books WHERE price > 10 AND pages <= 300"),
    ]

import random
import sqlite3
from contextlib import closing

import pytest

from sqldojo.verifier.comparison import first_difference
from sqldojo.verifier.equivalent_predicates import PREDICATE_RULES
from sqldojo.verifier.equivalent_queries import QUERY_RULES
from sqldojo.verifier.equivalent_subqueries import SUBQUERY_RULES
from sqldojo.verifier.equivalents import Rewrite, equivalents

SCHEMA = """
CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, city TEXT COLLATE NOCASE, born TEXT, height REAL);
CREATE TABLE visit (id INTEGER PRIMARY KEY, person INTEGER, place INTEGER, cost REAL, note);
CREATE TABLE place (id INTEGER PRIMARY KEY, name TEXT, kind TEXT, size INTEGER);
"""
COLUMNS = {
    "person": ("id", "name", "city", "born", "height"),
    "visit": ("id", "person", "place", "cost", "note"),
    "place": ("id", "name", "kind", "size"),
}
TEXTS = (None, "", "a", "A", "b", "B ", "x", "2", "10", "2.0", 2, 10, 2.5, b"a")
DATES = (
    None, "2020-01-01", "2020-12-31", "2020-12-31 23:59:59.9999", "2021-01-01", "2020-02-30", "2020", "20200601", "",
    "no date", 2458849.5, 2458849, 2020, "2020-06-31T12:00", "2020-07-01 00:00:00+02:00", "0000-01-01", "-0044-03-15",
)  # fmt: skip
NUMBERS = (None, 0, 1, 2, 3, 10, 2.5, -1, -0.0, 2.0000000001, "2", "ten", "", b"2", 2**62, 0.1, 0.2)

REFERENCES = (
    "SELECT name, height FROM person WHERE height BETWEEN 1 AND 10 AND city <> 'a'",
    "SELECT id FROM visit WHERE (cost >= 1 AND cost <= 2.5) OR note IN ('a', '2', 2)",
    "SELECT id, note = 2, note < 'b', cost IN (2, '2') FROM visit",
    "SELECT city, COUNT(*), COUNT(height), AVG(height) FROM person GROUP BY city",
    "SELECT city FROM person GROUP BY city",
    "SELECT DISTINCT city, height FROM person WHERE name IS NOT NULL OR height IS NULL",
    "SELECT DISTINCT kind FROM place UNION SELECT city FROM person",
    "SELECT name FROM person UNION SELECT name FROM place",
    "SELECT COUNT(*), SUM(cost * 2 + 1), AVG(cost) FROM visit WHERE person IS NULL",
    "SELECT AVG(cost) FROM visit WHERE 0",
    "SELECT p.name, COUNT(*) FROM visit v JOIN person p ON p.id = v.person GROUP BY p.id HAVING COUNT(*) > 1",
    "SELECT p.id, COUNT(*) AS n FROM visit v JOIN person p ON p.id = v.person GROUP BY p.id "
    "HAVING n >= 2 AND SUM(cost) > 2",
    "SELECT p.id, l.kind, v.cost FROM visit v JOIN person p ON p.id = v.person JOIN place l ON l.id = v.place "
    "WHERE size < 3",
    "SELECT p.id, v.id FROM person p, visit v WHERE p.id = v.person AND v.cost > 1",
    "SELECT p.id, COUNT(v.id) FROM person p LEFT JOIN visit v ON v.person = p.id GROUP BY p.id",
    "SELECT name FROM person WHERE id IN (SELECT person FROM visit WHERE cost > 1)",
    "SELECT name FROM person WHERE height NOT IN (SELECT cost FROM visit WHERE place = 1)",
    "SELECT name FROM person WHERE EXISTS (SELECT note FROM visit WHERE person = person.id AND place = 2)",
    "SELECT name FROM person WHERE height > 0 "
    "AND NOT EXISTS (SELECT 1 FROM visit WHERE person = person.id AND cost > 1)",
    "SELECT name FROM person WHERE NOT EXISTS (SELECT 1 FROM visit v WHERE v.cost = person.height)",
    "SELECT p.name, p.city FROM person p LEFT JOIN visit v ON v.person = p.id AND v.cost > 1 WHERE v.person IS NULL",
    "SELECT name FROM person WHERE height = (SELECT MAX(height) FROM person WHERE city = 'a') AND city = 'a'",
    "SELECT id FROM visit WHERE note = (SELECT MIN(note) FROM visit)",
    "WITH spent AS (SELECT person, SUM(cost) AS total FROM visit GROUP BY person) "
    "SELECT person FROM spent WHERE total = (SELECT MAX(total) FROM spent)",
    "SELECT big.n FROM (SELECT name AS n, id FROM place WHERE size > 1) AS big WHERE big.id < 4",
    "SELECT COUNT(*) FROM person WHERE strftime('%Y', born) = '2020'",
    "SELECT strftime('%m', born) AS month, COUNT(*) FROM person WHERE strftime('%Y', born) <> '2020' GROUP BY month",
    "SELECT CASE WHEN height > 2 THEN 'tall' ELSE name END, IIF(height > 2, 1, 0), COALESCE(name, 'none') FROM person",
    "SELECT CASE note WHEN 2 THEN 'two' WHEN 'a' THEN 'a' END, COALESCE(note, 2) = '2' FROM visit",
    "SELECT name FROM person WHERE born > '2020-01-01' OR NOT (height < 2 AND city = 'b')",
    "SELECT name AS city, city AS name FROM person WHERE city = 'a' ORDER BY name",
    "select distinct l.kind from person p join place l on l.name = p.name",
    "SELECT (SELECT COUNT(*) FROM visit WHERE person = p.id) AS visits, name FROM person AS p WHERE visits > 1",
)  # fmt: skip


def build(seed):
    """A small messy database: few different values, each type in each column, dangling and missing keys."""
    rng = random.Random(seed)
    connection = sqlite3.connect(":memory:")
    connection.executescript(SCHEMA)
    size = rng.choice((0, 1, 4, 12))
    for number in range(1, size + 1):
        person = (number, rng.choice(TEXTS), rng.choice(TEXTS), rng.choice(DATES), rng.choice(NUMBERS))
        connection.execute("INSERT INTO person VALUES (?, ?, ?, ?, ?)", person)
        place = (number, rng.choice(TEXTS), rng.choice(TEXTS), rng.choice(NUMBERS))
        connection.execute("INSERT INTO place VALUES (?, ?, ?, ?)", place)
    for number in range(1, 2 * size + 1):
        keys = [rng.choice((None, *range(size + 2))) for _ in range(2)]
        visit = (number, *keys, rng.choice(NUMBERS), rng.choice((*TEXTS, *NUMBERS)))
        connection.execute("INSERT INTO visit VALUES (?, ?, ?, ?, ?)", visit)
    return connection


def answer(connection, sql):
    cursor = connection.execute(sql)
    return [column[0] for column in cursor.description], cursor.fetchall()


@pytest.fixture(scope="module")
def messy():
    connections = [build(f"equivalents/{number}") for number in range(60)]
    yield connections
    for connection in connections:
        connection.close()


@pytest.mark.parametrize("reference", REFERENCES)
def test_rewrites_give_the_same_answer_on_messy_databases(reference, messy):
    rewrites = equivalents(reference, COLUMNS)
    assert len(rewrites) >= 5
    for connection in messy:
        expected = answer(connection, reference)
        for rewrite in rewrites:
            found = answer(connection, rewrite.sql)
            assert first_difference(expected, found) is None, rewrite


def test_every_rule_is_met_by_a_reference():
    met = {rewrite.kind for reference in REFERENCES for rewrite in equivalents(reference, COLUMNS)}
    rules = {name for name, *_ in (*PREDICATE_RULES, *QUERY_RULES, *SUBQUERY_RULES)}
    assert rules <= met
    assert met - rules == {
        "semicolon at the end", "comments", "keywords in lower case", "keywords in upper case", "white space"
    }  # fmt: skip


def of_kind(kind, reference):
    return [rewrite.sql for rewrite in equivalents(reference, COLUMNS) if rewrite.kind == kind]


@pytest.mark.parametrize(
    ("kind", "reference", "expected"),
    [
        ("BETWEEN as two bounds", "SELECT id FROM place WHERE size BETWEEN 1 AND 2",
         "SELECT id FROM place WHERE (size >= 1 AND size <= 2)"),
        ("IN list as OR", "SELECT id FROM place WHERE kind IN ('a', 'b')",
         "SELECT id FROM place WHERE (kind = 'a' OR kind = 'b')"),
        ("comparison turned round", "SELECT id FROM place WHERE size < 3", "SELECT id FROM place WHERE 3 > size"),
        ("De Morgan", "SELECT id FROM place WHERE size < 3 AND kind = 'a'",
         "SELECT id FROM place WHERE NOT (size >= 3 OR kind <> 'a')"),
        ("NOT EXISTS as LEFT JOIN IS NULL",
         "SELECT name FROM person WHERE NOT EXISTS (SELECT 1 FROM visit WHERE person = person.id)",
         "SELECT person.name FROM person LEFT JOIN visit ON visit.person = person.id WHERE visit.person IS NULL"),
        ("NOT EXISTS as guarded NOT IN",
         "SELECT name FROM person WHERE NOT EXISTS (SELECT 1 FROM visit WHERE person = person.id)",
         "SELECT person.name FROM person WHERE (person.id IS NULL OR NOT person.id IN "
         "(SELECT visit.person FROM visit WHERE NOT visit.person IS NULL))"),
        ("IN as EXISTS", "SELECT name FROM person WHERE id IN (SELECT person FROM visit WHERE cost > 1)",
         "SELECT person.name FROM person WHERE EXISTS(SELECT 1 FROM visit WHERE visit.cost > 1 AND "
         "person.id = visit.person)"),
        ("DISTINCT as GROUP BY", "SELECT DISTINCT kind FROM place", "SELECT kind FROM place GROUP BY kind"),
        ("inner join order", "SELECT v.id FROM visit v JOIN person p ON p.id = v.person",
         "SELECT v.id FROM person AS p JOIN visit AS v ON p.id = v.person"),
        ("JOIN ON as comma", "SELECT v.id FROM visit v JOIN person p ON p.id = v.person WHERE cost > 1",
         "SELECT v.id FROM visit AS v, person AS p WHERE p.id = v.person AND cost > 1"),
        ("bound of a count moved", "SELECT city FROM person GROUP BY city HAVING COUNT(*) > 1",
         "SELECT city FROM person GROUP BY city HAVING COUNT(*) >= 2"),
        ("year as first to last date", "SELECT id FROM person WHERE strftime('%Y', born) = '2020'",
         "SELECT id FROM person WHERE DATE(born) BETWEEN '2020-01-01' AND '2020-12-31'"),
        ("UNION as DISTINCT", "SELECT name FROM person UNION SELECT name FROM place",
         "SELECT DISTINCT * FROM (SELECT name FROM person UNION ALL SELECT name FROM place) AS united"),
        ("semicolon at the end", "SELECT 1", "SELECT 1;"),
    ],
)  # fmt: skip
def test_known_rewrites(kind, reference, expected):
    assert of_kind(kind, reference) == [expected]


@pytest.mark.parametrize(
    ("kind", "reference"),
    [
        ("COUNT as SUM in groups", "SELECT COUNT(*) FROM visit"),  # no rows: 0 against NULL
        ("year as first to last date", "SELECT id FROM person WHERE strftime('%m', born) = '01'"),
        ("NOT EXISTS as LEFT JOIN IS NULL",
         "SELECT * FROM person WHERE NOT EXISTS (SELECT 1 FROM visit WHERE person = person.id)"),  # more columns
        ("NOT EXISTS as LEFT JOIN IS NULL",
         "SELECT name FROM person WHERE NOT EXISTS (SELECT 1 FROM visit WHERE person > person.id)"),  # not NULL-safe
        ("IN as EXISTS", "SELECT name FROM person WHERE id IN (SELECT MAX(person) FROM visit)"),
        ("IN as EXISTS", "SELECT name FROM person WHERE id IN (SELECT person FROM visit LIMIT 1)"),
        ("IN as EXISTS", "SELECT id IN (SELECT person FROM visit) FROM person"),  # NULL is shown
        ("inner join order", "SELECT * FROM visit JOIN person ON person.id = visit.person"),
        ("inner join order", "SELECT GROUP_CONCAT(cost) FROM visit JOIN person ON person.id = visit.person"),
        ("inner join order", "SELECT v.id FROM visit v LEFT JOIN person p ON p.id = v.person"),
        ("maximum as NOT EXISTS above", "SELECT id FROM place WHERE size = (SELECT MAX(cost) FROM visit)"),
        ("ORDER BY added", "SELECT id FROM place ORDER BY size LIMIT 1"),
        ("DISTINCT as GROUP BY", "SELECT DISTINCT 1 FROM place"),  # GROUP BY 1 names a column
        ("comparison turned round", "SELECT 1 FROM person p JOIN place l ON p.city = l.name"),  # another collation
    ],
)  # fmt: skip
def test_what_would_be_no_theorem_is_left_alone(kind, reference):
    assert of_kind(kind, reference) == []


def test_rewrites_of_an_ordered_reference_keep_its_order(messy):
    reference = "SELECT id, size FROM place WHERE size > 1 AND kind <> 'a' ORDER BY size DESC, id"
    rewrites = equivalents(reference, COLUMNS, ordered=True)
    kinds = {rewrite.kind for rewrite in rewrites}
    assert len(kinds) > 8 and not kinds & {"query in a derived table", "query in a CTE", "ORDER BY added"}
    for connection in messy:
        expected = answer(connection, reference)
        assert all(first_difference(expected, answer(connection, each.sql), ordered=True) is None for each in rewrites)


def test_texts_are_untouched_by_case_and_white_space():
    reference = "SELECT name FROM person WHERE city = 'and  SELECT' AND \"name\" <> 'x'"
    assert of_kind("keywords in lower case", reference) == [
        "select name from person where city = 'and  SELECT' and \"name\" <> 'x'"
    ]
    assert "'and  SELECT'" in of_kind("white space", reference)[0]


def test_order_is_fixed_and_texts_are_unique():
    for reference in REFERENCES:
        rewrites = equivalents(reference, COLUMNS)
        texts = [rewrite.sql for rewrite in rewrites]
        assert rewrites == equivalents(reference, COLUMNS)
        assert len(set(texts)) == len(texts) and reference not in texts


@pytest.mark.parametrize("text", ["", "SELEC 1", "DELETE FROM person", "SELECT 1; SELECT 2"])
def test_what_is_no_query_has_no_rewrites(text):
    assert equivalents(text, COLUMNS) == []


def test_a_rewrite_says_which_rule_made_it():
    with closing(build("one")):
        assert Rewrite("semicolon at the end", "SELECT 1;") in equivalents("SELECT 1", COLUMNS)

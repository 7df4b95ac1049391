import pytest
import sqlglot

from sqldojo.verifier.qualified_names import fresh, qualified

COLUMNS = {"person": ("id", "name", "city"), "visit": ("id", "person", "cost")}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT name FROM person", "SELECT person.name FROM person"),
        ("SELECT NAME FROM Person AS p", "SELECT p.NAME FROM Person AS p"),
        ('SELECT name FROM person AS "a b"', 'SELECT "a b".name FROM person AS "a b"'),
        ("SELECT cost FROM person JOIN visit ON person = person.id",
         "SELECT visit.cost FROM person JOIN visit ON visit.person = person.id"),
        # The inner FROM comes first, then the outer one.
        ("SELECT name FROM person WHERE EXISTS (SELECT id FROM visit WHERE person = city)",
         "SELECT person.name FROM person WHERE EXISTS(SELECT visit.id FROM visit WHERE visit.person = person.city)"),
        # A derived table does not see its neighbours; its own columns are known.
        ("SELECT n FROM (SELECT name AS n FROM person) AS d WHERE n <> ''",
         "SELECT d.n FROM (SELECT person.name AS n FROM person) AS d WHERE d.n <> ''"),
        ("WITH w AS (SELECT cost AS c FROM visit) SELECT c FROM w", "WITH w AS (SELECT visit.cost AS c FROM visit) "
         "SELECT w.c FROM w"),
        # A CTE does not see the query that it is named for: its alias is not that query's column.
        ("WITH w AS (SELECT name AS c FROM person GROUP BY c) SELECT c FROM w",
         "WITH w AS (SELECT person.name AS c FROM person GROUP BY c) SELECT w.c FROM w"),
        # What may be another thing is left as it is.
        ("SELECT id FROM person CROSS JOIN visit", "SELECT id FROM person, visit"),
        ("SELECT name AS city FROM person ORDER BY city", "SELECT person.name AS city FROM person ORDER BY city"),
        ("SELECT name AS city FROM person GROUP BY city",
         "SELECT person.name AS city FROM person GROUP BY person.city"),
        ("SELECT other FROM person", "SELECT other FROM person"),
        ("SELECT name FROM person, unknown", "SELECT name FROM person, unknown"),
        ("SELECT city FROM person, (SELECT * FROM visit) AS v", "SELECT city FROM person, (SELECT * FROM visit) AS v"),
    ],
)  # fmt: skip
def test_names_are_qualified_as_sqlite_finds_them(query, expected):
    tree = sqlglot.parse_one(query, read="sqlite")
    wanted = sqlglot.parse_one(expected, read="sqlite").sql(dialect="sqlite")
    assert qualified(tree, COLUMNS).sql(dialect="sqlite") == wanted
    assert tree == sqlglot.parse_one(query, read="sqlite"), "the query itself stays"


def test_a_fresh_name_is_new_and_taken_from_then_on():
    taken = {"t", "t2"}
    assert [fresh("T", taken), fresh("t", taken), fresh("u", taken)] == ["T3", "t4", "u"]

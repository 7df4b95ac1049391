"""Stepping stones: which parts of a failing query are asked for, in which words, and for whom nothing is written."""

from dataclasses import replace

import pytest
from sqlite_files import write_database

from sqldojo.databases.parameters import expand, shared_pool
from sqldojo.questions.composing.pools import EQUAL, THRESHOLD, YEAR
from sqldojo.questions.composing.words import Words
from sqldojo.questions.stepping_stones import failing_types, stepping_stones
from sqldojo.questions.wording import wording_fault
from sqldojo.records import CORRECT, SELECTION, TRAIN, WRONG_SQL, Episode, QuestionType

SCRIPT = """
CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT, city TEXT);
CREATE TABLE orders(id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers(id), day TEXT, price REAL);
INSERT INTO customers VALUES (1, 'Ada', 'Rome'), (2, 'Bo', 'Oslo'), (3, 'Cy', 'Rome'), (4, 'Di', 'Bonn'),
  (5, 'Eve', 'Oslo'), (6, 'Flo', 'Bonn');
INSERT INTO orders VALUES (1, 1, '2020-01-01', 5), (2, 2, '2021-02-01', 6), (3, 3, '2022-03-01', 7),
  (4, 3, '2022-04-01', 8), (5, 4, '2021-05-01', 9), (6, 5, '2020-06-01', 4);
"""
CITY = {"city": "SELECT DISTINCT city FROM customers WHERE city IS NOT NULL ORDER BY city"}
CITY_2020 = {**CITY, "year": "VALUES ('2020'), ('2021'), ('2022')"}
GIVEN = {
    ("customers", "city", EQUAL): CITY,
    ("orders", "day", YEAR): {"year": CITY_2020["year"]},
    ("orders", "price", THRESHOLD): {"price": "VALUES (5), (6), (7)"},
}
WORDS = Words(conditions={("customers", "city", "equal"): ("live in {}",)})
OVER_TWO = QuestionType(
    "over-two",
    TRAIN,
    ("Which customers in {city} have more than 2 orders?",),
    "SELECT c.name FROM orders AS o JOIN customers c ON c.id = o.customer_id WHERE c.city = :city GROUP BY c.id "
    "HAVING COUNT(*) > 2",
    CITY,
)


@pytest.fixture
def databases(tmp_path):
    return [write_database(tmp_path / "a.sqlite", SCRIPT)]


@pytest.fixture
def stones(databases):
    def find(*types, **failing):
        shares = failing or {each.id: 0.0 for each in types}
        return stepping_stones(types, shares, databases, words=WORDS, given=GIVEN)

    return find


def asking(sql, parameters=CITY):
    return replace(OVER_TWO, sql=sql, parameters=parameters)


def queries(found):
    return [stone.sql for stone in found]


JOINED = "FROM orders JOIN customers ON customers.id = orders.customer_id"


def test_a_join_with_groups_and_having_is_led_up_to(stones):
    found = stones(OVER_TWO)
    assert queries(found) == [
        "SELECT name FROM customers WHERE city = :city",
        "SELECT COUNT(*) FROM customers WHERE city = :city",
        f"SELECT COUNT(*) {JOINED} WHERE customers.city = :city",
        f"SELECT customers.name, COUNT(*) {JOINED} WHERE customers.city = :city GROUP BY customers.id",
    ]
    assert found[0].phrasings[0] == "Which customers live in {city}? Return only the name, one row per customer."
    assert all(stone.split == TRAIN and stone.proposer == "stepping-stones" for stone in found)


def test_stones_are_sound_types_that_run(stones, databases):
    found = stones(OVER_TWO, replace(asking("SELECT SUM(price) / COUNT(*) FROM orders"), id="x", parameters={}))
    for stone in found:
        assert wording_fault(stone) is None
        values = {name: shared_pool(databases, sql)[0] for name, sql in stone.parameters.items()}
        expand(databases[0], stone.sql, values)


@pytest.mark.parametrize(
    ("sql", "stone"),
    [
        (
            "SELECT AVG(price) / COUNT(*) FROM orders WHERE price < :price",
            "SELECT AVG(price) FROM orders WHERE price < :price",
        ),
        (
            "SELECT id FROM orders WHERE price < :price AND strftime('%Y', day) = :year",
            "SELECT COUNT(*) FROM orders WHERE price < :price",
        ),
        (
            "SELECT name FROM customers WHERE id NOT IN "
            "(SELECT customer_id FROM orders WHERE strftime('%Y', day) = :year)",
            "SELECT id FROM orders WHERE strftime('%Y', day) = :year",
        ),
        (
            "SELECT strftime('%m', day) AS m, AVG(price) FROM orders WHERE strftime('%Y', day) = :year GROUP BY m "
            "HAVING AVG(price) > 5 AND m > '03'",
            "SELECT strftime('%m', day) AS month, AVG(price) FROM orders WHERE strftime('%Y', day) = :year "
            "GROUP BY month",
        ),
        (
            "SELECT AVG(CASE WHEN city = :city THEN 1.0 ELSE 0 END) FROM customers",
            "SELECT COUNT(*) FROM customers WHERE city = :city",
        ),
        (
            "SELECT id FROM orders WHERE price = (SELECT MAX(price) FROM orders)",
            "SELECT MAX(price) FROM orders",
        ),
        (
            "WITH t AS (SELECT city, COUNT(*) AS n FROM customers GROUP BY city) SELECT city FROM t WHERE n > 2",
            "SELECT city, COUNT(*) FROM customers GROUP BY city",
        ),
    ],
)  # fmt: skip
def test_parts_are_found_wherever_they_are(stones, sql, stone):
    names = [name for name in ("price", "year", "city") if f":{name}" in sql]
    assert stone in queries(stones(asking(sql, dict.fromkeys(names, "pool"))))


def test_every_stone_is_smaller_than_what_it_leads_to(stones):
    assert stones(asking("SELECT COUNT(*) FROM customers WHERE city = :city")) == []


def test_conditions_of_two_arms_are_not_put_together(stones):
    arms = "SELECT id FROM orders WHERE price < :price EXCEPT SELECT id FROM orders WHERE strftime('%Y', day) = :year"
    assert not [sql for sql in queries(stones(asking(arms, {}))) if " AND " in sql]


def test_what_the_world_has_no_words_for_gives_no_stone(stones):
    assert stones(asking("SELECT name FROM customers WHERE city = 'Rome' AND name LIKE 'A%'", {})) == []
    assert stones(asking("no SQL")) == []


def test_only_failing_trained_types_have_stones(stones):
    held_out = replace(OVER_TWO, split=SELECTION)
    assert stones(held_out) == []
    assert stones(OVER_TWO, **{"another": 0.0}) == []


def test_equal_stones_are_there_once_and_the_worst_type_comes_first(stones):
    other = replace(asking("SELECT MAX(price) + 1 FROM orders", {}), id="other")
    found = queries(stones(OVER_TWO, other, replace(OVER_TWO, id="again"), other=0.1, again=0.2, **{"over-two": 0.3}))
    assert found[0] == "SELECT MAX(price) FROM orders"
    assert found[1:] == queries(stones(OVER_TWO))


def episode(kind, split, outcome):
    return Episode("e", "q", kind, split, 0, (), outcome, 0.0, "")


def test_failing_types_are_trained_ones_below_the_share():
    episodes = [
        episode("bad", "reserved", WRONG_SQL), episode("bad", "train", CORRECT), episode("bad", "train", WRONG_SQL),
        episode("good", "reserved", CORRECT), episode("secret", "selection", WRONG_SQL),
        episode("secret", "check", WRONG_SQL),
    ]  # fmt: skip
    assert failing_types(episodes, 0.5) == {"bad": 0.3333}
    assert failing_types(episodes, 0.3) == {}

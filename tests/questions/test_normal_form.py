import pytest

from sqldojo.questions.normal_form import normal_form, shape, type_form
from sqldojo.questions.shop_held_out_types import CHECK_TYPES, SELECTION_TYPES
from sqldojo.questions.shop_training_types import TRAINING_TYPES

COLUMNS = {"people": ("id", "name", "town", "age"), "pets": ("id", "owner_id", "kind", "age")}
SHOP = {
    "customers": ("id", "name", "email", "city", "country", "signup_date"),
    "products": ("id", "name", "category", "price"),
    "orders": ("id", "customer_id", "order_date", "status"),
    "order_items": ("id", "order_id", "product_id", "quantity", "unit_price"),
}
JOINED = "SELECT p.name FROM people AS p JOIN pets ON pets.owner_id = p.id WHERE kind = 'cat' AND p.age > 3"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("SELECT name FROM people WHERE age > 3", "select P.NAME as who from People p where (3 < p.Age)"),
        ("SELECT name FROM people WHERE age >= 3 AND town = 'Rome'",
         "SELECT name FROM people WHERE 'Rome' = town AND 3 <= age"),
        (JOINED, "SELECT o.name FROM pets x, people o WHERE o.age > 3 AND x.kind = 'cat' AND o.id = x.owner_id"),
        (JOINED, "SELECT name FROM pets JOIN people ON people.id = owner_id AND kind = 'cat' WHERE people.age > 3"),
        ("SELECT COUNT(*) AS n, town FROM people GROUP BY town HAVING n > 1",
         "SELECT COUNT(*), people.town FROM people GROUP BY people.town HAVING COUNT(*) > 1"),
        ("WITH old AS (SELECT name AS who FROM people) SELECT who FROM old",
         "SELECT x.n FROM (SELECT people.name AS n FROM people) AS x"),
        ("SELECT name FROM people WHERE age + id = 4 OR age IN (1, 2)",
         "SELECT name FROM people WHERE age IN (2, 1) OR id + age = 4"),
        ("SELECT name FROM people UNION SELECT kind FROM pets", "SELECT kind FROM pets UNION SELECT name FROM people"),
        ("SELECT name FROM people WHERE EXISTS (SELECT 1 FROM pets WHERE owner_id = people.id)",
         "SELECT name FROM people p WHERE EXISTS (SELECT 1 FROM pets q WHERE p.id = q.owner_id)"),
    ],
)  # fmt: skip
def test_other_spellings_have_the_same_form(one, other):
    assert normal_form(one, COLUMNS) == normal_form(other, COLUMNS)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("SELECT name FROM people WHERE age > 3", "SELECT name FROM people WHERE age > 4"),
        ("SELECT name FROM people WHERE age > 3", "SELECT name FROM people WHERE age < 3"),
        ("SELECT name FROM people WHERE age > 3", "SELECT name FROM people WHERE age >= 3"),
        ("SELECT name, age FROM people", "SELECT age, name FROM people"),
        ("SELECT name FROM people", "SELECT DISTINCT name FROM people"),
        ("SELECT age - id FROM people", "SELECT id - age FROM people"),
        ("SELECT p.age FROM people p JOIN pets q ON q.owner_id = p.id", "SELECT q.age FROM people p JOIN pets q ON "
         "q.owner_id = p.id"),
        ("SELECT p.id FROM people p LEFT JOIN pets q ON q.owner_id = p.id AND q.age > 1",
         "SELECT p.id FROM people p LEFT JOIN pets q ON q.owner_id = p.id WHERE q.age > 1"),
        ("SELECT name FROM people WHERE id IN (SELECT owner_id FROM pets)",
         "SELECT name FROM people WHERE NOT id IN (SELECT owner_id FROM pets)"),
        ("SELECT name FROM people EXCEPT SELECT kind FROM pets",
         "SELECT kind FROM pets EXCEPT SELECT name FROM people"),
        ("SELECT name FROM people UNION SELECT kind FROM pets",
         "SELECT name FROM people UNION ALL SELECT kind FROM pets"),
        ("SELECT a.id FROM people a JOIN people b ON a.id = b.age",
         "SELECT b.id FROM people a JOIN people b ON a.id = b.age"),
        ("SELECT name FROM people ORDER BY age LIMIT 1", "SELECT name FROM people ORDER BY age DESC LIMIT 1"),
        ("SELECT name FROM people WHERE town = 'a'", "SELECT name FROM people WHERE town = 'A'"),
    ],
)  # fmt: skip
def test_other_queries_have_another_form(one, other):
    assert normal_form(one, COLUMNS) != normal_form(other, COLUMNS)


def test_types_are_alike_whatever_their_constants_and_their_parameters_are_called():
    first = type_form("SELECT name FROM people WHERE town = :town AND age > 3", COLUMNS, {"town": "the towns"})
    assert first == type_form("SELECT name FROM people WHERE age > 7 AND town = :t", COLUMNS, {"t": "the towns"})
    assert first != type_form("SELECT name FROM people WHERE town = :town AND age > 3", COLUMNS, {"town": "others"})
    # A format says what is taken out of a date.
    months = type_form("SELECT strftime('%m', town) FROM people", COLUMNS, {})
    assert months != type_form("SELECT strftime('%Y', town) FROM people", COLUMNS, {})


def test_a_shape_has_no_names_and_no_constants():
    assert shape("SELECT name FROM people WHERE town = :town", COLUMNS) == shape(
        "SELECT kind FROM pets WHERE age = 3", COLUMNS)  # fmt: skip
    assert shape("SELECT name FROM people WHERE age > 3", COLUMNS) != shape(
        "SELECT name FROM people WHERE age = 3", COLUMNS)  # fmt: skip


def test_a_recursive_query_has_a_form():
    counting = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) SELECT i FROM n"
    assert normal_form(counting.format(3), COLUMNS) != normal_form(counting.format(4), COLUMNS)


def test_no_two_hand_written_types_have_one_form():
    types = (*TRAINING_TYPES, *SELECTION_TYPES, *CHECK_TYPES)
    assert len({type_form(each.sql, SHOP, each.parameters) for each in types}) == 25

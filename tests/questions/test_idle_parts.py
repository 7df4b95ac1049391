import pytest

from sqldojo.questions.idle_parts import without_each_part, without_parameter
from sqldojo.verifier.mutation.sqlite_text import Unparsable

COLUMNS = {"people": ("id", "name", "town", "age"), "pets": ("id", "owner_id", "kind", "age")}


@pytest.mark.parametrize(
    ("sql", "parts"),
    [
        ("SELECT name FROM people", []),
        ("SELECT name FROM people WHERE town = :t AND age > 3",
         ["SELECT name FROM people WHERE age > 3", "SELECT name FROM people WHERE town = :t"]),
        ("SELECT DISTINCT town FROM people", ["SELECT town FROM people"]),
        ("SELECT town FROM people GROUP BY town HAVING COUNT(*) > :n", ["SELECT town FROM people GROUP BY town"]),
        ("SELECT COUNT(DISTINCT town) FROM people", ["SELECT COUNT(town) FROM people"]),
        ("SELECT p.name FROM people AS p JOIN pets AS q ON q.owner_id = p.id", ["SELECT p.name FROM people AS p"]),
        ("SELECT name FROM people ORDER BY id LIMIT 3", ["SELECT name FROM people ORDER BY id"]),
        # The key of a join is no such part, nor is what is there for missing values.
        ("SELECT p.name, q.kind FROM people AS p JOIN pets AS q ON q.owner_id = p.id", []),
        ("SELECT name FROM people WHERE town IS NOT NULL", []),
    ],
)  # fmt: skip
def test_each_part_is_left_out(sql, parts):
    assert [each.sql for each in without_each_part(sql, COLUMNS)] == parts


def test_what_is_left_says_which_parameters_it_uses():
    parts = without_each_part("SELECT name FROM people WHERE town = :t AND age > :n", COLUMNS)
    assert [each.parameters for each in parts] == [{"n"}, {"t"}]


@pytest.mark.parametrize(
    ("sql", "left"),
    [
        ("SELECT name FROM people WHERE town = :t AND age > 3", "SELECT name FROM people WHERE age > 3"),
        ("SELECT name FROM people WHERE town = :t AND age = (SELECT MAX(age) FROM people WHERE town = :t)",
         "SELECT name FROM people WHERE age = (SELECT MAX(age) FROM people)"),
        ("SELECT name FROM people WHERE NOT EXISTS(SELECT 1 FROM pets WHERE owner_id = people.id AND kind = :t)",
         "SELECT name FROM people WHERE NOT EXISTS(SELECT 1 FROM pets WHERE owner_id = people.id)"),
        ("SELECT name FROM people WHERE age > 3", "SELECT name FROM people WHERE age > 3"),
    ],
)  # fmt: skip
def test_the_conditions_of_a_parameter_are_left_out(sql, left):
    assert without_parameter(sql, COLUMNS, "t").sql == left


def test_a_parameter_outside_of_conditions_cannot_be_left_out():
    assert without_parameter("SELECT name, :t FROM people WHERE town = :t", COLUMNS, "t") is None


def test_what_cannot_be_read_is_refused():
    with pytest.raises(Unparsable):
        without_each_part("VALUES (1)", COLUMNS)

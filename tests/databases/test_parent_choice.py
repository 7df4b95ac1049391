"""Which parents are picked, and that a key survives the way through the child's type."""

from __future__ import annotations

import random
from pathlib import Path

from sqlite_files import write_database

from sqldojo.databases.insertion_plan import ForeignLink, insertion_plan
from sqldojo.databases.parent_choice import ParentChoice
from sqldojo.databases.schema_model import read_schema


def choice(tmp_path: Path, parent: str, child: str, *, childless: float = 0, skew: float = 0) -> ParentChoice:
    schema = read_schema(write_database(tmp_path / "a.sqlite", f"CREATE TABLE a({parent}); CREATE TABLE b({child})"))
    columns = [tuple(column.name for column in table.columns) for table in schema.tables]
    parents, children = insertion_plan(schema, (ForeignLink("b", columns[1], "a", columns[0]),))
    (reference,) = children.references
    return ParentChoice(children, parents, reference, random.Random(1), childless=childless, skew=skew)


def test_a_key_that_the_childs_type_would_change_is_no_key(tmp_path: Path) -> None:
    picks = choice(tmp_path, "id TEXT", "a INT")
    assert [picks.key_of([value]) for value in ("7", "007", "x", None)] == [(7,), None, ("x",), None]
    picks = choice(tmp_path / "2", "id INT, k REAL", "a TEXT, k NUMERIC")
    assert picks.key_of([7, 2.0]) == ("7", 2)


def test_even_picks_take_every_parent_in_turn(tmp_path: Path) -> None:
    picks = choice(tmp_path, "id INT", "a INT")
    picks.open([[number] for number in range(10)])
    for _ in range(3):
        assert {picks.pick({}, evenly=True) for _ in range(10)} == {(number,) for number in range(10)}


def test_some_parents_get_no_children_and_some_get_most(tmp_path: Path) -> None:
    picks = choice(tmp_path, "id INT", "a INT", childless=0.5, skew=1)
    picks.open([[number] for number in range(100)])
    found = [picks.pick({}, evenly=True) for _ in range(400)]
    assert len(set(found)) <= 51
    assert max(map(found.count, set(found))) > 80


def test_bound_values_are_kept_and_without_parents_there_is_no_pick(tmp_path: Path) -> None:
    picks = choice(tmp_path, "x INT, y INT", "p INT, q INT", childless=1)
    assert picks.pick({}, evenly=True) is None
    picks.open([[1, 2], [3, 4], [3, 5]])
    assert {picks.pick({0: 3}, evenly=True) for _ in range(20)} == {(3, 4), (3, 5)}
    assert picks.pick({0: 9}, evenly=True) is None


def test_nowhere_is_a_key_that_no_parent_has(tmp_path: Path) -> None:
    picks = choice(tmp_path, "x INT, y TEXT, z", "p INT, q TEXT, r")
    picks.open([[1, "a", b"a"], [3, "b", b"b"]])
    number, text, blob = picks.nowhere([[1, 3], ["a", "z"], [b"a"]])
    assert number > 3
    assert text == "z"
    assert blob == b"a\0"

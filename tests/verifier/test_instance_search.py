from random import Random

import pytest
from sqlite_files import write_database

from sqldojo.databases.editing import Editor, Worth
from sqldojo.databases.schema_model import read_schema
from sqldojo.databases.scratch import Scratch
from sqldojo.verifier.instance_search import Instance, Target, choose_greedily, differ, importance, improve, kills

SCRIPT = "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, price REAL);"
CHEAP = Target(
    "SELECT name FROM item WHERE price < 20",
    (
        "SELECT name FROM item WHERE price <= 20",
        "SELECT DISTINCT name FROM item WHERE price < 20",
        "SELECT name FROM item WHERE 20 > price",
        "SELECT nothing FROM item",
    ),
    {"item": ("name", "price")},
)
SUM = Target("SELECT SUM(price) FROM item", ("SELECT COALESCE(SUM(price), 0) FROM item",), {"item": ("name", "price")})


@pytest.fixture
def scratch(tmp_path):
    scratch = Scratch(read_schema(write_database(tmp_path / "s.sqlite", SCRIPT)))
    yield scratch
    scratch.close()


def test_kills_are_the_variants_that_differ_on_the_rows(scratch):
    scratch.load({"item": [(1, "Kite", 20.0), (2, "Top", 3.0), (3, "Top", 3.0)]})
    assert kills(scratch, [CHEAP]) == {(0, 0), (0, 1), (0, 2)}
    assert kills(scratch, [SUM, CHEAP], [(1, 1), (1, 3)]) == {(1, 1)}


def test_without_rows_only_what_makes_one_up_differs(scratch):
    scratch.load({})
    assert kills(scratch, [CHEAP, SUM]) == {(1, 0), (1, 1)}  # a sum over nothing is a row with NULL, not nothing


def test_a_reference_that_fails_kills_nothing(scratch):
    scratch.load({"item": [(1, "Kite", 20.0)]})
    assert kills(scratch, [Target("SELECT nothing FROM item", ("SELECT 1",), {"item": ("name", "price")})]) == set()


@pytest.mark.parametrize(
    ("one", "other", "different"),
    [
        ([(1,), (2,)], [(2,), (1,)], False),
        ([(1,), (1,)], [(1,)], True),
        ([(0.1 + 0.2,)], [(0.3,)], False),
        ([("1",)], [(1,)], True),
        ([(1,)], [(1, 1)], True),
        ([], [], False),
    ],
)
def test_results_differ_as_in_grading(one, other, different):
    assert differ(one, other) is different


def test_the_greedy_choice_looks_at_what_the_chosen_leave():
    broad, second, overlapping = (Instance({}, frozenset(kills)) for kills in ([(0, 1), (0, 2)], [(1, 1)], [(0, 1)]))
    assert choose_greedily([overlapping, broad, second], 2) == [broad, second]
    assert choose_greedily([second], 3) == [second]


def test_edits_find_the_row_on_the_boundary_and_the_namesake_and_keep_what_was_told_before(scratch):
    rows = {"item": [(1, "Kite", 35.0), (2, "Top", 3.0)]}
    scratch.load(rows)
    start = Instance(rows, kills(scratch, [CHEAP]))
    assert start.kills == {(0, 0)}
    aims = frozenset({(0, 0), (0, 1), (0, 2), (0, 3)})
    editor = Editor(scratch.schema, Worth({("item", "price"): [19.0, 20.0, 21.0]}, {}))
    found = improve(
        scratch, [CHEAP], start, aims=aims, precious=aims, focus=aims, edit=editor, rng=Random(2), tries=500,
        most_rows=20,
    )  # fmt: skip
    assert found.kills == {(0, 0), (0, 1), (0, 2)}, "20 > price is the same query, so it stays"
    scratch.load(found.rows)
    assert kills(scratch, [CHEAP]) == found.kills and scratch.rows() == found.rows


def test_a_kill_that_hardly_anybody_needs_is_worth_less():
    seldom = Target("SELECT 1", ("SELECT 2", "SELECT 3"), {}, seldom=frozenset({2}))
    precious = frozenset({(0, 1), (0, 2)})
    common, rare, other = (frozenset(kills) for kills in ({(0, 1)}, {(0, 2)}, {(0, 0)}))
    assert importance(common, [seldom], precious) > importance(rare | other, [seldom], precious)
    assert importance(rare, [seldom], precious) > importance(other, [seldom], precious)

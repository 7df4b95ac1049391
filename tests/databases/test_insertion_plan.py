"""The order of insertion, and what each column of a table is to its rows."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlite_files import write_database

from sqldojo.databases.insertion_plan import LATER, OWN, READY, ForeignLink, TablePlan, UniqueSet, insertion_plan
from sqldojo.databases.schema_model import read_schema


def plans(tmp_path: Path, script: str, *links: ForeignLink) -> dict[str, TablePlan]:
    schema = read_schema(write_database(tmp_path / "a.sqlite", script))
    return {plan.table.name: plan for plan in insertion_plan(schema, links)}


def test_what_each_column_is(tmp_path: Path) -> None:
    plan = plans(
        tmp_path,
        "CREATE TABLE p(id INTEGER PRIMARY KEY);"
        "CREATE TABLE t(id INT PRIMARY KEY, p INT UNIQUE REFERENCES p, up INT REFERENCES t, a TEXT UNIQUE, b NOT NULL,"
        "c COLLATE NOCASE, UNIQUE (b, c))",
    )["t"]
    assert plan.keys == (0, 3)
    assert plan.free == (4, 5)
    assert plan.nullable == {1, 2, 3, 5}
    assert [(each.positions, each.parent, each.when, each.optional) for each in plan.references] == [
        ((1,), "p", READY, (1,)),
        ((2,), "t", OWN, (2,)),
    ]
    assert not plan.overlapping


def test_links_order_the_tables_and_yield_to_declared_keys(tmp_path: Path) -> None:
    script = "CREATE TABLE a(x INT, y INT); CREATE TABLE b(x INT REFERENCES c); CREATE TABLE c(id INTEGER PRIMARY KEY)"
    assert list(plans(tmp_path / "1", script)) == ["a", "c", "b"]
    found = plans(
        tmp_path / "2",
        script,
        ForeignLink("A", ("Y",), "B", ("X",)),
        ForeignLink("b", ("x",), "a", ("x",)),
        ForeignLink("a", ("y",), "c", ("id",)),
    )
    assert list(found) == ["c", "b", "a"]
    assert [(each.parent, each.declared) for each in found["b"].references] == [("c", True)]
    assert [(each.parent, each.declared) for each in found["a"].references] == [("b", False)]


def test_in_a_cycle_one_reference_comes_later(tmp_path: Path) -> None:
    found = plans(
        tmp_path,
        "CREATE TABLE a(id INTEGER PRIMARY KEY REFERENCES a, b REFERENCES b);"
        "CREATE TABLE b(id INTEGER PRIMARY KEY, a REFERENCES a)",
    )
    assert [each.when for each in found["a"].references] == [LATER]  # a column that refers to itself says nothing
    assert [each.when for each in found["b"].references] == [READY]


@pytest.mark.parametrize(
    ("one", "other", "collation", "same"),
    [
        ("Toys", "tOYS", "NOCASE", True), ("Ä", "ä", "NOCASE", False), ("a", "a  ", "RTRIM", True),
        ("a", "A", "BINARY", False), (1, 1.0, "BINARY", True), (1, "1", "NOCASE", False), (b"a", "a", "BINARY", False),
    ],
)  # fmt: skip
def test_unique_keys_are_compared_as_sqlite_does(one, other, collation: str, same: bool) -> None:
    unique = UniqueSet((1,), (collation,))
    assert (unique.key((0, one)) == unique.key((0, other))) is same
    assert unique.key((0, None)) is None

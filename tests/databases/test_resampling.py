"""Samples of a user's rows stay joined, hold what is wanted, end in cycles, and are mixed without breaking a key."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest
from instance_checks import assert_sound, stored_rows
from sqlite_files import write_database

from sqldojo.databases.families import INSTANCES, TRAIN, family_paths
from sqldojo.databases.generating import ForeignLink, Shape, generate_rows
from sqldojo.databases.resampling import perturb, resample
from sqldojo.databases.schema_model import Rows, Schema, read_rows, read_schema

PLAIN = Shape(rows=60, nulls=0.1, repeats=0.2, childless=0.2, skew=0.3, dangling=0, twins=0)


def made(tmp_path: Path, script: str) -> tuple[Schema, Rows]:
    path = write_database(tmp_path / "a.sqlite", script)
    schema = read_schema(path)
    return schema, read_rows(path, schema)


@pytest.fixture(scope="module")
def shop(databases: Path) -> tuple[Schema, Rows]:
    path = family_paths(databases, TRAIN)[INSTANCES.index("ordinary_2")]
    schema = read_schema(path)
    return schema, read_rows(path, schema)


def test_the_shop_is_sampled_from_its_roots_and_stays_joined(shop: tuple[Schema, Rows]) -> None:
    schema, rows = shop
    sample = resample(schema, rows, random.Random(1), 40, {})
    assert_sound(schema, sample)
    assert all(20 <= len(found) <= 60 for found in sample.values())
    for table, found in sample.items():
        assert found == [row for row in rows[table] if row in set(found)]  # their order is kept
    orders = {row[0] for row in sample["orders"]}
    assert len({row[1] for row in sample["order_items"]} & orders) >= 10
    assert max(Counter(row[1] for row in sample["order_items"]).values()) >= 3


def test_the_same_seed_gives_the_same_rows_and_another_gives_others(shop: tuple[Schema, Rows]) -> None:
    schema, rows = shop
    wanted = {("customers", "city"): frozenset(str(row[3]) for row in rows["customers"])}
    one, again, other = (resample(schema, rows, random.Random(seed), 30, wanted) for seed in (1, 1, 2))
    assert one == again
    assert all(one[table] != other[table] for table in one)


def test_a_small_table_is_not_taken_whole(shop: tuple[Schema, Rows]) -> None:
    schema, rows = shop
    sample = resample(schema, rows, random.Random(3), 10_000, {})
    assert all(0.5 * len(rows[table]) < len(found) < len(rows[table]) for table, found in sample.items())


def test_wanted_values_are_there_in_whatever_spelling_of_names_and_types(tmp_path: Path) -> None:
    values = ", ".join(f"({number}, {number % 97}, 'w{number}')" for number in range(2000))
    script = f"CREATE TABLE t(Id INTEGER PRIMARY KEY, n REAL, w TEXT); INSERT INTO t VALUES {values}"
    schema, rows = made(tmp_path, script)
    wanted = {
        ("T", "ID"): frozenset({"1234", 99_999}),
        ("t", "N"): frozenset({96}),
        ("t", "w"): frozenset({"w5", "w1999"}),
    }
    for seed in range(5):
        sample = resample(schema, rows, random.Random(seed), 10, wanted)["t"]
        assert len(sample) == 10
        assert 1234 in [row[0] for row in sample]
        assert 96.0 in [row[1] for row in sample]
        assert {"w5", "w1999"} < {row[2] for row in sample}


def test_a_row_that_holds_two_wanted_values_is_preferred(tmp_path: Path) -> None:
    values = ", ".join(f"({number % 50 == 0}, {number % 49 == 0})" for number in range(3000))
    schema, rows = made(tmp_path, f"CREATE TABLE t(a INT, b INT); INSERT INTO t VALUES {values}")
    wanted = {("t", "a"): frozenset({1}), ("t", "b"): frozenset({1})}
    assert (1, 1) in resample(schema, rows, random.Random(1), 6, wanted)["t"]


def test_parents_of_composite_keys_and_ancestors_come_along(tmp_path: Path) -> None:
    schema, _ = made(
        tmp_path,
        "CREATE TABLE a(x TEXT, y INT, up_x TEXT, up_y INT, PRIMARY KEY (x, y), FOREIGN KEY (up_x, up_y) REFERENCES a);"
        "CREATE TABLE b(p TEXT, q INT, FOREIGN KEY (p, q) REFERENCES a)",
    )
    chain = [("k", number, "k" if number else None, number - 1 if number else None) for number in range(50)]
    sample = resample(schema, {"a": chain, "b": [("k", 49)] * 5}, random.Random(1), 3, {("b", "q"): frozenset({49})})
    assert sample["a"] == chain
    assert_sound(schema, sample)


def test_cycles_end(tmp_path: Path) -> None:
    schema, _ = made(
        tmp_path,
        "CREATE TABLE a(id INTEGER PRIMARY KEY, b INT NOT NULL REFERENCES b, me INT REFERENCES a);"
        "CREATE TABLE b(id INTEGER PRIMARY KEY, a INT NOT NULL REFERENCES a)",
    )
    count = 2000
    rows: Rows = {
        "a": [(number, number, number) for number in range(count)],
        "b": [(number, (number + 1) % count) for number in range(count)],
    }
    sample = resample(schema, rows, random.Random(1), 5, {})
    assert sample == rows  # one row needs all the others
    assert_sound(schema, sample)


def test_parents_are_found_as_sqlite_finds_them_and_dangling_values_stay(tmp_path: Path) -> None:
    schema, rows = made(
        tmp_path,
        "CREATE TABLE a(id TEXT PRIMARY KEY COLLATE NOCASE); CREATE TABLE b(a REFERENCES a, n INT REFERENCES a);"
        "INSERT INTO a VALUES ('Toys'), ('7'), ('other'), ('more');"
        "INSERT INTO b VALUES ('TOYS', 7), ('nowhere', NULL), ('Toys', 8)",
    )
    before = stored_rows(schema, rows)[1]
    assert len(before) == 2
    sample = resample(schema, rows, random.Random(1), 9, {("b", "n"): frozenset({7, 8, None})})
    assert sample["b"] == rows["b"]
    assert {("Toys",), ("7",)} <= set(sample["a"])
    assert len(stored_rows(schema, sample)[1]) == 2


def test_links_are_followed_like_foreign_keys(tmp_path: Path) -> None:
    schema, _ = made(tmp_path, "CREATE TABLE a(id INT); CREATE TABLE b(a INT)")
    rows: Rows = {"a": [(number,) for number in range(500)], "b": [(number,) for number in range(500)]}
    links = [ForeignLink("b", ("a",), "a", ("id",))]
    sample = resample(schema, rows, random.Random(1), 20, {}, links)
    assert {row[0] for row in sample["b"]} <= {row[0] for row in sample["a"]}


def test_no_rows_give_no_rows(shop: tuple[Schema, Rows]) -> None:
    schema, rows = shop
    nothing: Rows = {table: [] for table in rows}
    assert resample(schema, nothing, random.Random(1), 10, {("customers", "id"): frozenset({1})}) == nothing
    assert perturb(schema, nothing, random.Random(1), 0.5) == nothing


SCRIPT = """
CREATE TABLE a(id INTEGER PRIMARY KEY, code TEXT UNIQUE, x INT, y INT, name TEXT NOT NULL, price REAL, UNIQUE (x, y));
CREATE TABLE b(id INTEGER PRIMARY KEY, a INT REFERENCES a, name TEXT, note TEXT);
CREATE TABLE c(a_name TEXT);
"""


def test_perturbing_moves_only_plain_cells_and_no_value_is_lost(tmp_path: Path) -> None:
    schema, _ = made(tmp_path, SCRIPT)
    rows = generate_rows(schema, random.Random(1), PLAIN, {})
    mixed = perturb(schema, rows, random.Random(2), 0.4, [ForeignLink("c", ("a_name",), "a", ("name",))])
    assert_sound(schema, mixed)
    changed = {}
    for table in schema.tables:
        for position, column in enumerate(table.names):
            before = [row[position] for row in rows[table.name]]
            after = [row[position] for row in mixed[table.name]]
            assert Counter(map(repr, before)) == Counter(map(repr, after))
            changed[table.name, column] = sum(map(lambda one, other: one != other, before, after)) / len(before)
    moved = {cell for cell, share in changed.items() if share > 0}
    assert moved == {("a", "price"), ("b", "name"), ("b", "note")}
    assert all(0.25 < changed[cell] <= 0.42 for cell in moved)


def test_perturbing_nothing_changes_nothing_and_the_same_seed_gives_the_same(tmp_path: Path) -> None:
    schema, _ = made(tmp_path, SCRIPT)
    rows = generate_rows(schema, random.Random(3), PLAIN, {})
    assert perturb(schema, rows, random.Random(1), 0) == rows
    one, again, other = (perturb(schema, rows, random.Random(seed), 0.5) for seed in (1, 1, 2))
    assert one == again
    assert one != other

"""Generated rows hold every constraint of every kind of schema, and each rate of a shape does what it says."""

from __future__ import annotations

import dataclasses
import random
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instance_checks import assert_sound, stored_rows
from sqlite_files import write_database

from sqldojo.databases.families import EVALUATION, family_paths
from sqldojo.databases.generating import ForeignLink, Shape, generate_rows
from sqldojo.databases.schema_model import Schema, read_schema

PLAIN = Shape(rows=30, nulls=0, repeats=0, childless=0, skew=0, dangling=0, twins=0)
MESSY = Shape(rows=15, nulls=0.3, repeats=0.6, childless=0.4, skew=0.7, dangling=0.3, twins=0.5)

SHOP = """
CREATE TABLE buyer(id INTEGER PRIMARY KEY, name TEXT NOT NULL, joined TEXT, code TEXT UNIQUE);
CREATE TABLE sale(id INTEGER PRIMARY KEY, buyer_id INTEGER REFERENCES buyer, sale_date TEXT, price REAL, paid DECIMAL);
"""
UNDECLARED = "CREATE TABLE a(id INTEGER, name TEXT); CREATE TABLE b(a_id INTEGER, x TEXT); CREATE TABLE c(a_name TEXT);"
AWKWARD = {
    "junction": "CREATE TABLE a(id INTEGER PRIMARY KEY); CREATE TABLE b(id INTEGER PRIMARY KEY);"
    "CREATE TABLE ab(a REFERENCES a, b REFERENCES b, note TEXT, PRIMARY KEY (a, b)) WITHOUT ROWID;",
    "composite key": "CREATE TABLE a(x TEXT, y INT, z, PRIMARY KEY (y, x));"
    "CREATE TABLE b(p INT NOT NULL, q TEXT NOT NULL, n INT, PRIMARY KEY (p, q, n), FOREIGN KEY (p, q) REFERENCES a);",
    "half of a key may be NULL": "CREATE TABLE a(x INT, y INT, PRIMARY KEY (x, y));"
    "CREATE TABLE b(p INT NOT NULL, q INT, FOREIGN KEY (p, q) REFERENCES a(x, y));",
    "shared column": "CREATE TABLE t(id INT PRIMARY KEY);"
    "CREATE TABLE a(t INT REFERENCES t, n INT, PRIMARY KEY (t, n));"
    "CREATE TABLE b(t INT NOT NULL REFERENCES t, n INT NOT NULL, m INT, UNIQUE (t, m), FOREIGN KEY (t, n) REFERENCES a,"
    "FOREIGN KEY (t, m) REFERENCES a);",
    "tree": "CREATE TABLE a(id INTEGER PRIMARY KEY, up INTEGER REFERENCES a(id), name TEXT UNIQUE COLLATE NOCASE);",
    "rooted tree": "CREATE TABLE a(id TEXT PRIMARY KEY, up TEXT NOT NULL REFERENCES a);",
    "tree of a tenant": "CREATE TABLE t(id INT PRIMARY KEY);"
    "CREATE TABLE a(t INT NOT NULL REFERENCES t, id INT, up INT, PRIMARY KEY (t, id),"
    "FOREIGN KEY (t, up) REFERENCES a);",
    "cycle": "CREATE TABLE a(id INTEGER PRIMARY KEY, b INT UNIQUE REFERENCES b); "
    "CREATE TABLE b(id INTEGER PRIMARY KEY, c INT NOT NULL REFERENCES c);"
    "CREATE TABLE c(id INTEGER PRIMARY KEY, a INT REFERENCES a);",
    "cycle without NULL": "CREATE TABLE a(id INTEGER PRIMARY KEY, b INT NOT NULL REFERENCES b);"
    "CREATE TABLE b(id INTEGER PRIMARY KEY, a INT NOT NULL REFERENCES a); CREATE TABLE c(b INT NOT NULL REFERENCES b);",
    "extension": "CREATE TABLE a(id INTEGER PRIMARY KEY, x); CREATE TABLE b(id INTEGER PRIMARY KEY REFERENCES a, y);",
    "text to number": "CREATE TABLE a(id TEXT PRIMARY KEY); CREATE TABLE b(a INT REFERENCES a);",
    "number to text": "CREATE TABLE a(id INT PRIMARY KEY); CREATE TABLE b(a VARCHAR(9) NOT NULL REFERENCES a);",
    "real key": "CREATE TABLE a(id REAL PRIMARY KEY); CREATE TABLE b(a INT REFERENCES a, n NUMERIC REFERENCES a);",
    "strict": "CREATE TABLE a(i INT PRIMARY KEY, r REAL, t TEXT NOT NULL, b BLOB, x ANY, d INTEGER) STRICT;",
    "odd names": 'CREATE TABLE "a ""b"""("order" INTEGER PRIMARY KEY DESC, "" TEXT, "%" REAL, g AS ("order" + 1));'
    'CREATE TABLE "select"("A b" INT REFERENCES "A ""B""");',
    "no types": "CREATE TABLE a(id PRIMARY KEY, name, price, UNIQUE (name COLLATE RTRIM, price));",
    "narrow": "CREATE TABLE a(sex CHAR(1) UNIQUE, flag BOOLEAN UNIQUE, n INT);",
}  # fmt: skip


def schema_of(tmp_path: Path, script: str) -> Schema:
    return read_schema(write_database(tmp_path / "a.sqlite", script))


@pytest.fixture(scope="module")
def awkward(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Schema]:
    folder = tmp_path_factory.mktemp("awkward")
    return {name: schema_of(folder / name, script) for name, script in AWKWARD.items()}


@pytest.mark.parametrize("name", AWKWARD)
@pytest.mark.parametrize("shape", [PLAIN, MESSY], ids=["plain", "messy"])
def test_every_constraint_holds(awkward: dict[str, Schema], name: str, shape: Shape) -> None:
    for seed in range(10):
        rows = generate_rows(awkward[name], random.Random(seed), shape, {})
        assert_sound(awkward[name], rows)
        assert all(rows.values())


rates = st.sampled_from([0.0, 0.2, 0.7, 1.0])


@given(
    st.builds(Shape, rows=st.integers(0, 12), nulls=rates, repeats=rates, childless=rates, skew=rates, dangling=rates,
              twins=rates),
    st.integers(0, 10**6),
)  # fmt: skip
@settings(max_examples=40, deadline=None)
def test_any_shape_gives_sound_rows_the_same_for_the_same_seed(
    awkward: dict[str, Schema], shape: Shape, seed: int
) -> None:
    for schema in awkward.values():
        rows = generate_rows(schema, random.Random(seed), shape, {})
        assert_sound(schema, rows)
        assert rows == generate_rows(schema, random.Random(seed), shape, {})
        assert all(len(found) <= shape.rows * 1.5 + 0.5 for found in rows.values())


def test_the_shop(databases: Path) -> None:
    schema = read_schema(family_paths(databases, EVALUATION)[0])
    rows = generate_rows(schema, random.Random(1), PLAIN, {})
    assert_sound(schema, rows)
    assert 18 <= len(rows["customers"]) <= 30
    assert 27 <= len(rows["order_items"]) <= 45
    assert {type(value) for row in rows["order_items"] for value in row[4:]} == {float}


def test_another_seed_gives_other_rows(tmp_path: Path) -> None:
    schema = schema_of(tmp_path, SHOP)
    one, other = (generate_rows(schema, random.Random(seed), MESSY, {}) for seed in (1, 2))
    assert one["buyer"] != other["buyer"]
    assert one["sale"] != other["sale"]


def test_the_newest_row_need_not_have_the_largest_id(tmp_path: Path) -> None:
    schema = schema_of(tmp_path, SHOP)
    hits = 0
    for seed in range(30):
        sales = generate_rows(schema, random.Random(seed), PLAIN, {})["sale"]
        hits += max(sales)[2] == max(row[2] for row in sales)
        assert [row[0] for row in sales] != sorted(row[0] for row in sales)
    assert hits < 10


def test_domains_are_all_there_is_and_are_stored_as_sqlite_stores_them(tmp_path: Path) -> None:
    schema = schema_of(tmp_path, SHOP)
    domains = {
        ("SALE", "Price"): [5, "7.5", "cheap", None],
        ("sale", "sale_date"): ["2024-01-31", 7],
        ("sale", "paid"): [2.0, "3", "x"],
        ("buyer", "name"): ["toys", "Toys"],
        ("buyer", "joined"): [None, b"x"],  # nothing usable, so values are invented
    }
    rows = generate_rows(schema, random.Random(4), PLAIN, domains)
    assert_sound(schema, rows)
    assert {repr(row[3]) for row in rows["sale"]} == {"5.0", "7.5"}
    assert {row[2] for row in rows["sale"]} == {"2024-01-31", "7"}
    assert {repr(row[4]) for row in rows["sale"]} == {"2", "3"}
    assert {row[1] for row in rows["buyer"]} == {"toys", "Toys"}
    assert all(isinstance(row[2], str) for row in rows["buyer"])


def test_keys_hold_what_is_worth_having_in_them_or_in_their_children(tmp_path: Path) -> None:
    schema = schema_of(tmp_path, SHOP)
    domains = {("buyer", "id"): [1000, 1000], ("sale", "buyer_id"): [2000, "x"], ("buyer", "code"): ["zz"]}
    for seed in range(5):
        rows = generate_rows(schema, random.Random(seed), PLAIN, domains)
        assert {1000, 2000} < {row[0] for row in rows["buyer"]}
        assert "zz" in {row[3] for row in rows["buyer"]}
        assert {1000, 2000} < {row[1] for row in rows["sale"]}


def test_nulls(tmp_path: Path) -> None:
    schema = schema_of(tmp_path, SHOP)
    for rate, least, most in ((0, 0, 0), (0.3, 0.15, 0.45), (1, 1, 1)):
        rows = generate_rows(schema, random.Random(5), dataclasses.replace(PLAIN, rows=100, nulls=rate), {})
        for table, position in (("buyer", 2), ("buyer", 3), ("sale", 1), ("sale", 3)):
            share = sum(row[position] is None for row in rows[table]) / len(rows[table])
            assert least <= share <= most
        assert not any(row[1] is None for row in rows["buyer"])


def test_childless_parents(tmp_path: Path) -> None:
    schema = schema_of(tmp_path, SHOP)
    for rate in (0, 0.5, 0.9, 1):
        rows = generate_rows(schema, random.Random(6), dataclasses.replace(PLAIN, rows=100, childless=rate), {})
        parents = len(rows["buyer"])
        with_children = len({row[1] for row in rows["sale"]})
        if rate:
            assert abs(with_children - max(1, (1 - rate) * parents)) <= 1
        else:
            assert with_children == min(parents, len(rows["sale"]))


def test_children_are_even_or_crowded(tmp_path: Path) -> None:
    schema = schema_of(tmp_path, SHOP)
    even, crowded = (
        Counter(row[1] for row in generate_rows(schema, random.Random(7), shape, {})["sale"])
        for shape in (PLAIN, dataclasses.replace(PLAIN, skew=1))
    )
    assert max(even.values()) - min(even.values()) <= 1
    assert max(crowded.values()) > 3 * max(even.values())


def test_repeats_make_ties_and_twins_make_namesakes(tmp_path: Path) -> None:
    schema = schema_of(tmp_path, SHOP)

    def distinct(shape: Shape, *positions: int) -> float:
        rows = generate_rows(schema, random.Random(8), shape, {})["sale"]
        return len({tuple(row[each] for each in positions) for row in rows}) / len(rows)

    assert distinct(dataclasses.replace(PLAIN, repeats=0.9), 2) < 0.4 < distinct(PLAIN, 2)
    assert distinct(PLAIN, 1, 2, 3, 4) == 1
    assert distinct(dataclasses.replace(PLAIN, twins=0.9), 1, 2, 3, 4) < 0.8
    assert distinct(dataclasses.replace(PLAIN, twins=0.9), 0) == 1


def test_links_are_followed_but_for_those_that_dangle(tmp_path: Path) -> None:
    schema = schema_of(tmp_path, UNDECLARED)
    links = [ForeignLink("B", ("A_ID",), "A", ("id",)), ForeignLink("c", ("a_name",), "a", ("name",))]
    for rate in (0, 0.4, 1):
        rows = generate_rows(schema, random.Random(9), dataclasses.replace(PLAIN, rows=60, dangling=rate), {}, links)
        for position, child in ((0, "b"), (1, "c")):
            parents = {row[position] for row in rows["a"]}
            dangling = sum(row[0] not in parents for row in rows[child]) / len(rows[child])
            assert abs(dangling - rate) < 0.2 if rate == 0.4 else dangling == rate
        assert {type(row[0]) for row in rows["b"]} == {int}


def test_a_declared_foreign_key_never_dangles_even_if_it_is_a_link_too(tmp_path: Path) -> None:
    schema = schema_of(tmp_path, SHOP)
    links = [ForeignLink("sale", ("buyer_id",), "buyer", ("id",))]
    rows = generate_rows(schema, random.Random(10), dataclasses.replace(PLAIN, dangling=1), {}, links)
    assert stored_rows(schema, rows)[1] == []


def test_a_link_to_nothing_is_our_fault(tmp_path: Path) -> None:
    schema = schema_of(tmp_path, UNDECLARED)
    for link in (ForeignLink("b", ("a_id",), "z", ("id",)), ForeignLink("b", ("a_id",), "a", ("zz",))):
        with pytest.raises(KeyError):
            generate_rows(schema, random.Random(1), PLAIN, {}, [link])


@pytest.mark.parametrize(("field", "value"), [("rows", -1), ("nulls", 1.1), ("twins", -0.1)])
def test_a_rate_out_of_range_is_an_error_that_names_it(field: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"^{field}: must"):
        dataclasses.replace(PLAIN, **{field: value})

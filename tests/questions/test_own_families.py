"""Families of a user's own database: three instances each, like the rows that there are, the same each time."""

import pytest
from awkward_database import awkward, many_tables
from sqlite_files import write_database

from sqldojo.databases.families import EVALUATION, FAMILIES, ORDINARY, TRAIN, family_paths
from sqldojo.databases.schema_model import read_rows, read_schema
from sqldojo.files import file_sha256
from sqldojo.questions.own_families import write_families
from sqldojo.questions.starting_rows import starting_rows
from sqldojo.records import FilledType

LARGE = """
CREATE TABLE town (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, town_id INTEGER REFERENCES town(id), age INTEGER);
INSERT INTO town VALUES (1, 'Oslo'), (2, 'Bergen'), (3, 'Moss');
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600)
  INSERT INTO person SELECT i, 'Person ' || i, i % 3 + 1, i % 50 + 10 FROM n;
"""

ALONE = "CREATE TABLE one (a TEXT, b INTEGER); INSERT INTO one VALUES ('x', 1), ('y', 2)"


def families(root, path, rows=40, seed=17):
    schema = read_schema(path)
    write_families(root, schema, read_rows(path, schema), rows=rows, seed=seed)
    return {family: family_paths(root, family, ORDINARY) for family in FAMILIES}


def digests(found):
    return [file_sha256(path) for paths in found.values() for path in paths]


def test_instances_have_about_the_rows_asked_for_and_families_share_no_row_of_a_large_table(tmp_path):
    path = write_database(tmp_path / "large.sqlite", LARGE)
    found = families(tmp_path / "out", path)
    schema, own = read_schema(path), read_rows(path, read_schema(path))
    names = {}
    for family, paths in found.items():
        people = [read_rows(each, schema)["person"] for each in paths]
        assert [len(each) for each in people] == [24, 40, 64]
        assert set(people[0]) <= set(own["person"])
        assert {row[0] for each in people for row in each} <= {row[0] for row in own["person"]}
        names[family] = {row[0] for each in people for row in each}
    assert not names[TRAIN] & names[EVALUATION]


def test_the_same_bytes_for_the_same_seed(tmp_path):
    path = write_database(tmp_path / "large.sqlite", LARGE)
    first = digests(families(tmp_path / "a", path))
    assert first == digests(families(tmp_path / "b", path))
    other = digests(families(tmp_path / "c", path, seed=18))
    assert len({*first, *other}) == 12


def test_an_awkward_schema_keeps_all_that_it_has(tmp_path):
    """The rest of the schema is copied; the view that leads nowhere is no matter here: a user's are left out before."""
    path = awkward(tmp_path / "awkward.sqlite")
    schema = read_schema(path)
    schema = schema.__class__(schema.tables, tuple(s for s in schema.statements if "broken" not in s), schema.triggers)
    write_families(tmp_path / "out", schema, read_rows(path, schema), rows=40, seed=17)
    for family in FAMILIES:
        for instance in family_paths(tmp_path / "out", family, ORDINARY):
            found, rows = read_schema(instance), read_rows(instance, read_schema(instance))
            assert found.statements == schema.statements and found.triggers == schema.triggers
            assert rows["order"] and rows["line item"] and rows["place"] and not rows["empty one"]
            assert {row[0] for row in rows["line item"]} <= {row[0] for row in rows["order"]}


def test_sixty_tables(tmp_path):
    found = families(tmp_path / "out", many_tables(tmp_path / "many.sqlite", 60), rows=20)
    for paths in found.values():
        rows = read_rows(paths[0], read_schema(paths[0]))
        assert len(rows) == 60 and all(4 <= len(each) <= 30 for each in rows.values())


def test_a_schema_without_rows_gets_invented_ones(tmp_path):
    path = write_database(tmp_path / "empty.sqlite", LARGE.partition("INSERT")[0])
    found = families(tmp_path / "out", path)
    for paths in found.values():
        rows = [read_rows(each, read_schema(each)) for each in paths]
        assert all(each["person"] and each["town"] for each in rows)
    assert len(set(digests(found))) == 6


@pytest.mark.parametrize("script", [LARGE, ALONE])
def test_the_fourth_instance_starts_from_rows_of_its_own(tmp_path, script):
    path = write_database(tmp_path / "t.sqlite", script)
    ordinary = families(tmp_path / "out", path)
    schema = read_schema(path)
    table = schema.tables[-1].name
    filled = [FilledType("t", family, "train", {}, f"SELECT COUNT(*) FROM {table}") for family in FAMILIES]
    start = starting_rows(ordinary, filled, 17)
    assert start == starting_rows(ordinary, filled, 17)
    assert start[TRAIN] != start[EVALUATION] and all(len(rows[table]) >= 48 for rows in start.values())

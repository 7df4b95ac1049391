from random import Random

import pytest
from sqlite_files import write_database

from sqldojo.databases.schema_model import read_schema
from sqldojo.verifier.candidates import messy_candidates
from sqldojo.verifier.hints import Hints
from sqldojo.verifier.patterned_candidates import patterned_candidates

SCRIPT = """
CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT NOT NULL, paid REAL, odd BLOB, day DATE);
CREATE TABLE player (id INTEGER PRIMARY KEY, team_id INTEGER REFERENCES team(id), age INTEGER);
"""
NOTHING = Hints({}, {}, (), (), (), ())
DOMAINS = {
    ("team", "id"): [], ("team", "name"): ["Reds", "Blues"], ("team", "paid"): [1.5, 2.5], ("team", "odd"): [b"x"],
    ("team", "day"): ["2020-01-01"], ("player", "id"): [], ("player", "team_id"): [], ("player", "age"): [7, 8, 9],
}  # fmt: skip


@pytest.fixture
def schema(tmp_path):
    return read_schema(write_database(tmp_path / "teams.sqlite", SCRIPT))


def made(schema, domains=DOMAINS, seed=3, found=NOTHING):
    return [*patterned_candidates(schema, found, domains, Random(1), count=40, seed=seed)]


def test_cells_are_of_the_domains_and_the_instances_differ(schema):
    instances = made(schema)
    assert len(instances) == 40 and instances == made(schema) and instances != made(schema, seed=4)
    for place, column in enumerate(("name", "paid", "odd", "day"), start=1):
        cells = {row[place] for rows in instances for row in rows["team"]} - {None}
        assert cells == {*DOMAINS["team", column]}
    sizes = [len(rows["team"]) for rows in instances]
    assert min(sizes) < 6 and max(sizes) > 15


def test_keys_and_what_refers_to_them_are_those_of_the_pattern(schema):
    other = {**DOMAINS, ("player", "age"): [70], ("team", "name"): ["Greens"]}
    for one, two in zip(made(schema), made(schema, other), strict=True):
        assert [row[:2] for row in one["player"]] == [row[:2] for row in two["player"]]
        assert {team for _, team, _ in one["player"]} - {None} <= {row[0] for row in one["team"]}
    assert {row[2] for rows in made(schema, other) for row in rows["player"]} == {70, None}


def test_keys_that_are_asked_for_are_left_to_the_slow_way(schema):
    asked = {**DOMAINS, ("team", "id"): [4711]}
    assert made(schema, asked) == [*messy_candidates(schema, NOTHING, asked, count=40, seed=3)]

"""The streaming catalogue: the same bytes for a seed, and for each seed everything that queries stumble over."""

import pytest
from world_checks import assert_bytes_follow_the_seed, assert_keys_and_traps

from sqldojo.databases.execution import run_query
from sqldojo.databases.schema import schema_text
from sqldojo.databases.schema_model import read_rows, read_schema
from sqldojo.databases.streaming import streaming_rows, write_streaming

# What there must be some of.
TRAPS = {
    "namesakes": "SELECT name FROM members GROUP BY name HAVING COUNT(*) > 1",
    "two titles of one name": "SELECT name FROM titles GROUP BY name HAVING COUNT(*) > 1",
    "titles of several genres": "SELECT title_id FROM title_genres GROUP BY title_id HAVING COUNT(*) > 1",
    "titles of no genre": "SELECT 1 FROM titles WHERE id NOT IN (SELECT title_id FROM title_genres)",
    "genres without titles": "SELECT 1 FROM genres WHERE id NOT IN (SELECT genre_id FROM title_genres)",
    "countries without titles": "SELECT 1 FROM countries c LEFT JOIN titles t ON country_id = c.id WHERE t.id IS NULL",
    "titles without a country": "SELECT 1 FROM titles WHERE country_id IS NULL",
    "titles never played": "SELECT 1 FROM titles WHERE id NOT IN (SELECT title_id FROM plays)",
    "titles never rated": "SELECT 1 FROM titles WHERE id NOT IN (SELECT title_id FROM ratings)",
    "members without plays": "SELECT 1 FROM members WHERE id NOT IN (SELECT member_id FROM plays WHERE member_id)",
    "plays of nobody known": "SELECT 1 FROM plays WHERE member_id IS NULL",
    "plays of unknown length": "SELECT 1 FROM plays WHERE minutes IS NULL",
    "the longest titles": "SELECT 1 FROM titles WHERE minutes = (SELECT MAX(minutes) FROM titles) LIMIT -1 OFFSET 1",
    "ratings without stars": "SELECT 1 FROM ratings WHERE stars IS NULL",
    "played twice": "SELECT 1 FROM plays WHERE member_id IS NOT NULL GROUP BY member_id, title_id HAVING COUNT(*) > 1",
}


@pytest.fixture(scope="module")
def streaming(tmp_path_factory):
    path = tmp_path_factory.mktemp("streaming") / "streaming.sqlite"
    write_streaming(path, 17)
    return path


def test_tables_and_rows(streaming):
    schema = read_schema(streaming)
    assert {table: len(rows) for table, rows in read_rows(streaming, schema).items()} == {
        "countries": 9, "genres": 9, "titles": 70, "title_genres": 100, "members": 56, "plays": 240, "ratings": 150,
    }  # fmt: skip
    keys = {(table.name, key.table) for table in schema.tables for key in table.foreign_keys}
    assert keys == {
        ("titles", "countries"), ("title_genres", "titles"), ("title_genres", "genres"), ("members", "countries"),
        ("plays", "members"), ("plays", "titles"), ("ratings", "members"), ("ratings", "titles"),
    }  # fmt: skip
    assert len(schema_text(streaming)) < 900  # it is in every prompt


def test_the_same_bytes_for_a_seed_and_others_for_another(tmp_path):
    assert_bytes_follow_the_seed(write_streaming, tmp_path)


@pytest.mark.parametrize("seed", [1, 2, 17])
def test_keys_hold_and_every_trap_is_set(seed, tmp_path):
    assert_keys_and_traps(write_streaming, streaming_rows, TRAPS, seed, tmp_path)


def test_nobody_plays_or_rates_before_joining(streaming):
    early = "SELECT COUNT(*) FROM {0} JOIN members ON members.id = member_id WHERE {1} < joined_on"
    for table, column in (("plays", "played_on"), ("ratings", "rated_on")):
        assert run_query(streaming, early.format(table, column)).rows == ((0,),)

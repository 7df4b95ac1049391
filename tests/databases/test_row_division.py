"""Rows of large tables belong to one family, with what belongs to them; small tables and cycles are in both."""

from contextlib import closing

import apsw
from sqlite_files import write_database

from sqldojo.databases.families import EVALUATION, TRAIN
from sqldojo.databases.row_division import divide_rows
from sqldojo.databases.schema_model import read_rows, read_schema
from sqldojo.databases.writing import write_instance

SCRIPT = """
CREATE TABLE country (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE person (id INTEGER PRIMARY KEY, country_id INTEGER REFERENCES country(id));
CREATE TABLE visit (id INTEGER PRIMARY KEY, person_id INTEGER REFERENCES person(id),
  country_id INTEGER REFERENCES country(id));
CREATE TABLE meeting (id INTEGER PRIMARY KEY, one INTEGER REFERENCES person(id), other INTEGER REFERENCES person(id));
CREATE TABLE clerk (id INTEGER PRIMARY KEY, boss INTEGER REFERENCES clerk(id));
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
  INSERT INTO person SELECT i, i % 5 + 1 FROM n;
INSERT INTO country SELECT DISTINCT country_id, 'Land ' || country_id FROM person;
INSERT INTO visit SELECT id, CASE WHEN id % 10 THEN id * 7 % 300 + 1 END, id % 5 + 1 FROM person;
INSERT INTO meeting SELECT id, id, id % 300 + 1 FROM person;
INSERT INTO clerk SELECT id, CASE WHEN id > 1 THEN id / 2 END FROM person;
"""


def divided(tmp_path, most=100, seed=17):
    path = write_database(tmp_path / "source.sqlite", SCRIPT)
    schema = read_schema(path)
    rows = read_rows(path, schema)
    return schema, rows, divide_rows(schema, rows, most, seed)


def test_no_row_of_a_large_table_is_in_both_and_none_is_lost(tmp_path):
    _, rows, found = divided(tmp_path)
    train, evaluation = (set(found[family]["person"]) for family in (TRAIN, EVALUATION))
    assert not train & evaluation and train | evaluation == set(rows["person"])
    assert 100 < len(train) < 200
    visits = [set(found[family]["visit"]) for family in (TRAIN, EVALUATION)]
    assert not visits[0] & visits[1] and visits[0] | visits[1] == set(rows["visit"])


def test_small_tables_and_rows_that_refer_to_each_other_are_in_both(tmp_path):
    _, rows, found = divided(tmp_path)
    for family in (TRAIN, EVALUATION):
        assert found[family]["country"] == rows["country"] and found[family]["clerk"] == rows["clerk"]


def test_what_belongs_to_rows_of_both_is_in_neither(tmp_path):
    schema, _, found = divided(tmp_path)
    kept = [row for family in (TRAIN, EVALUATION) for row in found[family]["meeting"]]
    assert 100 < len(set(kept)) == len(kept) < 200
    for family in (TRAIN, EVALUATION):
        write_instance(tmp_path / f"{family}.sqlite", schema, found[family])  # refuses rows that refer to nothing
        with closing(apsw.Connection(str(tmp_path / f"{family}.sqlite"))) as connection:
            assert connection.execute("PRAGMA foreign_key_check").fetchall() == []


def test_small_databases_are_in_both_families_as_they_are(tmp_path):
    _, rows, found = divided(tmp_path, most=300)
    assert found == {TRAIN: rows, EVALUATION: rows}


def test_the_seed_decides(tmp_path):
    assert divided(tmp_path / "a")[2] == divided(tmp_path / "b")[2] != divided(tmp_path / "c", seed=18)[2]

import apsw
import pytest
from sqlite_files import write_database

from sqldojo.databases.schema_model import read_schema
from sqldojo.databases.scratch import Scratch

SCRIPT = """
CREATE TABLE "team" (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE player (id INTEGER PRIMARY KEY, team INTEGER REFERENCES team(id), "order" INTEGER CHECK ("order" > 0));
CREATE TABLE award (player INTEGER REFERENCES player(id), year INTEGER, PRIMARY KEY (player, year)) WITHOUT ROWID;
"""


@pytest.fixture
def scratch(tmp_path):
    scratch = Scratch(read_schema(write_database(tmp_path / "teams.sqlite", SCRIPT)), vm_steps=200_000)
    yield scratch
    scratch.close()


def test_rows_that_a_constraint_forbids_are_left_out(scratch):
    scratch.load({"team": [(1, "Reds"), (2, None), (3, "Reds")], "player": [(1, 1, 7), (2, 1, 0)], "award": []})
    assert scratch.rows() == {"team": [(1, "Reds")], "player": [(1, 1, 7)], "award": []}


def test_rows_that_refer_to_what_was_left_out_go_too_through_every_table(scratch):
    scratch.load(
        {
            "team": [(1, "Reds")],
            "player": [(1, 1, 7), (2, 9, 7), (3, None, 7)],
            "award": [(1, 2020), (2, 2020), (3, 2021)],
        }
    )
    assert scratch.rows()["player"] == [(1, 1, 7), (3, None, 7)]
    assert scratch.rows()["award"] == [(1, 2020), (3, 2021)]


def test_a_load_replaces_the_rows_before_it(scratch):
    scratch.load({"team": [(1, "Reds")], "player": [], "award": []})
    scratch.load({"team": [(2, "Blues")], "player": [], "award": []})
    assert scratch.run("SELECT * FROM team") == [(2, "Blues")]


def test_values_are_read_back_as_sqlite_stores_them(scratch):
    scratch.load({"team": [("1", 5)], "player": [], "award": []})
    assert scratch.rows()["team"] == [(1, "5")]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT nothing FROM team",
        'SELECT "misspelt" FROM team',
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 2001) SELECT i FROM n",
    ],
)
def test_a_query_that_fails_or_takes_too_much_gives_none(scratch, sql):
    scratch.load({"team": [(1, "Reds")], "player": [], "award": []})
    assert scratch.run(sql) is None
    assert scratch.run("SELECT name FROM team") == [("Reds",)]


def test_an_empty_result_is_a_result(scratch):
    scratch.load({})
    assert scratch.run("SELECT name FROM team") == []
    with pytest.raises(apsw.ConnectionClosedError):
        scratch.close()
        scratch.load({})


def test_rows_that_no_insert_can_store_are_left_out_one_by_one(tmp_path):
    script = (
        "CREATE TABLE typed (id INTEGER PRIMARY KEY, n INT, b BLOB) STRICT;"
        "CREATE TABLE made (j TEXT, a AS (json_extract(j, '$.a')) STORED, CHECK (json_extract(j, '$.b') IS NULL));"
    )
    scratch = Scratch(read_schema(write_database(tmp_path / "odd.sqlite", script)))
    scratch.load(
        {
            "typed": [(1, 1, b"x"), (2, "two", None), (3, 3, "text"), (4, 2**63, None), ("key", 5, None), (6, 6, None)],
            "made": [("{}",), ("no JSON",), ('{"b": 1}',), ("\ud800",), (None,)],
        }
    )
    assert scratch.rows() == {"typed": [(1, 1, b"x"), (6, 6, None)], "made": [(None,), ("{}",)]}
    scratch.close()


def test_rows_are_added_beside_the_others_only_if_the_property_holds(scratch):
    scratch.load({"team": [(1, "Reds")], "player": [], "award": []})
    added = {"team": [(1, "Greens"), (2, "Blues"), (3, "Reds")], "player": [(1, 2, 7), (2, 3, 7)]}
    assert not scratch.add(added, lambda: scratch.run("SELECT COUNT(*) FROM player") == [(2,)])
    assert scratch.rows() == {"team": [(1, "Reds")], "player": [], "award": []}
    assert scratch.add(added, lambda: scratch.run("SELECT COUNT(*) FROM player") == [(1,)])
    assert scratch.rows() == {"team": [(1, "Reds"), (2, "Blues")], "player": [(1, 2, 7)], "award": []}

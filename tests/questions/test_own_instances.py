from sqlite_files import write_database

from sqldojo.databases.parameters import pool
from sqldojo.databases.schema_model import read_schema
from sqldojo.questions.own_instances import write_ordinary
from sqldojo.verifier.mutation.sqlite_text import read

SCHEMA = """
CREATE TABLE maker (id INTEGER PRIMARY KEY, town TEXT);
CREATE TABLE boat (id INTEGER PRIMARY KEY, maker INTEGER REFERENCES maker(id), name TEXT);
"""
QUERIES = [read("SELECT name FROM boat WHERE name = 'Boat 7'"), read("SELECT id FROM maker WHERE town = 'Town 3'")]


def written(folder, script):
    source = write_database(folder / "boats.sqlite", script)
    return source, write_ordinary(source, read_schema(source), QUERIES, folder / "out", rows=20, seed="17/boats")


def test_the_database_itself_comes_first_and_then_two_samples_with_what_the_queries_name(tmp_path):
    makers = ", ".join(f"({n}, 'Town {n}')" for n in range(1, 31))
    boats = ", ".join(f"({n}, {n % 30 + 1}, 'Boat {n}')" for n in range(1, 91))
    script = f"{SCHEMA} INSERT INTO maker VALUES {makers}; INSERT INTO boat VALUES {boats};"
    source, paths = written(tmp_path, script)
    assert [path.name for path in paths] == ["ordinary_1.sqlite", "ordinary_2.sqlite", "ordinary_3.sqlite"]
    assert paths[0].read_bytes() == source.read_bytes()
    names = [set(pool(path, "SELECT name FROM boat")) for path in paths]
    assert all("Boat 7" in each for each in names) and names[1] < names[0] and names[2] < names[0] != names[1]
    assert all("Town 3" in pool(path, "SELECT town FROM maker") for path in paths)
    for path in paths:
        assert not pool(path, "SELECT id FROM boat WHERE NOT maker IN (SELECT id FROM maker)")
    (tmp_path / "again").mkdir()
    assert [path.read_bytes() for path in written(tmp_path / "again", script)[1]] == [p.read_bytes() for p in paths]


def test_all_three_are_made_up_where_there_are_no_rows(tmp_path):
    _, paths = written(tmp_path, SCHEMA)
    assert all(pool(path, "SELECT COUNT(*) FROM boat") != [0] for path in paths)
    assert len({path.read_bytes() for path in paths}) == 3

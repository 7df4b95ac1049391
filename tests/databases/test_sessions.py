"""Sessions: what may be changed, what is refused, and that nothing leaves the private folder."""

import os
import shutil
from contextlib import closing

import apsw
import pytest
from sqlite_files import write_database

from sqldojo.databases.execution import ERROR, OK, REJECTED, Limits
from sqldojo.databases.private_copies import private_copy, temporary_folder
from sqldojo.databases.sandbox import run_untrusted
from sqldojo.databases.sessions import (
    Session,
    StatementFailed,
    own_copy,
    prepared_file,
    run_in_session,
    session_folder,
)
from sqldojo.errors import UserError

SCRIPT = "CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT); INSERT INTO t VALUES (1, 'x'), (2, 'y')"
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
SETUP = ("CREATE TEMP TABLE more (q INTEGER)", 'INSERT INTO more VALUES (4), ("5")', "DELETE FROM t WHERE a = 2")


@pytest.fixture
def database(tmp_path):
    return write_database(tmp_path / "t.sqlite", SCRIPT)


@pytest.fixture
def folder():
    with session_folder() as folder:
        yield folder


@pytest.fixture
def session(database, folder):
    with closing(Session(own_copy(private_copy(database), folder), Limits(vm_steps=2_000_000))) as session:
        yield session


@pytest.fixture(autouse=True)
def untouched(database):
    before = database.read_bytes()
    yield
    assert database.read_bytes() == before
    assert os.listdir(database.parent) == [database.name]


@pytest.mark.parametrize(
    ("statements", "rows"),
    [
        (["SELECT a FROM t"], [(1,), (2,)]),
        (["; SELECT 1"], [(1,)]),
        (["SELECT ';', 2; -- no; more"], [(";", 2)]),
        (["-- nothing"], []),
        (["INSERT INTO t VALUES (3, 'z')", "SELECT COUNT(*) FROM t"], [(3,)]),
        (["CREATE TABLE u AS SELECT 7 AS c", "VACUUM", "SELECT c FROM u"], [(7,)]),
        (["CREATE TRIGGER g AFTER DELETE ON t BEGIN SELECT 1; SELECT 2; END", "DELETE FROM t", "SELECT * FROM t"], []),
        (["ATTACH '' AS scratch", "CREATE TABLE scratch.u(c)", "SELECT COUNT(*) FROM scratch.u"], [(0,)]),
        (["PRAGMA foreign_keys"], [(0,)]),
        (["/* c */ UPDATE t SET b = 'z'", "SELECT DISTINCT b FROM t"], [("z",)]),
        (["SELECT CURRENT_DATE > '2000'"], [(1,)]),
    ],
)
def test_what_stays_within_the_copy_may_be_done(session, statements, rows):
    *before, last = statements
    for statement in before:
        session.run(statement)
    assert session.run(last) == rows


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("SELECT 1; SELECT 2", "only one statement"),
        ("SELECT 1;;", "only one statement"),
        ("ATTACH '{folder}/other.sqlite' AS other", "no other database"),
        ("ATTACH '{folder}' || '/other.sqlite' AS other", "no other database"),
        ("ATTACH ':memory:' AS other", "no other database"),
        ("VACUUM INTO '{folder}/other.sqlite'", "no other database"),
        ("SELECT load_extension('x')", "load_extension() is not allowed"),
        ("PRAGMA temp_store_directory = '{folder}'", "temp_store_directory is not allowed"),
        ("PRAGMA Temp_Store = 1", "Temp_Store is not allowed"),
        ("PRAGMA writable_schema = 1", "writable_schema is not allowed"),
        ("PRAGMA max_page_count = 1000000000", "max_page_count is not allowed"),
        ("UPDATE sqlite_master SET sql = ''", "may not be modified"),
        (f"{ENDLESS} SELECT COUNT(*) FROM n", "2,000,000 steps"),
        (f"{ENDLESS} INSERT INTO t(b) SELECT i FROM n", "2,000,000 steps"),
        ("SELECT ?", "bindings"),
        ("SELECT 'a\0'", ""),
        ("SELECT CAST(x'ff' AS TEXT)", ""),
    ],
)
def test_what_would_leave_the_copy_or_lift_a_limit_fails(session, tmp_path, statement, why):
    with pytest.raises(StatementFailed) as failed:
        session.run(statement.format(folder=tmp_path))
    assert why in str(failed.value)
    assert session.run("SELECT COUNT(*) FROM t") == [(2,)]


def test_heap_and_growth_are_bounded(database, folder):
    limits = Limits(heap_bytes=5_000_000, value_bytes=100_000_000)
    with closing(Session(own_copy(private_copy(database), folder), limits)) as session:
        with pytest.raises(StatementFailed, match="5,000,000 bytes"):
            session.run("SELECT zeroblob(50000000) || 'x'")
        with pytest.raises(StatementFailed, match="full"):
            for _ in range(20):
                session.run("INSERT INTO t(b) VALUES (zeroblob(1000000))")
    assert sum(path.stat().st_size for path in folder.iterdir()) < 6_000_000


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("DELETE FROM t", "only reading"),
        ("WITH n AS (SELECT 1) DELETE FROM t", "not DELETE"),
        ("CREATE TEMP VIEW t AS SELECT 1", "only reading"),
        ("DROP TABLE t", "only reading"),
        ("PRAGMA user_version = 3", "not PRAGMA"),
        ("BEGIN", "not TRANSACTION"),
        ("EXPLAIN SELECT 1", "only reading"),
        ("ATTACH '' AS x", "not ATTACH"),
        ("SELECT * FROM sqlite_master", "not part of the data"),
        ("SELECT random()", "does not depend on the data alone"),
    ],
)
def test_a_session_may_become_one_for_reading_only(session, statement, why):
    session.only_read()
    with pytest.raises(StatementFailed, match=why):
        session.run(statement)
    assert session.run("SELECT a, b FROM t") == [(1, "x"), (2, "y")]
    assert session.columns == ("a", "b")


def test_virtual_tables_can_be_read_by_who_may_only_read(tmp_path, folder):
    script = """CREATE VIRTUAL TABLE note USING fts5(body); INSERT INTO note VALUES ('a lamp'), ('a desk');
        CREATE VIRTUAL TABLE area USING rtree(id, x0, x1); INSERT INTO area VALUES (1, 0, 2), (2, 5, 9)"""
    path = write_database(tmp_path / "other" / "v.sqlite", script)
    with closing(Session(own_copy(private_copy(path), folder), Limits())) as session:
        session.only_read()
        assert session.run("SELECT body FROM note WHERE note MATCH 'lamp'") == [("a lamp",)]
        assert session.run("SELECT id FROM area WHERE x0 > 3") == [(2,)]
        with pytest.raises(StatementFailed, match="only reading"):
            session.run("INSERT INTO note(note) VALUES ('optimize')")
    shutil.rmtree(path.parent)


def test_uncommitted_changes_can_be_undone(session):
    session.run("DELETE FROM t", commit=False)
    assert session.run("SELECT COUNT(*) FROM t", commit=False) == [(0,)]
    session.rollback()
    assert session.run("SELECT COUNT(*) FROM t") == [(2,)]


def test_a_query_sees_what_the_set_up_made(database):
    result = run_in_session(database, SETUP, "SELECT SUM(q) AS total, (SELECT COUNT(*) FROM t) FROM more")
    assert (result.status, result.columns[0], result.rows) == (OK, "total", ((9, 1),))
    assert run_in_session(database, SETUP, "SELECT q FROM more ORDER BY q", preview=1).rows == ((4,),)


def test_a_set_up_ends_at_its_first_failure(database):
    setup = (SETUP[0], "nonsense", *SETUP[1:])
    assert run_in_session(database, setup, "SELECT COUNT(*) FROM more").rows == ((0,),)


def test_without_a_set_up_a_query_is_run_as_ever(database):
    for sql in ("SELECT * FROM t", "SELECT nothing", 'SELECT "text"', "SELECT date('now')"):
        assert run_in_session(database, (), sql) == run_untrusted(database, sql)


@pytest.mark.parametrize(
    ("sql", "status", "why"),
    [
        ("INSERT INTO more VALUES (1)", REJECTED, "not INSERT"),
        ("DROP TABLE t", REJECTED, "only reading"),
        ("SELECT date('now') FROM more", REJECTED, "the clock"),
        ('SELECT "text" FROM more', ERROR, "no such column"),
        (f"{ENDLESS} SELECT COUNT(*) FROM n", ERROR, "steps"),
    ],
)
def test_after_a_set_up_a_query_may_ask_no_more_than_others(database, sql, status, why):
    result = run_in_session(database, SETUP, sql)
    assert result.status == status and why in result.message


def test_a_clock_that_only_the_set_up_reads_is_no_matter(database):
    setup = ("INSERT INTO t VALUES (3, CURRENT_TIMESTAMP)",)
    assert run_in_session(database, setup, "SELECT MAX(a) FROM t").rows == ((3,),)


def test_a_set_up_that_hangs_is_killed_and_leaves_no_file(database):
    long = "printf('%.999000c', 'a')"
    stuck = "SELECT " + " + ".join([f"instr({long}, printf('%.499000c', 'a') || 'b')"] * 40)
    before = set(temporary_folder().iterdir())
    result = run_in_session(database, (stuck,), "SELECT 1", Limits(seconds=0.2))
    assert result.status == ERROR and "seconds" in result.message
    assert {path for path in temporary_folder().iterdir() if path.is_dir()} <= before


def test_a_prepared_file_shows_temporary_tables_among_the_others(database):
    setup = (*SETUP, "CREATE TEMP TABLE t (shadow TEXT)", "CREATE TEMPORARY VIEW most AS SELECT MAX(q) AS m FROM more")
    with prepared_file(database, setup) as path:
        with closing(apsw.Connection(str(path))) as connection:
            assert list(connection.execute("SELECT name, sql FROM sqlite_master ORDER BY name")) == [
                ("more", "CREATE TABLE more (q INTEGER)"),
                ("most", "CREATE VIEW most AS SELECT MAX(q) AS m FROM more"),
                ("t", "CREATE TABLE t (shadow TEXT)"),
            ]
            assert list(connection.execute("SELECT q, m FROM more, most ORDER BY q")) == [(4, 5), (5, 5)]
        assert path != database
    assert not path.exists()
    with prepared_file(database, ()) as path:
        assert path == database


def test_a_file_that_is_no_database_is_the_users_fault(tmp_path, database):
    with pytest.raises(UserError, match="absent"):
        run_in_session(tmp_path / "absent.sqlite", SETUP, "SELECT 1")

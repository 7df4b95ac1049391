"""The sandbox with its processes: what no limit inside a process can stop ends too, and the next query is unharmed."""

import os
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import apsw
import pytest
from hungry_queries import COUNT, HUNGRY
from sqlite_files import write_database

from sqldojo.databases import sandbox
from sqldojo.databases.execution import ERROR, OK, REJECTED, Limits, QueryResult, run_query
from sqldojo.databases.sandbox import run_untrusted
from sqldojo.databases.workers import shared_workers
from sqldojo.errors import UserError

SCRIPT = """
CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT, height REAL, photo BLOB);
INSERT INTO person VALUES (1, 'Ada', 1.5, x'00ff'), (2, NULL, -0.0, NULL), (9007199254740993, 'now', 9e999, NULL);
CREATE VIEW today AS SELECT date('now') AS day;
"""
NAMES = "SELECT name FROM person"
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
LONG = "printf('%.999000c', 'a')"
# Ten instructions of SQLite that take seconds each: far too few for a look at the clock between them.
STUCK = [
    "SELECT " + " + ".join([f"instr({LONG}, printf('%.499000c', 'a') || 'b')"] * 10),
    "SELECT " + " + ".join([f"replace({LONG}, printf('%.499000c', 'a') || 'b', '')"] * 10),
    "SELECT " + " OR ".join([f"{LONG} LIKE '%{'_a' * 490}b'"] * 10),
    "SELECT " + " OR ".join([f"{LONG} GLOB '*{'[a-b]' * 190}c'"] * 10),
]
SHORT = Limits(seconds=0.2)


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    return write_database(tmp_path_factory.mktemp("people") / "people.sqlite", SCRIPT)


@pytest.fixture(autouse=True)
def unharmed(people):
    """Whatever a test did: the same file, no other beside it, and the next query answers as ever."""
    before = people.read_bytes(), people.stat()
    yield
    assert run_untrusted(people, NAMES).rows == (("Ada",), (None,), ("now",))
    after = people.read_bytes(), people.stat()
    assert before[0] == after[0]
    assert (before[1].st_mtime_ns, before[1].st_ino) == (after[1].st_mtime_ns, after[1].st_ino)
    assert os.listdir(people.parent) == [people.name]


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(sandbox, "_PATIENCE_SECONDS", 0.2)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT *, typeof(height), 9223372036854775807 FROM person", "SELECT id AS [a b] FROM person WHERE 0",
        "SLECT", "", ";;", "-- nothing", "SELECT ?", "SELECT 1; SELECT 2", "DELETE FROM person", "PRAGMA user_version",
        "BEGIN", "EXPLAIN SELECT 1", "VALUES (1), (NULL)", "SELECT date('now')", "SELECT * FROM today",
        "SELECT hex(randomblob(4))", "SELECT age FROM person",
        "SELECT 1\0", "SELECT '\ud800'", "SELECT CAST(x'ff' AS TEXT)", "SELECT name REGEXP 'A' FROM person",
        "SELECT * FROM sqlite_master", "SELECT * FROM pragma_table_info('person')", "SELECT * FROM dbstat",
        "SELECT value FROM json_each('[1, 2]')", f"{COUNT.format(10_001)} SELECT i FROM n",
        "SELECT " + "(" * 3000 + "1" + ")" * 3000, "SELECT * FROM generate_series(1, 3)",
        f"{ENDLESS} SELECT COUNT(*) FROM n", "SELECT zeroblob(2000000000)", "SELECT printf('%.*c', 2000000000, 'x')",
        "SELECT load_extension('x')", "SELECT CASE WHEN id = 0 THEN current_timestamp END FROM person",
        f"{COUNT.format(9000)} SELECT COUNT(*) FROM n a, n b, n c", "SELECT 'é' || char(0, 128512)",
    ],
)  # fmt: skip
def test_a_worker_gives_the_same_result_as_this_process(people, sql):
    limits = Limits(vm_steps=1_000_000)
    for preview in (None, 1):
        assert run_untrusted(people, sql, limits, preview=preview) == run_query(people, sql, limits, preview=preview)


def test_types_survive_the_way(people):
    result = run_untrusted(people, "SELECT id, name, height, photo FROM person")
    assert result == QueryResult(
        OK,
        ("id", "name", "height", "photo"),
        ((1, "Ada", 1.5, b"\x00\xff"), (2, None, -0.0, None), (9007199254740993, "now", float("inf"), None)),
    )


@pytest.mark.parametrize("sql", STUCK)
def test_one_long_instruction_is_ended_with_its_process(people, sql, impatient):
    started = time.monotonic()
    result = run_untrusted(people, sql, SHORT)
    assert (result.status, result.message) == (ERROR, "the query was stopped after 0.2 seconds")
    assert time.monotonic() - started < 20
    assert run_untrusted(people, "SELECT 1").rows == ((1,),)


def test_stuck_queries_in_eight_threads_harm_nobody(people, impatient):
    start = threading.Barrier(8)

    def work(number):
        start.wait()
        results = []
        for turn in range(3):
            sql = STUCK[number % 4] if (number + turn) % 4 == 0 else f"SELECT {number} * 100 + {turn}"
            result = run_untrusted(people, sql, SHORT)
            results.append(result.message if sql in STUCK else result.rows == ((number * 100 + turn,),))
        return results

    with ThreadPoolExecutor(8) as threads:
        results = [result for results in threads.map(work, range(8)) for result in results]
    assert sorted(map(str, results)) == ["True"] * 18 + ["the query was stopped after 0.2 seconds"] * 6


def test_all_workers_may_be_stuck_at_once(people, impatient):
    count = 2 * shared_workers().count
    with ThreadPoolExecutor(count) as threads:
        results = list(threads.map(lambda _: run_untrusted(people, STUCK[0], SHORT).status, range(count)))
    assert results == [ERROR] * count


def test_a_query_that_ends_before_it_is_killed_says_so_itself(people):
    """The process is killed only a moment after the limit that it watches itself."""
    sql = f"{ENDLESS} SELECT COUNT(*) FROM n"
    assert run_untrusted(people, "SELECT 1").status == OK
    (pid,) = {shared_workers().call(os.getpid, seconds=60)}
    result = run_untrusted(people, sql, Limits(vm_steps=10**12, seconds=0.1))
    assert (result.status, result.message) == (ERROR, "the query was stopped after 0.1 seconds")
    assert shared_workers().call(os.getpid, seconds=60) == pid


@pytest.mark.parametrize(
    "query",
    [*HUNGRY, "SELECT hex(zeroblob(9000)) FROM n",
     "SELECT replace(hex(zeroblob(9000)), '0', printf('%.9000c', 'a'))",
     "SELECT group_concat(hex(zeroblob(9000))) FROM n"],
)  # fmt: skip
def test_queries_that_want_much_memory_are_errors_and_what_they_took_is_given_back(people, query):
    limits = Limits(heap_bytes=8_000_000, value_bytes=100_000_000)
    for _ in range(3):
        result = run_untrusted(people, f"{COUNT.format(2000)} {query}", limits)
        assert (result.status, result.rows) == (ERROR, ())
        assert "8,000,000 bytes" in result.message
        assert run_untrusted(people, NAMES, limits).status == OK


def test_rows_may_be_large_together(people):
    result = run_untrusted(people, f"{COUNT.format(10_000)} SELECT i, hex(zeroblob(1000)) FROM n")
    assert len(result.rows) == 10_000
    assert result.rows[-1] == (10_000, "00" * 1000)


def test_a_zone_is_utc_wherever_the_host_is(people, monkeypatch):
    """'localtime' and 'utc' change nothing, so no answer depends on where it was computed."""
    monkeypatch.setenv("TZ", "Asia/Kathmandu")
    time.tzset()
    try:
        sql = "SELECT datetime('2020-07-01 12:00', 'localtime'), datetime('2020-07-01 12:00', 'utc')"
        assert run_untrusted(people, sql).rows == (("2020-07-01 12:00:00", "2020-07-01 12:00:00"),)
    finally:
        monkeypatch.undo()
        time.tzset()


def test_what_the_file_holds_now_is_what_counts(tmp_path):
    path = write_database(tmp_path / "a.sqlite", "CREATE TABLE t(a)")
    connection = apsw.Connection(str(path))
    for number in range(10):
        connection.execute("INSERT INTO t VALUES (?)", (number,))
        assert run_untrusted(path, "SELECT COUNT(*), MAX(a) FROM t").rows == ((number + 1, number),)
    connection.close()


@pytest.mark.parametrize("size", [0, 5_000_000], ids=["in memory", "in a file"])
def test_the_clock_is_seen_in_copies_of_every_size(tmp_path, size):
    path = write_database(tmp_path / "a.sqlite", f"CREATE TABLE fill(x); INSERT INTO fill VALUES(zeroblob({size}))")
    limits = Limits(value_bytes=10_000_000)
    assert run_untrusted(path, "SELECT length(x) FROM fill", limits).rows == ((size,),)
    assert run_untrusted(path, "SELECT length(x), date('n' || 'ow') FROM fill", limits).status == REJECTED
    assert run_untrusted(path, "DELETE FROM fill", limits).status == REJECTED


def test_full_text_and_spatial_tables_are_data(tmp_path):
    path = write_database(
        tmp_path / "a.sqlite",
        "CREATE VIRTUAL TABLE letter USING fts5(body); INSERT INTO letter VALUES ('dear tea');"
        "CREATE VIRTUAL TABLE card USING fts4(body); INSERT INTO card VALUES ('dear me');"
        "CREATE VIRTUAL TABLE box USING rtree(id, low, high); INSERT INTO box VALUES (1, 2, 3);",
    )
    for sql, rows in (
        ("SELECT snippet(letter, 0, '[', ']', '', 3) FROM letter WHERE letter MATCH 'tea'", (("dear [tea]",),)),
        ("SELECT body FROM letter ORDER BY rank", (("dear tea",),)),
        ("SELECT body FROM card WHERE card MATCH 'dear'", (("dear me",),)),
        ("SELECT * FROM box WHERE low > 1", ((1, 2.0, 3.0),)),
    ):
        assert run_untrusted(path, sql).rows == run_query(path, sql).rows == rows
    for sql in (
        "INSERT INTO letter(letter) VALUES ('rebuild')", "DELETE FROM box", "PRAGMA data_version",
        "PRAGMA main.data_version",
        "PRAGMA main.page_size; SELECT 1", "SELECT body FROM letter; PRAGMA main.data_version",
    ):  # fmt: skip
        assert run_untrusted(path, sql).status == run_query(path, sql).status == REJECTED


def test_a_damaged_database_is_the_users_fault_by_the_name_they_gave(tmp_path):
    path = write_database(
        tmp_path / "a.sqlite",
        f"CREATE TABLE t(a); {COUNT.format(5000)} INSERT INTO t SELECT hex(zeroblob(20)) FROM n",
    )
    content = bytearray(path.read_bytes())
    content[4096:4196] = random.Random("damage").randbytes(100)
    path.write_bytes(content)
    with pytest.raises(UserError, match=r"a\.sqlite: cannot be read as a SQLite database \(.*malformed"):
        run_untrusted(path, "SELECT COUNT(*) FROM t")
    with pytest.raises(UserError, match="no such database file"):
        run_untrusted(tmp_path / "missing.sqlite", "SELECT 1")


SECRET = """
CREATE TABLE person(id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT);
INSERT INTO person(name) VALUES ('Ada');
CREATE INDEX by_name ON person(name);
CREATE VIEW names AS SELECT name FROM person;
ANALYZE;
"""


@pytest.fixture(scope="module")
def secret(tmp_path_factory):
    return write_database(tmp_path_factory.mktemp("secret") / "secret.sqlite", SECRET)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT sql FROM sqlite_schema WHERE name = 'person'", "SELECT type, name, tbl_name, sql FROM sqlite_master",
        "SELECT COUNT(*) FROM sqlite_schema", "WITH s AS (SELECT name FROM sqlite_schema) SELECT COUNT(*) FROM s",
        "SELECT name FROM main.sqlite_schema WHERE EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'view')",
    ],
)  # fmt: skip
def test_a_look_at_the_schema_is_answered_only_where_it_may_be(secret, sql):
    found = run_untrusted(secret, sql, schema_readable=True)
    assert (found.status, found.of_schema) == (OK, True) and found.rows
    refused = run_untrusted(secret, sql)
    assert refused.status == REJECTED and "is not part of the data" in refused.message


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT * FROM sqlite_schema", "only type, name, tbl_name and sql may be read, not rootpage"),
        ("SELECT rowid FROM sqlite_schema", "only type, name, tbl_name and sql may be read, not ROWID"),
        ("SELECT * FROM sqlite_sequence", "the table sqlite_sequence is not part of the data"),
        ("SELECT * FROM sqlite_stat1", "the table sqlite_stat1 is not part of the data"),
        ("SELECT name FROM sqlite_temp_schema", "the table sqlite_temp_master is not part of the data"),
        ("SELECT * FROM pragma_table_info('person')", "the table pragma_table_info is not part of the data"),
        ("SELECT sql, (SELECT name FROM person) FROM sqlite_schema", "sqlite_schema or the data, not both"),
        ("SELECT COUNT(*) FROM sqlite_schema, person", "sqlite_schema or the data, not both"),
        ("SELECT name FROM names UNION SELECT name FROM sqlite_schema", "sqlite_schema or the data, not both"),
        ("SELECT (SELECT COUNT(*) FROM names), sql FROM sqlite_schema", "sqlite_schema or the data, not both"),
        ("UPDATE sqlite_schema SET sql = ''", ""),
    ],
)  # fmt: skip
def test_a_look_reaches_nothing_but_the_statements(secret, sql, message):
    found = run_untrusted(secret, sql, schema_readable=True)
    assert found.status != OK and not found.of_schema and message in found.message


def test_a_look_keeps_to_the_limits_of_any_query(secret):
    many = "SELECT a.sql FROM sqlite_schema a, sqlite_schema b, sqlite_schema c"
    assert "more than 2 rows" in run_untrusted(secret, many, Limits(rows=2), schema_readable=True).message
    endless = f"{ENDLESS} SELECT COUNT(*) FROM n, sqlite_schema"
    assert "steps" in run_untrusted(secret, endless, Limits(vm_steps=100_000), schema_readable=True).message


def test_data_is_read_as_ever_where_the_schema_may_be(secret):
    found = run_untrusted(secret, "SELECT name AS sqlite_schema FROM names", schema_readable=True)
    assert (found.rows, found.of_schema) == ((("Ada",),), False)

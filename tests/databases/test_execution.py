"""The sandbox: one attack a test, and after each of them the file and the next query are as before."""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import apsw
import pytest
from hungry_queries import COUNT, HUNGRY
from sqlite_files import write_database

from sqldojo.databases.execution import ERROR, OK, REJECTED, Limits, QueryResult, run_query
from sqldojo.errors import UserError

SCRIPT = """
CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT, height REAL, photo BLOB);
INSERT INTO person VALUES (1, 'Ada', 1.5, x'00ff'), (2, NULL, -0.0, NULL), (9007199254740993, 'now', 2.0, NULL);
CREATE TABLE event("current_date" TEXT, word TEXT);
INSERT INTO event VALUES ('2020-02-29', 'now');
CREATE TABLE damaged(word TEXT);
INSERT INTO damaged VALUES (CAST(x'ff41' AS TEXT));
CREATE VIEW today AS SELECT date('now') AS day;
CREATE VIEW dice AS SELECT random() AS eyes;
CREATE VIEW secrets AS SELECT * FROM sqlite_master;
"""
NAMES = "SELECT name FROM person"
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    return write_database(tmp_path_factory.mktemp("people") / "people.sqlite", SCRIPT)


@pytest.fixture(autouse=True)
def unharmed(people):
    """Whatever a test did: the same bytes, no file beside them, and the next query answers as ever."""
    before = people.read_bytes()
    yield
    assert people.read_bytes() == before
    assert os.listdir(people.parent) == [people.name]
    assert run_query(people, NAMES).rows == (("Ada",), (None,), ("now",))


def test_all_rows_come_with_their_types(people):
    result = run_query(people, "SELECT id, name, height AS tall, photo FROM person")
    assert result == QueryResult(
        OK,
        ("id", "name", "tall", "photo"),
        ((1, "Ada", 1.5, b"\x00\xff"), (2, None, -0.0, None), (9007199254740993, "now", 2.0, None)),
    )
    assert [type(value) for value in result.rows[2]] == [int, str, float, type(None)]


def test_numbers_beyond_64_bits_are_what_sqlite_makes_of_them(people):
    sql = "SELECT 9223372036854775807, 9223372036854775807 + 1, 9223372036854775808, 9e999, -9e999, 9e999 - 9e999"
    (row,) = run_query(people, sql).rows
    assert row == (2**63 - 1, 2.0**63, 2.0**63, float("inf"), float("-inf"), None)
    assert run_query(people, "SELECT SUM(x) FROM (SELECT 9223372036854775807 AS x UNION ALL SELECT 1)").status == ERROR


@pytest.mark.parametrize(
    "sql",
    [
        "VALUES (1), (2)",
        "SELECT value FROM json_each('[1, 2]')",
        ";; SELECT id FROM person WHERE id < 3 ;;",
        "SELECT id FROM person WHERE id < 3; -- a comment",
        "SELECT id FROM person WHERE id < 3; /* never closed; DROP TABLE person",
        "-- first a comment\nSELECT id FROM person WHERE id < 3",
        "SELECT id FROM person WHERE name <> ';' OR id = 2",
        "SELECT fullkey FROM json_tree('{\"a\": [1]}')",
        "SELECT CASE WHEN id = 0 THEN current_timestamp END FROM person",
        "SELECT id FROM person WHERE id < 0 AND date('now') > name",
        "SELECT datetime('2020-01-01', 'localtime'), datetime('2020-01-01', 'utc')",
        "SELECT 'SELECT ?', '; DELETE FROM person'",
        "WITH sqlite_x AS (SELECT 1 AS y UNION SELECT 2) SELECT y FROM sqlite_x",
        "WITH pragma_x AS (SELECT 1 AS y UNION SELECT 2) SELECT y FROM pragma_x AS sqlite_master",
    ],
)
def test_harmless_queries_run(people, sql):
    assert run_query(people, sql).status == OK


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM person",
        "INSERT INTO person(name) VALUES ('Bo') RETURNING id",
        "UPDATE person SET name = name WHERE 0",
        "REPLACE INTO person(id) VALUES (1)",
        "WITH x AS (SELECT 1) DELETE FROM person",
        "CREATE TABLE other(a)",
        "CREATE TABLE IF NOT EXISTS person(a)",
        "CREATE TEMP TABLE person(a)",
        "CREATE TEMP VIEW person AS SELECT 1 AS name",
        "DROP TABLE person",
        "DROP TABLE IF EXISTS nobody",
        "ALTER TABLE person RENAME TO people",
        "CREATE INDEX i ON person(name)",
        "REINDEX",
        "ANALYZE",
        "VACUUM",
        "VACUUM INTO 'copy.sqlite'",
        "ATTACH ':memory:' AS other",
        "ATTACH 'other.sqlite' AS other",
        "DETACH main",
        "PRAGMA table_info(person)",
        "PRAGMA query_only = 0",
        "PRAGMA case_sensitive_like = 1",
        "BEGIN",
        "COMMIT",
        "SAVEPOINT s",
        "EXPLAIN SELECT 1",
        "EXPLAIN QUERY PLAN SELECT 1",
    ],
)
def test_only_reading_is_allowed(people, sql):
    result = run_query(people, sql)
    assert (result.status, result.rows) == (REJECTED, ())
    assert "only reading is allowed" in result.message


@pytest.mark.parametrize(
    "table",
    [
        "sqlite_master", "sqlite_schema", "SQLITE_MASTER", "main.sqlite_master", "temp.sqlite_master",
        "sqlite_temp_schema", "secrets", "(SELECT name FROM sqlite_master)", "pragma_table_info('person')",
        "pragma_table_list", "pragma_compile_options", "pragma_function_list", "dbstat",
    ],
)  # fmt: skip
@pytest.mark.parametrize("sql", ["SELECT * FROM {}", "SELECT COUNT(*) FROM {}", "SELECT (SELECT 1 FROM {})"])
def test_the_engines_tables_are_no_data(people, table, sql):
    result = run_query(people, sql.format(table))
    assert (result.status, result.rows) == (REJECTED, ())


@pytest.mark.parametrize("preview", [None, 1])
@pytest.mark.parametrize(
    "tail",
    [
        "SELECT 2", "DELETE FROM person", "-- c\n SELECT 2", "/* c */ SELECT 2", "-- c\n; ; SELECT 2",
        "/* /* */; DELETE FROM person /* */", "PRAGMA table_info(person)", "EXPLAIN SELECT 2", "COMMIT",
    ],
)  # fmt: skip
def test_several_statements_are_rejected(people, tail, preview):
    assert run_query(people, f"SELECT name FROM person; {tail}", preview=preview).status == REJECTED


@pytest.mark.parametrize("preview", [None, 1])
@pytest.mark.parametrize("tail", ["SLECT 2", "SELECT age", "SELECT * FROM nobody", "'open", ")"])
def test_a_tail_that_does_not_compile_is_never_ok(people, tail, preview):
    assert run_query(people, f"SELECT name FROM person; {tail}", preview=preview).status in (ERROR, REJECTED)


def test_the_tail_is_judged_before_the_first_statement_runs(people):
    started = time.monotonic()
    assert run_query(people, f"{ENDLESS} SELECT COUNT(*) FROM n; SELECT 2").status == REJECTED
    assert time.monotonic() - started < 0.1


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT current_date", "SELECT current_time", "SELECT CURRENT_TIMESTAMP", "SELECT date('now')", "SELECT date()",
        "SELECT time()", "SELECT datetime('NOW', '-1 day')", "SELECT julianday()", "SELECT strftime('%Y')",
        "SELECT strftime('%s', 'now')", "SELECT unixepoch()", "SELECT unixepoch('subsec')",
        "SELECT timediff('now', '2020-01-01')", "SELECT date('n' || 'ow')", "SELECT date(char(110, 111, 119))",
        "SELECT date(word) FROM event", "SELECT date(name) FROM person WHERE name = 'now'", "SELECT * FROM today",
        "SELECT COUNT(*) FROM today WHERE day > '2000'", "SELECT name FROM person WHERE date('now') > '2000-01-01'",
        "SELECT name FROM person ORDER BY date('now')", "WITH x AS (SELECT date('now') d) SELECT d FROM x",
        "SELECT name FROM person LIMIT unixepoch()", "SELECT * FROM json_each('[' || unixepoch() || ']')",
    ],
)  # fmt: skip
def test_the_clock_is_seen_however_it_is_read(people, sql):
    for preview in (None, 10):
        result = run_query(people, sql, preview=preview)
        assert (result.status, result.rows) == (REJECTED, ()), sql
        assert "clock" in result.message


@pytest.mark.parametrize(
    "sql",
    [
        'SELECT "current_date" FROM event', "SELECT word FROM event WHERE word = 'now'", "SELECT 'now', 'current_date'",
        "SELECT date('2020-02-29', '+1 year')", "SELECT strftime('%Y', \"current_date\") FROM event",
        "SELECT date(name) FROM person WHERE name = 'Ada'", "SELECT datetime(0, 'unixepoch')", "SELECT 1 AS today",
    ],
)  # fmt: skip
def test_what_only_looks_like_the_clock_is_allowed(people, sql):
    assert run_query(people, sql).status == OK


@pytest.mark.parametrize(
    "expression",
    [
        "random()", "RANDOM()", "hex(randomblob(4))", "(SELECT eyes FROM dice)", "changes()", "total_changes()",
        "last_insert_rowid()", "sqlite_version()", "sqlite_source_id()", "sqlite_compileoption_get(0)",
        "sqlite_log(1, 'x')", "fts5_source_id()", "load_extension('x')", "load_extension('x', 'y')",
    ],
)  # fmt: skip
def test_chance_and_engine_state_are_rejected(people, expression):
    assert run_query(people, f"SELECT name FROM person ORDER BY {expression}").status == REJECTED


@pytest.mark.parametrize(
    "sql",
    [
        f"{ENDLESS} SELECT i FROM n ORDER BY i DESC",
        f"{ENDLESS} SELECT COUNT(*) FROM n",
        f"{ENDLESS} SELECT i FROM n WHERE i < 0",
        f"{COUNT.format(9000)} SELECT COUNT(*) FROM n a, n b, n c",
        f"{COUNT.format(9000)} SELECT a.i FROM n a, n b, n c ORDER BY a.i * b.i",
        f"{COUNT.format(9000)} SELECT MAX(a.i || b.i) FROM n a, n b GROUP BY a.i % 3",
        f"{COUNT.format(20000)} SELECT MAX(s) FROM (SELECT SUM(i) OVER (ORDER BY i ROWS BETWEEN 9999 PRECEDING AND "
        "9999 FOLLOWING EXCLUDE CURRENT ROW) AS s FROM n)",
    ],
)
@pytest.mark.parametrize("preview", [None, 10])
def test_steps_end_a_query_that_does_not(people, sql, preview):
    result = run_query(people, sql, Limits(vm_steps=200_000), preview=preview)
    assert (result.status, result.message) == (ERROR, "the query was stopped after 200,000 steps")


def test_steps_are_counted_the_same_on_every_run(people):
    """The verdict near the budget must not depend on the machine's load."""
    sql = f"{COUNT.format(2000)} SELECT SUM(i) FROM n"
    enough = next(steps for steps in range(1000, 10**6, 1000) if run_query(people, sql, Limits(vm_steps=steps)).rows)
    assert enough > 10_000
    assert {run_query(people, sql, Limits(vm_steps=enough - 1000)).status for _ in range(5)} == {ERROR}
    assert {run_query(people, sql, Limits(vm_steps=enough)).status for _ in range(5)} == {OK}


def test_seconds_end_a_query_too(people):
    result = run_query(people, f"{ENDLESS} SELECT COUNT(*) FROM n", Limits(vm_steps=10**12, seconds=0.05))
    assert (result.status, result.message) == (ERROR, "the query was stopped after 0.05 seconds")


@pytest.mark.parametrize(
    "expression",
    ["printf('%.*c', 2000000000, 'x')", "zeroblob(2000000000)", "replace(hex(zeroblob(9000)), '0', hex(zeroblob(90)))",
     "(SELECT group_concat(hex(zeroblob(900))) FROM n)", "(SELECT json_group_array(hex(zeroblob(900))) FROM n)",
     "hex(zeroblob(999999))", "unistr(printf('%.*c', 9000000, 'x'))"],
)  # fmt: skip
def test_huge_values_are_errors(people, expression):
    assert run_query(people, f"{COUNT.format(1000)} SELECT length({expression})").status == ERROR


def test_a_value_may_be_as_long_as_the_limit(people):
    assert run_query(people, "SELECT length(printf('%.*c', 999, 'x'))", Limits(value_bytes=1000)).rows == ((999,),)
    assert run_query(people, "SELECT length(printf('%.*c', 1001, 'x'))", Limits(value_bytes=1000)).status == ERROR


@pytest.mark.parametrize("query", HUNGRY)
def test_memory_is_limited_and_given_back(people, query):
    limits = Limits(heap_bytes=8_000_000, value_bytes=100_000_000)
    result = run_query(people, f"{COUNT.format(2000)} {query}", limits)
    assert (result.status, result.message) == (ERROR, "the query needs more than 8,000,000 bytes of memory")
    assert run_query(people, NAMES, limits).status == OK


def test_a_heap_used_up_by_one_query_is_whole_for_the_next_with_the_default_limits(people):
    sql = f"{COUNT.format(2000)} SELECT COUNT(*) FROM (SELECT hex(zeroblob(9000)) || i FROM n ORDER BY 1 LIMIT 9999)"
    assert run_query(people, sql, Limits(heap_bytes=8_000_000)).status == ERROR
    assert run_query(people, sql).rows == ((2000,),)


def test_results_are_limited_in_bytes(people):
    """Rows are handed out one by one, so SQLite's own heap never sees how much they are together."""
    sql = f"{COUNT.format(2000)} SELECT hex(zeroblob(9000)) FROM n"
    result = run_query(people, sql, Limits(heap_bytes=8_000_000))
    assert (result.status, result.rows) == (ERROR, ())
    assert result.message == "the result has more than 8,000,000 bytes"


def test_ten_thousand_rows_are_a_result_and_one_more_is_an_error(people):
    assert len(run_query(people, f"{COUNT.format(10_000)} SELECT i FROM n").rows) == 10_000
    result = run_query(people, f"{COUNT.format(10_001)} SELECT i FROM n")
    assert (result.status, result.rows, result.message) == (ERROR, (), "the result has more than 10,000 rows")


def test_two_thousand_columns_are_a_result_and_three_thousand_an_error(people):
    assert len(run_query(people, "SELECT " + ", ".join(["1"] * 2000)).rows[0]) == 2000
    assert run_query(people, "SELECT " + ", ".join(["1"] * 3000)).status == ERROR


@pytest.mark.parametrize(
    "opening", ["(", "(SELECT ", "EXISTS(SELECT 1 WHERE ", "CASE WHEN 1 THEN ", "abs(", "- ", "NOT "]
)
def test_deep_nesting_is_an_error(people, opening):
    closing = " END" if opening.startswith("CASE") else ")" if "(" in opening else ""
    assert run_query(people, "SELECT " + opening * 3000 + "1" + closing * 3000).status == ERROR


def test_an_expression_may_be_nine_hundred_terms_deep_and_not_three_thousand(people):
    assert run_query(people, "SELECT 1" + " + 1" * 900).rows == ((901,),)
    assert run_query(people, "SELECT 1" + " + 1" * 3000).status == ERROR


def test_a_message_that_quotes_a_long_query_is_cut(people):
    result = run_query(people, f"SELECT {'a' * 90_000}")
    assert result.status == ERROR and len(result.message) == 500 and result.message.startswith("no such column: aaa")


def test_deep_nesting_of_tables_is_an_error(people):
    assert run_query(people, "SELECT * FROM " + "(SELECT * FROM " * 3000 + "person" + ")" * 3000).status == ERROR
    assert run_query(people, "WITH a AS (" * 3000 + "SELECT 1" + ") SELECT 1" * 3000).status == ERROR


@pytest.mark.parametrize("body", ["SELECT x FROM {0} UNION ALL SELECT x FROM {0}", "SELECT a.x FROM {0} a JOIN {0} b",
                                  "SELECT (SELECT MAX(x) FROM {0}) + (SELECT MIN(x) FROM {0}) AS x"])  # fmt: skip
def test_tables_that_double_sixty_times_are_an_error(people, body):
    tables = ", ".join(f"t{i} AS ({body.format(f't{i - 1}')})" for i in range(1, 60))
    assert run_query(people, f"WITH t0 AS (SELECT 1 AS x), {tables} SELECT COUNT(*) FROM t59").status == ERROR


def test_a_text_longer_than_allowed_is_an_error(people):
    assert run_query(people, "SELECT 1" + " " * 100_000).status == ERROR
    assert run_query(people, "SELECT 1" + " UNION ALL SELECT 1" * 1000).status == ERROR


def test_a_long_pattern_is_an_error(people):
    """One instruction over long values cannot be stopped here; test_sandbox.py has the queries that need a kill."""
    assert run_query(people, f"SELECT name LIKE '{'_' * 999}%' FROM person").status == OK
    for word in ("LIKE", "GLOB"):
        assert run_query(people, f"SELECT name {word} printf('%.9000c', 'a') FROM person").status == ERROR


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("SELECT :a, @b, $c", "variable"), ("SELECT id FROM person WHERE 0 AND ?", "variable"),
        ("SELECT 1 WHERE 'a' REGEXP 'a'", "no such function: REGEXP"),
        ("SELECT * FROM generate_series(1, 3)", "no such table"),
        ("SELECT snippet(name) FROM person", "snippet"), ("SELECT name FROM person WHERE name MATCH 'Ada'", "MATCH"),
        ("", "no statement"), (" ; ;", "no statement"), ("-- only a comment", "no statement"), ("SELECT", "incomplete"),
        ("SELECT age FROM person", "no such column: age"), ('SELECT "age" FROM person', "no such column"),
        ("SELECT * FROM nobody", "no such table: nobody"), ("SELECT ?", "variable"), ("SELECT :name", "variable"),
        ("SELECT 1\0", "NUL"), ("SELECT '\0'", "NUL"), ("SELECT 1; \0 DELETE FROM person", "NUL"),
        ("SELECT '\ud800'", "surrogates"), ("SELECT word FROM damaged", "utf-8"),
        ("SELECT CAST(x'ff' AS TEXT)", "utf-8"),
        ("SELECT abs(-9223372036854775808)", "overflow"), ("SELECT json('{')", "JSON"),
    ],
)  # fmt: skip
def test_faults_of_the_query_are_errors_that_say_what(people, sql, says):
    result = run_query(people, sql)
    assert (result.status, result.columns, result.rows) == (ERROR, (), ())
    assert says in result.message


def test_preview_says_whether_there_is_more(people):
    sql = "SELECT id FROM person ORDER BY id"
    assert run_query(people, sql, preview=2) == QueryResult(OK, ("id",), ((1,), (2,)), more=True)
    assert run_query(people, sql, preview=3).more is False
    assert run_query(people, f"{sql} LIMIT 0", preview=3) == QueryResult(OK, ("id",))


@pytest.mark.parametrize(
    "sql", [f"{ENDLESS} SELECT i FROM n", f"{COUNT.format(9000)} SELECT a.i FROM n a, n b, n c, n d, n e"]
)
def test_preview_of_an_endless_query_comes_at_once(people, sql):
    result = run_query(people, sql, preview=10)
    assert (result.status, len(result.rows), result.more) == (OK, 10, True)


@pytest.mark.parametrize("limits", [{"seconds": 0}, {"rows": 0}, {"heap_bytes": -1}])
def test_limits_are_above_zero(limits):
    with pytest.raises(ValueError, match=f"{next(iter(limits))}: must be above 0"):
        Limits(**limits)


def refused_file(path):
    with pytest.raises(UserError) as refused:
        run_query(path, "SELECT COUNT(*) FROM person")
    assert str(path) in str(refused.value)
    assert "dvc repro build_adversarial" in str(refused.value)
    return str(refused.value)


def test_missing_and_empty_files_and_folders_are_the_users_fault(tmp_path):
    (tmp_path / "empty.sqlite").touch()
    assert "no such database file" in refused_file(tmp_path / "missing.sqlite")
    assert "no such database file" in refused_file(tmp_path)
    assert "empty" in refused_file(tmp_path / "empty.sqlite")
    assert os.listdir(tmp_path) == ["empty.sqlite"]


@pytest.mark.parametrize(
    "content", [b"x", b"x" * 600, b"id,name\n1,Ada\n" * 500, b"SQLite format 3\0" + b"\xff" * 5000]
)
def test_a_file_of_another_kind_is_the_users_fault(tmp_path, content):
    (tmp_path / "a.sqlite").write_bytes(content)
    refused_file(tmp_path / "a.sqlite")


@pytest.mark.parametrize("kept", [50, 600, 4096, 4097, 8192, -4096, -512, -1])
def test_a_truncated_file_is_the_users_fault(people, tmp_path, kept):
    content = people.read_bytes()
    assert len(content) > 12_288
    (tmp_path / "a.sqlite").write_bytes(content[:kept])
    refused_file(tmp_path / "a.sqlite")


def test_a_locked_file_is_the_users_fault_until_it_is_free(people, tmp_path):
    path = tmp_path / "a ?#%41.sqlite"
    path.write_bytes(people.read_bytes())
    connection = apsw.Connection(str(path))
    connection.execute("BEGIN EXCLUSIVE")
    assert "locked" in refused_file(path)
    connection.execute("COMMIT")
    connection.close()
    assert run_query(path, NAMES).status == OK


def test_a_view_in_the_file_cannot_run_what_a_query_cannot(tmp_path):
    path = write_database(tmp_path / "a.sqlite", "CREATE VIEW v AS SELECT name FROM pragma_table_list;")
    assert run_query(path, "SELECT * FROM v").status in (ERROR, REJECTED)


def test_threads_do_not_share_verdicts(people):
    """The clock counter and the heap belong to the process, so a query must not answer for its neighbours."""
    limits = Limits(vm_steps=1_000_000, heap_bytes=8_000_000)
    sort = "SELECT COUNT(*) FROM (SELECT hex(zeroblob(9000)) || i AS x FROM n ORDER BY x LIMIT 9999)"
    hungry, modest = f"{COUNT.format(3000)} {sort}", f"{COUNT.format(200)} {sort}"
    queries = [
        (NAMES, OK, ""), ("SELECT date('now')", REJECTED, "clock"), (modest, OK, ""), (hungry, ERROR, "memory"),
        ("DELETE FROM person", REJECTED, "DELETE"), (f"{ENDLESS} SELECT COUNT(*) FROM n", ERROR, "steps"),
        ("SELECT date('2020-01-01')", OK, ""), ("SELECT age", ERROR, "age"),
    ]  # fmt: skip
    start = threading.Barrier(16)

    def work(number):
        start.wait()
        return [
            (sql, result.status, said in result.message)
            for round_ in range(2)
            for sql, _, said in queries[(number + round_) % 8 :] + queries[: (number + round_) % 8]
            for result in [run_query(people, sql, limits)]
        ]

    with ThreadPoolExecutor(16) as pool:
        results = [result for results in pool.map(work, range(16)) for result in results]
    expected = {(sql, status, True) for sql, status, _ in queries}
    assert len(results) == 16 * 2 * 8
    assert set(results) == expected

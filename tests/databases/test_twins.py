from contextlib import closing
from sqlite3 import connect

import pytest
from sqlite_files import write_database

from sqldojo.databases.execution import run_query
from sqldojo.databases.families import EVALUATION, TRAIN, family_paths
from sqldojo.databases.twins import build_twin, twins_of
from sqldojo.errors import UserError


def _twin(tmp_path, script, *, shuffled=False):
    build_twin(write_database(tmp_path / "one.sqlite", script), tmp_path / "twin.sqlite", shuffled=shuffled)
    return tmp_path / "twin.sqlite"


def _rows(path, sql):
    with closing(connect(path)) as connection:
        return connection.execute(sql).fetchall()


def test_rows_are_reversed_and_no_key_or_index_puts_them_back(tmp_path):
    twin = _twin(
        tmp_path,
        """
        CREATE TABLE pet (id INTEGER PRIMARY KEY, name TEXT UNIQUE);
        CREATE INDEX by_name ON pet (name);
        INSERT INTO pet VALUES (3, 'c'), (1, 'a'), (2, 'b');
        """,
    )
    assert _rows(twin, "SELECT rowid, id, name FROM pet") == [(1, 3, "c"), (2, 2, "b"), (3, 1, "a")]
    assert _rows(twin, "SELECT type, name FROM sqlite_master") == [("table", "pet")]
    assert not any(row[5] for row in _rows(twin, "PRAGMA table_info(pet)"))


def test_a_covering_index_does_not_decide_the_order(tmp_path):
    script = "CREATE TABLE t (a, b); CREATE INDEX wide ON t (b, a); INSERT INTO t VALUES (1, 9), (2, 8), (3, 7);"
    assert _rows(_twin(tmp_path, script), "SELECT a FROM t") == [(3,), (2,), (1,)]


def test_shuffled_rows_are_the_same_rows_in_a_third_order(tmp_path):
    numbers = list(range(20))
    script = "CREATE TABLE t (a); INSERT INTO t VALUES " + ", ".join(f"({number})" for number in numbers)
    shuffled = [row[0] for row in _rows(_twin(tmp_path, script, shuffled=True), "SELECT a FROM t")]
    assert sorted(shuffled) == numbers
    assert shuffled not in (numbers, numbers[::-1])
    (tmp_path / "twin.sqlite").unlink()
    (tmp_path / "one.sqlite").unlink()
    assert [row[0] for row in _rows(_twin(tmp_path, script, shuffled=True), "SELECT a FROM t")] == shuffled


def test_the_shuffled_twin_has_the_indexes_but_no_key(tmp_path):
    script = """
        CREATE TABLE pet (id INTEGER PRIMARY KEY, name TEXT UNIQUE, kind TEXT, age INTEGER);
        CREATE INDEX by_kind ON pet (kind COLLATE NOCASE, length(name));
        CREATE INDEX old ON pet (age) WHERE age > 9;
        CREATE TABLE pair (l, r, PRIMARY KEY (r, l)) WITHOUT ROWID;
        """
    twin = _twin(tmp_path, script, shuffled=True)
    assert _rows(twin, "SELECT sql FROM sqlite_master WHERE type = 'index' ORDER BY name") == [
        ("""CREATE INDEX "twin pair 0" ON "pair" ("r" DESC, "l" DESC)""",),
        ("""CREATE INDEX "twin pet 0" ON "pet" ("id" DESC)""",),
        ("""CREATE INDEX "twin pet 1" ON "pet" ("kind" COLLATE "NOCASE" ASC)""",),
        ("""CREATE INDEX "twin pet 2" ON "pet" ("name" COLLATE "BINARY" DESC)""",),
    ]
    assert not any(row[5] for table in ("pet", "pair") for row in _rows(twin, f"PRAGMA table_info({table})"))


@pytest.mark.parametrize(
    ("declared", "value", "query", "answer"),
    [
        ("v VARCHAR(9)", "1", "SELECT v = 1, typeof(v) FROM t", (1, "text")),  # TEXT affinity turns the 1 into '1'
        ("v DOUBLE", "1", "SELECT typeof(v) FROM t", ("real",)),
        ("v DECIMAL(5)", "'1.50'", "SELECT typeof(v), v = '1.5' FROM t", ("real", 1)),
        ("v", "'1'", "SELECT typeof(v), v = 1 FROM t", ("text", 0)),
        ("v TEXT COLLATE NOCASE", "'Rex'", "SELECT v = 'rEX' FROM t", (1,)),
        ("v TEXT COLLATE RTRIM", "'Rex'", "SELECT v = 'Rex  ' FROM t", (1,)),
        ("v BLOB", "x'00ff'", "SELECT typeof(v), hex(v) FROM t", ("blob", "00FF")),
    ],
)
def test_values_mean_the_same(tmp_path, declared, value, query, answer):
    twin = _twin(tmp_path, f"CREATE TABLE t ({declared}); INSERT INTO t VALUES ({value});")
    assert _rows(tmp_path / "one.sqlite", query) == [answer]
    assert _rows(twin, query) == [answer]


def test_any_in_a_strict_table_converts_nothing_in_the_twin_either(tmp_path):
    twin = _twin(tmp_path, "CREATE TABLE t (v ANY) STRICT; INSERT INTO t VALUES ('007'), (7);")
    assert _rows(twin, "SELECT v, typeof(v), v = '7' FROM t") == [(7, "integer", 0), ("007", "text", 0)]


def test_tables_without_rowid_generated_columns_and_views_are_there(tmp_path):
    twin = _twin(
        tmp_path,
        """
        CREATE TABLE pair (l TEXT, r TEXT, joined TEXT AS (l || r), kept TEXT AS (r || l) STORED,
                           PRIMARY KEY (r, l)) WITHOUT ROWID;
        INSERT INTO pair (l, r) VALUES ('a', 'z'), ('b', 'y');
        CREATE VIEW lefts AS SELECT l FROM "pair";
        CREATE TABLE "odd ""name" ("order" INTEGER, "a b" TEXT);
        INSERT INTO "odd ""name" VALUES (1, 'x');
        """,
    )
    assert _rows(twin, "SELECT * FROM pair") == [("a", "z", "az", "za"), ("b", "y", "by", "yb")]
    assert _rows(twin, "SELECT * FROM lefts") == [("a",), ("b",)]
    assert _rows(twin, 'SELECT "order", "a b" FROM "odd ""name"') == [(1, "x")]


def test_text_is_compared_in_the_encoding_of_the_original(tmp_path):
    script = "PRAGMA encoding = 'UTF-16le'; CREATE TABLE t (v TEXT); INSERT INTO t VALUES ('\u0101'), ('b');"
    assert _rows(_twin(tmp_path, script), "SELECT v FROM t ORDER BY v") == [("\u0101",), ("b",)]  # 01 01 before 62 00


@pytest.mark.parametrize("script", ["CREATE TABLE t (a)", "CREATE TABLE t (a); DROP TABLE t"])
def test_a_database_without_rows_or_tables_has_a_twin(tmp_path, script):
    assert run_query(_twin(tmp_path, script), "SELECT 1").rows == ((1,),)


def test_virtual_tables_and_what_belongs_to_the_engine_are_left_out(tmp_path):
    script = """
        CREATE VIRTUAL TABLE words USING fts5 (word);
        CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT);
        INSERT INTO t VALUES (1);
        """
    assert _rows(_twin(tmp_path, script), "SELECT name FROM sqlite_master") == [("t",)]


def test_a_text_that_is_no_text_is_reported(tmp_path):
    with pytest.raises(UserError, match=r"one\.sqlite: a table holds a text that is no UTF-8; store it as a BLOB"):
        _twin(tmp_path, "CREATE TABLE t (a); INSERT INTO t VALUES (CAST(x'ff' AS TEXT))")


def test_twins_of_several_databases_live_as_long_as_the_context(tmp_path):
    paths = [
        write_database(tmp_path / f"{n}.sqlite", f"CREATE TABLE t (a); INSERT INTO t VALUES ({n}), (9);") for n in "12"
    ]
    with twins_of([*paths, paths[0]]) as twins:
        assert list(twins) == paths
        assert [_rows(twins[path][0], "SELECT a FROM t") for path in paths] == [[(9,), (1,)], [(9,), (2,)]]
        built = [twin for path in paths for twin in twins[path]]
        assert len(set(built)) == 4 and all(twin.is_file() for twin in built)
    assert not any(twin.exists() for twin in built)


@pytest.mark.parametrize("family", [TRAIN, EVALUATION])
def test_the_shop_and_its_twins_hold_the_same_rows(databases, family):
    paths = family_paths(databases, family)
    with twins_of(paths) as twins:
        for path in paths:
            for table in ("customers", "products", "orders", "order_items"):
                rows, reverse, shuffled = (
                    _rows(file, f"SELECT * FROM {table} NOT INDEXED") for file in (path, *twins[path])
                )
                assert reverse == rows[::-1]
                assert sorted(shuffled, key=repr) == sorted(rows, key=repr)
                assert shuffled not in (rows, reverse)

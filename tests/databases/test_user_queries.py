"""Queries on databases that are not the shop, in place and from a copy: what comes out, and what errors are about."""

from contextlib import closing

import apsw
import pytest
from sqlite_files import write_database
from unfit_files import held_by_another, whole

from sqldojo.databases import user_database, user_queries
from sqldojo.databases.execution import ERROR, OK, REJECTED, Limits
from sqldojo.databases.user_queries import run_on_user_database, user_outlines, user_schema
from sqldojo.errors import UserError

AWKWARD = """
CREATE TABLE "order"("group" TEXT, "from" INTEGER, "a ""quoted"" b" REAL, PRIMARY KEY("group", "from")) WITHOUT ROWID;
INSERT INTO "order" VALUES ('x', 1, 0.5), ('x', 2, NULL);
CREATE TABLE "Größe"(
    "größe in cm" INTEGER, doubled GENERATED ALWAYS AS ("größe in cm" * 2), stored AS (1) STORED
);
INSERT INTO "Größe" VALUES (7);
CREATE TABLE "顧客"("名前" TEXT, photo BLOB);
INSERT INTO "顧客" VALUES ('山田', x'00ff'), (NULL, zeroblob(3));
CREATE TABLE bare(a, b);
CREATE VIEW "all sizes" AS SELECT doubled FROM "Größe";
CREATE VIEW broken AS SELECT * FROM gone;
CREATE VIRTUAL TABLE words USING fts5(text);
INSERT INTO words VALUES ('a red pen');
CREATE INDEX i ON bare(a);
"""


@pytest.fixture(params=[100_000_000, 0], ids=["copied", "in_place"])
def path(tmp_path, request, monkeypatch):
    monkeypatch.setattr(user_database, "MOST_BYTES_TO_COPY", request.param)
    return write_database(tmp_path / "it's 100 % ?#.sqlite", AWKWARD)


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ('SELECT "group", "from", "a ""quoted"" b" FROM "order" ORDER BY 2', (("x", 1, 0.5), ("x", 2, None))),
        ('SELECT "größe in cm", doubled, stored FROM Größe', ((7, 14, 1),)),
        ("SELECT 名前, photo FROM 顧客 ORDER BY 1", ((None, b"\0\0\0"), ("山田", b"\0\xff"))),
        ("SELECT * FROM bare", ()),
        ('SELECT * FROM "all sizes"', ((14,),)),
        ("SELECT text FROM words WHERE words MATCH 'red'", (("a red pen",),)),
    ],
)
def test_awkward_schemas_are_read(path, sql, rows):
    found = run_on_user_database(path, sql)
    assert (found.status, found.rows) == (OK, rows)


def test_a_preview_and_what_is_refused(path):
    found = run_on_user_database(path, 'SELECT "from" FROM "order" ORDER BY 1', preview=1)
    assert found.rows == ((1,),) and found.more
    before = path.read_bytes()
    assert run_on_user_database(path, "DELETE FROM bare").status == REJECTED
    assert run_on_user_database(path, "SELECT * FROM broken").message == "no such table: main.gone"
    assert run_on_user_database(path, "ATTACH 'x' AS x").status == REJECTED
    assert path.read_bytes() == before and [file.name for file in path.parent.iterdir()] == [path.name]


def test_the_schema_table_is_read_only_where_it_may_be(path):
    sql = "SELECT sql FROM sqlite_schema WHERE name = 'bare'"
    assert run_on_user_database(path, sql).message == "the table sqlite_master is not part of the data"
    assert run_on_user_database(path, sql, schema_readable=True).rows == (("CREATE TABLE bare(a, b)",),)
    for other in ("SELECT * FROM pragma_table_info('bare')", "SELECT * FROM sqlite_stmt", "SELECT * FROM dbstat"):
        assert run_on_user_database(path, other, schema_readable=True).status in (REJECTED, ERROR)
    assert run_on_user_database(path, sql, schema_readable=True).of_schema
    assert not run_on_user_database(path, "SELECT 1 -- sqlite_schema", schema_readable=True).of_schema


def test_a_query_that_never_ends_is_stopped(path):
    sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
    found = run_on_user_database(path, sql, Limits(vm_steps=10_000))
    assert found.status == ERROR and "stopped after 10,000 steps" in found.message


def test_a_table_of_an_unknown_module_spoils_no_other(tmp_path):
    path = write_database(
        tmp_path / "a.sqlite",
        "CREATE TABLE t(a); INSERT INTO t VALUES (1); PRAGMA writable_schema = ON; INSERT INTO sqlite_schema "
        "VALUES ('table', 'place', 'place', 0, 'CREATE VIRTUAL TABLE place USING spatial(a)')",
    )
    assert run_on_user_database(path, "SELECT a FROM t").rows == ((1,),)
    assert run_on_user_database(path, "SELECT * FROM place").message == "no such module: spatial"


def test_schema_and_outlines_are_those_of_the_file(path):
    text = user_schema(path)
    assert text.splitlines()[0].startswith('CREATE TABLE "order"("group" TEXT') and "CREATE INDEX" not in text
    outlines = {table.name: table for table in user_outlines(path)}
    assert list(outlines) == ["order", "Größe", "顧客", "bare", "all sizes", "broken", "words"]
    assert [name for name, _ in outlines["Größe"].columns] == ["größe in cm", "doubled", "stored"]
    assert outlines["order"].primary_key == ("group", "from") and outlines["all sizes"].is_view


def test_damage_that_only_a_query_finds_is_told_in_users_words(tmp_path, monkeypatch):
    path = tmp_path / "large.sqlite"
    content = whole(path)
    path.write_bytes(content[:8192] + b"\xff" * 4096 + content[12288:])
    for limit in ("MOST_BYTES_TO_COPY", "MOST_BYTES_TO_CHECK"):
        monkeypatch.setattr(user_database, limit, 0)
    user_database.open_user_database(path).close()
    with pytest.raises(UserError, match=r"large\.sqlite: is damaged.* `sqlite3 FILE \.recover`"):
        run_on_user_database(path, "SELECT max(b) FROM t")


def test_each_query_sees_what_others_have_written_by_then(path):
    sql = "SELECT count(*) FROM bare"
    assert run_on_user_database(path, sql).rows == ((0,),)
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute("INSERT INTO bare VALUES (1, 2)")
    assert run_on_user_database(path, sql).rows == ((1,),)
    write_database(path, "PRAGMA journal_mode = WAL")
    with held_by_another(path, "INSERT INTO bare VALUES (3, 4)"):
        assert run_on_user_database(path, sql).rows == ((2,),)


def test_a_result_that_pages_changed_under_is_not_used(tmp_path, monkeypatch):
    monkeypatch.setattr(user_database, "MOST_BYTES_TO_COPY", 0)
    script = "PRAGMA journal_mode = WAL; CREATE TABLE t(a); INSERT INTO t VALUES (1)"
    path = write_database(tmp_path / "a.sqlite", script)
    reading, changes = user_queries.readable, iter([2, 3])

    def readable(database):
        """Somebody writes and goes away again, while a worker reads the file as it stands."""
        source = reading(database)
        value = next(changes, None)
        if value is not None:
            write_database(database, f"INSERT INTO t VALUES ({value})")
        return source

    monkeypatch.setattr(user_queries, "readable", readable)
    assert run_on_user_database(path, "SELECT group_concat(a) FROM t").rows == (("1,2,3",),)
    assert next(changes, None) is None
    changes = iter(range(4, 100))
    with pytest.raises(UserError, match="is changed by another program while it is read"):
        run_on_user_database(path, "SELECT group_concat(a) FROM t")

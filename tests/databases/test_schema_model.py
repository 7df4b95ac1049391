"""A SQLite file's schema as data: whatever SQLite allows in a schema is either described rightly or left out."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlite_files import write_database

from sqldojo.databases.families import FAMILIES, family_paths
from sqldojo.databases.schema_model import ForeignKey, parents_first, quote, read_rows, read_schema
from sqldojo.databases.shop import SCHEMA
from sqldojo.errors import UserError


def schema_of(tmp_path: Path, script: str):
    return read_schema(write_database(tmp_path / "a.sqlite", script))


def test_the_shop(databases: Path) -> None:
    schema = read_schema(family_paths(databases, FAMILIES[0])[0])
    assert [table.name for table in schema.tables] == ["customers", "products", "orders", "order_items"]
    assert schema.statements == tuple(SCHEMA.values())
    items = schema.table("ORDER_ITEMS")
    assert items.names == ("id", "order_id", "product_id", "quantity", "unit_price")
    assert [column.affinity for column in items.columns] == ["INTEGER"] * 4 + ["REAL"]
    assert items.foreign_keys == (
        ForeignKey(("order_id",), "orders", ("id",)),
        ForeignKey(("product_id",), "products", ("id",)),
    )
    assert (items.primary_key, items.rowid_alias, items.unique) == (("id",), "id", (("id",),))
    with pytest.raises(KeyError):
        schema.table("nothing")


def test_rows_come_in_the_order_of_the_table_and_not_of_an_index(tmp_path: Path) -> None:
    path = write_database(
        tmp_path / "a.sqlite",
        "CREATE TABLE t(a TEXT, b REAL, c BLOB); CREATE INDEX by_a ON t(a, b, c);"
        "INSERT INTO t VALUES ('z', 1, x'00'), ('a', NULL, 2), ('m', 0.5, 'm');",
    )
    rows = read_rows(path, read_schema(path))
    assert rows == {"t": [("z", 1.0, b"\0"), ("a", None, 2), ("m", 0.5, "m")]}
    assert isinstance(rows["t"][0][1], float)


def test_column_properties(tmp_path: Path) -> None:
    schema = schema_of(
        tmp_path,
        'CREATE TABLE t("order" INTEGER PRIMARY KEY, "a ""b""" VARCHAR(20) NOT NULL COLLATE nocase, c, '
        "g INT AS (c + 1), h INT AS (1) STORED, d DATETIME)",
    )
    (table,) = schema.tables
    assert table.names == ("order", 'a "b"', "c", "d")
    assert [(c.declared, c.affinity, c.not_null, c.collation) for c in table.columns] == [
        ("INTEGER", "INTEGER", False, "BINARY"),
        ("VARCHAR(20)", "TEXT", True, "NOCASE"),
        ("", "BLOB", False, "BINARY"),
        ("DATETIME", "NUMERIC", False, "BINARY"),
    ]


def test_any_converts_nothing_in_a_strict_table(tmp_path: Path) -> None:
    (table,) = schema_of(tmp_path, "CREATE TABLE t(a ANY PRIMARY KEY, b INT) STRICT").tables
    assert (table.strict, table.columns[0].affinity, table.columns[0].not_null) == (True, "BLOB", True)


@pytest.mark.parametrize(
    ("columns", "alias"),
    [
        ("id INTEGER PRIMARY KEY, x", "id"),
        ("x, Id integer, PRIMARY KEY (ID)", "Id"),
        ("id INTEGER PRIMARY KEY AUTOINCREMENT", "id"),
        ("id INTEGER PRIMARY KEY DESC", None),
        ("id INT PRIMARY KEY", None),
        ("id INTEGER, x, PRIMARY KEY (id, x)", None),
        ("id INTEGER UNIQUE", None),
    ],
)
def test_rowid_alias(tmp_path: Path, columns: str, alias: str | None) -> None:
    assert schema_of(tmp_path, f"CREATE TABLE t({columns})").tables[0].rowid_alias == alias


def test_a_table_without_rowid_has_no_alias_and_no_null_in_its_key(tmp_path: Path) -> None:
    (table,) = schema_of(tmp_path, "CREATE TABLE t(b INTEGER, a TEXT, PRIMARY KEY (a, b)) WITHOUT ROWID").tables
    assert (table.primary_key, table.rowid_alias, table.unique) == (("a", "b"), None, (("a", "b"),))
    assert [column.not_null for column in table.columns] == [True, True]


def test_unique_sets_leave_out_partial_indexes_and_expressions(tmp_path: Path) -> None:
    schema = schema_of(
        tmp_path,
        "CREATE TABLE t(id INTEGER PRIMARY KEY, a UNIQUE, b, c, g AS (b), UNIQUE (c, b));"
        "CREATE UNIQUE INDEX u1 ON t(B DESC); CREATE UNIQUE INDEX u2 ON t(c) WHERE a > 1;"
        "CREATE UNIQUE INDEX u3 ON t(c, lower(b)); CREATE UNIQUE INDEX u4 ON t(g); CREATE INDEX plain ON t(c)",
    )
    assert schema.tables[0].unique == (("id",), ("a",), ("c", "b"), ("b",))
    assert len(schema.statements) == 6


def test_foreign_keys_are_resolved_or_left_out(tmp_path: Path) -> None:
    schema = schema_of(
        tmp_path,
        """
        CREATE TABLE child(X, "y z", w REFERENCES NOWHERE(id), v REFERENCES parent, self INT REFERENCES CHILD(x),
            FOREIGN KEY (x, "Y Z") REFERENCES Parent, FOREIGN KEY (w) REFERENCES parent(missing),
            FOREIGN KEY (W) REFERENCES parent(B));
        CREATE TABLE parent(A, b, "c d" INTEGER, PRIMARY KEY (b, "C D"));
        """,
    )
    assert [table.name for table in schema.tables] == ["parent", "child"]
    assert schema.tables[1].foreign_keys == (
        ForeignKey(("self",), "child", ("X",)),
        ForeignKey(("X", "y z"), "parent", ("b", "c d")),
        ForeignKey(("w",), "parent", ("b",)),
    )


def test_cycles_are_broken_the_same_way_each_time() -> None:
    parents = {"a": ["b"], "b": ["c", "b"], "c": [], "d": ["e", "a"], "e": ["d"]}
    assert parents_first(parents) == ["c", "b", "a", "d", "e"]
    assert parents_first({"d": ["a", "e"], "e": ["d"], "a": ["d", "e"]}) == ["e", "d", "a"]
    assert parents_first({"z": ["z"], "y": ["z", "elsewhere"], "x": ["y"]}) == ["z", "y", "x"]


def test_what_cannot_be_inserted_into_is_left_out_and_triggers_are_apart(tmp_path: Path) -> None:
    path = write_database(
        tmp_path / "a.sqlite",
        """
        CREATE VIEW v AS SELECT * FROM t; CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT, a CHECK (a > 0));
        CREATE VIRTUAL TABLE words USING fts5(body); CREATE VIRTUAL TABLE boxes USING rtree(id, low, high);
        CREATE TRIGGER r AFTER INSERT ON t BEGIN INSERT INTO words VALUES (new.a); END;
        CREATE INDEX i ON t(a); INSERT INTO t(a) VALUES (1); ANALYZE;
        """,
    )
    schema = read_schema(path)
    assert [table.name for table in schema.tables] == ["t"]
    assert [statement[:14] for statement in schema.statements] == ["CREATE TABLE t", "CREATE INDEX i", "CREATE VIEW v "]
    assert len(schema.triggers) == 1
    assert read_rows(path, schema) == {"t": [(1, 1)]}


def test_the_statements_make_the_same_schema_again(tmp_path: Path) -> None:
    schema = schema_of(
        tmp_path,
        'CREATE TABLE b(x REFERENCES a); CREATE TABLE "a b"(id INTEGER PRIMARY KEY DESC); CREATE TABLE a(id UNIQUE);'
        'CREATE UNIQUE INDEX "i ""1""" ON b(x); CREATE VIEW v AS SELECT * FROM b',
    )
    again = read_schema(write_database(tmp_path / "b.sqlite", ";\n".join(schema.statements)))
    assert again == schema


def test_identifiers_are_quoted() -> None:
    assert quote('a "b" c') == '"a ""b"" c"'


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "no such database"), (b"no database" * 100, "cannot be read"), (b"", "cannot be read")],
)
def test_files_that_are_no_database_are_the_users_fault(tmp_path: Path, content: bytes | None, message: str) -> None:
    path = tmp_path / "a.sqlite"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UserError, match=rf"a\.sqlite: .*{message}"):
        read_schema(path)


def test_a_database_without_tables_is_the_users_fault(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"a\.sqlite: there is no table"):
        schema_of(tmp_path, "CREATE VIEW v AS SELECT 1")


def test_a_text_that_is_none_is_the_users_fault(tmp_path: Path) -> None:
    path = write_database(tmp_path / "a.sqlite", "CREATE TABLE t(a); INSERT INTO t VALUES (CAST(x'ff' AS TEXT))")
    with pytest.raises(UserError, match=r"a\.sqlite: table t holds a text"):
        read_rows(path, read_schema(path))

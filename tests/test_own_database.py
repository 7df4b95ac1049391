"""A user's own database in every form, read and made into families; and what each bad one is told."""

import gzip
import os
from contextlib import closing

import apsw
import pytest
from awkward_database import SCRIPT, TABLES, awkward, many_tables
from click.testing import CliRunner
from source_tree import ROOT
from sqlite_files import write_database

from sqldojo.cli import main
from sqldojo.databases.building import SHOP_SOURCE, DatabaseParams
from sqldojo.databases.execution import Limits
from sqldojo.databases.families import FAMILIES, ORDINARY, TRAIN, family_paths
from sqldojo.databases.key_files import read_keys
from sqldojo.databases.schema import schema_text
from sqldojo.databases.schema_model import ForeignKey, read_rows, read_schema
from sqldojo.errors import UserError
from sqldojo.files import file_sha256
from sqldojo.held_out.bank import build_bank
from sqldojo.own_database import build_own_families, description, read_own, summary, write_keys
from sqldojo.params import load
from sqldojo.questions.composing.compose import compose
from sqldojo.repair_params import RepairParams
from sqldojo.repair_tasks import make_tasks

TOWNS = "id,name,land\n1,Oslo,NO\n2,Bergen,NO\n3,Århus,DK\n"
PEOPLE = "id,name,town_id,born\n" + "".join(
    f"{n},Person {n},{n % 3 + 1},{n % 28 + 1:02d}.05.19{n + 60}\n" for n in range(1, 31)
)
WIDE = f"CREATE TABLE t ({', '.join(f'c{n}' for n in range(500))})"
LATIN = "CREATE TABLE t (a); INSERT INTO t VALUES (CAST(x'e9' AS TEXT))"
WAL = "PRAGMA journal_mode = WAL; CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT)"
OF_GROUP = ForeignKey(("group_id",), "group", ("id",))


def params(source, **more):
    return DatabaseParams(seed=17, customers=60, products=60, orders=250, source=str(source), rows=20, **more)


def keys_file(tmp_path, text="{}\n"):
    path = tmp_path / "keys.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def build(tmp_path, source, text="{}\n"):
    lines = build_own_families(tmp_path / "ordinary", params(source), keys_file(tmp_path, text))
    return lines, {family: family_paths(tmp_path / "ordinary", family, ORDINARY) for family in FAMILIES}


def read(source, tmp_path, keys=None):
    work = tmp_path / "work"
    work.mkdir()
    return read_own(source, keys, work, seed=17)


def test_an_awkward_database_is_never_changed_and_gives_six_instances_and_questions(tmp_path):
    path = awkward(tmp_path / "awkward.sqlite")
    before, names = file_sha256(path), set(os.listdir(tmp_path))
    path.chmod(0o444)
    lines, found = build(tmp_path, path)
    assert file_sha256(path) == before and set(os.listdir(tmp_path)) == {*names, "keys.yaml", "ordinary"}
    assert sorted(each.name for each in (tmp_path / "ordinary").iterdir()) == sorted(FAMILIES)
    assert lines == [
        "awkward.sqlite: 8 tables, 403 rows read, 3 declared foreign keys",
        "foreign key inferred: order(group_id) -> group(id) (5 different values agree)",
        "to change what is inferred: sqldojo inspect SOURCE --write, then edit the file that it writes",
        "left out: virtual table search",
        "left out: view broken (no such table: main.nowhere)",
    ]
    schema = read_schema(found[TRAIN][0])
    assert sorted(table.name for table in schema.tables) == sorted(TABLES)
    assert schema.table("order").foreign_keys == (OF_GROUP,)
    assert ', FOREIGN KEY (group_id) REFERENCES "group" (id)' in schema_text(found[TRAIN][0])
    composed = compose(found[TRAIN], most=40, seed=17)
    assert any('"order" JOIN "group"' in each.sql or '"group" ON' in each.sql for each in composed)


def test_the_file_of_keys_wins_over_what_would_be_inferred(tmp_path):
    path = awkward(tmp_path / "awkward.sqlite")
    own = '{table: "order", columns: ["colour"], parent: "group", parent_columns: ["colour"]}'
    lines, found = build(tmp_path, path, f"foreign_keys:\n- {own}\n")
    assert read_schema(found[TRAIN][0]).table("order").foreign_keys == (ForeignKey(("colour",), "group", ("colour",)),)
    assert lines[0].endswith("4 foreign keys of the schema and the file of keys") and "inferred" not in "".join(lines)


def test_what_is_inferred_can_be_written_edited_and_read(tmp_path):
    path = awkward(tmp_path / "awkward.sqlite")
    own = read(path, tmp_path)
    write_keys(own, tmp_path / "keys.yaml")
    assert read_keys(tmp_path / "keys.yaml", read_schema(path)) == {"order": [OF_GROUP]}
    shown = description(own)
    assert "  group_id INTEGER: 2, 3, 4" in shown
    assert "  inferred: order(group_id) -> group(id)" in shown
    assert "  picture BLOB: 3 bytes, 3 bytes, 3 bytes" in shown
    assert "  refers: line item(order_id) -> order(id)" in shown
    assert shown[-len(summary(own)) :] == summary(own)


def test_the_command_shows_what_is_read_and_writes_the_keys_when_asked_to(tmp_path):
    path, keys = awkward(tmp_path / "awkward.sqlite"), tmp_path / "bank" / "keys.yaml"
    shown = CliRunner().invoke(main, ["inspect", str(path), "--keys", str(keys)])
    assert shown.exit_code == 0 and not keys.exists()
    assert "place: 60 rows read\n  code TEXT, primary key:" in shown.output
    assert "(5 different values agree)" in shown.output
    written = CliRunner().invoke(main, ["inspect", str(path), "--keys", str(keys), "--write"])
    assert written.output == f"{shown.output}{keys}: written; edit it, and commit it\n"
    assert read_keys(keys, read_schema(path)) == {"order": [OF_GROUP]}
    again = CliRunner().invoke(main, ["inspect", str(path), "--keys", str(keys)])
    assert "4 foreign keys of the schema and the file of keys" in again.output
    assert CliRunner().invoke(main, ["inspect", str(keys)]).output.startswith("Error: ")


@pytest.mark.parametrize("name", ["awkward.sql", "awkward.sql.gz"])
def test_scripts_give_what_the_file_would(tmp_path, name):
    content = SCRIPT.encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    own = read(tmp_path / name, tmp_path)
    (tmp_path / "work2").mkdir()
    same = read_own(awkward(tmp_path / "a.sqlite"), None, tmp_path / "work2", seed=17)
    assert (own.schema, own.sample, own.left_out) == (same.schema, same.sample, same.left_out) and own.name == name


@pytest.mark.parametrize("parquet", [False, True])
def test_a_folder_of_files_is_a_database_with_inferred_keys(tmp_path, parquet):
    folder = tmp_path / "club"
    folder.mkdir()
    (folder / "people.csv").write_text(PEOPLE, encoding="utf-8")
    (folder / "towns.csv").write_text(TOWNS, encoding="utf-8")
    if parquet:
        import polars

        polars.read_csv(folder / "towns.csv").write_parquet(folder / "towns.parquet")
        (folder / "towns.csv").unlink()
    lines, found = build(tmp_path, folder)
    assert lines[:2] == ["club: 2 tables, 33 rows read, 0 declared foreign keys",
                         "foreign key inferred: people(town_id) -> towns(id) (3 different values agree)"]  # fmt: skip
    schema = read_schema(found[TRAIN][0])
    assert [table.name for table in schema.tables] == ["towns", "people"]
    people = read_rows(found[TRAIN][0], schema)["people"]
    assert all(row[3] == f"19{row[0] + 60}-05-{row[0] % 28 + 1:02d}" for row in people) and len(people) >= 12
    assert list(folder.iterdir()) and sorted(p.name for p in tmp_path.iterdir()) == ["club", "keys.yaml", "ordinary"]


def test_one_file_is_one_table_and_a_folder_with_one_database_is_that(tmp_path):
    (tmp_path / "people.csv").write_text(PEOPLE, encoding="utf-8")
    assert [table.name for table in read(tmp_path / "people.csv", tmp_path).schema.tables] == ["people"]
    awkward(tmp_path / "spider" / "club" / "club.sqlite")
    (tmp_path / "spider" / "club" / "schema.sql").write_text("CREATE TABLE t (a)", encoding="utf-8")
    (tmp_path / "again").mkdir()
    assert len(read_own(tmp_path / "spider" / "club", None, tmp_path / "again", seed=17).schema.tables) == len(TABLES)


@pytest.mark.parametrize("count", [1, 60])
def test_one_table_and_sixty(tmp_path, count):
    lines, found = build(tmp_path, many_tables(tmp_path / "many.sqlite", count))
    tables = "1 table, 30 rows" if count == 1 else "60 tables, 1,800 rows"
    assert lines[0] == f"many.sqlite: {tables} read, 0 declared foreign keys"
    assert sum("foreign key inferred" in line for line in lines) == count - 1
    rows = read_rows(found[TRAIN][2], read_schema(found[TRAIN][2]))
    assert len(rows) == count and all(rows.values())


def test_a_schema_too_long_for_a_prompt_is_told(tmp_path):
    columns = ", ".join(f"measure_of_station_{n} INTEGER" for n in range(180))
    short = write_database(tmp_path / "a" / "short.sqlite", f"CREATE TABLE t ({columns})")
    assert not any("characters" in line for line in summary(read(short, tmp_path)))
    path = write_database(tmp_path / "b" / "long.sqlite", "".join(f"CREATE TABLE t{n} ({columns});" for n in range(3)))
    (line,) = [line for line in summary(read(path, tmp_path / "b")) if "characters" in line]
    letters = len(schema_text(path).replace(";", "").replace("\n", ""))
    assert line == (
        f"the schema has {letters:,} characters, about {letters // 3:,} tokens: a prompt holds at most "
        "`agent.schema_characters` of it (params.yaml), what its question is about"
    )


def test_the_same_source_gives_the_same_bytes(tmp_path):
    path = awkward(tmp_path / "awkward.sqlite")
    first = [file_sha256(each) for paths in build(tmp_path, path)[1].values() for each in paths]
    again = [file_sha256(each) for paths in build(tmp_path, path)[1].values() for each in paths]
    assert first == again and len(set(first)) == 6


def test_changes_that_are_only_in_the_log_are_read_and_the_folder_stays_as_it_is(tmp_path):
    path = write_database(tmp_path / "wal.sqlite", WAL)
    with closing(apsw.Connection(str(path))) as writer:
        writer.execute("PRAGMA wal_autocheckpoint = 0; INSERT INTO t VALUES (1, 'x'), (2, 'y')").fetchall()
        before = {each.name: each.read_bytes() for each in tmp_path.iterdir() if each.suffix != ".sqlite-shm"}
        own = read(path, tmp_path)
        assert own.sample.rows == {"t": [(1, "x"), (2, "y")]}
        writer.execute("INSERT INTO t VALUES (3, 'z')")  # nobody holds a lock
        assert before["wal.sqlite"] == path.read_bytes()


def corrupt(path):
    write_database(path, "CREATE TABLE t (a TEXT); INSERT INTO t VALUES (hex(randomblob(9000)))")
    content = bytearray(path.read_bytes())
    content[4096:8192] = b"\xff" * 4096
    path.write_bytes(bytes(content))


def locked(path):
    write_database(path, "CREATE TABLE t (a TEXT)")
    holder = apsw.Connection(str(path))
    holder.execute("BEGIN EXCLUSIVE")
    return holder


@pytest.mark.parametrize(
    ("name", "make", "message"),
    [
        ("missing.sqlite", lambda path: None, "there is no such file"),
        ("empty.sqlite", lambda path: path.touch(), "is empty \\(0 bytes\\)"),
        ("random.sqlite", lambda path: path.write_bytes(bytes(range(256)) * 16), "encrypted or something else"),
        ("photo.sqlite", lambda path: path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(500)), "is a PNG picture"),
        ("text.db", lambda path: path.write_text("a,b\n1,2\n"), "is a text file, such as CSV"),
        ("corrupt.sqlite", corrupt, "is damaged"),
        ("locked.sqlite", locked, "is locked by another program"),
        ("none.sqlite", lambda path: write_database(path, "CREATE TABLE t (a); DROP TABLE t"), "there is no table in"),
        ("wide.sqlite", lambda path: write_database(path, WIDE),
         "table t has 500 columns, more than a table may have here"),
        ("latin.sqlite", lambda path: write_database(path, LATIN),
         "holds a text that is no UTF-8; store it as a BLOB"),
        ("dump.sql", lambda path: path.write_text("CREATE TABLE t (a INT) ENGINE=InnoDB;"), "the script that"),
        ("dump.sql.gz", lambda path: path.write_bytes(b"\x1f\x8bxx"), "neither a SQLite database nor a SQL script"),
        ("folder", lambda path: path.mkdir(), "holds 0 CSV or Parquet files and 0 databases"),
        ("bad.csv", lambda path: path.write_text("a,b\n1,2,3\n"), "bad.csv: cannot be read as CSV"),
    ],
)  # fmt: skip
def test_bad_sources_are_told_with_the_key_in_one_line_and_leave_nothing(tmp_path, name, make, message):
    source = tmp_path / name
    holder = make(source)
    try:
        with pytest.raises(UserError, match=message) as raised:
            build(tmp_path, source)
    finally:
        if isinstance(holder, apsw.Connection):
            holder.close()
    told = str(raised.value)
    assert told.startswith(f"params.yaml: databases.source: {source}: ") and "\n" not in told
    assert told.count(str(source)) <= 2 and not list(tmp_path.glob("*ordinary*"))


def test_a_file_of_keys_of_another_database_is_told_by_its_own_name(tmp_path):
    entry = "{table: club, columns: [a], parent: person, parent_columns: [id]}"
    with pytest.raises(UserError, match=r"^\S*keys.yaml: foreign_keys, entry 1: table: there is no 'club' in the"):
        build(tmp_path, awkward(tmp_path / "awkward.sqlite"), f"foreign_keys: [{entry}]\n")


def test_the_shop_is_the_default_source():
    assert DatabaseParams(17, 60, 60, 250).source == SHOP_SOURCE and DatabaseParams(17, 60, 60, 250).is_shop
    assert not params("club.sqlite").is_shop
    with pytest.raises(ValueError, match=r"^source: names nothing"):
        params(" ")


def test_what_is_written_for_the_shop_is_refused_over_another_database(tmp_path):
    _, ordinary = build(tmp_path, awkward(tmp_path / "awkward.sqlite"))
    said = r"params\.yaml: databases\.source: the test split is written for the shop"
    with pytest.raises(UserError, match=said):
        build_bank((), ordinary, tmp_path / "test", None, None, Limits())
    generated = load(ROOT / "params.yaml", "repair", RepairParams)
    with pytest.raises(UserError, match=r"params\.yaml: repair\.source: `generated` needs the shop"):
        make_tasks(generated, Limits(), tmp_path / "tasks", audited=tmp_path, databases=tmp_path / "ordinary")
    assert not (tmp_path / "test").exists() and not (tmp_path / "tasks").exists()

import json
from pathlib import Path

import apsw
import pytest
from sqlite_files import write_database

from sqldojo.databases.execution import Limits
from sqldojo.errors import UserError
from sqldojo.family_files import family_from_file
from sqldojo.reference_files import Reference
from sqldojo.verifier.family_search import FamilyParams
from sqldojo.verifier.grading import grade

SCHEMA = """
CREATE TABLE maker (id INTEGER PRIMARY KEY, name TEXT, "order" TEXT);
CREATE TABLE toy (id INTEGER PRIMARY KEY, maker INTEGER REFERENCES maker(id), name TEXT, price REAL, made_on TEXT);
"""
REFERENCES = {
    "cheap": "SELECT name FROM toy WHERE price < 20",
    "makers": "SELECT m.name, COUNT(t.id) FROM maker m LEFT JOIN toy t ON t.maker = m.id GROUP BY m.id",
    "dearest": "SELECT name FROM toy WHERE price = (SELECT MAX(price) FROM toy)",
    "year": "SELECT COUNT(*) FROM toy WHERE strftime('%Y', made_on) = '2021'",
    "none": "SELECT id FROM maker WHERE id NOT IN (SELECT maker FROM toy WHERE maker IS NOT NULL)",
    "total": "SELECT SUM(price) FROM toy WHERE price > 900",
}
WRONG = {
    "cheap": ["SELECT name FROM toy WHERE price <= 20", "SELECT DISTINCT name FROM toy WHERE price < 20"],
    "makers": [
        "SELECT m.name, COUNT(*) FROM maker m LEFT JOIN toy t ON t.maker = m.id GROUP BY m.id",
        "SELECT m.name, COUNT(t.id) FROM maker m JOIN toy t ON t.maker = m.id GROUP BY m.id",
        "SELECT m.name, COUNT(t.id) FROM maker m LEFT JOIN toy t ON t.maker = m.id GROUP BY m.name",
    ],
    "dearest": ["SELECT name FROM toy ORDER BY price DESC LIMIT 1"],
    "year": ["SELECT COUNT(*) FROM toy WHERE made_on BETWEEN '2021-01-01' AND '2021-12-31'"],
    "none": ["SELECT id FROM maker WHERE id NOT IN (SELECT maker FROM toy)"],
    "total": ["SELECT COALESCE(SUM(price), 0) FROM toy WHERE price > 900"],
}
RIGHT = {
    "cheap": "SELECT name FROM toy WHERE NOT price >= 20 ORDER BY name",
    "makers": "SELECT name, (SELECT COUNT(*) FROM toy WHERE maker = maker.id) FROM maker",
    "dearest": "SELECT name FROM toy a WHERE price NOTNULL AND NOT EXISTS (SELECT 1 FROM toy WHERE price > a.price)",
    "none": "SELECT m.id FROM maker m LEFT JOIN toy t ON t.maker = m.id WHERE t.id IS NULL",
}
QUICK = FamilyParams(rows=30, ordinary_candidates=4, messy_candidates=60, edits=600)


def build(tmp_path, source, references=REFERENCES, params=QUICK):
    named = [Reference(name, sql) for name, sql in references.items()]
    return family_from_file(source, named, tmp_path / "out", params, Limits())


@pytest.fixture(scope="module")
def family(tmp_path_factory):
    folder = tmp_path_factory.mktemp("family")
    (folder / "schema.sql").write_text(SCHEMA, encoding="utf-8")
    return folder / "out", build(folder, folder / "schema.sql")


@pytest.mark.parametrize("name", REFERENCES)
def test_a_family_from_a_schema_alone_rejects_wrong_queries_and_accepts_right_ones(family, name):
    databases = sorted(family[0].glob("*.sqlite"))
    assert [path.stem for path in databases] == ["adversarial", "ordinary_1", "ordinary_2", "ordinary_3"]
    for wrong in WRONG[name]:
        assert grade(REFERENCES[name], wrong, databases).verdict == "wrong", wrong
    assert grade(REFERENCES[name], RIGHT.get(name, REFERENCES[name]), databases).verdict == "correct"


def test_what_it_returns_is_in_the_file_and_adds_up(family):
    folder, content = family
    assert json.loads((folder / "family.json").read_text(encoding="utf-8")) == content
    figures = content["mutants"]
    assert (content["used"], content["refused"]) == (len(REFERENCES), 0)
    assert figures["mutants"] == sum(each["mutants"] for each in content["references"])
    survivors = sum(len(each["presumed_equivalent"] + each["missed"]) for each in content["references"])
    assert figures["one_ordinary"] <= figures["three_ordinary"] <= figures["four"] == figures["mutants"] - survivors


def test_the_same_arguments_give_the_same_bytes(family, tmp_path):
    (tmp_path / "schema.sql").write_text(SCHEMA, encoding="utf-8")
    build(tmp_path, tmp_path / "schema.sql")
    for path in sorted(family[0].iterdir()):
        assert path.read_bytes() == (tmp_path / "out" / path.name).read_bytes(), path.name


def test_a_database_gives_ordinary_instances_of_its_own_values_and_is_left_alone(tmp_path):
    rows = ", ".join(f"({n}, {n % 3 + 1}, 'Toy {n % 5}', {n * 1.5}, '2021-0{n % 9 + 1}-11')" for n in range(1, 61))
    makers = "(1, 'Ada', 'x'), (2, 'Bo', 'y'), (3, 'Cy', NULL)"
    script = f"{SCHEMA} INSERT INTO maker VALUES {makers}; INSERT INTO toy VALUES {rows};"
    source = write_database(tmp_path / "toys.sqlite", script)
    before = source.read_bytes()
    build(tmp_path, source)
    assert source.read_bytes() == before and [path.name for path in tmp_path.iterdir()] == ["out", "toys.sqlite"]
    own = {row[0] for row in apsw.Connection(str(source)).execute("SELECT name FROM toy")}
    for part in (1, 2, 3):
        names = apsw.Connection(str(tmp_path / "out" / f"ordinary_{part}.sqlite")).execute("SELECT name FROM toy")
        assert {row[0] for row in names} <= own


def test_references_that_cannot_be_used_are_named_with_the_reason_and_left_out(tmp_path):
    (tmp_path / "schema.sql").write_text(SCHEMA, encoding="utf-8")
    references = {
        "good": REFERENCES["cheap"],
        "typing error": "SELECT nmae FROM toy",
        "clock": "SELECT name FROM toy WHERE made_on < date('now')",
        "write": "DELETE FROM toy",
        "tied": "SELECT name FROM toy ORDER BY price DESC LIMIT 1",
        "constant": "SELECT COUNT(*) >= 0 FROM toy",
    }
    content = build(tmp_path, tmp_path / "schema.sql", references)
    refused = {each["id"]: each["refused"] for each in content["references"] if each["refused"]}
    assert list(refused) == ["typing error", "clock", "write", "tied", "constant"]
    assert "nmae" in refused["typing error"] and "clock" in refused["clock"] and "tie" in refused["tied"]
    assert content["used"] == 1 and content["mutants"]["mutants"] > 0


def test_nothing_but_an_earlier_family_is_replaced(tmp_path):
    (tmp_path / "schema.sql").write_text(SCHEMA, encoding="utf-8")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("years of work")
    with pytest.raises(UserError, match=r"holds thesis.txt"):
        build(tmp_path, tmp_path / "schema.sql")
    assert (tmp_path / "out" / "thesis.txt").read_text() == "years of work"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"CREATE TABLE broken (", "the script that builds the database fails"),
        (b"-- nothing", "no table"),
        (b"\xff\xfe\x00", "neither a SQLite database nor a SQL script"),
    ],
)
def test_a_source_that_is_no_schema_is_named(tmp_path, content, message):
    (tmp_path / "source").write_bytes(content)
    with pytest.raises(UserError, match=message):
        build(tmp_path, tmp_path / "source")


def test_no_usable_reference_is_an_error(tmp_path):
    (tmp_path / "schema.sql").write_text(SCHEMA, encoding="utf-8")
    with pytest.raises(UserError, match="no reference can be used"):
        build(tmp_path, tmp_path / "schema.sql", {"a": "SELECT nmae FROM toy"})
    assert not (tmp_path / "out").exists()


def built(tmp_path, script, references):
    path = tmp_path / "schema.sql"
    path.write_text(script)
    return build(tmp_path, path, dict(enumerate(references)), FamilyParams(rows=20, messy_candidates=20, edits=100))


@pytest.mark.parametrize(
    "key", ["REFERENCES nowhere(id)", "REFERENCES t(n)"], ids=["no such table", "columns that are not unique"]
)
def test_keys_that_sqlite_only_minds_when_asked_to_are_no_error(tmp_path, key):
    script = f"CREATE TABLE t (id INTEGER PRIMARY KEY, n INT); CREATE TABLE c (t INT {key}, v TEXT);"
    assert built(tmp_path, script, ["SELECT v FROM c WHERE t > 3", "SELECT n FROM t WHERE n > 5"])["used"] == 2


def test_strict_tables_and_numbers_beyond_64_bits_give_a_family(tmp_path):
    script = "CREATE TABLE t (id INTEGER PRIMARY KEY, n INT NOT NULL, b BLOB, v ANY) STRICT;"
    references = ["SELECT v FROM t WHERE v = 'a' OR n < 99999999999999999999", "SELECT b FROM t WHERE n > 3"]
    assert built(tmp_path, script, references)["used"] == 2


def test_a_reference_that_reads_the_clock_does_not_spoil_another(tmp_path):
    script = "CREATE TABLE t (id INTEGER PRIMARY KEY, day TEXT);"
    references = ["SELECT id FROM t WHERE day > date('now')", "SELECT strftime('%Y', day), COUNT(*) FROM t GROUP BY 1"]
    refused = [each["refused"] for each in built(tmp_path, script, references)["references"]]
    assert "reads the clock" in refused[0] and refused[1] is None


def test_tables_that_no_row_fits_are_named_when_nothing_can_be_used_and_the_earlier_family_stays(tmp_path):
    (tmp_path / "out").mkdir()
    with pytest.raises(UserError, match="no row that was tried fits the constraints of t: give a database with rows"):
        built(tmp_path, "CREATE TABLE t (x INT NOT NULL CHECK (x > 5 AND x < 5));", ["SELECT x FROM t"])
    assert not list((tmp_path / "out").iterdir())


def test_a_script_without_a_table_is_named_not_what_is_made_of_it(tmp_path):
    with pytest.raises(UserError, match=r"^\S*schema\.sql: there is no table in it"):
        built(tmp_path, "-- nothing\n", ["SELECT 1"])


@pytest.mark.parametrize("name", [".", "link", "schema.sql/below"])
def test_a_folder_that_cannot_be_replaced_is_refused_at_once(tmp_path, monkeypatch, name):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    source = tmp_path / "schema.sql"
    source.write_text(SCHEMA)
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(UserError, match="with --out"):
        family_from_file(
            source,
            [Reference("a", "SELECT name FROM toy")],
            Path(name) if name == "." else tmp_path / name,
            QUICK,
            Limits(),
        )


def test_a_database_in_wal_mode_is_read_with_its_log_and_nothing_appears_beside_it(tmp_path):
    folder = tmp_path / "user"
    folder.mkdir()
    path = write_database(folder / "toys.sqlite", SCHEMA + "PRAGMA journal_mode = WAL;")
    before = sorted(each.name for each in folder.iterdir())
    path.chmod(0o444)
    folder.chmod(0o555)
    found = build(tmp_path, path, {"cheap": REFERENCES["cheap"]}, FamilyParams(rows=10, messy_candidates=5, edits=20))
    folder.chmod(0o755)
    assert found["used"] == 1
    assert sorted(each.name for each in folder.iterdir()) == before == ["toys.sqlite"]


def test_an_order_that_rests_on_ties_is_refused_only_where_order_counts(tmp_path):
    (tmp_path / "schema.sql").write_text(SCHEMA, encoding="utf-8")
    sql = "SELECT name FROM toy WHERE price < 20 ORDER BY price"
    references = [Reference("free", sql), Reference("sorted", f"{sql} ", ordered=True)]
    content = family_from_file(tmp_path / "schema.sql", references, tmp_path / "out", QUICK, Limits())
    refused = {each["id"]: each["refused"] for each in content["references"]}
    assert refused["free"] is None and "leaves it open" in refused["sorted"]

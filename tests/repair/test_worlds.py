"""From a database to its four instances and its references: what is asked has one answer, and wrong ones are told."""

import shutil
from itertools import product
from pathlib import Path

import pytest
from instance_checks import SHARED, build_shared
from sqlite_files import write_database
from village import IN_TOWN, build_village

from sqldojo.databases.execution import Limits
from sqldojo.databases.families import ADVERSARIAL, INSTANCES, ORDINARY
from sqldojo.databases.parameters import pool
from sqldojo.databases.schema_model import read_rows, read_schema
from sqldojo.errors import UserError
from sqldojo.files import file_sha256, read_records, write_records
from sqldojo.records import FilledType
from sqldojo.repair.places import instance_paths, template_path
from sqldojo.repair.references import RepairReference
from sqldojo.repair.worlds import (
    OWN_WORLDS,
    WorldParams,
    build_own_world,
    build_world,
    shop_references,
)
from sqldojo.verifier.grading import CORRECT, WRONG, grade, grade_all

SMALL = WorldParams(most_types=12, values_per_type=2, rows=30, oracle_instances=8)
TOWNS = ("Oslo", "Moss", "Bergen", "Narvik")
KINDS = ("sloop", "ketch", "yawl")
SCRIPT = f"""
CREATE TABLE owner (id INTEGER PRIMARY KEY, name TEXT NOT NULL, town TEXT);
CREATE TABLE boat (id INTEGER PRIMARY KEY, owner_id INTEGER REFERENCES owner(id), name TEXT, kind TEXT, length REAL);
INSERT INTO owner VALUES {", ".join(f"({n}, 'Owner {n % 17}', '{TOWNS[n * n % 7 % 4]}')" for n in range(1, 21))};
INSERT INTO boat VALUES {", ".join(
    f"({n}, {n * 7 % 18 + 1 if n % 9 else 'NULL'}, 'Boat {n}', '{KINDS[n * 5 % 7 % 3]}', {n * 37 % 50 / 2})"
    for n in range(1, 61)
)};
"""  # fmt: skip


def files(root: Path) -> dict[str, str]:
    return {path.relative_to(root).as_posix(): file_sha256(path) for path in root.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def boats(tmp_path_factory):
    """The source, the root of the built world and what may be asked of it."""
    root = tmp_path_factory.mktemp("boats")
    source = write_database(root / "source.sqlite", SCRIPT)
    return source, root / "database", build_world(source, "boats", root / "database" / "boats", SMALL, Limits())


def test_the_template_is_the_users_database_and_beside_it_are_four_instances(boats):
    source, root, _ = boats
    assert set(files(root)) == {"boats/boats_template.sqlite", *(f"boats/family/{name}.sqlite" for name in INSTANCES)}
    assert template_path(root, "boats").read_bytes() == source.read_bytes()
    first, *others = instance_paths(root, "boats")
    assert first.read_bytes() == source.read_bytes()
    schema = read_schema(source)
    for path in others:
        assert read_schema(path) == schema
        owners = {row[0] for row in read_rows(path, schema)["owner"]}
        assert {row[1] for row in read_rows(path, schema)["boat"]} <= {*owners, None}


def test_references_are_right_and_a_query_without_its_condition_is_told_from_them(boats):
    _, root, references = boats
    databases = instance_paths(root, "boats")
    cut = 0
    for each in references:
        submissions = [each.sql, f"SELECT * FROM ({each.sql}) WHERE 0"]
        verdicts = grade_all(each.sql, submissions, databases, Limits(), ordered=each.ordered)
        assert [verdict.verdict for verdict in verdicts] == [CORRECT, WRONG], each
        if each.sql.count(" WHERE ") == 1 and not {"GROUP BY", "("} & set(each.sql.split(" WHERE ")[1].split(" ")):
            whole = each.sql.split(" WHERE ")[0] + ")" * (each.sql.count("(") - each.sql.count(")"))
            cut += grade(each.sql, whole, databases).verdict != CORRECT
    assert cut >= 5


def test_a_query_that_only_the_fourth_instance_tells_apart_is_wrong(boats):
    """Wrong rewrites that every ordinary instance lets pass: the fourth was grown against them."""
    _, root, references = boats
    databases = instance_paths(root, "boats")
    decided = set()
    for each in references:
        for old, new in (("<", "<="), (">", ">="), (" = ", " LIKE "), ("COUNT(*)", "COUNT(DISTINCT name)")):
            verdict = grade(each.sql, each.sql.replace(old, new), databases)
            decided |= {verdict.database} if verdict.verdict == WRONG else set()
    assert ADVERSARIAL in decided and decided & set(ORDINARY)


def test_what_is_asked_is_in_words_and_named_for_its_database(boats):
    references = boats[2]
    assert len(references) >= 12
    assert len({each.id for each in references}) == len({each.sql for each in references}) == len(references)
    types = {each.type for each in references}
    assert 6 <= len(types) <= SMALL.most_types
    for each in references:
        assert each.id.startswith(each.type) and each.type.startswith("boats-") and each.db_id == "boats"
        assert "{" not in each.text and "SELECT" not in each.text and ":" not in each.sql
        assert 1 <= each.difficulty <= 4
    assert sum("JOIN" in each.sql or "(SELECT" in each.sql for each in references) >= len(references) / 2


def test_a_world_is_the_same_each_time(boats, tmp_path):
    source, root, references = boats
    assert build_world(source, "boats", tmp_path / "boats", SMALL, Limits()) == references
    assert files(tmp_path / "boats") == files(root / "boats")


def test_references_survive_a_file(boats, tmp_path):
    write_records(tmp_path / "references.jsonl", boats[2])
    assert read_records(tmp_path / "references.jsonl", RepairReference) == boats[2]


def test_our_own_world_speaks_its_own_words(tmp_path):
    params = WorldParams(most_types=8, values_per_type=1, oracle_instances=5)
    references = build_own_world("streaming", tmp_path / "streaming", params, Limits())
    assert 4 <= len(references) == len({each.type for each in references}) <= 8
    assert {each.db_id for each in references} == {"streaming"}
    assert set(OWN_WORLDS) == {"bookshop", "streaming"}
    for each in references:
        assert "joined on" not in each.text and "minutes of" not in each.text
        assert grade(each.sql, each.sql, instance_paths(tmp_path, "streaming")).verdict == CORRECT


def test_the_shop_is_taken_over_as_it_was_audited(tmp_path):
    families = build_village(tmp_path / "databases")
    for paths in families.values():
        shutil.copyfile(paths[0], paths[0].with_name(f"{ADVERSARIAL}.sqlite"))
    filled = [
        FilledType("in-town", family, split, {"town": town}, f"SELECT name FROM people WHERE town = '{town}'")
        for family, split, town in (
            ("train", "train", "Rome"), ("train", "train", "Pisa"), ("train", "train", "Turin"),
            ("evaluation", "reserved", "Oslo"),
        )
    ]  # fmt: skip
    write_records(tmp_path / "audited" / "types.jsonl", [IN_TOWN])
    write_records(tmp_path / "audited" / "filled.jsonl", filled)
    out = tmp_path / "out" / "shop"
    references = shop_references(tmp_path / "audited", tmp_path / "databases", out, WorldParams(values_per_type=2))
    asked = {
        text.format(town=town): f"SELECT name FROM people WHERE town = '{town}'"
        for text, town in product(IN_TOWN.phrasings, ("Rome", "Pisa", "Turin"))
    }
    assert len(references) == 2 == len({each.sql for each in references})
    for each in references:
        assert (each.type, each.db_id, asked[each.text]) == ("shop-in-town", "shop", each.sql)
    for path, copy in zip((*families["train"], families["train"][0]), instance_paths(out.parent, "shop"), strict=True):
        assert copy.read_bytes() == path.read_bytes()
    assert pool(template_path(out.parent, "shop"), "SELECT DISTINCT town FROM people ORDER BY 1") == [
        "Pisa", "Rome", "Turin",
    ]  # fmt: skip


def test_params_that_make_no_sense_and_a_file_that_is_no_database_are_named(tmp_path):
    with pytest.raises(ValueError, match="rounds: must be at least 1, found 0"):
        WorldParams(rounds=0)
    (tmp_path / "notes.sqlite").write_text("no database, but long enough to be taken for one by its size alone")
    with pytest.raises(UserError, match=r"notes\.sqlite"):
        build_world(tmp_path / "notes.sqlite", "notes", tmp_path / "out", SMALL, Limits())
    bare = write_database(tmp_path / "bare.sqlite", "CREATE TABLE t (a TEXT); INSERT INTO t VALUES ('x')")
    with pytest.raises(UserError, match=r"bare\.sqlite: nothing can be asked of it"):
        build_world(bare, "bare", tmp_path / "out", SMALL, Limits())
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(not SHARED.is_dir(), reason="no ../shared beside this repository")
def test_other_peoples_databases_give_references(tmp_path):
    source = build_shared(tmp_path, "spider/databases/cinema")
    params = WorldParams(most_types=8, values_per_type=1, oracle_instances=3)
    references = build_world(source, "cinema", tmp_path / "database" / "cinema", params, Limits())
    assert len(references) >= 3
    databases = instance_paths(tmp_path / "database", "cinema")
    assert all(grade(each.sql, each.sql, databases).verdict == CORRECT for each in references)

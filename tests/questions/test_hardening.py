from dataclasses import replace

import pytest
from sqlite_files import write_database

from sqldojo.databases.execution import Limits, run_query
from sqldojo.databases.families import INSTANCES
from sqldojo.databases.schema_model import read_rows, read_schema
from sqldojo.questions.hardening import HardeningParams, harden, within_reach
from sqldojo.records import COMPOSED, HAND_WRITTEN, TRAIN, FilledType, QuestionType
from sqldojo.verifier.extending import AdversarialParams

TABLE = "CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INTEGER)"
PEOPLE = [[("Ada", 12), ("Bo", 8)], [("Cy", 14), ("Bo", 9)], [("Di", 13), ("Ed", 7), ("Flo", 6)]]
START = {"person": [(1, "Gil", 12), (2, "Hal", 5)]}
AGES = {"age": "VALUES (10), (11)"}
OLDER = QuestionType("older", TRAIN, ("{age}",), "SELECT name FROM person WHERE age > :age", AGES, proposer=COMPOSED)
TOTAL = QuestionType("total", TRAIN, ("?",), "SELECT SUM(age) FROM person WHERE age > 10", proposer=COMPOSED)
TIED = QuestionType("tied", TRAIN, ("?",), "SELECT name FROM person ORDER BY age DESC LIMIT 1", proposer=COMPOSED)


@pytest.fixture(scope="module")
def hardened(tmp_path_factory):
    root = tmp_path_factory.mktemp("hardening")
    paths = []
    for number, rows in enumerate(PEOPLE):
        values = ", ".join(f"({key}, '{name}', {age})" for key, (name, age) in enumerate(rows, start=1))
        script = f"{TABLE}; INSERT INTO person VALUES {values}"
        paths.append(write_database(root / f"{number}.sqlite", script))
    older = {age: f"SELECT name FROM person WHERE age > {age}" for age in (10, 11)}
    filled = [FilledType("older", "train", TRAIN, {"age": age}, sql) for age, sql in older.items()]
    filled += [FilledType(each.id, "train", TRAIN, {}, each.sql) for each in (TOTAL, TIED)]
    params = AdversarialParams(seed=17, oracle_instances=60, rounds=2)
    found = harden([OLDER, TOTAL, TIED], filled, {"train": paths}, {"train": START}, root / "all", params, Limits())
    return found, paths, root / "all" / "train"


def test_all_databases_lie_in_one_folder_the_ordinary_ones_as_they_were(hardened):
    _, paths, folder = hardened
    assert sorted(path.stem for path in folder.iterdir()) == sorted(INSTANCES)
    for path, name in zip(paths, INSTANCES, strict=False):
        assert (folder / f"{name}.sqlite").read_bytes() == path.read_bytes()


def test_the_fourth_has_the_rows_it_started_with_and_those_that_were_missing(hardened):
    path = hardened[2] / f"{INSTANCES[-1]}.sqlite"
    rows = read_rows(path, read_schema(path))["person"]
    assert rows[:2] == START["person"] and {10, 11} <= {age for *_, age in rows}
    assert run_query(path, "SELECT name FROM person WHERE age > 10 GROUP BY name HAVING COUNT(*) > 1").rows


def test_what_no_database_can_judge_is_withdrawn(hardened):
    found = hardened[0]
    assert found.types == [OLDER] and [each.type for each in found.filled] == ["older", "older"]
    assert {each.type: (each.rule, each.accepted) for each in found.withdrawn} == {
        "total": ("misjudged-rewrite", False), "tied": ("depends-on-ties", False),
    }  # fmt: skip
    assert "SUM" in found.withdrawn[-1].evidence


def test_proposed_types_may_be_out_of_reach_and_hand_written_ones_are_not():
    types = [replace(OLDER, id=f"{proposer}-{level}", proposer=proposer, difficulty=level)
             for proposer in (COMPOSED, HAND_WRITTEN) for level in (1, 3)]  # fmt: skip
    filled = [FilledType(each.id, "train", TRAIN, {}, each.sql) for each in types]
    for hardest, names in ((1, ["composed-1", "hand-written-1", "hand-written-3"]), (3, [each.id for each in types])):
        left, asked = within_reach(types, filled, hardest)
        assert [each.id for each in left] == [each.type for each in asked] == names


def test_a_difficulty_that_is_none_is_refused():
    for level in (0, 5):
        with pytest.raises(ValueError, match="hardest_proposed: must be from 1 to 4"):
            HardeningParams(seed=17, oracle_instances=60, rounds=2, hardest_proposed=level)


def test_the_metrics_count_what_was_done(hardened):
    metrics = hardened[0].metrics
    assert (metrics["types"], metrics["references"]) == (1, 2)
    assert metrics["withdrawn"] == {"types": 2, "references": 2}
    assert metrics["mutants"]["made"] > metrics["mutants"]["shown"] > metrics["mutants"]["missed"] > 0
    assert metrics["rows"]["train"] > 2

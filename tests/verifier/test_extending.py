from dataclasses import replace

import pytest
from sqlite_files import write_database

from sqldojo.databases.execution import Limits
from sqldojo.databases.families import INSTANCES
from sqldojo.databases.schema_model import read_schema
from sqldojo.databases.scratch import Scratch
from sqldojo.databases.writing import write_instance
from sqldojo.verifier.audit import FOUR, Subject, score, summarise
from sqldojo.verifier.audit_running import AuditParams, audit
from sqldojo.verifier.extending import AdversarialParams, extend
from sqldojo.verifier.witnesses import left_by, passing, witnesses_for

PARAMS = AdversarialParams(seed=17, oracle_instances=100, rounds=3)
SCRIPT = """
CREATE TABLE town (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INTEGER, town_id INTEGER REFERENCES town(id));
INSERT INTO town VALUES (1, 'Rome'), (2, 'Pisa');
INSERT INTO person VALUES (1, 'Ada', 12, 1), (2, 'Bo', 8, 2), (3, 'Cy', 14, 1)
"""
START = {
    "town": [(1, "Rome"), (2, "Pisa"), (3, "zz")],  # texts above all that are invented
    "person": [(1, "Ada", 12, 1), (2, "Bo", 10, 2), (3, "Cy", 14, None), (4, "zz", 3, 3)],
}
OLDER = Subject("older", "train", "SELECT name FROM person WHERE age > 10")
JOINED = "person p JOIN town t ON t.id = p.town_id"
FROM_ROME = Subject("rome", "train", f"SELECT p.name FROM {JOINED} WHERE t.name = 'Rome'")
OLDEST = Subject("oldest", "train", "SELECT name FROM person WHERE age = (SELECT MAX(age) FROM person)")
AVERAGE = Subject("average", "train", "SELECT AVG(age) FROM person WHERE age > 10")
BOUNDARY = "SELECT name FROM person WHERE age >= 10"


@pytest.fixture(scope="module")
def ordinary(tmp_path_factory):
    root = tmp_path_factory.mktemp("ordinary")
    return {"train": tuple(write_database(root / f"{number}.sqlite", SCRIPT) for number in range(3))}


@pytest.fixture(scope="module")
def extended(ordinary):
    return extend([OLDER, FROM_ROME, OLDEST], ordinary, {"train": START}, PARAMS, Limits())


@pytest.fixture
def grown(ordinary, extended):
    scratch = Scratch(read_schema(ordinary["train"][0]))
    scratch.load(extended.rows["train"])
    yield scratch
    scratch.close()


def test_what_can_be_told_apart_no_longer_passes(ordinary, extended, grown):
    assert extended.made > extended.shown > 10 > extended.grafts > 3
    assert extended.missed == {}
    _, passed = left_by(OLDER, ordinary["train"], grown.schema, Limits())
    assert "SELECT DISTINCT name FROM person WHERE age > 10" in passed
    assert passing(grown, OLDER, passed) == [
        "SELECT name FROM person WHERE ROUND(age) > 10",
        "SELECT name FROM person WHERE age > 10 AND NOT name IS NULL",
        "SELECT name FROM person WHERE age > 10 AND age > 0",
    ]


def test_rows_are_added_and_what_they_refer_to_with_them(extended, grown):
    rows = extended.rows["train"]
    assert all(rows[table][: len(START[table])] == START[table] for table in START)
    assert len(rows["person"]) > len(START["person"])
    towns = {key for key, _ in rows["town"]}
    assert {town for *_, town in rows["person"]} <= {*towns, None}


def test_what_was_killed_before_still_is(extended, grown):
    assert passing(grown, OLDER, [BOUNDARY]) == []


def test_the_audit_with_another_oracle_misses_nothing(ordinary, extended, tmp_path):
    schema = read_schema(ordinary["train"][0])
    fourth = tmp_path / f"{INSTANCES[-1]}.sqlite"
    write_instance(fourth, schema, extended.rows["train"])
    params = AuditParams(seed=5, values_per_type=0, oracle_instances=60)
    found = audit([OLDER, FROM_ROME, OLDEST], {"train": (*ordinary["train"], fourth)}, params, Limits())
    counts = summarise(found)["mutants"]
    assert counts["missed"] == 0 and score(counts, FOUR) == 1.0


def test_the_same_params_give_the_same_rows_and_another_seed_others(ordinary, extended):
    subjects = [OLDER, FROM_ROME, OLDEST]
    assert extend(subjects, ordinary, {"train": START}, PARAMS, Limits()) == extended
    other = extend(subjects, ordinary, {"train": START}, replace(PARAMS, seed=18), Limits())
    assert other.rows != extended.rows


def test_a_mutant_that_no_further_row_can_kill_is_reported(ordinary):
    """Only a database with nobody above 10 tells an average of nothing from 0, and all four have somebody."""
    found = extend([AVERAGE], ordinary, {"train": START}, PARAMS, Limits())
    assert "SELECT COALESCE(AVG(age), 0) FROM person WHERE age > 10" in found.missed[AVERAGE]
    listed = replace(AVERAGE, asked=(("SELECT 10 FROM person WHERE age > 10", 10),))
    found = extend([listed], ordinary, {"train": START}, PARAMS, Limits())
    assert found.missed == {}, "nobody asks for what is not there"


def test_witnesses_are_few_rows_that_show_what_passes(ordinary):
    schema = read_schema(ordinary["train"][0])
    variants = [BOUNDARY, "SELECT name FROM person WHERE 10 < age"]
    settings = {"instances": 60, "seed": "1"}
    found = witnesses_for(OLDER, variants, ordinary["train"][0], schema, Limits(), **settings, together=False)
    (witness,), equal = found
    assert witness.variants == (BOUNDARY,) and equal == variants[1:]
    assert [age for _, _, age, _ in witness.rows["person"]] == [10]
    assert witness.rows["town"] == []
    distinct = "SELECT DISTINCT name FROM person WHERE age > 10"
    both = [BOUNDARY, distinct, "SELECT name FROM person"]  # the database tells the last one
    witnesses, _ = witnesses_for(OLDER, both, ordinary["train"][0], schema, Limits(), **settings, together=True)
    assert [each.variants for each in witnesses] == [tuple(both), (BOUNDARY, distinct)]
    assert witnesses_for(OLDER, both[2:], ordinary["train"][0], schema, Limits(), **settings, together=True) == ([], [])


def test_what_fails_or_takes_too_much_does_not_pass(ordinary):
    scratch = Scratch(read_schema(ordinary["train"][0]), most_rows=4)
    scratch.load(START)
    variants = ["SELECT nothing FROM person", "SELECT p.name FROM person p, town", OLDER.reference]
    assert passing(scratch, OLDER, variants) == [OLDER.reference]
    assert passing(scratch, replace(OLDER, reference=variants[0]), variants) == []
    ordered = replace(OLDER, reference="SELECT name FROM person ORDER BY id", ordered=True)
    backwards = ["SELECT name FROM person ORDER BY id DESC"]
    assert passing(scratch, ordered, backwards) == []
    assert passing(scratch, replace(ordered, ordered=False), backwards) == backwards
    scratch.close()


@pytest.mark.parametrize("key", ["oracle_instances", "rounds"])
def test_params_out_of_range_name_the_key(key):
    with pytest.raises(ValueError, match=f"^{key}: must be at least 1, found 0"):
        replace(PARAMS, **{key: 0})


def test_the_largest_text_of_a_column_stays_so(ordinary, extended):
    rows = extended.rows["train"]
    assert max(name for _, name in rows["town"]) == max(name for _, name, *_ in rows["person"]) == "zz"

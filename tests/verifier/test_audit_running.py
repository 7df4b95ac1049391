from dataclasses import replace

import pytest
from sqlite_files import write_table

from sqldojo.databases.execution import Limits
from sqldojo.databases.families import INSTANCES
from sqldojo.databases.schema_model import read_schema
from sqldojo.verifier.audit import BIRD, FOUR, ONE, TEST_SUITE, THREE, Subject, summarise
from sqldojo.verifier.audit_oracle import ask_oracle, compiling
from sqldojo.verifier.audit_running import AuditParams, audit, audit_reference
from sqldojo.verifier.public_rules import COLUMN_ORDER, DUPLICATES, ROW_ORDER
from sqldojo.verifier.references import ReferenceFailed

PARAMS = AuditParams(seed=17, values_per_type=0, oracle_instances=60)
OLDER = Subject("older", "train", "SELECT name FROM person WHERE age > 10")
PLAIN = [(1, "Ada", 12), (2, "Bo", 8), (3, "Cy", 14)]
ROWS = (PLAIN, PLAIN, PLAIN, [*PLAIN, (4, "Di", 10), (5, "Ada", 12), (6, "Ed", 11), (7, "Flo", None)])


@pytest.fixture(scope="module")
def databases(tmp_path_factory):
    """Only the fourth has a row on the boundary, one beside it, a namesake and an unknown age."""
    root = tmp_path_factory.mktemp("train")
    paths = tuple(root / f"{name}.sqlite" for name in INSTANCES)
    for path, rows in zip(paths, ROWS, strict=True):
        write_table(path, "CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INTEGER)", rows)
    return paths


@pytest.fixture(scope="module")
def older(databases):
    return audit_reference(OLDER, databases, read_schema(databases[0]), PARAMS, Limits(), True)


def one(found, sql):
    (mutant,) = [mutant for mutant in found.mutants if mutant.sql == sql]
    return mutant


def test_a_boundary_is_told_by_the_database_that_has_a_row_on_it(older):
    mutant = one(older, "SELECT name FROM person WHERE age >= 10")
    assert (mutant.killed, mutant.missed) == ((False, False, False, True), None)
    assert (mutant.accepted(ONE), mutant.accepted(THREE), mutant.accepted(FOUR)) == (True, True, False)
    assert mutant.public == {BIRD: (True, True, True, False), TEST_SUITE: (True, True, True, False)}
    assert mutant.disagreements == ()


def test_repeats_are_told_by_our_rule_and_not_by_sets(older):
    mutant = one(older, "SELECT DISTINCT name FROM person WHERE age > 10")
    assert mutant.killed == (False, False, False, True)
    assert mutant.public[BIRD] == (True, True, True, True)
    assert mutant.public[TEST_SUITE] == (True, True, True, False)
    assert mutant.disagreements == ((BIRD, FOUR, DUPLICATES),)


def test_what_no_database_tells_is_shown_to_the_oracle(older, databases):
    schema = read_schema(databases[0])
    three = audit_reference(OLDER, (databases[0],) * 4, schema, PARAMS, Limits(), False)
    mutant = one(three, "SELECT name FROM person WHERE age >= 10")
    assert (mutant.killed, mutant.missed) == ((False,) * 4, True)
    same = [mutant for mutant in older.mutants if mutant.missed is not None]
    assert all(mutant.accepted(FOUR) for mutant in same)
    assert summarise([older])["mutants"]["killed_all_four"] == sum(mutant.missed is None for mutant in older.mutants)


def test_whole_oracle_compares_its_best_four_with_the_shops(older):
    score = older.oracle
    assert score.mutants == len(older.mutants)
    assert 0 < score.best_four <= score.pool <= score.mutants
    assert score.shop_four == sum(not mutant.accepted(FOUR) for mutant in older.mutants)


def test_all_rewrites_of_the_reference_are_accepted(older):
    assert len(older.rewrites) > 8
    assert [rewrite for rewrite in older.rewrites if rewrite.refused] == []


def test_swapped_columns_are_a_documented_disagreement(databases):
    subject = Subject("all", "train", "SELECT id, name FROM person")
    found = audit_reference(subject, databases, read_schema(databases[0]), PARAMS, Limits(), False)
    swapped = one(found, "SELECT name, id FROM person")
    assert swapped.disagreements == ((TEST_SUITE, ONE, COLUMN_ORDER), (TEST_SUITE, FOUR, COLUMN_ORDER))


def test_order_counts_where_the_question_asks_for_it(databases):
    subject = Subject("sorted", "train", "SELECT name FROM person ORDER BY age, id", ordered=True)
    schema = read_schema(databases[0])
    found = audit_reference(subject, databases, schema, PARAMS, Limits(), False)
    backwards = next(mutant for mutant in found.mutants if mutant.sql.endswith("ORDER BY age DESC, id"))
    assert backwards.killed == (True,) * 4 and backwards.public[BIRD] == (True,) * 4
    assert backwards.disagreements == ((BIRD, ONE, ROW_ORDER), (BIRD, FOUR, ROW_ORDER))
    assert not [rewrite for rewrite in found.rewrites if rewrite.refused]
    unordered = audit_reference(replace(subject, ordered=False), databases, schema, PARAMS, Limits(), False)
    assert len(unordered.mutants) < len(found.mutants)


def test_a_mutant_over_the_limits_counts_as_killed(databases):
    few = Limits(rows=2)  # as many as are asked for
    rows_of = (*databases[:3], databases[0])
    found = audit_reference(OLDER, rows_of, read_schema(databases[0]), PARAMS, few, False)
    assert one(found, "SELECT name FROM person").killed == (True,) * 4
    with pytest.raises(ReferenceFailed, match="more than 2 rows"):
        audit_reference(OLDER, databases, read_schema(databases[0]), PARAMS, few, False)


def test_audit_in_workers_keeps_the_order_and_shows_the_first_of_a_type_to_the_whole_oracle(databases, older):
    subjects = [OLDER, replace(OLDER, reference="SELECT name FROM person WHERE age > 11"),
                Subject("all", "train", "SELECT name FROM person")]  # fmt: skip
    found = audit(subjects, {"train": databases}, PARAMS, Limits())
    assert [each.subject for each in found] == subjects
    assert [each.oracle is not None for each in found] == [True, False, True]
    assert found[0] == older


def test_a_reference_that_fails_stops_the_audit(databases):
    with pytest.raises(ReferenceFailed, match="no such column"):
        audit([replace(OLDER, reference="SELECT size FROM person")], {"train": databases}, PARAMS, Limits())


def test_oracle_tells_what_can_be_told_and_nothing_else(databases):
    schema = read_schema(databases[0])
    variants = ("SELECT name FROM person WHERE age > 11", "SELECT name FROM person WHERE 10 < age",
                "SELECT name FROM person WHERE age > 10 AND name IS NOT NULL")  # fmt: skip
    kills = ask_oracle(OLDER, variants, schema, instances=60, seed=1, all_kills=True)
    assert len(kills) == 60 and frozenset().union(*kills) == {0}
    early = ask_oracle(OLDER, variants[:1], schema, instances=60, seed=1, all_kills=False)
    assert early == [instance & {0} for instance in kills[: len(early)]] and early[-1] == {0}
    assert ask_oracle(OLDER, (), schema, instances=60, seed=1, all_kills=True) == []


def test_what_does_not_compile_is_no_mutant(databases):
    schema = read_schema(databases[0])
    queries = ["SELECT name FROM person", "SELECT nobody FROM person", "SELECT", "SELECT MAX(SUM(age)) FROM person"]
    assert compiling(schema, queries) == [True, False, False, False]


@pytest.mark.parametrize(("key", "value"), [("values_per_type", -1), ("oracle_instances", 0)])
def test_params_out_of_range_name_the_key(key, value):
    with pytest.raises(ValueError, match=f"^{key}: "):
        replace(PARAMS, **{key: value})

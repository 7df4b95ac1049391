from dataclasses import replace

import pytest

from sqldojo.databases.execution import Limits
from sqldojo.databases.families import FAMILIES, TRAIN, family_paths
from sqldojo.questions import check
from sqldojo.questions.check import fault_of, prepared
from sqldojo.verifier.grading import CORRECT, WRONG


@pytest.fixture(scope="module")
def instances(tiny_databases):
    with prepared({family: family_paths(tiny_databases, family) for family in FAMILIES}) as families:
        yield families[TRAIN]


def test_preparing_gives_each_family_its_databases_copies_and_twins(instances, tiny_databases):
    assert instances.databases == family_paths(tiny_databases, TRAIN)
    assert [copy.source for copy in instances.copies] == list(instances.databases)
    assert set(instances.twins) == set(instances.databases)


@pytest.mark.parametrize(
    ("reference", "rule", "evidence"),
    [
        ("SELECT name FROM people WHERE town = 'Rome'", None, ""),
        ("SELECT name FROM people WHERE age = 40", None, ""),  # in the largest database alone
        ("SELECT name FROM people WHERE town = 'Atlantis'", "empty-everywhere", "empty on every"),
        ("SELECT name FROM people WHERE age = 10", "same-answer", "the same on all"),
        ("SELECT COUNT(*) FROM people WHERE town = 'Atlantis'", "same-answer", "the same on all"),
        ("SELECT surname FROM people", "sql-fails", "on ordinary_1: no such column: surname: SELECT surname"),
        ("DELETE FROM people", "refused", "only reading"),
        ("SELECT name FROM people WHERE random() > 0", "refused", "random"),
        ("WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n LIMIT 10001) SELECT * FROM n", "over-limit",
         "10,000 "),
        ("WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) SELECT MAX(i) FROM n", "over-limit",
         "steps"),
        ("SELECT name FROM people ORDER BY age DESC LIMIT 1", "depends-on-ties", "LIMIT"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_reference_is_told(instances, reference, rule, evidence):
    fault = fault_of(reference, instances, Limits(vm_steps=1_000_000), ordered=False)
    assert fault is None if rule is None else (fault.rule == rule and evidence in fault.evidence)


@pytest.mark.parametrize("broken", [CORRECT, WRONG])
def test_a_grader_that_calls_it_otherwise_is_seen(instances, monkeypatch, broken):
    honest = check.judge
    monkeypatch.setattr(check, "judge", lambda *arguments: replace(honest(*arguments), verdict=broken))
    fault = fault_of("SELECT name FROM people", instances, Limits(), ordered=False)
    assert fault.rule == "grader-disagrees" and f"called {broken}" in fault.evidence

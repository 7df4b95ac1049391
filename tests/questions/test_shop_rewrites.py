"""The four databases of each family tell every fixture rewrite apart from the reference.

Two tests: the grader's own verdict for every question drawn, and the databases' answers for every value that a
question could name, so that another seed of the questions finds no value that lets a wrong query pass.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pytest

from sqldojo.databases.execution import OK, Limits, run_query
from sqldojo.databases.families import FAMILIES, family_paths
from sqldojo.databases.parameters import Value, expand, pool
from sqldojo.questions.shop_held_out_types import CHECK_TYPES, SELECTION_TYPES
from sqldojo.questions.shop_training_types import TRAINING_TYPES
from sqldojo.verifier.comparison import first_difference
from sqldojo.verifier.grading import CORRECT, WRONG, grade

TYPES = (*TRAINING_TYPES, *SELECTION_TYPES, *CHECK_TYPES)
FIXTURES = Path(__file__).parents[1] / "sql" / "shop_rewrites.sql"


@dataclass(frozen=True)
class Rewrite:
    """One way of writing a type's reference, and what the grader must say about it."""

    title: str
    type: str
    verdict: str
    sql: str

    def asking(self, database: Path, values: Mapping[str, Value]) -> str:
        """The submission for these values; one that drops a filter does not use all of them."""
        return expand(database, self.sql, {name: value for name, value in values.items() if f":{name}" in self.sql})


def read_rewrites(path: Path) -> list[Rewrite]:
    """The blocks of a fixture file; TypeError for one without title, type or verdict."""
    rewrites = []
    for block in path.read_text(encoding="utf-8").split("\n\n"):
        lines = block.strip().splitlines()
        sql = " ".join(line for line in lines if not line.startswith("-- "))
        if sql:
            headers = dict(line.removeprefix("-- ").split(": ", 1) for line in lines if line.startswith("-- "))
            rewrites.append(Rewrite(**headers, sql=sql.removesuffix(";")))
    return rewrites


REWRITES = read_rewrites(FIXTURES)


@pytest.mark.parametrize("rewrite", REWRITES, ids=lambda rewrite: f"{rewrite.type}: {rewrite.title}")
def test_the_grader_tells_the_rewrite(rewrite, shop_databases, shop_questions):
    asked = {(q.family, q.reference): q for split in shop_questions.values() for q in split if q.type == rewrite.type}
    assert asked
    otherwise = []
    for question in asked.values():
        databases = family_paths(shop_databases, question.family)
        verdict = grade(question.reference, rewrite.asking(databases[0], question.parameters), databases, Limits())
        if verdict.verdict != rewrite.verdict:
            otherwise.append(f"{question.id} {dict(question.parameters)}: {verdict.verdict} {verdict.reason}")
    assert not otherwise, f"{len(otherwise)} of {len(asked)}: " + "; ".join(otherwise)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("question_type", TYPES, ids=lambda question_type: question_type.id)
def test_every_value_of_the_pools_tells_the_rewrites(question_type, family, shop_databases):
    databases = family_paths(shop_databases, family)[::-1]  # the adversarial one first: it is meant to be enough
    rewrites = [rewrite for rewrite in REWRITES if rewrite.type == question_type.id]
    pools = [pool(databases[-1], sql) for sql in question_type.parameters.values()]
    otherwise = []
    for combination in product(*pools):
        values = dict(zip(question_type.parameters, combination, strict=True))
        reference = expand(databases[0], question_type.sql, values)
        for rewrite in rewrites:
            submission = rewrite.asking(databases[0], values)
            if all(same_answer(path, reference, submission) for path in databases) != (rewrite.verdict == CORRECT):
                otherwise.append(f"{rewrite.title} {combination}")
    assert not otherwise


def same_answer(database: Path, reference: str, submission: str) -> bool:
    expected, found = (run_query(database, sql, Limits()) for sql in (reference, submission))
    assert (expected.status, found.status) == (OK, OK)
    return first_difference((expected.columns, expected.rows), (found.columns, found.rows)) is None


def test_every_type_has_three_wrong_rewrites_and_a_right_one():
    verdicts = Counter((rewrite.type, rewrite.verdict) for rewrite in REWRITES)
    for question_type in TYPES:
        assert verdicts[question_type.id, WRONG] >= 3, question_type.id
        assert verdicts[question_type.id, CORRECT] >= 1, question_type.id
    assert {rewrite.verdict for rewrite in REWRITES} == {WRONG, CORRECT}

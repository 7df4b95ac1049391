"""The four databases of each family tell every fixture rewrite apart from the reference, for every question drawn."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from sqldojo.databases.execution import Limits
from sqldojo.databases.families import family_paths
from sqldojo.databases.parameters import expand
from sqldojo.questions.shop_held_out_types import CHECK_TYPES, SELECTION_TYPES
from sqldojo.questions.shop_training_types import TRAINING_TYPES
from sqldojo.verifier.grading import CORRECT, WRONG, grade

FIXTURES = Path(__file__).parents[1] / "sql" / "shop_rewrites.sql"


@dataclass(frozen=True)
class Rewrite:
    """One way of writing a type's reference, and what the grader must say about it.

    `lacking` names what the databases lack to tell it for every question: a known hole, not a reason to accept it.
    """

    title: str
    type: str
    verdict: str
    sql: str
    lacking: str = ""


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
        # Not every question gives every parameter to every rewrite: one that drops a filter has fewer.
        submission = expand(databases[0], rewrite.sql, {name: value for name, value in question.parameters.items()
                                                        if f":{name}" in rewrite.sql})  # fmt: skip
        verdict = grade(question.reference, submission, databases, Limits())
        if verdict.verdict != rewrite.verdict:
            otherwise.append(f"{question.id} {dict(question.parameters)}: {verdict.verdict} {verdict.reason}")
    if otherwise and rewrite.lacking:
        pytest.xfail(f"accepted for {len(otherwise)} of {len(asked)} questions: the databases lack {rewrite.lacking}")
    assert not otherwise, f"{len(otherwise)} of {len(asked)}: " + "; ".join(otherwise)


def test_every_type_has_three_wrong_rewrites_and_a_right_one():
    verdicts = Counter((rewrite.type, rewrite.verdict) for rewrite in REWRITES)
    for question_type in (*TRAINING_TYPES, *SELECTION_TYPES, *CHECK_TYPES):
        assert verdicts[question_type.id, WRONG] >= 3, question_type.id
        assert verdicts[question_type.id, CORRECT] >= 1, question_type.id
    assert {rewrite.verdict for rewrite in REWRITES} == {WRONG, CORRECT}

"""A repair task, in two halves: what a model may know of it, and what stays hidden from models for good.

The halves are two types in two files, so that whoever writes a prompt, a transcript or a training row has no reference
and no test at hand that could slip in.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqldojo.records import CORRECT, WRONG_SQL

TRAIN, VALIDATION, EVALUATION = "train", "validation", "evaluation"
REPAIR_SPLITS = (TRAIN, VALIDATION, EVALUATION)

REPEATED_ACTION, PARSE_FAILURE = "repeated_action", "parse_failure"
TURN_LIMIT, TOKEN_LIMIT, INFRASTRUCTURE = "turn_limit", "token_limit", "infrastructure"
# CORRECT means solved: every hidden test passes. INFRASTRUCTURE is a provider's failure and no answer of the model.
REPAIR_OUTCOMES = (CORRECT, WRONG_SQL, REPEATED_ACTION, PARSE_FAILURE, TURN_LIMIT, TOKEN_LIMIT, INFRASTRUCTURE)

QUERY, MANAGEMENT, PERSONALIZATION = "Query", "Management", "Personalization"


@dataclass(frozen=True)
class RepairTask:
    """What the user tells: an issue in words, the query that does not do what they want, and what runs before it.

    `kind` is the kind of the injected bug, or the category where that is unknown; `type` says which tasks have the same
    root, the question type or the task itself: they share a split and count as one cluster in statistics. `difficulty`
    is that of the reference, from 1 (one table, one condition) to 4 (several steps), and 0 where nobody knows. None of
    these is shown to a model. The SQL lists hold one statement an item.
    """

    id: str
    db_id: str
    split: str
    kind: str
    type: str
    category: str
    issue: str
    issue_sql: tuple[str, ...]
    preprocess_sql: tuple[str, ...] = ()
    clean_up_sql: tuple[str, ...] = ()
    difficulty: int = 0


@dataclass(frozen=True)
class Hidden:
    """What judges a submission to the task of the same id: the reference, the tests' source, whether order counts.

    Without tests the published default test counts. `ordered` is the record's `conditions.order`.
    """

    id: str
    sol_sql: tuple[str, ...]
    test_cases: tuple[str, ...] = ()
    ordered: bool = False

"""Scores of repair: the very figures of `statistics`, and providers' failures that count for nothing."""

import pytest
from example_repair import LIMITS, attempt, task

from sqldojo.evaluation.repair_scores import answered, attempts_by_task, score_repairs, score_table_rows
from sqldojo.evaluation.statistics import clustered_interval
from sqldojo.records import CORRECT, OUT_OF_BUDGET, WRONG_SQL
from sqldojo.repair.task import INFRASTRUCTURE, REPAIR_OUTCOMES, TOKEN_LIMIT

TASKS = [
    task("a1", type="a", kind="wrong-alias"), task("a2", type="a", kind="join-fan-out"),
    task("b1", type="b", kind="wrong-alias"), task("b2", type="b", kind="join-fan-out", db="streaming"),
    task("c1", type="c", kind="join-fan-out", db="streaming"), task("d1", type="d", db="netflix"),
]  # fmt: skip
OUTCOMES = (CORRECT, WRONG_SQL, CORRECT, CORRECT, TOKEN_LIMIT, INFRASTRUCTURE)
EPISODES = [attempt(asked, outcome) for asked, outcome in zip(TASKS, OUTCOMES, strict=True)]


@pytest.fixture(scope="module")
def scores():
    return score_repairs(EPISODES, TASKS, seed=17, limits=LIMITS)


def test_all_are_clustered_by_type(scores):
    row = scores["all"]
    wanted = clustered_interval({"a": [[1], [0]], "b": [[1], [1]], "c": [[0]]}, "17/all")
    assert (row["solved"], row["tasks"], row["types"]) == (3, 5, 3)
    assert row["solve_rate"] == 0.6
    assert (row["solve_rate_low"], row["solve_rate_high"]) == (round(wanted.low, 4), round(wanted.high, 4))


def test_a_provider_failure_is_neither_solved_nor_wrong(scores):
    assert scores["all"]["outcomes"] == dict.fromkeys(REPAIR_OUTCOMES, 0) | {
        CORRECT: 3, WRONG_SQL: 1, TOKEN_LIMIT: 1, INFRASTRUCTURE: 1,
    }  # fmt: skip
    netflix = scores["databases"]["netflix"]
    assert (netflix["tasks"], netflix["outcomes"][INFRASTRUCTURE]) == (0, 1) and "solve_rate" not in netflix
    assert "d1" not in answered(attempts_by_task(EPISODES))


def test_databases_and_kinds(scores):
    assert {name: (row["solved"], row["tasks"]) for name, row in scores["databases"].items()} == {
        "bookshop": (2, 3), "netflix": (0, 0), "streaming": (1, 2),
    }  # fmt: skip
    assert {name: (row["solved"], row["tasks"]) for name, row in scores["kinds"].items()} == {
        "join-fan-out": (1, 3), "wrong-alias": (2, 2),
    }  # fmt: skip
    wanted = clustered_interval({"a": [[1], [0]], "b": [[1]]}, "17/database/bookshop")
    assert scores["databases"]["bookshop"]["solve_rate_high"] == round(wanted.high, 4)


def test_two_bugs_are_a_kind_of_their_own():
    asked = [task("x", kind="nulls+syntax"), task("y", kind="dates+nulls"), task("z", kind="nulls")]
    found = score_repairs([attempt(each, CORRECT) for each in asked], asked, seed=17, limits=LIMITS)
    assert {name: row["tasks"] for name, row in found["kinds"].items()} == {"nulls": 1, "two bugs": 2}


def test_limits_stand_with_the_score(scores):
    assert scores["limits"] == LIMITS


def test_the_order_of_episodes_does_not_matter(scores):
    assert score_repairs(EPISODES[::-1], TASKS[::-1], seed=17, limits=LIMITS) == scores


def test_a_table_for_plots(scores):
    rows = score_table_rows({"r1": scores})
    assert [(row["run"], row["group"], row["name"], row["solved"], row["tasks"]) for row in rows] == [
        ("r1", "all", "all", 3, 5), ("r1", "database", "bookshop", 2, 3), ("r1", "database", "netflix", 0, 0),
        ("r1", "database", "streaming", 1, 2), ("r1", "kind", "join-fan-out", 1, 3),
        ("r1", "kind", "wrong-alias", 2, 2),
    ]  # fmt: skip
    assert rows[0]["solve_rate"] == 0.6 and rows[2]["solve_rate"] is None and rows[0][TOKEN_LIMIT] == 1


@pytest.mark.parametrize(
    ("episodes", "complaint"),
    [
        ([*EPISODES, EPISODES[0]], "task a1 was attempted more than once"),
        ([attempt(task("z1"), CORRECT)], "task z1 was attempted but is not among the tasks"),
        ([attempt(TASKS[0], OUT_OF_BUDGET)], "'out_of_budget' is no outcome of a repair"),
        ([], "no attempt"),
    ],
)
def test_what_cannot_be_scored(episodes, complaint):
    with pytest.raises(ValueError, match=complaint):
        score_repairs(episodes, TASKS, seed=17, limits=LIMITS)

"""Metrics from episodes: every figure counted by hand."""

import json

import pytest

from sqldojo.evaluation.summary import summarise, summarise_types
from sqldojo.records import CORRECT, NEVER_SUBMITTED, OUT_OF_BUDGET, WRONG_SQL, Episode


def episode(split, type, question, attempt, outcome):
    return Episode(f"{question}/{attempt}", question, type, split, attempt, (), outcome, 0.0, "")


EPISODES = [
    episode("reserved", "cheap", "cheap-1", 0, CORRECT),
    episode("reserved", "cheap", "cheap-1", 1, WRONG_SQL),
    episode("reserved", "cheap", "cheap-2", 0, CORRECT),
    episode("reserved", "cheap", "cheap-2", 1, CORRECT),
    episode("reserved", "city", "city-1", 0, NEVER_SUBMITTED),
    episode("reserved", "city", "city-1", 1, OUT_OF_BUDGET),
    episode("check", "tops", "tops-1", 0, WRONG_SQL),
]


def test_summary_per_split():
    metrics = summarise(EPISODES, seed=17)
    assert list(metrics) == ["check", "reserved"]
    reserved = metrics["reserved"]
    assert reserved["accuracy"] == reserved["correct"] == 0.5
    assert (reserved["wrong_sql"], reserved["never_submitted"], reserved["out_of_budget"]) == (0.1667, 0.1667, 0.1667)
    assert (reserved["questions"], reserved["attempts"]) == (3, 6)
    assert reserved["accuracy_low"] < 0.5 < reserved["accuracy_high"]
    assert metrics["check"]["accuracy"] == 0.0 and metrics["check"]["accuracy_high"] == 0.975


def test_pass_at_k_for_powers_of_two_up_to_the_attempts():
    right = {"a": [1, 0, 0, 0, 0], "b": [1, 1, 0, 0, 0], "c": [0] * 5}
    played = [
        episode("check", f"t-{name}", name, attempt, CORRECT if value else WRONG_SQL)
        for name, values in right.items()
        for attempt, value in enumerate(values)
    ]
    row = summarise(played, seed=17)["check"]
    assert [key for key in row if key.startswith("pass@") and key[-1].isdigit()] == ["pass@2", "pass@4"]
    assert row["pass@2"] == pytest.approx((4 / 10 + 7 / 10 + 0) / 3, abs=1e-4)  # choices of 2 of 5 with a right one
    assert row["pass@4"] == pytest.approx((4 / 5 + 1 + 0) / 3, abs=1e-4)
    assert row["accuracy"] < row["pass@2"] < row["pass@4"]
    for k in ("pass@2", "pass@4"):
        assert row[f"{k}_low"] <= row[k] <= row[f"{k}_high"]


def test_no_pass_at_k_beyond_what_every_question_was_attempted():
    metrics = summarise(EPISODES, seed=17)
    assert "pass@2" in metrics["reserved"] and "pass@4" not in metrics["reserved"]
    assert not [key for key in metrics["check"] if key.startswith("pass@")]
    uneven = [*EPISODES, episode("check", "tops", "tops-2", 0, CORRECT), episode("check", "tops", "tops-2", 1, CORRECT)]
    assert "pass@2" not in summarise(uneven, seed=17)["check"]


def test_summary_per_type_is_sorted_and_has_one_row_each():
    rows = summarise_types(EPISODES, seed=17)
    assert [(row["split"], row["type"], row["accuracy"]) for row in rows] == [
        ("check", "tops", 0.0),
        ("reserved", "cheap", 0.75),
        ("reserved", "city", 0.0),
    ]
    assert [row["attempts"] for row in rows] == [1, 4, 2]


def test_summary_does_not_depend_on_the_order_of_episodes_and_is_finite_json():
    metrics = summarise(EPISODES, seed=17)
    assert summarise(EPISODES[::-1], seed=17) == metrics
    assert json.loads(json.dumps(metrics, allow_nan=False)) == metrics
    for row in metrics.values():
        shares = [row[name] for name in ("correct", "wrong_sql", "never_submitted", "out_of_budget")]
        assert sum(shares) == pytest.approx(1, abs=4e-4)

"""The best look is kept, ties keep the earlier one, and the run stops for the stated reasons only."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from sqldojo.training.selection import Look, Selection, SelectionParams

PARAMS = SelectionParams(every=3, attempts=2, patience=2, keep="best", accuracy_floor_drop=0.1)


def look(step: int, accuracy: float) -> Look:
    return Look(step, accuracy, max(0.0, accuracy - 0.1), min(1.0, accuracy + 0.1), 20, 40)


def after(accuracies: Sequence[float], params: SelectionParams = PARAMS) -> tuple[Selection, list[bool]]:
    selection = Selection(params)
    return selection, [selection.take(look(3 * number, value)) for number, value in enumerate(accuracies)]


def test_the_highest_is_kept_and_of_equals_the_first() -> None:
    selection, kept = after([0.5, 0.525, 0.525, 0.5, 0.55])
    assert kept == [True, True, False, False, True]
    assert selection.best == selection.kept == selection.looks[4] and len(selection.looks) == 5
    assert after([0.5, 0.525, 0.525])[0].best.step == 3


def test_latest_best_keeps_of_equals_the_last() -> None:
    selection, kept = after([0.0, 0.0, 0.1 + 0.2, 0.3, 0.2], replace(PARAMS, keep="latest_best"))
    assert kept == [True, True, True, True, False] and selection.kept.step == 9


def test_rounding_is_no_gain() -> None:
    assert after([0.3, 0.1 + 0.2])[1] == [True, False]


def test_the_start_takes_part() -> None:
    selection, kept = after([0.6, 0.55, 0.58])
    assert kept == [True, False, False] and selection.kept.step == 0


def test_last_keeps_the_last() -> None:
    selection, kept = after([0.6, 0.7, 0.65], replace(PARAMS, keep="last"))
    assert kept == [True, True, True]
    assert selection.kept.step == 6 and selection.best.step == 3


def test_patience_counts_looks_since_the_best() -> None:
    assert after([0.5, 0.5])[0].stop_reason is None
    assert after([0.5, 0.5, 0.6, 0.6])[0].stop_reason is None
    reason = after([0.5, 0.6, 0.6, 0.59])[0].stop_reason
    assert reason == "2 looks in a row no better than 0.600 at step 3"


def test_a_fall_below_the_start_stops() -> None:
    assert Selection(PARAMS).stop_reason is None
    assert after([0.8, 0.7])[0].stop_reason is None  # the allowed drop, though 0.8 - 0.1 > 0.7 in floating point
    reason = after([0.5, 0.7, 0.375])[0].stop_reason
    assert reason == "selection accuracy 0.375 at step 6 is more than 0.1 below the start's 0.500"


def test_looks_come_at_start_regularly_and_at_the_end() -> None:
    selection = Selection(PARAMS)
    assert [step for step in range(9) if selection.is_due(step, 8)] == [0, 3, 6, 8]


def test_a_resumed_run_decides_as_the_uninterrupted_one() -> None:
    accuracies = [0.5, 0.55, 0.5, 0.6, 0.6, 0.6]
    whole, decisions = after(accuracies)
    first, _ = after(accuracies[:3])
    resumed = Selection(PARAMS)
    resumed.restore(json.loads(json.dumps(first.state())))
    assert [resumed.take(look(3 * number, accuracies[number])) for number in (3, 4, 5)] == decisions[3:]
    assert resumed.looks == whole.looks and resumed.stop_reason == whole.stop_reason is not None


def test_looks_go_forward() -> None:
    selection, _ = after([0.5, 0.6])
    with pytest.raises(ValueError, match="step 3 cannot follow one at step 3"):
        selection.take(look(3, 0.7))


@pytest.mark.parametrize(
    ("key", "value"),
    [("every", 0), ("attempts", 0), ("patience", 0), ("keep", "first"), ("accuracy_floor_drop", -0.1),
     ("accuracy_floor_drop", 1.1)],
)  # fmt: skip
def test_params_out_of_range_name_the_key(key: str, value: float | str) -> None:
    with pytest.raises(ValueError, match=f"^{key}: must "):
        replace(PARAMS, **{key: value})

"""The table of scores: what stands in which cell."""

import pytest

from sqldojo.errors import UserError
from sqldojo.evaluation.report import headline, markdown


def row(accuracy, low, high, questions=30, attempts=60):
    shares = {"correct": accuracy, "wrong_sql": 1 - accuracy, "never_submitted": 0.0, "out_of_budget": 0.0}
    bounds = {"accuracy": accuracy, "accuracy_low": low, "accuracy_high": high}
    return {**bounds, **shares, "questions": questions, "attempts": attempts}


METRICS = {
    "released": {"check": row(0.0, 0.0, 0.522, 5, 10), "reserved": row(0.0, 0.0, 0.218)},
    "distilled": {"check": row(0.2, 0.1, 0.4, 5, 10), "reserved": row(0.875, 0.75, 0.95)},
}


def cells(text):
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]


def test_cells():
    rows = cells(markdown(METRICS, {}))
    assert rows[0] == ["split (questions x attempts)", "released", "distilled"]
    assert rows[2] == ["reserved (30 x 2)", "0.0 [0.0, 21.8]", "87.5 [75.0, 95.0]"]
    assert rows[3] == ["check (5 x 2)", "0.0 [0.0, 52.2]", "20.0 [10.0, 40.0]"]
    assert ["reserved", "distilled", "87.5", "12.5", "0.0", "0.0"] in rows


CHANGES = {"distilled": {
    "reserved": {"change": 0.875, "change_low": 0.7, "change_high": 1.0},
    "check": {"change": 0.2, "change_low": -0.05, "change_high": 0.45},
}}  # fmt: skip


def test_changes_stand_beside_accuracies():
    rows = cells(markdown(METRICS, CHANGES))
    assert ["split", "distilled - released"] in rows
    assert ["reserved", "+87.5 [+70.0, +100.0]"] in rows and ["check", "+20.0 [-5.0, +45.0]"] in rows
    numbers = headline(METRICS, CHANGES)
    assert numbers["check"]["distilled"]["change_low"] == -0.05 and "change" not in numbers["check"]["released"]


def test_columns_line_up_as_plain_text():
    lines = [line for line in markdown(METRICS, {}).splitlines() if line.startswith("|")]
    accuracy, outcomes = lines[:4], lines[4:]
    assert len({len(line) for line in accuracy}) == len({len(line) for line in outcomes}) == 1


def test_headline_is_split_then_checkpoint():
    numbers = headline(METRICS, {})
    assert numbers["reserved"]["distilled"] == {"accuracy": 0.875, "accuracy_low": 0.75, "accuracy_high": 0.95}
    assert set(numbers) == {"reserved", "check"} and list(numbers["check"]) == ["released", "distilled"]


def test_checkpoints_measured_on_other_questions_are_not_compared():
    stale = {**METRICS, "distilled": {**METRICS["distilled"], "check": row(0.2, 0.1, 0.4, 6, 12)}}
    with pytest.raises(UserError, match=r"metrics/evaluate: split check .*dvc repro evaluate"):
        markdown(stale, {})
    missing = {**METRICS, "released": {"reserved": row(0.0, 0.0, 0.2)}}
    with pytest.raises(UserError, match="check"):
        headline(missing, {})

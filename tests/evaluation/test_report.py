"""The report of a chain: what stands in which cell."""

import pytest

from sqldojo.errors import UserError
from sqldojo.evaluation.comparing import TypeChange
from sqldojo.evaluation.report import headline, markdown
from sqldojo.evaluation.score_tables import points


def row(accuracy, low, high, questions=30, attempts=60, **more):
    shares = {"correct": accuracy, "wrong_sql": 1 - accuracy, "never_submitted": 0.0, "out_of_budget": 0.0}
    bounds = {"accuracy": accuracy, "accuracy_low": low, "accuracy_high": high}
    return {**bounds, **shares, **more, "questions": questions, "attempts": attempts}


METRICS = {
    "released": {"selection": row(0.0, 0.0, 0.522, 5, 10), "reserved": row(0.0, 0.0, 0.218)},
    "distilled": {"selection": row(0.2, 0.1, 0.4, 5, 10), "reserved": row(0.875, 0.75, 0.95)},
    "grpo": {"selection": row(0.3, 0.1, 0.5, 5, 10), "reserved": row(0.9, 0.8, 0.97)},
    "redistilled": {"selection": row(0.1, 0.0, 0.4, 5, 10), "reserved": row(0.95, 0.85, 1.0)},
}
KEPT = METRICS | {"kept": METRICS["grpo"]}
KEEP = {"kept_redistilled": 0, "grpo": 0.3, "redistilled": 0.1}
CHANGES = {
    "distilled": {
        "reserved": {"change": 0.875, "change_low": 0.7, "change_high": 1.0},
        "selection": {"change": 0.2, "change_low": -0.05, "change_high": 0.45},
    },
    "kept": {
        "reserved": {"change": 0.025, "change_low": -0.01, "change_high": 0.06},
        "selection": {"change": 0.1, "change_low": -0.1, "change_high": 0.3},
    },
}


def cells(text):
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]


def test_what_rounds_to_nothing_has_no_minus():
    assert [points(change) for change in (-0.0004, -0.0, 0.0004, -0.0006, 0.125)] == [
        "+0.0", "+0.0", "+0.0", "-0.1", "+12.5",
    ]  # fmt: skip


def test_checkpoints_down_and_splits_across():
    heads, _, *rows = cells(markdown(METRICS, {}))[:6]
    assert heads == ["checkpoint", "reserved (30 x 2)", "selection (5 x 2)"]
    assert rows == [
        ["released", "0.0 [0.0, 21.8]", "0.0 [0.0, 52.2]"],
        ["distilled", "87.5 [75.0, 95.0]", "20.0 [10.0, 40.0]"],
        ["grpo", "90.0 [80.0, 97.0]", "30.0 [10.0, 50.0]"],
        ["redistilled", "95.0 [85.0, 100.0]", "10.0 [0.0, 40.0]"],
    ]


def test_the_kept_one_comes_last_and_says_which_it_is():
    text = markdown(KEPT, CHANGES, keep=KEEP)
    assert cells(text)[6] == ["kept", "90.0 [80.0, 97.0]", "30.0 [10.0, 50.0]"]
    assert "- kept: grpo, which answered 30.0 % of selection (5 x 2), redistilled 10.0 %; as the better of two" in text
    other = KEPT | {"kept": METRICS["redistilled"]}
    assert "- kept: redistilled, which answered 10.0 %" in markdown(other, {}, keep=KEEP | {"kept_redistilled": 1})
    assert "- kept:" not in markdown(METRICS, {})


def test_a_quantised_base_is_named():
    plain, quantised = markdown(METRICS, CHANGES), markdown(METRICS, CHANGES, quantised="quantised, 4 bit")
    line = "The base model is quantised, 4 bit: scored so, and the adapters were trained on it so (QLoRA).\n\n"
    assert line in quantised and quantised.replace(line, "") == plain


def test_changes_stand_under_what_they_are_changes_of():
    rows = cells(markdown(KEPT, CHANGES))
    assert ["change", "reserved (30 x 2)", "selection (5 x 2)"] in rows
    assert ["distilled - released", "+87.5 [+70.0, +100.0]", "+20.0 [-5.0, +45.0]"] in rows
    assert ["kept - distilled", "+2.5 [-1.0, +6.0]", "+10.0 [-10.0, +30.0]"] in rows
    assert not [line for line in rows if line[0].startswith("grpo -")]


def test_the_first_tables_fit_eighty_columns():
    lines = [line for line in markdown(KEPT, CHANGES, keep=KEEP).split("## How")[0].splitlines() if line[:1] == "|"]
    assert max(map(len, lines)) <= 80
    third = {split: row(0.5, 0.4, 0.6) for split in ("reserved", "selection", "check")}
    lines = [line for line in markdown({"redistilled": third}, {}).split("## How")[0].splitlines() if line[:1] == "|"]
    assert len({len(line) for line in lines}) == 1 and len(lines[0]) <= 80


def test_types_gains_and_signal():
    best = TypeChange("selection", "best", 3, 6, 0.5, 0.25, -0.25)
    types = [best, TypeChange("reserved", "city", 2, 2, 0.0, 1.0, 1.0)]
    counts = {"selection": {"gained": 1, "lost": 2, "both_right": 0, "both_wrong": 2, "both_partly": 0, "questions": 5}}
    signal = [{"from": 1, "to": 40, "informative": 30, "groups": 240, "share": 0.125}]
    rows = cells(markdown(KEPT, CHANGES, types=types, counts=counts, signal=signal))
    assert ["split", "type", "questions x attempts", "distilled", "kept", "change, points"] in rows
    first = rows.index(["selection", "best", "3 x 2", "50.0", "25.0", "-25.0"])
    assert rows[first + 1] == ["reserved", "city", "2 x 1", "0.0", "100.0", "+100.0"]
    assert ["split (questions x attempts)", "gained", "lost", "both right", "both wrong"] in rows
    assert ["selection (5 x 2)", "1", "2", "0", "2"] in rows
    assert ["1 to 40", "30", "240", "12.5"] in rows
    partly = {"selection": counts["selection"] | {"both_partly": 1}}
    assert ["selection (5 x 2)", "1", "2", "0", "2", "1"] in cells(markdown(KEPT, {}, counts=partly))


def test_pass_at_k_where_there_is_one():
    more = {
        "pass@2": 0.5, "pass@2_low": 0.25, "pass@2_high": 0.75, "pass@4": 0.6, "pass@4_low": 0.3, "pass@4_high": 0.9,
    }  # fmt: skip
    rows = cells(markdown({"grpo": {"check": row(0.4, 0.3, 0.5, 5, 20, **more)}}, {}))
    assert ["pass@2", "check (5 x 4)"] in rows and ["pass@4", "check (5 x 4)"] in rows
    assert ["grpo", "50.0 [25.0, 75.0]"] in rows and ["grpo", "60.0 [30.0, 90.0]"] in rows
    assert "pass@" not in markdown(METRICS, {})


def test_parts_without_numbers_are_left_out():
    headings = [line for line in markdown(METRICS, {}).splitlines() if line.startswith("#")]
    assert headings == ["# Scores", "## How attempts ended, %"]
    assert ["reserved (30 x 2)", "distilled", "87.5", "12.5", "0.0", "0.0"] in cells(markdown(METRICS, {}))


def test_headline_is_split_then_checkpoint():
    numbers = headline(KEPT, CHANGES, KEEP)
    assert numbers["reserved"]["grpo"] == {
        "accuracy": 0.9, "accuracy_low": 0.8, "accuracy_high": 0.97, "questions": 30, "attempts": 60,
    }  # fmt: skip
    assert list(numbers) == ["reserved", "selection"] and list(numbers["selection"]) == list(KEPT)
    assert numbers["selection"]["distilled"]["change_low"] == -0.05 and "change" not in numbers["selection"]["released"]
    assert numbers["selection"]["kept"]["kept_redistilled"] == 0
    assert "kept_redistilled" not in headline(KEPT, CHANGES)["selection"]["kept"]


def test_checkpoints_measured_on_other_questions_are_not_compared():
    stale = {**METRICS, "distilled": {**METRICS["distilled"], "selection": row(0.2, 0.1, 0.4, 6, 12)}}
    with pytest.raises(UserError, match=r"metrics/scores: split selection .*distilled 6 x 2.*dvc repro evaluate"):
        markdown(stale, {})
    missing = {**METRICS, "released": {"reserved": row(0.0, 0.0, 0.2)}}
    with pytest.raises(UserError, match=r"selection .*released none"):
        headline(missing, {})

"""The report on the bank: counts as the metrics have them, costs only where something was spent."""

import pytest

from sqldojo.evaluation.bank_report import bank_markdown, merged_costs

REVIEW = {
    "proposals": 9,
    "accepted": 6,
    "accepted_by": {
        "pattern": {"": 2, "window": 1, "filter": 3},
        "difficulty": {"0": 2, "1": 4},
        "split": {"train": 5, "check": 1},
    },
    "rejected_by": {"rule": {"near-duplicate": 1, "idle-part": 2}},
}
BANK = {"types": 4, "references": 31, "withdrawn": {"types": 1, "references": 4}, "left_to_stronger_models": 1}
ASKED = {"types": 4, "filled": 20, "withdrawn": 1}
FREE = {"all": {"calls": 0, "usd": 0.0}, "models": {}}
MODEL = {"calls": 8, "input_tokens": 900, "output_tokens": 70, "usd": 0.02, "kept": 4, "usd_per_kept": 0.005}
PAID = {"all": {"calls": 8, "usd": 0.02}, "models": {"openai/one": MODEL}}


def cells(text):
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]


def test_counts_of_the_bank():
    text = bank_markdown(REVIEW, BANK, ASKED, merged_costs({"propose": {"cost": FREE}}, {}))
    assert "4 types with 20 references may be asked: of 9 proposals the review accepted 6, of which 1 are" in text
    assert "1 did not stand on the fourth database and 0 not in the audit" in text
    rows = cells(text)
    assert rows.index(["filter", "3"]) < rows.index(["window", "1"])  # in the order of PATTERNS
    assert ["", "2"] not in rows  # hand-written types have no pattern
    assert ["not rated", "2"] in rows
    assert rows[-2:] == [["idle-part", "2"], ["near-duplicate", "1"]]
    assert "US dollars" not in text


def test_what_models_cost():
    costs = merged_costs({"propose": {"cost": FREE}, "teach": {"cost": PAID}, "review": {"cost": PAID}}, {})
    assert (costs["usd"], costs["calls"]) == (pytest.approx(0.04), 16)
    assert costs["stages"]["teach"] == PAID
    rows = cells(bank_markdown(REVIEW, BANK, ASKED, costs))
    assert ["teach", "openai/one", "8", "900", "70", "0.0200", "4", "0.0050"] in rows


def test_of_proposals_the_accepted_types_are_what_is_kept():
    costs = merged_costs({"propose": {"cost": PAID}}, {"openai/one": 2, "composed": 200})
    row = costs["stages"]["propose"]["models"]["openai/one"]
    assert (row["kept"], row["usd_per_kept"]) == (2, pytest.approx(0.01))
    none = merged_costs({"propose": {"cost": PAID}}, {})["stages"]["propose"]["models"]["openai/one"]
    assert none["kept"] == 0 and "usd_per_kept" not in none


def test_a_model_that_brought_nothing_has_no_cost_for_each():
    nothing = {key: value for key, value in MODEL.items() if key != "usd_per_kept"} | {"kept": 0}
    costs = merged_costs({"teach": {"cost": {"all": PAID["all"], "models": {"openai/one": nothing}}}}, {})
    assert cells(bank_markdown(REVIEW, BANK, ASKED, costs))[-1][-2:] == ["0", "-"]

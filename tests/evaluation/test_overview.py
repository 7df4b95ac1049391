"""All chains side by side: means and ranges over seeds, counted by hand."""

import pytest

from sqldojo.errors import UserError
from sqldojo.evaluation.overview import across_seeds, overview


def chain(distilled, grpo, redistilled, change=0.1, questions=5):
    """What `report.headline` says of a chain with these accuracies on the selection set, each +- 0.1."""
    accuracies = {"released": 0.0, "distilled": distilled, "grpo": grpo, "redistilled": redistilled}
    kept = int(redistilled > grpo)
    rows = {
        name: {"accuracy": value, "accuracy_low": value - 0.1, "accuracy_high": value + 0.1, "questions": questions,
               "attempts": 2 * questions}
        for name, value in (accuracies | {"kept": max(grpo, redistilled)}).items()
    }  # fmt: skip
    bounds = {"change": change, "change_low": round(change - 0.2, 4), "change_high": round(change + 0.2, 4)}
    rows["kept"] |= {"kept_redistilled": kept, **bounds}
    return {"selection": rows}


SEEDS = {18: chain(0.4, 0.6, 0.5, change=0.2), 17: chain(0.2, 0.3, 0.5, change=0.3)}


def cells(text):
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]


def test_means_and_ranges():
    rows = across_seeds(SEEDS)["selection"]
    assert list(rows) == ["released", "distilled", "grpo", "redistilled", "kept"]
    assert rows["grpo"] == {
        "accuracy": 0.45, "accuracy_low": 0.35, "accuracy_high": 0.55, "accuracy_lowest": 0.3, "accuracy_highest": 0.6,
        "questions": 5, "attempts": 10, "seeds": 2,
    }  # fmt: skip
    kept = rows["kept"]
    assert (kept["accuracy"], kept["kept_redistilled"]) == (0.55, 0.5)
    assert (kept["change"], kept["change_low"], kept["change_high"]) == (0.25, 0.05, 0.45)
    assert (kept["change_lowest"], kept["change_highest"]) == (0.2, 0.3)


def test_the_order_of_seeds_does_not_matter_and_one_seed_stays_what_it_is():
    assert across_seeds(dict(reversed(SEEDS.items()))) == across_seeds(SEEDS)
    alone = across_seeds({17: SEEDS[17]})["selection"]["kept"]
    assert alone | SEEDS[17]["selection"]["kept"] == alone
    assert alone["accuracy_lowest"] == alone["accuracy_highest"] == 0.5 and alone["seeds"] == 1


def test_one_part_a_model():
    text = overview({"small": {17: SEEDS[17]}, "large": SEEDS})
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        "# Scores", "## small, seed 17", "## large, 2 seeds (17, 18)",
    ]  # fmt: skip
    assert "- kept: redistilled, which answered 50.0 % of selection (5 x 2), grpo 30.0 %" in text
    assert "- kept: grpo with 18; redistilled with 17" in text
    assert text.count("- selection: types never trained") == 1
    small, large = (cells(part) for part in text.split("## large"))
    assert ["distilled", "20.0 [10.0, 30.0]"] in small and ["kept - distilled", "+30.0 [+10.0, +50.0]"] in small
    assert ["distilled", "30.0 [20.0, 40.0]"] in large and ["distilled", "20.0 to 40.0"] in large
    assert ["kept - distilled", "+25.0 [+5.0, +45.0]"] in large
    assert small[0] == large[0] == ["checkpoint", "selection (5 x 2)"]


def test_seeds_measured_on_other_questions_are_not_averaged():
    with pytest.raises(UserError, match=r"metrics/report: split selection .*of seed 18 6 x 2.*dvc repro report"):
        across_seeds({17: SEEDS[17], 18: chain(0.4, 0.6, 0.5, questions=6)})
    with pytest.raises(UserError, match=r"split check .*of seed 17 none"):
        across_seeds({17: SEEDS[17], 18: SEEDS[18] | {"check": SEEDS[18]["selection"]}})


def test_chains_without_a_kept_checkpoint_are_shown_too():
    bare = {seed: {"check": {"grpo": scores["selection"]["grpo"]}} for seed, scores in SEEDS.items()}
    text = overview({"large": bare})
    assert ["grpo", "45.0 [35.0, 55.0]"] in cells(text) and "kept" not in text and "What changed" not in text

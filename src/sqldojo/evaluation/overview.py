"""The scores of all chains on one page, made of the small metrics files that each chain's report leaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

from sqldojo.chains import GRPO, KEPT, REDISTILLED
from sqldojo.evaluation.report import CHANGES_TEXT, SCORES_TEXT
from sqldojo.evaluation.score_tables import (
    KEPT_REDISTILLED,
    Row,
    Scores,
    change_table,
    check_counts,
    kept_line,
    range_table,
    score_table,
    split_lines,
)
from sqldojo.evaluation.summary import DIGITS
from sqldojo.records import SELECTION

_COUNTS = ("questions", "attempts")
SEEDS_TEXT = (
    "Means over the seeds [means of their 95 % intervals]. An average errs at most as much as its seeds do on average, "
    "so these intervals are wide enough for the questions and attempts that were drawn; how a seed that was not run "
    "would turn out they do not cover. All seeds answered the same questions."
)


def across_seeds(metrics_by_seed: Mapping[int, Scores]) -> dict[str, dict[str, dict[str, float | int]]]:
    """The mean over seeds of all that `report.headline` says of each chain: split -> checkpoint -> row.

    Every share and bound is averaged, `kept_redistilled` too; `questions` and `attempts` are those of one seed. Beside
    them stand `accuracy_lowest` and `accuracy_highest` of the seeds, `change_lowest` and `change_highest`, and `seeds`.

    The bounds are means of bounds: the standard error of a mean is at most the mean of standard errors, however the
    seeds hang together, so they are wide enough (rather too wide) for which questions and attempts were drawn. They say
    nothing of seeds beyond those run. UserError when the seeds were not measured on as many questions and attempts.
    """
    seeds = sorted(metrics_by_seed)
    first = metrics_by_seed[seeds[0]]
    _check_seeds(metrics_by_seed)
    return {
        split: {name: _averaged([metrics_by_seed[seed][split][name] for seed in seeds]) for name in first[split]}
        for split in first
    }


def overview(chains: Mapping[str, Mapping[int, Scores]]) -> str:
    """All chains as Markdown, given as model -> seed -> what `report.headline` says; one part a model.

    UserError as in `across_seeds`.
    """
    lines = ["# Scores", "", SCORES_TEXT, ""]
    for model, by_seed in chains.items():
        lines += _one_seed(model, by_seed) if len(by_seed) == 1 else _several_seeds(model, by_seed)
    legend = split_lines({split: rows for by_seed in chains.values() for each in by_seed.values()
                          for split, rows in each.items()})  # fmt: skip
    return "\n".join([*lines, "Splits:", "", *legend, ""])


def _one_seed(model: str, by_seed: Mapping[int, Scores]) -> list[str]:
    seed, scores = next(iter(by_seed.items()))
    return [f"## {model}, seed {seed}", "", *score_table(scores), "", *_lines(kept_line(scores)), *_changes(scores)]


def _several_seeds(model: str, by_seed: Mapping[int, Scores]) -> list[str]:
    seeds, scores = sorted(by_seed), across_seeds(by_seed)
    listed = ", ".join(map(str, seeds))
    return [
        f"## {model}, {len(seeds)} seeds ({listed})",
        "",
        SEEDS_TEXT,
        "",
        *score_table(scores),
        "",
        *_lines(_kept_of_seeds(by_seed)),
        "From the lowest seed to the highest, %:",
        "",
        *range_table(scores),
        "",
        *_changes(scores),
    ]


def _changes(scores: Scores) -> list[str]:
    found = change_table(scores)
    return ["What changed, in points. " + CHANGES_TEXT, "", *found, ""] if found else []


def _kept_of_seeds(by_seed: Mapping[int, Scores]) -> list[str]:
    """Which checkpoint was kept with which seeds; nothing where a chain does not tell."""
    seeds: dict[str, list[str]] = {}
    for seed, scores in sorted(by_seed.items()):
        chosen = scores.get(SELECTION, {}).get(KEPT, {}).get(KEPT_REDISTILLED)
        if chosen is None:
            return []
        seeds.setdefault(REDISTILLED if chosen else GRPO, []).append(str(seed))
    return [f"- {KEPT}: " + "; ".join(f"{name} with {', '.join(these)}" for name, these in sorted(seeds.items()))]


def _lines(found: list[str]) -> list[str]:
    return [*found, ""] if found else []


def _check_seeds(metrics_by_seed: Mapping[int, Scores]) -> None:
    measured: dict[str, dict[str, Row]] = {}
    for seed, scores in sorted(metrics_by_seed.items()):
        for split, rows in scores.items():
            for name, row in rows.items():
                measured.setdefault(f"{name} of seed {seed}", {})[split] = row
    check_counts(measured, "metrics/report", "run `dvc repro report`")


def _averaged(rows: Sequence[Row]) -> dict[str, float | int]:
    """The mean of every number, the counts of one row, and the ends of accuracies and changes."""
    found = {key: round(fmean(row[key] for row in rows), DIGITS) for key in rows[0] if key not in _COUNTS}
    for name in ("accuracy", "change"):
        if name in found:
            values = [row[name] for row in rows]
            found |= {f"{name}_lowest": min(values), f"{name}_highest": max(values)}
    return found | {key: rows[0][key] for key in _COUNTS} | {"seeds": len(rows)}

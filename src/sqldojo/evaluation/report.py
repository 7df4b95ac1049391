"""The table that people read: splits down, checkpoints across, each accuracy with its interval and its counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqldojo.errors import UserError
from sqldojo.records import HELD_OUT_SPLITS, OUTCOMES

Changes = Mapping[str, Mapping[str, Mapping[str, float]]]  # checkpoint -> split -> what `paired.changes` says
# checkpoint -> split -> the row that `sqldojo.evaluation.summary.summarise` makes; the order of checkpoints is kept.
Metrics = Mapping[str, Mapping[str, Mapping[str, float | int]]]

SPLIT_TEXTS = {
    "reserved": "trained types and wordings, values that no training question asks for",
    "selection": "types never trained",
    "check": "types never trained, not used for any choice",
}


def headline(metrics: Metrics, changes: Changes) -> dict[str, dict[str, dict[str, float | int]]]:
    """Accuracy and interval as split -> checkpoint, so that `dvc metrics diff` lists checkpoints side by side.

    Beside them what changed from the checkpoint before, with its own interval, where `changes` has it.
    UserError when the checkpoints were not measured on the same number of questions and attempts.
    """
    keys = ("accuracy", "accuracy_low", "accuracy_high")
    return {
        split: {
            checkpoint: {key: row[split][key] for key in keys} | dict(changes.get(checkpoint, {}).get(split, {}))
            for checkpoint, row in metrics.items()
        }
        for split in _splits(metrics)
    }


def markdown(metrics: Metrics, changes: Changes) -> str:
    """The report as Markdown: accuracies, what changed from each checkpoint to the next, how attempts ended.

    UserError as in `headline`.
    """
    splits = _splits(metrics)
    accuracies = [
        [_split_cell(metrics, split), *(_accuracy_cell(metrics[checkpoint][split]) for checkpoint in metrics)]
        for split in splits
    ]
    outcomes = [
        [split, checkpoint, *(_percent(metrics[checkpoint][split][outcome]) for outcome in OUTCOMES)]
        for split in splits
        for checkpoint in metrics
    ]
    outcome_headers = [outcome.replace("_", " ") for outcome in OUTCOMES]
    legend = [f"- {split}: {SPLIT_TEXTS[split]}" for split in splits if split in SPLIT_TEXTS]
    return "\n".join(
        [
            "# Scores",
            "",
            "Correct on all four databases, % of attempts [95 % interval, resampled by question type].",
            "",
            *table(["split (questions x attempts)", *metrics], accuracies),
            "",
            *legend,
            "",
            *_changes(metrics, changes),
            "## How attempts ended, %",
            "",
            *table(["split", "checkpoint", *outcome_headers], outcomes),
            "",
        ]
    )


def _changes(metrics: Metrics, changes: Changes) -> list[str]:
    """The section on paired differences; nothing without any."""
    if not changes:
        return []
    names = list(metrics)
    rows = [[split, *(_change_cell(row[split]) for row in changes.values())] for split in _splits(metrics)]
    heads = [f"{name} - {names[names.index(name) - 1]}" for name in changes]
    return [
        "## What changed, in points",
        "",
        "Paired: the same questions with the same random keys, differences clustered by question type [95 % interval].",
        "",
        *table(["split", *heads], rows),
        "",
    ]


def _change_cell(row: Mapping[str, float]) -> str:
    return f"{100 * row['change']:+.1f} [{100 * row['change_low']:+.1f}, {100 * row['change_high']:+.1f}]"


def _splits(metrics: Metrics) -> list[str]:
    """The splits in their fixed order, after a check that every checkpoint has them with the same counts."""
    found = {split for row in metrics.values() for split in row}
    splits = [*(split for split in HELD_OUT_SPLITS if split in found), *sorted(found - set(HELD_OUT_SPLITS))]
    for split in splits:
        counts = {
            checkpoint: (rows[split]["questions"], rows[split]["attempts"]) if split in rows else None
            for checkpoint, rows in metrics.items()
        }
        if len(set(counts.values())) > 1:
            listed = ", ".join(f"{checkpoint} {count}" for checkpoint, count in counts.items())
            raise UserError(
                f"metrics/evaluate: split {split} has other (questions, attempts) in each checkpoint ({listed}); "
                "run `dvc repro evaluate`"
            )
    return splits


def _split_cell(metrics: Metrics, split: str) -> str:
    row = next(iter(metrics.values()))[split]
    per_question = row["attempts"] / row["questions"]
    return f"{split} ({row['questions']} x {per_question:g})"


def _accuracy_cell(row: Mapping[str, float | int]) -> str:
    return f"{_percent(row['accuracy'])} [{_percent(row['accuracy_low'])}, {_percent(row['accuracy_high'])}]"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A Markdown table whose columns line up as plain text too."""
    widths = [max(len(line[index]) for line in [headers, *rows]) for index in range(len(headers))]

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)) + " |"

    return [line(headers), line(["-" * width for width in widths]), *(line(row) for row in rows)]

"""The report of one chain that people read: scores, what each step changed, and where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqldojo.chains import DISTILLED, KEPT
from sqldojo.evaluation.comparing import BOTH_PARTLY, TypeChange
from sqldojo.evaluation.score_tables import (
    KEPT_REDISTILLED,
    Row,
    Scores,
    change_table,
    check_counts,
    in_order,
    kept_line,
    pass_tables,
    percent,
    points,
    score_table,
    sizes,
    split_lines,
    table,
)
from sqldojo.records import OUTCOMES

Changes = Mapping[str, Mapping[str, Mapping[str, float]]]  # checkpoint -> split -> what `paired.changes` says
# checkpoint -> split -> the row that `sqldojo.evaluation.summary.summarise` makes; the order of checkpoints is kept.
Metrics = Mapping[str, Mapping[str, Row]]

SCORES_TEXT = "Correct on all four databases, % of attempts [95 % interval, resampled by question type]."
CHANGES_TEXT = "The same questions with the same random keys, differences clustered by question type [95 % interval]."


def headline(
    metrics: Metrics, changes: Changes, keep: Mapping[str, float] | None = None
) -> dict[str, dict[str, dict[str, float | int]]]:
    """The numbers of a chain as split -> checkpoint -> row, so that `dvc metrics diff` lists checkpoints side by side.

    A row has `accuracy`, `pass@k` where there is one, their bounds, `questions` and `attempts`; and `change` with its
    own bounds where `changes` has it (`paired.COMPARED_WITH` says from which checkpoint). With `keep`, what
    metrics/keep says, the kept checkpoint's row also has `kept_redistilled`.
    UserError when the checkpoints were not measured on the same number of questions and attempts.
    """
    check_counts(metrics, "metrics/scores", "run `dvc repro evaluate`")
    found = {
        split: {
            checkpoint: {key: value for key, value in rows[split].items() if key not in OUTCOMES}
            | dict(changes.get(checkpoint, {}).get(split, {}))
            for checkpoint, rows in metrics.items()
        }
        for split in in_order(split for rows in metrics.values() for split in rows)
    }
    for rows in found.values():
        if keep is not None and KEPT in rows:
            rows[KEPT][KEPT_REDISTILLED] = int(keep[KEPT_REDISTILLED])
    return found


def markdown(
    metrics: Metrics,
    changes: Changes,
    *,
    keep: Mapping[str, float] | None = None,
    types: Sequence[TypeChange] = (),
    counts: Mapping[str, Mapping[str, int]] | None = None,
    signal: Sequence[Mapping[str, float | int]] = (),
    quantised: str = "",
) -> str:
    """The report as Markdown; a part whose numbers are not given is left out.

    `types` (sorted as they come) and `counts` (`comparing.gains_and_losses`) compare the distilled checkpoint with the
    kept one, which is what GRPO and the second distillation brought. `signal` is what `signal_per_50_steps` returns.
    `quantised` says how the base model is, where it is.
    UserError as in `headline`.
    """
    scores = headline(metrics, changes, keep)
    lines = ["# Scores", "", SCORES_TEXT, "", *score_table(scores), "", *kept_line(scores), *split_lines(scores), ""]
    if quantised:
        lines += [f"The base model is {quantised}: scored so, and the adapters were trained on it so (QLoRA).", ""]
    lines += _section("What changed, in points", CHANGES_TEXT, change_table(scores))
    lines += _section(
        "One of several attempts right, %",
        "pass@k: the chance that at least one of k attempts at a question is right [95 % interval].",
        pass_tables(scores),
    )
    lines += _section(
        "Question types, by what changed",
        f"Right attempts, %, of the checkpoint {DISTILLED} and the one that is {KEPT}; from losses to gains.",
        _type_table(types),
    )
    lines += _section(
        "Questions gained and lost",
        f"From {DISTILLED} to {KEPT}: with more right attempts, with fewer, with all and with none both times.",
        _count_table(counts or {}, scores),
    )
    lines += _section(
        "Groups with signal",
        "Groups of attempts in GRPO that differed in reward, and so could teach something.",
        _signal_table(signal),
    )
    lines += _section("How attempts ended, %", "", _outcome_table(metrics, scores))
    return "\n".join(lines)


def _section(title: str, text: str, found: Sequence[str]) -> list[str]:
    """The table or tables under a heading; nothing without any."""
    if not found:
        return []
    return [f"## {title}", "", *([text, ""] if text else []), *found, *([] if found[-1] == "" else [""])]


def _type_table(types: Sequence[TypeChange]) -> list[str]:
    rows = [
        [each.split, each.type, sizes(vars(each)), percent(each.before), percent(each.after), points(each.change)]
        for each in types
    ]
    heads = ["split", "type", "questions x attempts", DISTILLED, KEPT, "change, points"]
    return table(heads, rows) if rows else []


def _count_table(counts: Mapping[str, Mapping[str, int]], scores: Scores) -> list[str]:
    """One row a split. Its attempts are those of the scores, which were measured on the same episodes."""
    kinds = [kind for kind in next(iter(counts.values()), {}) if kind != "questions"]
    if not any(counts[split][BOTH_PARTLY] for split in counts):
        kinds = [kind for kind in kinds if kind != BOTH_PARTLY]
    rows = [
        [f"{split} ({sizes(scores[split][KEPT])})", *(str(counts[split][kind]) for kind in kinds)]
        for split in in_order(counts)
    ]
    return table(["split (questions x attempts)", *(kind.replace("_", " ") for kind in kinds)], rows) if rows else []


def _signal_table(signal: Sequence[Mapping[str, float | int]]) -> list[str]:
    rows = [
        [f"{row['from']} to {row['to']}", str(row["informative"]), str(row["groups"]), percent(row["share"])]
        for row in signal
    ]
    return table(["steps", "groups with signal", "groups played", "share, %"], rows) if rows else []


def _outcome_table(metrics: Metrics, scores: Scores) -> list[str]:
    rows = [
        [f"{split} ({sizes(metrics[checkpoint][split])})", checkpoint,
         *(percent(metrics[checkpoint][split][outcome]) for outcome in OUTCOMES)]
        for split in scores
        for checkpoint in scores[split]
    ]  # fmt: skip
    heads = ["split (questions x attempts)", "checkpoint", *(outcome.replace("_", " ") for outcome in OUTCOMES)]
    return table(heads, rows)

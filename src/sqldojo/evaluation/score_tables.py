"""Scores as Markdown tables: checkpoints down, splits across, so that a table fits a narrow terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from sqldojo.chains import CHECKPOINTS, GRPO, KEPT, REDISTILLED
from sqldojo.errors import UserError
from sqldojo.evaluation.paired import COMPARED_WITH
from sqldojo.records import CHECK, HELD_OUT_SPLITS, RESERVED, SELECTION, TEST

Row = Mapping[str, float | int]
# split -> checkpoint -> accuracy, its bounds, the change from an earlier checkpoint, counts: what `headline` returns
Scores = Mapping[str, Mapping[str, Row]]

KEPT_REDISTILLED = f"{KEPT}_{REDISTILLED}"  # in the row of KEPT: 1 or 0, or the share of several seeds

SPLIT_TEXTS = {
    RESERVED: "trained types and wordings, values that no training question asks for",
    SELECTION: "types never trained",
    CHECK: "types never trained, not used for any choice",
    TEST: "types never trained, asked once for a release",
}


def in_order(splits: Iterable[str]) -> list[str]:
    """The splits in the order in which people read them, unknown ones last."""
    found = set(splits)
    return [*(split for split in HELD_OUT_SPLITS if split in found), *sorted(found - set(HELD_OUT_SPLITS))]


def check_counts(measured: Mapping[str, Mapping[str, Row]], file: str, remedy: str) -> None:
    """UserError naming `file` and `remedy` when not all were measured on as many questions and attempts.

    `measured` maps what was measured, a checkpoint say, to split -> row.
    """
    for split in in_order(split for rows in measured.values() for split in rows):
        counts = {name: sizes(rows[split]) if split in rows else "none" for name, rows in measured.items()}
        if len(set(counts.values())) > 1:
            listed = ", ".join(f"{name} {count}" for name, count in counts.items())
            raise UserError(f"{file}: split {split} has other questions x attempts in each ({listed}); {remedy}")


def score_table(scores: Scores) -> list[str]:
    """Accuracy and interval of each checkpoint in each split, %."""
    return _checkpoint_table(scores, partial(share_cell, name="accuracy"))


def range_table(scores: Scores) -> list[str]:
    """The lowest and the highest accuracy of several seeds, %."""
    return _checkpoint_table(scores, _range_cell)


def pass_tables(scores: Scores) -> list[str]:
    """For each k of pass@k a table like that of scores; nothing with one attempt at each question."""
    tables = (_checkpoint_table(scores, partial(share_cell, name=name), name) for name in pass_names(scores))
    return [line for found in tables for line in (*found, "")]


def pass_names(scores: Mapping[str, Mapping[str, Row]]) -> list[str]:
    """pass@2, pass@4, ... as far as there were so many attempts at each question: the keys of rows of any nesting."""
    keys = {key for rows in scores.values() for row in rows.values() for key in row if key.startswith("pass@")}
    return [f"pass@{k}" for k in sorted(int(key[5:]) for key in keys if key[5:].isdigit())]


def change_table(scores: Scores) -> list[str]:
    """The paired change of each checkpoint from the one it is compared with, in points; nothing without any."""
    splits = in_order(scores)
    names = [name for name in COMPARED_WITH if any("change" in scores[split].get(name, {}) for split in splits)]
    rows = [
        [f"{name} - {COMPARED_WITH[name]}", *(change_cell(scores[split].get(name, {})) for split in splits)]
        for name in names
    ]
    return table(["change", *_split_heads(scores)], rows) if rows else []


def kept_line(scores: Scores) -> list[str]:
    """The legend of the kept checkpoint: which one it is, and by which accuracies; nothing where none is told."""
    rows = scores.get(SELECTION, {})
    chosen = rows.get(KEPT, {}).get(KEPT_REDISTILLED)
    if chosen not in (0, 1):
        return []
    kept, other = (REDISTILLED, GRPO) if chosen else (GRPO, REDISTILLED)
    size = sizes(rows[KEPT])
    return [
        f"- {KEPT}: {kept}, which answered {percent(rows[kept]['accuracy'])} % of {SELECTION} ({size}), {other} "
        f"{percent(rows[other]['accuracy'])} %; as the better of two it looks a little too good there"
    ]


def split_lines(scores: Scores) -> list[str]:
    """The legend of the splits."""
    return [f"- {split}: {SPLIT_TEXTS[split]}" for split in in_order(scores) if split in SPLIT_TEXTS]


def sizes(row: Row) -> str:
    """Questions x attempts at each, as every figure has it beside it."""
    return f"{row['questions']} x {row['attempts'] / row['questions']:.3g}"


def share_cell(row: Row, name: str) -> str:
    """A share with its interval, %; `-` where there is none."""
    if name not in row:
        return "-"
    return f"{percent(row[name])} [{percent(row[f'{name}_low'])}, {percent(row[f'{name}_high'])}]"


def change_cell(row: Row) -> str:
    """A change with its interval, in points; `-` where there is none."""
    if "change" not in row:
        return "-"
    return f"{points(row['change'])} [{points(row['change_low'])}, {points(row['change_high'])}]"


def percent(share: float) -> str:
    """0.3095 as 30.9 or 31.0: one digit behind the point."""
    return f"{100 * share:.1f}"


def points(change: float) -> str:
    """A difference of shares in points, with its sign; what rounds to nothing is +0.0."""
    return f"{round(100 * change, 1) + 0.0:+.1f}"


def table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A Markdown table whose columns line up as plain text too."""
    widths = [max(len(line[index]) for line in [headers, *rows]) for index in range(len(headers))]

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)) + " |"

    return [line(headers), line(["-" * width for width in widths]), *(line(row) for row in rows)]


def _checkpoint_table(scores: Scores, cell: Callable[[Row], str], corner: str = "checkpoint") -> list[str]:
    splits = in_order(scores)
    found = dict.fromkeys(checkpoint for split in splits for checkpoint in scores[split])
    known = [each for each in (*CHECKPOINTS, KEPT) if each in found]  # JSON files have them sorted by name
    checkpoints = [*known, *(each for each in found if each not in known)]
    rows = [[each, *(cell(scores[split].get(each, {})) for split in splits)] for each in checkpoints]
    return table([corner, *_split_heads(scores)], rows)


def _split_heads(scores: Scores) -> list[str]:
    return [f"{split} ({sizes(next(iter(scores[split].values())))})" for split in in_order(scores)]


def _range_cell(row: Row) -> str:
    return f"{percent(row['accuracy_lowest'])} to {percent(row['accuracy_highest'])}"

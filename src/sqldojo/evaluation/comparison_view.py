"""A comparison of two checkpoints as tables for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from sqldojo.evaluation.comparing import BOTH_PARTLY, BOTH_RIGHT, BOTH_WRONG, GAINED, LOST, QuestionChange, TypeChange
from sqldojo.evaluation.score_tables import change_cell, in_order, percent, points, sizes

_COUNTS = (GAINED, LOST, BOTH_RIGHT, BOTH_WRONG, BOTH_PARTLY)


def render_comparison(
    names: tuple[str, str],
    splits: Mapping[str, Mapping[str, float | int]],
    types: Sequence[TypeChange],
    questions: Sequence[QuestionChange],
    limit: int,
) -> Group:
    """What changed in each split, the types that changed, and up to `limit` questions gained and as many lost.

    `splits` is what `comparing.split_changes` returns. Texts of the episodes are printed as they are, without markup.
    """
    changed = [each for each in types if each.change != 0]
    parts: list[RenderableType] = [
        _split_table(names, splits),
        Text("Accuracies in % of attempts; changes in points [95 % interval], clustered by question type.\n"),
        *([_type_table(names, changed)] if changed else []),
        Text(f"{len(changed)} of {len(types)} types changed.\n"),
        _count_table(splits),
        Text(),
    ]
    for kind in (GAINED, LOST):
        members = [each for each in questions if each.kind == kind]
        shown = members[:limit]
        parts += [_question_table(kind, shown)] if shown else []
        parts.append(Text(f"{len(shown)} of {len(members)} questions {kind}.\n"))
    return Group(*parts)


def _split_table(names: tuple[str, str], splits: Mapping[str, Mapping[str, float | int]]) -> Table:
    table = Table("split (questions x attempts)", *map(escape, names), "change")
    for split in in_order(splits):
        row = splits[split]
        table.add_row(f"{split} ({sizes(row)})", percent(row["before"]), percent(row["after"]), change_cell(row))
    return table


def _count_table(splits: Mapping[str, Mapping[str, float | int]]) -> Table:
    kinds = [kind for kind in _COUNTS if kind != BOTH_PARTLY or any(row[kind] for row in splits.values())]
    table = Table("questions", *(kind.replace("_", " ") for kind in kinds))
    for split in in_order(splits):
        table.add_row(f"{split} ({sizes(splits[split])})", *(str(splits[split][kind]) for kind in kinds))
    return table


def _type_table(names: tuple[str, str], types: Sequence[TypeChange]) -> Table:
    table = Table("split", "type", "questions x attempts", *map(escape, names), "change")
    for each in types:
        shares = (percent(each.before), percent(each.after), points(each.change))
        table.add_row(each.split, _one_line(each.type), sizes(vars(each)), *shares)
    return table


def _question_table(kind: str, questions: Sequence[QuestionChange]) -> Table:
    table = Table("split", "question", "right before", "right after", kind)
    for each in questions:
        counts = (f"{right} of {each.attempts}" for right in (each.before, each.after))
        table.add_row(each.split, _one_line(each.question), *counts, _one_line(each.text))
    return table


def _one_line(text: str) -> Text:
    """The text without line breaks and without what would move the cursor or recolour: it comes from any file."""
    return Text("".join(letter for letter in " ".join(text.split()) if letter.isprintable()))

"""The results of repair as tables for a terminal, from the metrics file that the report's stage wrote."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from sqldojo.errors import UserError
from sqldojo.evaluation.repair_comparing import UNION_TEXT, compare_repairs, which_to_trust
from sqldojo.evaluation.repair_report import (
    SOLVED_TEXT,
    STEPS_TEXT,
    chain_table,
    history_note,
    pair_table,
    step_table,
    told_pairs,
    yield_table,
)
from sqldojo.evaluation.repair_results import selection_note
from sqldojo.files import read_records
from sqldojo.records import Episode
from sqldojo.repair.task import EVALUATION, RepairTask

_REMEDY = "run `make repro-repair`, or restore it with `dvc checkout`"


def show_repair_summary(path: Path, console: Console | None = None) -> None:
    """Print the summary of the metrics file at `path`; UserError when it is not there or is no such file."""
    (console or Console()).print(render_repair_summary(read_repair_metrics(path)))


def show_repair_pair(first: Path, second: Path, tasks: Path, console: Console | None = None) -> None:
    """Print the paired table of two files of episodes, on the evaluation tasks; runs of two experiments, say.

    UserError where they are not on the same tasks, or a file cannot be read.
    """
    asked = read_records(tasks, RepairTask)
    sides = [[each for each in read_records(path, Episode) if each.split == EVALUATION] for path in (first, second)]
    try:
        pair = compare_repairs(sides[0], sides[1], asked, (str(first), str(second)))
    except (ValueError, KeyError) as error:
        raise UserError(
            f"{first}, {second}: not two runs on the same tasks ({error}); give the files of two"
        ) from error
    table = _table(*pair_table([pair.as_json()]))
    (console or Console()).print(Group(table, Text(f"{which_to_trust(pair)}\n{UNION_TEXT}")))


def read_repair_metrics(path: Path) -> dict[str, Any]:
    """What `repair_results.repair_metrics` left in the file; UserError naming it where it cannot be read."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise UserError(f"{path}: repair has not been scored yet; {_REMEDY}") from error
    except ValueError as error:
        raise UserError(f"{path}: {error}; {_REMEDY}") from error
    if not isinstance(found, dict) or not {"chain", "scores", "pairs", "history"} <= found.keys():
        raise UserError(f"{path}: it holds no results of repair; {_REMEDY}")
    return found


def render_repair_summary(metrics: Mapping[str, Any]) -> Group:
    """The chain with its gains and losses, the pairs that matter, and the correction rounds."""
    pairs = told_pairs(metrics, steps=False)  # each step has a table with its own change and p
    parts: list[RenderableType] = [_table(*chain_table(metrics)), Text(f"{selection_note(metrics)}\n{SOLVED_TEXT}\n")]
    if metrics["history"]["steps"]:
        parts += [_table(*step_table(metrics)), Text(f"{STEPS_TEXT} {history_note(metrics)}\n")]
    if pairs:
        parts += [_table(*pair_table(pairs)), Text(f"{pairs[0]['trust']}\n")]
    if metrics["yields"]:
        parts.append(_table(*yield_table(metrics["yields"])))
    return Group(*parts)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """Names come from files and from providers, so no cell is markup.

    Heads are no wider than they must be, and what has no room in its line goes on in the next one: an interval that is
    cut off would be another one.
    """
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    for head, *cells in zip(heads, *rows, strict=True):
        width = max(map(len, [*cells, *head.split()]), default=1)
        table.add_column(Text(textwrap.fill(head, width)), overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    return table

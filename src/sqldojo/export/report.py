"""The tables of an export as Markdown: what each file is, and what it costs in accuracy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqldojo.evaluation.score_tables import change_cell, share_cell, sizes, table
from sqldojo.export.exporting import FileFacts
from sqldojo.export.results import Results
from sqldojo.export.settings import MLX
from sqldojo.records import SELECTION

MEGABYTE = 1e6


def report(found: Results) -> str:
    """The report of an export, from what `results` returns."""
    return "\n".join(
        [
            "# Files for llama.cpp and LM Studio",
            "",
            *score_lines(found),
            "",
            *size_lines(found),
            "",
            *difference_lines(found),
            "",
        ]
    )


def score_lines(found: Results) -> list[str]:
    """Accuracy on the selection set of MLX and of each file, %, and the paired change from MLX, points."""
    rows = [[kind, share_cell(row, "accuracy"), change_cell(row)] for kind, row in found.items()]
    size = sizes(found[MLX])
    return [
        *table(["weights", f"{SELECTION} ({size})", "change from mlx"], rows),
        "",
        f"Accuracy in % with its 95 % interval, on {size} questions x attempts at temperature 1; the change in points,",
        "paired: llama.cpp played with each file what MLX played with the adapter, and met the same random numbers.",
    ]


def size_lines(found: Results) -> list[str]:
    """Size, bits a weight, types of weights, and agreement with MLX of each file."""
    files = {kind: row for kind, row in found.items() if kind != MLX}
    rows = [
        [kind, megabytes(row["bytes"]), f"{row['bits_per_weight']:.2f}", types_text(row["types"]), agreement_text(row)]
        for kind, row in files.items()
    ]
    return table(["file", "MB", "bits a weight", "weights stored as", "greedy tokens as MLX"], rows)


def difference_lines(found: Results) -> list[str]:
    """Where each file first writes another token than MLX."""
    lines = []
    for kind, row in found.items():
        for each in row.get("differences", [])[:1]:
            lines.append(
                f"- {kind}: first at token {each['position']} after prompt {each['prompt']}: {each['llama']!r} where"
                f" MLX writes {each['mlx']!r}, which has the larger logit by {each['margin']:.2f}"
            )
    return lines or ["No file writes another token than MLX after the prompts of the check."]


def facts_lines(facts: Mapping[str, FileFacts], agreements: Mapping[str, Any]) -> list[str]:
    """What the command shows of the files that it wrote, by their names; of unchecked ones no agreement."""
    rows = []
    for name, fact in facts.items():
        shares = {kind: count / fact.parameters for kind, count in fact.types.items()}
        checked = agreement_text(agreements[name]) if name in agreements else "not checked"
        rows.append([name, megabytes(fact.size), f"{fact.bits_per_weight:.2f}", types_text(shares), checked])
    return table(["file", "MB", "bits a weight", "weights stored as", "greedy tokens as MLX"], rows)


def megabytes(size: int) -> str:
    """Bytes as megabytes of a million."""
    return f"{size / MEGABYTE:,.1f}"


def types_text(shares: Mapping[str, float]) -> str:
    """The types that hold a percent of the weights or more, most of them first: `q5_0 60 %, q8_0 40 %`."""
    most = sorted(shares.items(), key=lambda item: -item[1])
    return ", ".join(f"{name} {share:.0%}".replace("%", " %") for name, share in most if share >= 0.005)


def agreement_text(row: Mapping[str, Any]) -> str:
    """`480 of 480, 10 of 10 prompts`."""
    equal_prompts = row["prompts"] - len(row["differences"])
    return f"{row['equal']} of {row['tokens']}, {equal_prompts} of {row['prompts']} prompts"

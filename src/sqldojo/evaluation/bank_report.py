"""The question bank as people read it: what was proposed, accepted, rejected and withdrawn, and what models cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqldojo.evaluation.score_tables import table
from sqldojo.records import PATTERNS


def bank_markdown(
    review: Mapping[str, Any], bank: Mapping[str, Any], asked: Mapping[str, int], costs: Mapping[str, Any]
) -> str:
    """The report's part on the bank, of metrics/review.json, bank.json and audit.json's `asked`, and `merged_costs`."""
    accepted, withdrawn = review["accepted_by"], bank["withdrawn"]
    patterns = [name for name in PATTERNS if name in accepted["pattern"]]
    rejected = review["rejected_by"]["rule"]
    lines = [
        "## The question bank",
        "",
        f"{asked['types']} types with {asked['filled']} references may be asked: of {review['proposals']} proposals "
        f"the review accepted {review['accepted']}, of which {bank['left_to_stronger_models']} are too difficult for "
        f"this profile (`adversarial.hardest_proposed`), {withdrawn['types']} did not stand on the fourth database and "
        f"{bank['types'] - asked['types']} not in the audit.",
        "",
        *table(["split", *accepted["split"]], [["accepted types", *map(str, accepted["split"].values())]]),
        "",
        *table(["pattern", "accepted types"], [[name, str(accepted["pattern"][name])] for name in patterns]),
        "",
        *table(["difficulty", "accepted types"], [[name, str(count)] for name, count in _difficulties(accepted)]),
        "",
        *table(["rejected by", "proposals"], [[rule, str(rejected[rule])] for rule in sorted(rejected)]),
        "",
    ]
    return "\n".join([*lines, *cost_lines(costs)])


def merged_costs(stages: Mapping[str, Mapping[str, Any]], accepted: Mapping[str, int]) -> dict[str, Any]:
    """What each stage spent on models behind an API, and all together, of the `cost` in each stage's metrics.

    `accepted` counts the types of each proposer that passed the review: what is kept of the proposals.
    """
    spent = {stage: metrics["cost"] for stage, metrics in stages.items()}
    if "propose" in spent:
        models = {model: _per_type(row, accepted.get(model, 0)) for model, row in spent["propose"]["models"].items()}
        spent["propose"] = spent["propose"] | {"models": models}
    total = round(sum(cost["all"]["usd"] for cost in spent.values()), 6)
    return {"usd": total, "calls": sum(cost["all"]["calls"] for cost in spent.values()), "stages": spent}


def _per_type(row: Mapping[str, Any], types: int) -> dict[str, Any]:
    others = {key: value for key, value in row.items() if key != "usd_per_kept"} | {"kept": types}
    return others | ({"usd_per_kept": round(row["usd"] / types, 6)} if types else {})


def _difficulties(accepted: Mapping[str, Any]) -> list[tuple[str, int]]:
    return [("not rated", count) if name == "0" else (name, count) for name, count in accepted["difficulty"].items()]


def cost_lines(costs: Mapping[str, Any]) -> list[str]:
    """The part on costs, of `merged_costs`: one row a stage and model; nothing when no model was asked."""
    rows = [
        [stage, model, str(row["calls"]), str(row["input_tokens"]), str(row["output_tokens"]), f"{row['usd']:.4f}",
         str(row["kept"]), f"{row['usd_per_kept']:.4f}" if row.get("usd_per_kept") is not None else "-"]
        for stage, cost in costs["stages"].items()
        for model, row in cost["models"].items()
    ]  # fmt: skip
    if not rows:
        return []
    headers = ["stage", "model", "calls", "tokens in", "tokens out", "US dollars", "kept", "US dollars for each kept"]
    return ["## What models behind an API cost", "", *table(headers, rows), ""]

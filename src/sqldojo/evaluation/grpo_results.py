"""What a run of GRPO leaves: its adapter, and for people and DVC its curve, its looks and its metrics."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqldojo.evaluation.statistics import luck_of_the_best
from sqldojo.evaluation.summary import DIGITS
from sqldojo.evaluation.tables import write_table
from sqldojo.files import write_json
from sqldojo.training.grpo import GrpoRun
from sqldojo.training.policy_model import LoraParams, PolicyModel, save_adapter


def write_results(root: Path, run: GrpoRun, policy: PolicyModel, lora: LoraParams, about: dict[str, Any]) -> None:
    """Write data/adapters/grpo, plots/grpo/steps.csv, plots/grpo/looks.csv and metrics/grpo.json below `root`.

    Why a run ended early stands in the adapter's about.json, since metrics are numbers.
    """
    save_adapter(root / "data/adapters/grpo", policy.model, lora, about | {"stopped": run.stopped})
    write_table(root / "plots/grpo/steps.csv", run.curve)
    write_table(root / "plots/grpo/looks.csv", run.selection.looks)
    write_json(root / "metrics/grpo.json", run_metrics(run))


def run_metrics(run: GrpoRun) -> dict[str, float | int | bool]:
    """What a metrics file says of a run: numbers only, since DVC compares nothing else.

    `luck` is by how much the best of so many looks would overstate an adapter of the start's accuracy, if chance alone
    told them apart.
    """
    looks, kept = run.selection.looks, run.selection.kept
    start = looks[0]
    return {
        "steps": len(run.curve),
        "steps_without_signal": sum(row["loss_tokens"] == 0 for row in run.curve),
        "stopped_early": run.stopped is not None,
        "kept_step": kept.step,
        "looks": len(looks),
        "start_accuracy": round(start.accuracy, DIGITS),
        "kept_accuracy": round(kept.accuracy, DIGITS),
        "kept_accuracy_low": round(kept.low, DIGITS),
        "kept_accuracy_high": round(kept.high, DIGITS),
        "luck": round(luck_of_the_best(start.accuracy, start.attempts, len(looks)), DIGITS),
    }

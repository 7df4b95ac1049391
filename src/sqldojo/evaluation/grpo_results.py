"""What a run of GRPO leaves: its adapter, and for people and DVC its curve, its looks and its metrics."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqldojo.evaluation.tables import write_table
from sqldojo.files import write_json
from sqldojo.training.grpo import GrpoRun, run_metrics
from sqldojo.training.policy_model import LoraParams, PolicyModel, save_adapter


def write_results(root: Path, run: GrpoRun, policy: PolicyModel, lora: LoraParams, about: dict[str, Any]) -> None:
    """Write data/adapters/grpo, plots/grpo/steps.csv, plots/grpo/looks.csv and metrics/grpo.json below `root`.

    Why a run ended early stands in the adapter's about.json, since metrics are numbers.
    """
    save_adapter(root / "data/adapters/grpo", policy.model, lora, about | {"stopped": run.stopped})
    write_table(root / "plots/grpo/steps.csv", run.curve)
    write_table(root / "plots/grpo/looks.csv", run.selection.looks)
    write_json(root / "metrics/grpo.json", run_metrics(run))

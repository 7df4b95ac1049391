"""What a run of GRPO leaves: its adapter, and for people and DVC its curve, its looks and its metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqldojo.chains import GRPO, Chain
from sqldojo.evaluation.live_curves import live_curve
from sqldojo.evaluation.statistics import luck_of_the_best
from sqldojo.evaluation.summary import DIGITS
from sqldojo.evaluation.tables import write_table
from sqldojo.files import write_json, write_records
from sqldojo.training.data_parallel import Ranks
from sqldojo.training.grpo import GrpoRun
from sqldojo.training.policy_model import LoraParams, PolicyModel, save_adapter
from sqldojo.training.solutions import distinct_solutions

STEPS, LOOKS = "grpo_steps", "grpo_looks"


@contextmanager
def watched(chain: Chain) -> Iterator[Callable[[GrpoRun], None]]:
    """Yield what shows a run so far to those who watch it."""
    with live_curve(chain, STEPS) as show_steps, live_curve(chain, LOOKS) as show_looks:

        def show(run: GrpoRun) -> None:
            show_looks(run.selection.looks)
            if run.curve:
                show_steps(run.curve)

        yield show


def write_results(
    chain: Chain,
    run: GrpoRun,
    policy: PolicyModel,
    lora: LoraParams,
    about: dict[str, Any],
    scratch: Path,
    ranks: Ranks,
) -> None:
    """Write the chain's adapter, its own solutions, its two curves and its metrics; the first rank does, all wait.

    Why a run ended early stands in the adapter's about.json, since metrics are numbers.
    """
    if ranks.is_first:
        own = distinct_solutions(scratch)
        save_adapter(chain.weights(GRPO), policy.model, lora, about | {"stopped": run.stopped})
        write_records(chain.own_solutions, own)
        write_table(chain.curve(STEPS), run.curve)
        write_table(chain.curve(LOOKS), run.selection.looks)
        write_json(chain.metrics("grpo"), run_metrics(run) | {"own_solutions": len(own)})
    ranks.barrier()


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

"""Guards of GRPO off, one or two at a time, from the same start with the same seeds: what indicator and scores do.

    PYTHONPATH=src python benchmarks/ablations.py --steps 8 --out ablations          # all arms
    PYTHONPATH=src python benchmarks/ablations.py --arms as_set no_bias_correction

Run it where `dvc repro distill` has run; it reads params.yaml and data/ and changes neither. Each arm leaves
OUT/ARM/steps.csv and OUT/ARM/looks.csv, and goes on from its checkpoint when it was interrupted.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqldojo import params
from sqldojo.agent.episode import AnswerParams, AttemptMaker
from sqldojo.chains import DISTILLED, Chain
from sqldojo.databases.execution import Limits
from sqldojo.databases.families import EVALUATION, TRAIN, family_paths
from sqldojo.evaluation.selection_look import make_look
from sqldojo.evaluation.tables import write_table
from sqldojo.files import read_records
from sqldojo.records import Episode, Question
from sqldojo.stage import resumable_folder
from sqldojo.training.distill import tokenise
from sqldojo.training.grpo import ALONE, GrpoParams, GrpoRun, Task, train
from sqldojo.training.policy_model import load_policy_model

CHAIN = Chain("smollm2-135m", 17)
OPEN = 1e9  # a bound that never binds
ARMS: dict[str, dict[str, Any]] = {
    "as_set": {},
    "optimizer_without_signal": {"optimizer_needs_signal": False},
    "no_bias_correction": {"bias_correction": False},
    "standardised": {"standardise_advantages": True},
    "full_negatives": {"negative_weight": 1.0, "right_answer_needed": False},
    "uniform_draw": {"draw_by_signal": False},
    "no_anchor": {"kl_weight": 0.0, "replay_weight": 0.0},
    "cut_off_trained": {"cut_off": "trained", "right_answer_needed": False},
    "results_in_loss": {"loss_on": "actions_and_results"},
}
SHOWN = ("informative", "reward", "entropy", "kl", "gradient_norm", "update_norm", "expected_mixed", "weight_no_right",
         "weight_lopsided", "weight_cut_off", "logprob_right", "logprob_wrong", "tokens_wrong")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arms", nargs="+", choices=ARMS, default=list(ARMS), metavar="ARM", help=", ".join(ARMS))
    parser.add_argument("--steps", type=int, default=8, help="steps of each arm (default 8)")
    parser.add_argument("--learning-rate", type=float, help="instead of that of params.yaml")
    parser.add_argument("--out", type=Path, default=Path("ablations"), help="folder for curves (default ablations)")
    options = parser.parse_args()
    settings = params.load(Path("params.yaml"), "grpo", GrpoParams, seed=CHAIN.seed)
    settings = replace(settings, steps=options.steps, hosts=(),
                       learning_rate=options.learning_rate or settings.learning_rate)  # fmt: skip
    settings = replace(settings, selection=replace(settings.selection, every=options.steps, keep="last"))
    for arm in options.arms:
        # Limits that stop a run would hide what the missing guard leads to.
        guards = replace(
            settings.guards, kl_limit=OPEN, dlogp_limit=OPEN, entropy_floor=0.0, length_alarm=OPEN, **ARMS[arm]
        )
        run = play_arm(replace(settings, guards=guards))
        write_table(options.out / arm / "steps.csv", run.curve)
        write_table(options.out / arm / "looks.csv", run.selection.looks)
        print(describe(arm, run, settings.informative_groups), flush=True)


def play_arm(settings: GrpoParams) -> GrpoRun:
    """One run from the distilled adapter."""
    data = Path("data")
    agent = params.load(Path("params.yaml"), "agent", AnswerParams)
    limits = params.load(Path("params.yaml"), "verifier", Limits)
    policy = load_policy_model(CHAIN.base, CHAIN.weights(DISTILLED))
    trained, held_out = (
        AttemptMaker(family_paths(data / "databases", family), policy.dialogue.tool_format, agent, limits)
        for family in (TRAIN, EVALUATION)
    )
    files = [data / name for name in ("questions/train.jsonl", "questions/selection.jsonl", "demonstrations.jsonl")]
    questions, selection = (read_records(file, Question) for file in files[:2])
    task = Task(questions, tokenise(policy, read_records(files[2], Episode)), trained, trained.params)
    look = make_look(policy, selection, held_out, held_out.params, settings, ALONE)
    inputs = (settings, agent, limits, CHAIN.weights(DISTILLED), CHAIN.base_card, data / "databases", *files)
    return train(policy, task, settings, look, resumable_folder("ablations", *inputs))


def describe(arm: str, run: GrpoRun, wanted: int) -> str:
    """An arm's looks, the mean of each indicator over its steps, and how far steps with too little signal went."""
    first, last = run.selection.looks[0], run.selection.looks[-1]
    lines = [f"{arm}: selection {first.accuracy:.3f} -> {last.accuracy:.3f} [{last.low:.3f}, {last.high:.3f}]"]
    for name in SHOWN:
        values = [row[name] for row in run.curve if row[name] is not None]
        if values:
            lines.append(f"  {name:20} mean {sum(values) / len(values):9.4f}   last {values[-1]:9.4f}")
    idle = [row["update_norm"] for row in run.curve if row["informative"] < wanted]
    lines.append(f"  update_norm of {len(idle)} steps with fewer than {wanted} informative groups: {idle}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()

"""Stage evaluate_repair@CHECKPOINT: play the validation and evaluation tasks with one checkpoint and score it."""

import sys
from pathlib import Path

from sqldojo import repair_chain, repair_runs
from sqldojo.databases.execution import Limits
from sqldojo.files import write_json, write_records
from sqldojo.params import load
from sqldojo.repair.task import EVALUATION, VALIDATION
from sqldojo.repair_params import RepairParams
from sqldojo.stage import resumable_folder, run_stage

PARAMS = Path("params.yaml")


def main(checkpoint: str) -> None:
    """Write the episodes and the scores."""
    settings, limits = load(PARAMS, "repair", RepairParams), load(PARAMS, "verifier", Limits)
    inputs = repair_runs.inputs(settings, limits, checkpoint)
    scratch = resumable_folder(f"evaluate_repair@{checkpoint}", *inputs)
    tasks, policy = repair_runs.TaskSet.read(settings, limits), repair_runs.load_student(settings, checkpoint)
    asked = [*tasks.of(VALIDATION), *tasks.of(EVALUATION)]
    episodes = repair_runs.play(policy, tasks, asked, scratch / "episodes.jsonl", "evaluate_repair")
    write_records(repair_chain.episodes(checkpoint), episodes)
    write_json(repair_chain.metrics(f"scores_{checkpoint}"), repair_runs.scores(tasks, episodes))


if __name__ == "__main__":
    run_stage(f"evaluate_repair@{sys.argv[1]}", lambda: main(sys.argv[1]))

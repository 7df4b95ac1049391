"""Stage attempt_repair@ROUND: what the student that a correction round starts from does at every training task."""

import sys
from pathlib import Path

from sqldojo import repair_chain, repair_runs
from sqldojo.databases.execution import Limits
from sqldojo.files import write_records
from sqldojo.params import load
from sqldojo.repair.task import TRAIN
from sqldojo.repair_params import RepairParams
from sqldojo.stage import resumable_folder, run_stage

PARAMS = Path("params.yaml")


def main(correction_round: str) -> None:
    """Write the attempts."""
    settings, limits = load(PARAMS, "repair", RepairParams), load(PARAMS, "verifier", Limits)
    student = repair_chain.before(correction_round)
    inputs = repair_runs.inputs(settings, limits, student)
    scratch = resumable_folder(f"attempt_repair@{correction_round}", *inputs)
    tasks, policy = repair_runs.TaskSet.read(settings, limits), repair_runs.load_student(settings, student)
    episodes = repair_runs.play(policy, tasks, tasks.of(TRAIN), scratch / "episodes.jsonl", "attempt_repair")
    write_records(repair_chain.attempts(correction_round), episodes)


if __name__ == "__main__":
    run_stage(f"attempt_repair@{sys.argv[1]}", lambda: main(sys.argv[1]))

"""Stage sft_repair@TEACHER: fine-tune on one teacher's conversations, from where the teacher before has led."""

import sys
from pathlib import Path

from sqldojo import repair_chain, repair_runs
from sqldojo.databases.execution import Limits
from sqldojo.files import read_records
from sqldojo.params import load
from sqldojo.records import Episode
from sqldojo.repair_params import RepairParams
from sqldojo.stage import resumable_folder, run_stage

PARAMS = Path("params.yaml")


def main(teacher: str) -> None:
    """Write the adapter, its curve, the looks at the validation tasks and the metrics."""
    settings, limits = load(PARAMS, "repair", RepairParams), load(PARAMS, "verifier", Limits)
    checkpoint, shown = f"sft_{teacher}", repair_chain.demonstrations(teacher)
    inputs = repair_runs.inputs(settings, limits, repair_chain.before(checkpoint))
    scratch = resumable_folder(f"sft_repair@{teacher}", *inputs, shown)
    tasks, episodes = repair_runs.TaskSet.read(settings, limits), read_records(shown, Episode)
    repair_runs.train_checkpoint(
        tasks, checkpoint, lambda dialogue: repair_runs.demonstrated(dialogue, episodes), scratch, {}
    )


if __name__ == "__main__":
    run_stage(f"sft_repair@{sys.argv[1]}", lambda: main(sys.argv[1]))

"""Stage make_tasks: sound repair tasks in three splits, what judges them, and their databases."""

from pathlib import Path

from sqldojo import repair_tasks
from sqldojo.databases.execution import Limits
from sqldojo.files import write_json
from sqldojo.params import load
from sqldojo.repair_chain import TASKS, metrics
from sqldojo.repair_params import RepairParams
from sqldojo.stage import run_stage

PARAMS = Path("params.yaml")


def main() -> None:
    """Write data/repair/tasks and metrics/repair/tasks.json."""
    settings, limits = load(PARAMS, "repair", RepairParams), load(PARAMS, "verifier", Limits)
    found = repair_tasks.make_tasks(
        settings, limits, TASKS, audited=Path("data/audited"), databases=Path("data/databases")
    )
    write_json(metrics("tasks"), found)


if __name__ == "__main__":
    run_stage("make_tasks", main)

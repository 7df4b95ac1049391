"""Stage teach_repair@TEACHER: one teacher's verified conversations at the training tasks."""

import sys
from pathlib import Path

from sqldojo.databases.execution import Limits
from sqldojo.files import write_json, write_records
from sqldojo.params import load
from sqldojo.repair_chain import demonstrations, metrics
from sqldojo.repair_params import RepairParams
from sqldojo.repair_runs import TaskSet, teach
from sqldojo.stage import run_stage
from sqldojo.teacher.provider import REPAIR, ProviderParams
from sqldojo.teacher.recording import Replaying

PARAMS = Path("params.yaml")


def main(teacher: str) -> None:
    """Write the teacher's demonstrations and their metrics."""
    settings, limits = load(PARAMS, "repair", RepairParams), load(PARAMS, "verifier", Limits)
    providers = load(PARAMS, "providers", ProviderParams)
    ask = Replaying(Path("cassettes"), REPAIR)
    episodes, counts = teach(TaskSet.read(settings, limits), settings.teachers[teacher], ask, providers)
    write_records(demonstrations(teacher), episodes)
    write_json(metrics(f"teach_{teacher}"), counts)


if __name__ == "__main__":
    run_stage(f"teach_repair@{sys.argv[1]}", lambda: main(sys.argv[1]))

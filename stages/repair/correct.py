"""Stage correct@ROUND: a teacher goes on where the student failed, and the student learns from that and from itself."""

import sys
from pathlib import Path

from sqldojo import repair_chain, repair_runs
from sqldojo.databases.execution import Limits
from sqldojo.files import read_records, write_records
from sqldojo.params import load
from sqldojo.records import Episode
from sqldojo.repair_params import RepairParams
from sqldojo.stage import resumable_folder, run_stage
from sqldojo.teacher.provider import REPAIR, ProviderParams
from sqldojo.teacher.recording import Replaying

PARAMS = Path("params.yaml")


def main(name: str) -> None:
    """Write the continuations, the adapter with its curve and looks, and the metrics with the round's yield."""
    settings, limits = load(PARAMS, "repair", RepairParams), load(PARAMS, "verifier", Limits)
    rounds = repair_chain.ROUNDS[: repair_chain.ROUNDS.index(name) + 1]
    *earlier, now = [read_records(repair_chain.attempts(each), Episode) for each in rounds]
    tasks, ask = repair_runs.TaskSet.read(settings, limits), Replaying(Path("cassettes"), REPAIR)
    found = repair_runs.correction_round(tasks, now, earlier, ask, load(PARAMS, "providers", ProviderParams))
    write_records(repair_chain.corrections(name), found.continuations)
    inputs = repair_runs.inputs(settings, limits, repair_chain.before(name))
    learnt = (*map(repair_chain.attempts, rounds), repair_chain.corrections(name))
    scratch = resumable_folder(f"correct@{name}", *inputs, *learnt)
    repair_runs.train_checkpoint(tasks, name, found.examples, scratch, {"yield": found.counts})


if __name__ == "__main__":
    run_stage(f"correct@{sys.argv[1]}", lambda: main(sys.argv[1]))

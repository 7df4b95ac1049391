"""Stage build_adversarial: the fourth database of each family, grown against the accepted questions."""

from __future__ import annotations

from pathlib import Path

from sqldojo.databases.execution import Limits
from sqldojo.databases.families import FAMILIES, ORDINARY, family_paths
from sqldojo.files import read_records, replacing_folder, write_json, write_records
from sqldojo.params import load
from sqldojo.questions.hardening import HardeningParams, harden, within_reach
from sqldojo.questions.starting_rows import starting_rows
from sqldojo.records import FilledType, QuestionType
from sqldojo.stage import run_stage

PARAMS = Path("params.yaml")


def main() -> None:
    """Write data/databases, data/bank and metrics/bank.json."""
    params, limits = load(PARAMS, "adversarial", HardeningParams), load(PARAMS, "verifier", Limits)
    accepted = read_records(Path("data/reviewed/types.jsonl"), QuestionType)
    filled = read_records(Path("data/reviewed/filled.jsonl"), FilledType)
    types, filled = within_reach(accepted, filled, params.hardest_proposed)
    ordinary = {family: family_paths(Path("data/ordinary"), family, ORDINARY) for family in FAMILIES}
    start = starting_rows(ordinary, filled, params.seed)
    found = harden(types, filled, ordinary, start, Path("data/databases"), params, limits)
    with replacing_folder(Path("data/bank")) as folder:
        for name in ("types", "filled", "withdrawn"):
            write_records(folder / f"{name}.jsonl", getattr(found, name))
    write_json(Path("metrics/bank.json"), {"left_to_stronger_models": len(accepted) - len(types)} | found.metrics)


if __name__ == "__main__":
    run_stage("build_adversarial", main)

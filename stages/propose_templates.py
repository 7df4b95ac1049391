"""Stage propose_templates: question types for the review, those of models from their recorded replies."""

from pathlib import Path

from sqldojo import params
from sqldojo.databases.families import ORDINARY, TRAIN, family_paths
from sqldojo.files import replacing_folder, write_json, write_records
from sqldojo.proposing import ProposeParams, proposal_metrics, propose
from sqldojo.stage import run_stage
from sqldojo.teacher.costs import spending
from sqldojo.teacher.provider import PROPOSE, ProviderParams
from sqldojo.teacher.recording import Replaying

PARAMS = Path("params.yaml")


def main() -> None:
    """Write data/proposals and metrics/propose.json."""
    settings, ask = params.load(PARAMS, "propose", ProposeParams), Replaying(Path("cassettes"), PROPOSE)
    databases = family_paths(Path("data/ordinary"), TRAIN, ORDINARY)
    found = propose(databases, ask, settings, params.load(PARAMS, "providers", ProviderParams))
    with replacing_folder(Path("data/proposals")) as folder:
        write_records(folder / "types.jsonl", found.types)
        write_records(folder / "malformed.jsonl", found.malformed)
    metrics = proposal_metrics(found)
    cost = spending(ask.used.values(), {model: metrics["by_proposer"].get(model, 0) for model in settings.models})
    write_json(Path("metrics/propose.json"), {**metrics, "cost": cost})


if __name__ == "__main__":
    run_stage("propose_templates", main)

"""Stage score_references: models behind an API at the evaluation tasks, from recorded replies; none by default."""

from pathlib import Path

from sqldojo.databases.execution import Limits
from sqldojo.files import write_json, write_records
from sqldojo.params import load
from sqldojo.repair.task import EVALUATION
from sqldojo.repair_chain import REFERENCES, metrics
from sqldojo.repair_params import RepairParams
from sqldojo.repair_runs import TaskSet
from sqldojo.stage import run_stage
from sqldojo.teacher.costs import spending
from sqldojo.teacher.provider import REPAIR, ProviderParams
from sqldojo.teacher.recording import Replaying
from sqldojo.teacher.repair_api import api_episodes

PARAMS = Path("params.yaml")


def main() -> None:
    """Write the episodes of all reference models, each with its name as the teacher, and what they cost."""
    settings, limits = load(PARAMS, "repair", RepairParams), load(PARAMS, "verifier", Limits)
    providers = load(PARAMS, "providers", ProviderParams)
    tasks, ask, episodes, cost = TaskSet.read(settings, limits), Replaying(Path("cassettes"), REPAIR), [], {}
    for model in settings.references:
        played = api_episodes(tasks.of(EVALUATION), ask, tasks.plain_maker, model, settings.agent, providers)
        episodes += played
    if episodes:
        cost = spending(ask.used.values(), {model: len(tasks.of(EVALUATION)) for model in settings.references})
    write_records(REFERENCES, episodes)
    write_json(metrics("references"), {"cost": cost})


if __name__ == "__main__":
    run_stage("score_references", main)

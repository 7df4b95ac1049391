"""Stage evaluate@CHECKPOINT: play every held-out question with one checkpoint and score it."""

import sys
from functools import partial
from pathlib import Path

from sqldojo import params
from sqldojo.agent.episode import AgentParams
from sqldojo.databases.execution import Limits
from sqldojo.databases.families import EVALUATION, family_paths
from sqldojo.evaluation.scoring import EvaluateParams, score
from sqldojo.evaluation.summary import summarise, summarise_types
from sqldojo.evaluation.tables import write_table
from sqldojo.files import read_records, write_json, write_records
from sqldojo.records import HELD_OUT_SPLITS, Question
from sqldojo.stage import resumable_folder, run_stage
from sqldojo.training.policy_model import load_policy_model
from sqldojo.training.provenance import provenance

load = partial(params.load, Path("params.yaml"))


def main(checkpoint: str, weights: Path) -> None:
    """`weights` is an adapter's folder, or data/model.json for the base model alone."""
    settings, agent, limits = load("evaluate", EvaluateParams), load("agent", AgentParams), load("verifier", Limits)
    policy = load_policy_model(Path("data/model"), weights if weights.is_dir() else None)
    files = [Path(f"data/questions/{split}.jsonl") for split in HELD_OUT_SPLITS]
    questions = [question for file in files for question in read_records(file, Question)]
    databases = family_paths(Path("data/databases"), EVALUATION)
    inputs = (settings, agent, limits, provenance(settings.seed), Path("data/model.json"), weights, *files, *databases)
    journal = resumable_folder(f"evaluate@{checkpoint}", *inputs) / "episodes.jsonl"
    episodes = score(policy, questions, databases, settings, agent, limits, journal)
    write_records(Path(f"data/episodes/{checkpoint}.jsonl"), episodes)
    write_json(Path(f"metrics/evaluate/{checkpoint}.json"), summarise(episodes, settings.seed))
    write_table(Path(f"plots/evaluate/{checkpoint}_types.csv"), summarise_types(episodes, settings.seed))


if __name__ == "__main__":
    name, path = sys.argv[1:]
    run_stage(f"evaluate@{name}", lambda: main(name, Path(path)))

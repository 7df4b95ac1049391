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
from sqldojo.stage import clear_scratch, resumable_folder, run_stage
from sqldojo.training.policy_model import load_policy_model

MODEL, QUESTIONS, DATABASES = Path("data/model"), Path("data/questions"), Path("data/databases")
load = partial(params.load, Path("params.yaml"))


def main(checkpoint: str, weights: Path) -> None:
    """`weights` is an adapter's folder, or data/model.json for the base model alone."""
    settings, agent, limits = load("evaluate", EvaluateParams), load("agent", AgentParams), load("verifier", Limits)
    policy = load_policy_model(MODEL, weights if weights.is_dir() else None)
    questions = [q for split in HELD_OUT_SPLITS for q in read_records(QUESTIONS / f"{split}.jsonl", Question)]
    databases = family_paths(DATABASES, EVALUATION)
    inputs = (settings, agent, limits, Path("data/model.json"), weights, QUESTIONS, *databases)
    journal = resumable_folder(f"evaluate@{checkpoint}", *inputs) / "episodes.jsonl"
    episodes = score(policy, questions, databases, settings, agent, limits, journal)
    write_records(Path(f"data/episodes/{checkpoint}.jsonl"), episodes)
    write_json(Path(f"metrics/evaluate/{checkpoint}.json"), summarise(episodes, settings.seed))
    write_table(Path(f"plots/evaluate/{checkpoint}_types.csv"), summarise_types(episodes, settings.seed))
    clear_scratch(f"evaluate@{checkpoint}")


if __name__ == "__main__":
    name, path = sys.argv[1:]
    run_stage(f"evaluate@{name}", lambda: main(name, Path(path)))

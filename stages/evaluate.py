"""Stage evaluate@CHECKPOINT: play every held-out question with one checkpoint and score it."""

import sys
from pathlib import Path

import polars

from sqldojo import params
from sqldojo.agent.episode import AgentParams
from sqldojo.databases.execution import Limits
from sqldojo.databases.families import EVALUATION, family_paths
from sqldojo.evaluation.scoring import EvaluateParams, score
from sqldojo.evaluation.summary import summarise, summarise_types
from sqldojo.files import read_records, replacing_file, write_json, write_records
from sqldojo.records import HELD_OUT_SPLITS, Question
from sqldojo.stage import clear_scratch, resumable_folder, run_stage
from sqldojo.training.policy_model import load_adapter, load_policy_model

PARAMS, MODEL, QUESTIONS, DATABASES = map(Path, ("params.yaml", "data/model", "data/questions", "data/databases"))


def main(checkpoint: str, weights: Path) -> None:
    """`weights` is an adapter's folder, or data/model.json for the base model alone."""
    settings = params.load(PARAMS, "evaluate", EvaluateParams)
    agent, limits = params.load(PARAMS, "agent", AgentParams), params.load(PARAMS, "verifier", Limits)
    policy = load_policy_model(MODEL)
    if weights.is_dir():
        load_adapter(weights, policy.model)
    files = [QUESTIONS / f"{split}.jsonl" for split in HELD_OUT_SPLITS]
    questions = [question for file in files for question in read_records(file, Question)]
    databases = family_paths(DATABASES, EVALUATION)
    stage = f"evaluate@{checkpoint}"
    scratch = resumable_folder(stage, settings, agent, limits, MODEL.with_suffix(".json"), weights, *files, *databases)
    episodes = score(policy, questions, databases, settings, agent, limits, scratch / "episodes.jsonl")
    write_records(Path(f"data/episodes/{checkpoint}.jsonl"), episodes)
    write_json(Path(f"metrics/evaluate/{checkpoint}.json"), summarise(episodes, settings.seed))
    with replacing_file(Path(f"plots/evaluate/{checkpoint}_types.csv")) as temporary:
        polars.DataFrame(summarise_types(episodes, settings.seed)).write_csv(temporary)
    clear_scratch(stage)


if __name__ == "__main__":
    name, path = sys.argv[1:]
    run_stage(f"evaluate@{name}", lambda: main(name, Path(path)))

"""Stage evaluate@CHECKPOINT: play every held-out question with one checkpoint of a chain and score it."""

import sys
from functools import partial
from pathlib import Path

from sqldojo import params
from sqldojo.agent.episode import AnswerParams
from sqldojo.chains import RELEASED, Chain, chain_of
from sqldojo.databases.execution import Limits
from sqldojo.databases.families import EVALUATION, family_paths
from sqldojo.evaluation.scoring import EvaluateParams, score, write_scores
from sqldojo.files import read_records
from sqldojo.records import HELD_OUT_SPLITS, Question
from sqldojo.stage import resumable_folder, run_stage
from sqldojo.training.policy_model import load_policy_model
from sqldojo.training.provenance import provenance

load = partial(params.load, Path("params.yaml"))


def main(chain: Chain, checkpoint: str) -> None:
    settings, agent, limits = load("evaluate", EvaluateParams), load("agent", AnswerParams), load("verifier", Limits)
    weights = chain.weights(checkpoint)
    policy = load_policy_model(chain.base, None if checkpoint == RELEASED else weights, to_play=True)
    files = [Path(f"data/questions/{split}.jsonl") for split in HELD_OUT_SPLITS]
    questions = [question for file in files for question in read_records(file, Question)]
    databases = family_paths(Path("data/databases"), EVALUATION)
    inputs = (settings, agent, limits, provenance(settings.seed), chain.base_card, weights, *files, *databases)
    journal = resumable_folder(f"evaluate@{chain.name}-{checkpoint}", *inputs) / "episodes.jsonl"
    episodes = score(policy, questions, databases, settings, agent, limits, journal)
    write_scores(chain, checkpoint, episodes, settings.seed)


if __name__ == "__main__":
    model, seed, name = sys.argv[1:]  # of the released checkpoint any seed: it has none
    stage = f"evaluate_released@{model}" if name == RELEASED else f"evaluate@{model}-{seed}-{name}"
    run_stage(stage, lambda: main(chain_of([model, seed]), name))

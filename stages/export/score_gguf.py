"""Stage score_gguf@KIND: the questions of the selection set, played through llama.cpp with one of the files."""

import sys
from functools import partial
from pathlib import Path

from sqldojo import params
from sqldojo.agent.episode import AnswerParams
from sqldojo.databases.execution import Limits
from sqldojo.databases.families import EVALUATION, family_paths
from sqldojo.evaluation.scoring import EvaluateParams
from sqldojo.export.file_scoring import score_file
from sqldojo.export.settings import FILES, FUSED, ExportParams, episodes_path, file_path
from sqldojo.files import read_records, write_records
from sqldojo.records import SELECTION, Question
from sqldojo.stage import run_stage

load = partial(params.load, Path("params.yaml"))


def main(kind: str) -> None:
    settings, evaluate = load("export", ExportParams), load("evaluate", EvaluateParams)
    agent, limits = load("agent", AnswerParams), load("verifier", Limits)
    questions = read_records(Path(f"data/questions/{SELECTION}.jsonl"), Question)
    databases = family_paths(Path("data/databases"), EVALUATION)
    path = file_path(FILES, settings.chain.name, kind)
    played = score_file(path, FUSED, questions, databases, evaluate.attempts, agent, limits, evaluate.seed)
    write_records(episodes_path(kind), played)


if __name__ == "__main__":
    run_stage(f"score_gguf@{sys.argv[1]}", lambda: main(sys.argv[1]))

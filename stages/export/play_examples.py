"""Stage play_examples: a few held-out questions, asked of one file greedily and several times at temperature 1."""

from functools import partial
from pathlib import Path

from sqldojo import params
from sqldojo.agent.episode import AnswerParams
from sqldojo.databases.execution import Limits
from sqldojo.databases.families import EVALUATION, family_paths
from sqldojo.evaluation.scoring import EvaluateParams
from sqldojo.export.examples import chosen_examples
from sqldojo.export.file_scoring import play_examples
from sqldojo.export.settings import ENDINGS, EXAMPLES, FILES, FUSED, ExportParams, file_path
from sqldojo.files import read_records, write_json, write_records
from sqldojo.records import RESERVED, SELECTION, Question
from sqldojo.stage import run_stage

load = partial(params.load, Path("params.yaml"))


def main() -> None:
    settings, evaluate = load("export", ExportParams), load("evaluate", EvaluateParams)
    agent, limits = load("agent", AnswerParams), load("verifier", Limits)
    files = [Path(f"data/questions/{split}.jsonl") for split in (RESERVED, SELECTION)]
    asked = chosen_examples([each for file in files for each in read_records(file, Question)], settings.examples)
    databases = family_paths(Path("data/databases"), EVALUATION)
    path = file_path(FILES, settings.chain.name, settings.example_file)
    greedy, drawn, ending = play_examples(
        path, FUSED, asked, databases, settings.example_attempts, agent, limits, evaluate.seed
    )
    write_records(EXAMPLES, [*greedy, *drawn])
    write_json(ENDINGS, {"submitted": sum(each.submission is not None for each in greedy), "ending": ending})


if __name__ == "__main__":
    run_stage("play_examples", main)

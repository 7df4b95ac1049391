"""Stage score_test: play the test questions with the released model and the kept adapter, once for each release."""

from functools import partial
from pathlib import Path

from sqldojo import params
from sqldojo.agent.episode import AnswerParams
from sqldojo.databases.execution import Limits
from sqldojo.databases.families import EVALUATION, family_paths
from sqldojo.files import read_records, write_json, write_records
from sqldojo.held_out.ledger import LEDGER, PARAMS, SCORE, begin, record_score, refuse_in_experiment
from sqldojo.held_out.release import ReleaseParams, look_of, metrics_of, play_release, result_of
from sqldojo.held_out.split import SplitParams, split_digest
from sqldojo.records import Question
from sqldojo.stage import resumable_folder, run_stage
from sqldojo.training.provenance import provenance

load, load_own = partial(params.load, Path("params.yaml")), partial(params.load, PARAMS)
QUESTIONS, TRAINING = Path("data/held_out/questions.jsonl"), Path("data/questions/train.jsonl")


def main() -> None:
    refuse_in_experiment()
    release, split = load_own("release", ReleaseParams), load_own("test", SplitParams)
    agent, limits = load("agent", AnswerParams), load("verifier", Limits)
    asked, databases = read_records(QUESTIONS, Question), family_paths(Path("data/held_out/databases"), EVALUATION)
    look = look_of(release, split_digest(QUESTIONS, databases), TRAINING, split, agent, limits)
    entry = begin(LEDGER, look)  # from here on the name is taken, whatever happens to this process
    if entry["kind"] != SCORE:
        journals = resumable_folder("score_test", look.key, provenance(split.seed))
        episodes = play_release(release.chain, asked, databases, split, agent, limits, journals)
        files = {name: Path("data/held_out/episodes") / entry["release"] / f"{name}.jsonl" for name in episodes}
        for name, path in files.items():
            write_records(path, episodes[name])
        entry = record_score(LEDGER, look.key, result_of(episodes, files, split.seed))
    write_json(Path("metrics/test.json"), metrics_of(entry))


if __name__ == "__main__":
    run_stage("score_test", main)

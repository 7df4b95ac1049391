"""Stage teach: demonstrations of API teachers, from their recorded replies, and of the script; only what verifies."""

from pathlib import Path

from sqldojo import params
from sqldojo.agent.episode import AnswerParams
from sqldojo.databases.execution import Limits
from sqldojo.databases.families import TRAIN, family_paths
from sqldojo.files import read_records, write_json, write_records
from sqldojo.records import Question
from sqldojo.stage import run_stage
from sqldojo.teacher.collection import collect
from sqldojo.teacher.costs import spending
from sqldojo.teacher.provider import TEACH, ProviderParams
from sqldojo.teacher.recording import Replaying
from sqldojo.teacher.scripted import TeachParams

PARAMS = Path("params.yaml")


def main() -> None:
    """Write data/demonstrations.jsonl and metrics/teach.json."""
    settings = params.load(PARAMS, "teach", TeachParams)
    ask = Replaying(Path("cassettes"), TEACH)
    demonstrations, metrics = collect(
        read_records(Path("data/questions/train.jsonl"), Question),
        family_paths(Path("data/databases"), TRAIN),
        ask,
        settings,
        params.load(PARAMS, "agent", AnswerParams),
        params.load(PARAMS, "providers", ProviderParams),
        params.load(PARAMS, "verifier", Limits),
    )
    write_records(Path("data/demonstrations.jsonl"), demonstrations)
    cost = spending(ask.used.values(), {model: metrics["by_teacher"].get(model, 0) for model in settings.models})
    write_json(Path("metrics/teach.json"), {**metrics, "cost": cost})


if __name__ == "__main__":
    run_stage("teach", main)

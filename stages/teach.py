"""Stage teach: the scripted teacher demonstrates every training question; what does not verify is left out."""

from pathlib import Path

from sqldojo import params
from sqldojo.agent.episode import AgentParams
from sqldojo.databases.execution import Limits
from sqldojo.databases.families import TRAIN, family_paths
from sqldojo.databases.schema import schema_text
from sqldojo.files import read_records, write_json, write_records
from sqldojo.records import Question
from sqldojo.stage import run_stage
from sqldojo.teacher.scripted import TeachParams, demonstrate

PARAMS = Path("params.yaml")


def main() -> None:
    questions = read_records(Path("data/questions/train.jsonl"), Question)
    databases = family_paths(Path("data/databases"), TRAIN)
    demonstrations, counts = demonstrate(
        questions,
        databases,
        schema_text(databases[0]),
        params.load(PARAMS, "teach", TeachParams),
        params.load(PARAMS, "agent", AgentParams),
        params.load(PARAMS, "verifier", Limits),
    )
    write_records(Path("data/demonstrations.jsonl"), demonstrations)
    write_json(Path("metrics/teach.json"), {"questions": len(questions), "kept": len(demonstrations), **counts})


if __name__ == "__main__":
    run_stage("teach", main)

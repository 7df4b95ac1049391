"""Stage report_export: sizes, agreement with MLX, what quantising costs; as numbers, a report and a guide."""

import json
from pathlib import Path

from sqldojo.agent.episode import AnswerParams
from sqldojo.agent.family_schema import read_family_schema
from sqldojo.databases.families import EVALUATION, family_paths
from sqldojo.evaluation.scoring import EvaluateParams
from sqldojo.export.file_scoring import fused_dialogue
from sqldojo.export.lmstudio_guide import guide
from sqldojo.export.report import report
from sqldojo.export.results import example_rows, read_results
from sqldojo.export.settings import ENDINGS, EXAMPLES, FUSED, GUIDE, METRICS, REPORT, ExportParams
from sqldojo.files import read_records, write_json, write_text
from sqldojo.params import load
from sqldojo.records import Episode
from sqldojo.stage import run_stage

PARAMS = Path("params.yaml")


def main() -> None:
    settings, evaluate = load(PARAMS, "export", ExportParams), load(PARAMS, "evaluate", EvaluateParams)
    found, rows = read_results(settings, evaluate.seed), example_rows(read_records(EXAMPLES, Episode))
    endings = json.loads(ENDINGS.read_text(encoding="utf-8"))
    most = load(PARAMS, "agent", AnswerParams).schema_characters
    schema = read_family_schema(family_paths(Path("data/databases"), EVALUATION)[0], most)
    shown = schema.shown_for(next((row["question"] for row in rows), ""))
    ended, tool_format = (endings["ending"], endings["submitted"]), fused_dialogue(FUSED)[0].tool_format
    write_json(METRICS, found)
    write_text(REPORT, report(found))
    write_text(GUIDE, guide(found, rows, ended, settings, tool_format, shown))


if __name__ == "__main__":
    run_stage("report_export", main)

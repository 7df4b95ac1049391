"""Stage report: the scores of the checkpoints named on the command line, in that order, side by side."""

import json
import sys
from pathlib import Path

from sqldojo.evaluation.report import headline, markdown
from sqldojo.files import write_json, write_text
from sqldojo.stage import run_stage


def main() -> None:
    metrics = {
        checkpoint: json.loads(Path(f"metrics/evaluate/{checkpoint}.json").read_text(encoding="utf-8"))
        for checkpoint in sys.argv[1:]
    }
    write_json(Path("metrics/summary.json"), headline(metrics))
    write_text(Path("reports/summary.md"), markdown(metrics))


if __name__ == "__main__":
    run_stage("report", main)

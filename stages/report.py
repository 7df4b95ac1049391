"""Stage report: the scores of the checkpoints named on the command line side by side, each compared with the last."""

import json
import sys
from itertools import pairwise
from pathlib import Path

from sqldojo.evaluation.paired import changes
from sqldojo.evaluation.report import headline, markdown
from sqldojo.files import read_records, write_json, write_text
from sqldojo.records import Episode
from sqldojo.stage import run_stage


def main() -> None:
    names = sys.argv[1:]
    metrics = {name: json.loads(Path(f"metrics/evaluate/{name}.json").read_text(encoding="utf-8")) for name in names}
    episodes = {name: read_records(Path(f"data/episodes/{name}.jsonl"), Episode) for name in names}
    changed = {name: changes(episodes[before], episodes[name]) for before, name in pairwise(names)}
    write_json(Path("metrics/summary.json"), headline(metrics, changed))
    write_text(Path("reports/summary.md"), markdown(metrics, changed))


if __name__ == "__main__":
    run_stage("report", main)

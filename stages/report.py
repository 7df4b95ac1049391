"""Stage report: the scores of the checkpoints named on the command line side by side, the bank, and what it cost."""

import json
import sys
from itertools import pairwise
from pathlib import Path

from sqldojo.evaluation.bank_report import bank_markdown, merged_costs
from sqldojo.evaluation.paired import changes
from sqldojo.evaluation.report import headline, markdown
from sqldojo.files import read_records, write_json, write_text
from sqldojo.records import Episode
from sqldojo.stage import run_stage


def read(name: str) -> dict:
    return json.loads(Path(f"metrics/{name}.json").read_text(encoding="utf-8"))


def main() -> None:
    names = sys.argv[1:]
    metrics = {name: read(f"evaluate/{name}") for name in names}
    episodes = {name: read_records(Path(f"data/episodes/{name}.jsonl"), Episode) for name in names}
    changed = {name: changes(episodes[before], episodes[name]) for before, name in pairwise(names)}
    review = read("review")
    spending = {name: read(name) for name in ("propose", "review", "teach")}
    costs = merged_costs(spending, review["accepted_by"]["proposer"])
    write_json(Path("metrics/summary.json"), headline(metrics, changed))
    write_json(Path("metrics/cost.json"), costs)
    bank = bank_markdown(review, read("bank"), read("audit")["asked"], costs)
    write_text(Path("reports/summary.md"), f"{markdown(metrics, changed)}\n{bank}")


if __name__ == "__main__":
    run_stage("report", main)

"""Stage summary: the scores of all chains, the question bank, and what models behind an API cost."""

import json
from pathlib import Path
from typing import Any

from sqldojo.chains import Chain
from sqldojo.evaluation.bank_report import bank_markdown, merged_costs
from sqldojo.evaluation.overview import across_seeds, overview
from sqldojo.files import write_json, write_text
from sqldojo.params import load_list
from sqldojo.stage import run_stage

PARAMS = Path("params.yaml")


def read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def main() -> None:
    models, seeds = load_list(PARAMS, "models", str), load_list(PARAMS, "seeds", int)
    chains = {model: {seed: read(Chain(model, seed).metrics("report")) for seed in seeds} for model in models}
    own = {name: read(Path(f"metrics/{name}.json")) for name in ("propose", "review", "bank", "audit", "teach")}
    spending = {name: own[name] for name in ("propose", "review", "teach")}
    costs = merged_costs(spending, own["review"]["accepted_by"]["proposer"])
    bank = bank_markdown(own["review"], own["bank"], own["audit"]["asked"], costs)
    write_json(Path("metrics/cost.json"), costs)
    write_json(Path("metrics/summary.json"), {model: across_seeds(by_seed) for model, by_seed in chains.items()})
    write_text(Path("reports/summary.md"), f"{overview(chains)}\n{bank}")


if __name__ == "__main__":
    run_stage("summary", main)

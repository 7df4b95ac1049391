"""Stage redistill@CHAIN: train the adapter that GRPO left on the teacher's solutions and on its own."""

from pathlib import Path

from sqldojo import params
from sqldojo.chain_stage import run_chain_stage
from sqldojo.chains import GRPO, REDISTILLED, Chain
from sqldojo.evaluation.live_curves import live_curve
from sqldojo.evaluation.tables import write_table
from sqldojo.files import read_records, write_json
from sqldojo.records import Episode
from sqldojo.stage import resumable_folder
from sqldojo.training import distill
from sqldojo.training.policy_model import adapter_params, load_policy_model, save_adapter
from sqldojo.training.provenance import provenance
from sqldojo.training.supervised import final_loss

DEMONSTRATIONS = Path("data/demonstrations.jsonl")


def main(chain: Chain) -> None:
    settings = params.load(Path("params.yaml"), "redistill", distill.RedistillParams, seed=chain.seed)
    taught, own = (read_records(path, Episode) for path in (DEMONSTRATIONS, chain.own_solutions))
    start, about = chain.weights(GRPO), provenance(settings.seed)
    policy = load_policy_model(chain.base, start)
    inputs = (settings, about, DEMONSTRATIONS, chain.own_solutions, start, chain.base_card)
    scratch = resumable_folder(f"redistill@{chain.name}", *inputs)
    with live_curve(chain, "redistill") as observe:
        curve = distill.redistill(policy, taught, own, settings, scratch, observe)
    write_table(chain.curve("redistill"), curve)
    counts = {"own_solutions": len(own), "own_solutions_taken": len(distill.balanced_own(own, taught, settings))}
    write_json(chain.metrics("redistill"), {"final_loss": final_loss(curve), "updates": len(curve), **counts})
    save_adapter(chain.weights(REDISTILLED), policy.model, adapter_params(start), about)


if __name__ == "__main__":
    run_chain_stage("redistill", main)

"""Stage distill@CHAIN: train a fresh adapter on the demonstrations."""

from pathlib import Path

from sqldojo import params
from sqldojo.chain_stage import run_chain_stage
from sqldojo.chains import DISTILLED, Chain
from sqldojo.evaluation.live_curves import live_curve
from sqldojo.evaluation.tables import write_table
from sqldojo.files import read_records, write_json
from sqldojo.records import Episode
from sqldojo.stage import resumable_folder
from sqldojo.training.distill import DistillParams, distill
from sqldojo.training.policy_model import load_policy_model, save_adapter
from sqldojo.training.provenance import provenance
from sqldojo.training.supervised import final_loss

DEMONSTRATIONS = Path("data/demonstrations.jsonl")


def main(chain: Chain) -> None:
    settings = params.load(Path("params.yaml"), "distill", DistillParams, seed=chain.seed)
    demonstrations = read_records(DEMONSTRATIONS, Episode)
    policy = load_policy_model(chain.base)
    about = provenance(settings.seed)
    scratch = resumable_folder(f"distill@{chain.name}", settings, about, DEMONSTRATIONS, chain.base_card)
    with live_curve(chain, "distill") as observe:
        curve = distill(policy, demonstrations, settings, scratch, observe)
    write_table(chain.curve("distill"), curve)
    write_json(chain.metrics("distill"), {"final_loss": final_loss(curve), "updates": len(curve)})
    save_adapter(chain.weights(DISTILLED), policy.model, settings.lora, about)


if __name__ == "__main__":
    run_chain_stage("distill", main)

"""Stage distill: train a fresh adapter on the demonstrations."""

from pathlib import Path

from sqldojo import params
from sqldojo.evaluation.tables import write_table
from sqldojo.files import read_records, write_json
from sqldojo.records import Episode
from sqldojo.stage import resumable_folder, run_stage
from sqldojo.training.distill import DistillParams, distill, final_loss
from sqldojo.training.policy_model import load_policy_model, save_adapter
from sqldojo.training.provenance import provenance

DEMONSTRATIONS, MODEL = Path("data/demonstrations.jsonl"), Path("data/model")


def main() -> None:
    settings = params.load(Path("params.yaml"), "distill", DistillParams)
    demonstrations = read_records(DEMONSTRATIONS, Episode)
    policy = load_policy_model(MODEL)
    about = provenance(settings.seed)
    scratch = resumable_folder("distill", settings, about, DEMONSTRATIONS, Path("data/model.json"))
    curve = distill(policy, demonstrations, settings, scratch)
    write_table(Path("plots/distill.csv"), curve)
    write_json(Path("metrics/distill.json"), {"final_loss": final_loss(curve), "updates": len(curve)})
    save_adapter(Path("data/adapters/distilled"), policy.model, settings.lora, about)


if __name__ == "__main__":
    run_stage("distill", main)

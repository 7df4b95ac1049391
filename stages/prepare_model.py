"""Stage prepare_model@MODEL: a base model as an MLX folder, and a card that says what it is."""

import sys
from pathlib import Path

from sqldojo.chains import Chain
from sqldojo.files import write_json
from sqldojo.params import load_entry
from sqldojo.stage import run_stage
from sqldojo.training.model_sources import prepare_model


def main(model: str) -> None:
    """Read `sources.MODEL`, write data/models/MODEL and data/models/MODEL.json."""
    chain = Chain(model, seed=0)  # the same for all seeds
    source = load_entry(Path("params.yaml"), "sources", model)
    write_json(chain.base_card, prepare_model(source, chain.base))


if __name__ == "__main__":
    run_stage(f"prepare_model@{sys.argv[1]}", lambda: main(sys.argv[1]))

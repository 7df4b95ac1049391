"""Stage prepare_model: the base model as an MLX folder, and a small description of it."""

from pathlib import Path

from sqldojo.files import write_json
from sqldojo.params import load
from sqldojo.stage import run_stage
from sqldojo.training.model_sources import ModelParams, prepare_model


def main() -> None:
    """Read `model`, write data/model and data/model.json."""
    params = load(Path("params.yaml"), "model", ModelParams)
    write_json(Path("data/model.json"), prepare_model(params.source, Path("data/model")))


if __name__ == "__main__":
    run_stage("prepare_model", main)

"""The model that a command of the terminal is about, as --model and --adapter say it."""

from __future__ import annotations

import json
from pathlib import Path

from sqldojo.chains import KEPT, Chain
from sqldojo.errors import UserError
from sqldojo.params import load_list


def model_and_adapter(params_file: Path, model: str | None, adapter: Path | None) -> tuple[Path, Path | None]:
    """The folders of the base model and of its adapter, None for none; UserError where either is not there.

    `model` is a name of the params file, whose first chain's kept adapter comes with it unless another is named, or the
    folder of a base model, which comes without one; None is the first of the params file.
    """
    if model is not None and Path(model).is_dir():
        base = Path(model)
        if not (base / "config.json").is_file():
            raise UserError(f"--model {model}: there is no model in this folder (no config.json); give an MLX folder")
    else:
        names, seed = load_list(params_file, "models", str), load_list(params_file, "seeds", int)[0]
        if model is not None and model not in names:
            listed = ", ".join(names)
            raise UserError(f"--model {model}: neither a folder nor one of {params_file}: models ({listed})")
        chain = Chain(names[0] if model is None else model, seed)
        base, adapter = chain.base, adapter or chain.weights(KEPT)
    if adapter is not None:
        _check_adapter(adapter)
    return base, adapter


def _check_adapter(folder: Path) -> None:
    """UserError unless it looks like a folder in which `sqldojo` or mlx-lm saved a LoRA adapter."""
    if not folder.is_dir():
        raise UserError(f"{folder}: there is no adapter; train one with `make repro`, or name one with --adapter")
    config = folder / "adapter_config.json"
    try:
        lora = json.loads(config.read_text(encoding="utf-8"))["lora_parameters"]
        whole = (folder / "adapters.safetensors").is_file() and {"rank", "scale"} <= lora.keys()
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError):
        whole = False
    if not whole:
        raise UserError(
            f"{folder}: is no adapter (adapter_config.json with LoRA's rank and scale, and adapters.safetensors); "
            "name one with --adapter, such as data/adapters/MODEL/SEED/kept"
        )

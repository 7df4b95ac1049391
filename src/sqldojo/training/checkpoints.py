"""Checkpoints of a training run: everything that a rerun needs to end exactly as the uninterrupted run would."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import mlx.core as mx
import mlx.nn as nn
import mlx.optimizers as optim
from mlx.utils import tree_flatten, tree_unflatten

from sqldojo.files import replacing_file
from sqldojo.training.policy_model import adapter_weights, load_adapter_weights

_ADAPTER, _OPTIMIZER, _KEPT, _STATE = "adapter/", "optimizer/", "kept/", "state"


@dataclass(frozen=True)
class TrainingState:
    """How far a run is: updates done and the rows of its curve. Random choices follow from seed and step.

    `more` is what else a kind of training must remember, as plain JSON, and `kept` tensors by name: the best adapter.
    """

    step: int
    curve: list[dict[str, Any]]
    more: dict[str, Any] = field(default_factory=dict)
    kept: dict[str, mx.array] = field(default_factory=dict)


def save_checkpoint(folder: Path, model: nn.Module, optimizer: optim.Adam, state: TrainingState) -> None:
    """Replace the folder's checkpoint by adapter, optimizer and state, in one file, so that they always agree."""
    arrays = {_ADAPTER + name: tensor for name, tensor in adapter_weights(model).items()}
    arrays |= {_OPTIMIZER + name: tensor for name, tensor in tree_flatten(optimizer.state)}
    arrays |= {_KEPT + name: tensor for name, tensor in state.kept.items()}
    rest = json.dumps({"step": state.step, "curve": state.curve, "more": state.more})
    # mlx appends the suffix to a name without it, so the bytes go through an open file.
    with replacing_file(folder / "checkpoint.safetensors") as temporary, temporary.open("wb") as file:
        mx.save_safetensors(file, arrays, metadata={_STATE: rest})


def load_checkpoint(folder: Path, model: nn.Module, optimizer: optim.Adam) -> TrainingState | None:
    """Restore a checkpoint into model and optimizer and return its state; None when there is none."""
    path = folder / "checkpoint.safetensors"
    if not path.is_file():
        return None
    arrays, metadata = mx.load(str(path), return_metadata=True)
    load_adapter_weights(model, _part(arrays, _ADAPTER), path)
    optimizer.state = tree_unflatten(list(_part(arrays, _OPTIMIZER).items()))
    kept = _part(arrays, _KEPT)
    mx.eval(kept)  # read now: the file will be replaced
    return TrainingState(**json.loads(metadata[_STATE]), kept=kept)


def _part(arrays: dict[str, mx.array], prefix: str) -> dict[str, mx.array]:
    return {name.removeprefix(prefix): tensor for name, tensor in arrays.items() if name.startswith(prefix)}

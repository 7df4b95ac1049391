"""Checkpoints of a training run: everything that a rerun needs to end exactly as the uninterrupted run would."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import mlx.core as mx
import mlx.nn as nn
import mlx.optimizers as optim
from mlx.utils import tree_flatten, tree_unflatten

from sqldojo.files import replacing_file
from sqldojo.training.policy_model import adapter_weights, load_adapter_weights

_ADAPTER, _OPTIMIZER, _STATE = "adapter/", "optimizer/", "state"


@dataclass(frozen=True)
class TrainingState:
    """How far a run is: updates done and the rows of its curve. Random choices follow from seed and step."""

    step: int
    curve: list[dict[str, Any]]


def save_checkpoint(folder: Path, model: nn.Module, optimizer: optim.Adam, state: TrainingState) -> None:
    """Replace the folder's checkpoint by adapter, optimizer and state, in one file, so that they always agree."""
    arrays = {_ADAPTER + name: tensor for name, tensor in adapter_weights(model).items()}
    arrays |= {_OPTIMIZER + name: tensor for name, tensor in tree_flatten(optimizer.state)}
    # mlx appends the suffix to a name without it, so the bytes go through an open file.
    with replacing_file(folder / "checkpoint.safetensors") as temporary, temporary.open("wb") as file:
        mx.save_safetensors(file, arrays, metadata={_STATE: json.dumps(asdict(state))})


def load_checkpoint(folder: Path, model: nn.Module, optimizer: optim.Adam) -> TrainingState | None:
    """Restore a checkpoint into model and optimizer and return its state; None when there is none."""
    path = folder / "checkpoint.safetensors"
    if not path.is_file():
        return None
    arrays, metadata = mx.load(str(path), return_metadata=True)
    adapter = {name.removeprefix(_ADAPTER): tensor for name, tensor in arrays.items() if name.startswith(_ADAPTER)}
    load_adapter_weights(model, adapter, path)
    optimizer.state = tree_unflatten(
        [(name.removeprefix(_OPTIMIZER), tensor) for name, tensor in arrays.items() if name.startswith(_OPTIMIZER)]
    )
    return TrainingState(**json.loads(metadata[_STATE]))

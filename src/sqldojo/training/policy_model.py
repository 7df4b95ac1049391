"""The model that is trained and played: loading, its adapter, and the body and head that a loss needs apart."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import mlx.core as mx
import mlx.nn as nn
from mlx.utils import tree_flatten, tree_map, tree_unflatten
from mlx_lm.tuner.lora import LoRALinear
from mlx_lm.tuner.utils import linear_to_lora_layers
from mlx_lm.utils import load

from sqldojo.agent.tool_format import ANSWER_TOOLS, Tool
from sqldojo.errors import UserError
from sqldojo.files import replacing_folder, write_json
from sqldojo.training.attention import let_caches_attend
from sqldojo.training.dialogue import Dialogue
from sqldojo.training.layer_states import LayerKind, layer_kinds
from sqldojo.training.model_folder import quantised_text
from sqldojo.training.native_format import tool_format_of

_FLOATS = (mx.float32, mx.bfloat16, mx.float16)
_WEIGHTS, _CONFIG = "adapters.safetensors", "adapter_config.json"


@dataclass(frozen=True)
class LoraParams:
    """Low-rank adaptation (Hu et al. 2021) of every linear layer: W x + scale * B A x, with A of `rank` rows."""

    rank: int
    scale: float

    def __post_init__(self) -> None:
        if self.rank < 1:
            raise ValueError(f"rank: must be at least 1, found {self.rank}")
        if self.scale <= 0:
            raise ValueError(f"scale: must be above 0, found {self.scale}")


@dataclass(frozen=True)
class PolicyModel:
    """A loaded model with the dialogue that it understands.

    `body` maps tokens [B, T] and caches to hidden states [B, T, D]; `head` maps hidden states to logits over the
    vocabulary. `end_tokens` are the ids that end a turn. `layers` says what each layer keeps of the tokens before.
    """

    model: nn.Module
    dialogue: Dialogue
    body: Callable[..., mx.array]
    head: Callable[[mx.array], mx.array]
    end_tokens: frozenset[int]
    layers: tuple[LayerKind, ...]


def load_policy_model(
    folder: Path, adapter: Path | None = None, *, tools: tuple[Tool, ...] = ANSWER_TOOLS, to_play: bool = False
) -> PolicyModel:
    """The model of an MLX folder, in float32 on a CPU and in bfloat16 on a GPU, with a saved adapter if one is given.

    Loaded only `to_play`, the adapter may be merged into the weights and cannot be trained on. Its dialogue is about
    these tools. UserError when the folder holds no model, or one whose layers' states or output layer do not fit our
    way of training.
    """
    if not (folder / "config.json").is_file():
        raise UserError(f"{folder}: there is no model in it; build it with `dvc repro prepare_model`")
    try:
        model, tokenizer = load(str(folder))
    except ValueError as error:  # mlx-lm's word for an unknown architecture or weights that do not fit
        raise UserError(f"{folder}: mlx-lm cannot load this model ({error}); set params.yaml: sources") from error
    layers = layer_kinds(model)
    # Half precision is slow on a CPU, and float32 makes sampled and trained probabilities agree to the last bits.
    wanted = mx.float32 if mx.default_device() == mx.Device(mx.cpu) else mx.bfloat16
    model.update(tree_map(lambda x: x.astype(wanted) if x.dtype in _FLOATS else x, model.parameters()))
    model.freeze()
    let_caches_attend(model)
    body, head = _body_and_head(model)
    if adapter is not None:
        load_adapter(adapter, model)
        if to_play:
            merge_adapter(model)
    dialogue = Dialogue(tokenizer, tool_format_of(tokenizer, tools))
    ends = frozenset(tokenizer.eos_token_ids) | dialogue.turn_end
    return PolicyModel(model, dialogue, body, head, ends, layers)


def _body_and_head(model: nn.Module) -> tuple[Callable[..., mx.array], Callable[[mx.array], mx.array]]:
    text_model = getattr(model, "language_model", model)
    body = text_model.model

    def head(hidden: mx.array) -> mx.array:
        return text_model.lm_head(hidden) if hasattr(text_model, "lm_head") else body.embed_tokens.as_linear(hidden)

    probe = mx.arange(4)[None]
    if not mx.allclose(head(body(probe)), model(probe), rtol=1e-2, atol=1e-2).item():
        raise UserError(
            "params.yaml: sources: this model changes its logits after the output layer (it scales or caps them), "
            "so a loss would not be about the logits that it samples from; choose another model"
        )
    return body, head


def add_fresh_adapter(model: nn.Module, params: LoraParams, seed: int) -> None:
    """Put a new adapter on all linear layers: A random by `seed`, B zero, so the model's output is unchanged."""
    mx.random.seed(seed)
    linear_to_lora_layers(model, len(model.layers), {"rank": params.rank, "scale": params.scale, "dropout": 0.0})


def adapter_weights(model: nn.Module) -> dict[str, mx.array]:
    """The trainable tensors by name; they stay what they are, since an update puts new ones in their place."""
    return dict(tree_flatten(model.trainable_parameters()))


def load_adapter_weights(model: nn.Module, weights: dict[str, mx.array], origin: Path) -> None:
    """Replace the adapter's tensors; UserError naming the keys unless exactly the model's own tensors are given."""
    own = adapter_weights(model)
    odd = sorted(own.keys() ^ weights.keys()) or sorted(
        name for name, tensor in own.items() if tensor.shape != weights[name].shape
    )
    if odd:
        raise UserError(f"{origin}: does not fit the model: {len(odd)} tensors differ, first {odd[0]}; train it again")
    model.load_weights(list(weights.items()), strict=False)
    mx.eval(model.parameters())


def quantised_base(model: nn.Module) -> dict[str, str]:
    """`base`: how the linear layers are quantised on which an adapter stands; empty where none is."""
    bits = {part.bits for part in model.modules() if isinstance(part, nn.QuantizedLinear)}
    return {"base": quantised_text(bits)} if bits else {}


def save_adapter(folder: Path, model: nn.Module, params: LoraParams, about: dict[str, Any]) -> None:
    """Write the adapter as mlx-lm reads it, with `about` (seed, versions, device) kept in `about.json`.

    That file also says so when the model below is quantised.
    """
    with replacing_folder(folder) as temporary:
        mx.save_safetensors(str(temporary / _WEIGHTS), adapter_weights(model))
        write_json(
            temporary / _CONFIG,
            {
                "fine_tune_type": "lora",
                "num_layers": len(model.layers),
                "lora_parameters": {**asdict(params), "dropout": 0.0},
            },
        )
        write_json(temporary / "about.json", about | quantised_base(model))


def load_adapter(folder: Path, model: nn.Module) -> None:
    """Put a saved adapter on a freshly loaded model; UserError when it is absent or made for another model."""
    params = adapter_params(folder)
    try:
        weights = mx.load(str(folder / _WEIGHTS))
    except (FileNotFoundError, RuntimeError, ValueError) as error:
        raise _unreadable(folder, error) from error
    add_fresh_adapter(model, params, seed=0)
    load_adapter_weights(model, weights, folder)


def merge_adapter(model: nn.Module) -> None:
    """Make an adapter part of the float32 weights that it stands on, which saves a quarter of the time of playing.

    In half precision the sum would lose part of what was learnt, and a quantised layer would be quantised anew: such
    layers keep their adapter beside them.
    """
    merged = [
        (name, part.fuse())
        for name, part in model.named_modules()
        if isinstance(part, LoRALinear) and part.linear.weight.dtype == mx.float32
    ]
    model.update_modules(tree_unflatten(merged))
    model.freeze()  # the layers that took the adapter in are new ones; an adapter that stays is not trained here either
    mx.eval(model.parameters())


def adapter_params(folder: Path) -> LoraParams:
    """Rank and scale of a saved adapter; UserError when it cannot be read."""
    try:
        lora = json.loads((folder / _CONFIG).read_text(encoding="utf-8"))["lora_parameters"]
    except (FileNotFoundError, ValueError) as error:
        raise _unreadable(folder, error) from error
    return LoraParams(lora["rank"], lora["scale"])


def _unreadable(folder: Path, error: Exception) -> UserError:
    return UserError(f"{folder}: no readable adapter ({error}); train it with `dvc repro`")

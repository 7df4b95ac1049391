"""A LoRA adapter fused into the weights that it adapts: a folder that MLX, transformers and LM Studio load by itself.

W' = W + scale * (A B)^T (E. Hu et al., "LoRA", 2021, section 4.1) is computed in float32 and rounded once, to bfloat16.
Everything later starts from these rounded weights, so a GGUF file in BF16 holds the very same numbers as the folder.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import mlx.core as mx
from mlx_lm.utils import load_tokenizer, make_shards

from sqldojo.agent.tool_format import ANSWER_TOOLS
from sqldojo.errors import UserError
from sqldojo.export.exported_template import carrying_tools
from sqldojo.export.free_space import check_free_space
from sqldojo.files import replacing_folder, write_json
from sqldojo.training.model_folder import TEMPLATE_FILES, check_folder, read_json, weight_files
from sqldojo.training.native_format import tool_format_of
from sqldojo.training.policy_model import adapter_params

_FLOATS = (mx.float32, mx.bfloat16, mx.float16)
_OF_QUANTISED = ("scales", "biases")  # tensors that belong to the quantised weight of the same stem
_INDEX = "model.safetensors.index.json"


def write_fused_folder(base: Path, adapter: Path | None, out: Path) -> None:
    """Replace `out` by the base model's folder with the adapter in its weights, in bfloat16, tools in its template.

    Without an adapter the weights are only rounded. UserError when either cannot be read or does not fit the other, or
    when the disk has no room.
    """
    check_folder(base, str(base))
    config = read_json(base / "config.json", str(base))
    paths = weight_files(base, str(base))
    # The base may be quantised, so its bytes say little: float weights take two bytes each, 4-bit ones grow fourfold.
    check_free_space(out, sum(path.stat().st_size for path in paths) * (4 if _quantisation(config) else 1))
    weights = {name: tensor for path in paths for name, tensor in mx.load(str(path)).items()}
    tensors, scale = ({}, 0.0) if adapter is None else (read_adapter(adapter), adapter_params(adapter).scale)
    check_fit(weights, tensors, f"{adapter}")
    fused = {name: _rounded(tensor) for name, tensor in fuse(weights, tensors, scale, _quantisation(config)).items()}
    with replacing_folder(out) as folder:
        for path in sorted(base.iterdir()):
            if path.is_file() and path not in paths and path.name not in (*TEMPLATE_FILES, _INDEX):
                shutil.copyfile(path, folder / path.name)
        write_json(folder / "config.json", _float_config(config))
        _save_weights(folder, fused)
        _put_tools_into_template(base, folder)


def read_adapter(folder: Path) -> dict[str, mx.array]:
    """The adapter's tensors by name; UserError when they cannot be read."""
    try:
        return mx.load(str(folder / "adapters.safetensors"))
    except (FileNotFoundError, RuntimeError, ValueError) as error:
        raise UserError(f"{folder}: no readable adapter ({error}); train it with `dvc repro`") from error


def check_fit(weights: Mapping[str, mx.array], adapter: Mapping[str, mx.array], where: str) -> None:
    """UserError, starting with `where`, unless every tensor of the adapter has its weight, and in the right shape."""
    for name in sorted(adapter):
        stem, _, part = name.rpartition(".")
        weight, scales = weights.get(f"{stem}.weight"), weights.get(f"{stem}.scales")
        fits = weight is not None and part in ("lora_a", "lora_b")
        if fits and part == "lora_b":
            fits = adapter[name].shape[1] == weight.shape[0]
        if fits and part == "lora_a" and scales is None:  # a packed weight has other columns
            fits = adapter[name].shape[0] == weight.shape[1]
        if not fits:
            raise UserError(f"{where}: does not fit the model: {name}; give the model that it was trained on")


def fuse(
    weights: Mapping[str, mx.array],
    adapter: Mapping[str, mx.array],
    scale: float,
    quantisation: Mapping[str, Any] | None = None,
) -> dict[str, mx.array]:
    """All weights by name, in float32 and with the adapter added; quantised ones are dequantised first.

    `adapter` holds STEM.lora_a [in, rank] and STEM.lora_b [rank, out] for weights [out, in]. `quantisation` is that of
    the model's config.json. Tensors that are no floats stay as they are.
    """
    fused = {}
    for name in sorted(weights):
        stem, _, kind = name.rpartition(".")
        if kind in _OF_QUANTISED and f"{stem}.scales" in weights:
            continue
        weight = weights[name]
        if kind == "weight" and f"{stem}.scales" in weights:
            weight = _dequantised(weights, stem, quantisation or {})
        weight = weight.astype(mx.float32) if weight.dtype in _FLOATS else weight
        if kind == "weight" and f"{stem}.lora_a" in adapter:
            a, b = (adapter[f"{stem}.{part}"].astype(mx.float32) for part in ("lora_a", "lora_b"))
            weight = weight + scale * (a @ b).T
        fused[name] = weight
    return fused


def _dequantised(weights: Mapping[str, mx.array], stem: str, quantisation: Mapping[str, Any]) -> mx.array:
    own = quantisation.get(stem)  # a layer may have settings of its own
    settings = own if isinstance(own, dict) else quantisation
    chosen = {key: settings[key] for key in ("group_size", "bits", "mode") if key in settings}
    scales, biases = weights[f"{stem}.scales"], weights.get(f"{stem}.biases")
    return mx.dequantize(weights[f"{stem}.weight"], scales, biases, **chosen)


def _quantisation(config: Mapping[str, Any]) -> Mapping[str, Any] | None:
    return config.get("quantization") or config.get("quantization_config")


def _float_config(config: Mapping[str, Any]) -> dict[str, Any]:
    """config.json of the same model with plain bfloat16 weights."""
    kept = {key: value for key, value in config.items() if key not in ("quantization", "quantization_config", "dtype")}
    return kept | {"torch_dtype": "bfloat16"}


def _rounded(tensor: mx.array) -> mx.array:
    return tensor.astype(mx.bfloat16) if tensor.dtype == mx.float32 else tensor


def _save_weights(folder: Path, weights: dict[str, mx.array]) -> None:
    shards = make_shards(weights)
    names = [f"model-{number:05d}-of-{len(shards):05d}.safetensors" for number in range(1, len(shards) + 1)]
    names = names if len(shards) > 1 else ["model.safetensors"]
    for name, shard in zip(names, shards, strict=True):
        mx.save_safetensors(str(folder / name), shard, {"format": "mlx"})
    if len(shards) > 1:
        places = {tensor: name for name, shard in zip(names, shards, strict=True) for tensor in shard}
        total = sum(tensor.nbytes for tensor in weights.values())
        write_json(folder / _INDEX, {"metadata": {"total_size": total}, "weight_map": places})


def _put_tools_into_template(base: Path, folder: Path) -> None:
    """The one place that every program reads is tokenizer_config.json, so the files that go before it are left out."""
    tokenizer = load_tokenizer(base)
    if not isinstance(tokenizer.chat_template, str):
        raise UserError(f"{base}: has no chat template; choose a model that was trained for chats")
    settings = read_json(folder / "tokenizer_config.json", str(base))
    template = carrying_tools(tokenizer.chat_template, tool_format_of(tokenizer, ANSWER_TOOLS))
    write_json(folder / "tokenizer_config.json", settings | {"chat_template": template})

"""Tiny models of other architectures than the llama's, with random weights, and the tiny one quantised."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import cpu_first  # noqa: F401

# isort: split
import mlx.core as mx
import mlx.nn as nn
from mlx.utils import tree_flatten
from mlx_lm.utils import load_model
from tiny_policy import byte_vocabulary, write_model, write_tokenizer

from sqldojo.training.model_sources import model_module
from sqldojo.training.tiny_model import CHAT_TEMPLATE

VOCABULARY = len(byte_vocabulary())
WINDOW = 9  # shorter than any of the tests' prefixes
_SIZES = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 8192,
}
CONFIGS: dict[str, dict[str, Any]] = {
    "llama": {
        **_SIZES, "num_hidden_layers": 3, "intermediate_size": 64, "rms_norm_eps": 1e-5, "rope_theta": 10000.0,
        "tie_word_embeddings": True, "sliding_window": WINDOW,
        "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
    },
    "gemma3_text": {
        **_SIZES, "num_hidden_layers": 3, "intermediate_size": 64, "head_dim": 8, "query_pre_attn_scalar": 8,
        "sliding_window": WINDOW, "sliding_window_pattern": 3,
    },
    "lfm2": {
        **_SIZES, "num_hidden_layers": 3, "norm_eps": 1e-5, "conv_bias": False, "conv_L_cache": 3, "block_dim": 32,
        "block_ff_dim": 64, "block_multiple_of": 8, "block_ffn_dim_multiplier": 1.0, "block_auto_adjust_ff_dim": False,
        "layer_types": ["conv", "full_attention", "conv"],
    },
    "qwen3_5": {
        "text_config": {
            **_SIZES, "model_type": "qwen3_5_text", "num_hidden_layers": 3, "intermediate_size": 64, "head_dim": 8,
            "linear_num_value_heads": 4, "linear_num_key_heads": 2, "linear_key_head_dim": 8,
            "linear_value_head_dim": 8, "full_attention_interval": 3, "tie_word_embeddings": True,
        },
    },
}  # fmt: skip


def write_family(folder: Path, model_type: str, template: str = CHAT_TEMPLATE) -> None:
    """A tiny model of this type as mlx-lm loads it; its weights are random, the same in every run."""
    folder.mkdir(exist_ok=True)
    config = {"model_type": model_type, "eos_token_id": [2, 0], **CONFIGS[model_type]}
    code = importlib.import_module(model_module(model_type))
    model = code.Model(code.ModelArgs.from_dict(config))
    weights = {}
    for number, (name, tensor) in enumerate(sorted(tree_flatten(model.parameters()))):
        if name == "lm_head.weight":  # tied
            continue
        spread = 0.3 if tensor.ndim > 1 else 0.1
        noise = spread * mx.random.normal(tensor.shape, key=mx.random.key(number))
        weights[name] = noise if tensor.ndim > 1 else tensor + noise
    mx.save_safetensors(str(folder / "model.safetensors"), weights, {"format": "mlx"})
    (folder / "config.json").write_text(json.dumps(config))
    write_tokenizer(folder, template, byte_vocabulary())


def write_quantised(folder: Path, bits: int = 4, *, attention_bits: int | None = None) -> None:
    """The tiny model as `mlx_lm.convert -q` leaves one: packed weights, and the settings in config.json."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    write_model(folder)
    model, config = load_model(folder)
    config["quantization"] = {"group_size": 32, "bits": bits, "mode": "affine"}

    def chosen(path: str, part: nn.Module) -> bool | dict[str, int]:
        if attention_bits is None or "self_attn" not in path or not hasattr(part, "to_quantized"):
            return hasattr(part, "to_quantized")
        config["quantization"][path] = {"group_size": 32, "bits": attention_bits}
        return config["quantization"][path]

    nn.quantize(model, group_size=32, bits=bits, class_predicate=chosen)
    mx.save_safetensors(
        str(folder / "model.safetensors"), dict(tree_flatten(model.parameters())), {"format": "mlx"}
    )
    (folder / "config.json").write_text(json.dumps(config))

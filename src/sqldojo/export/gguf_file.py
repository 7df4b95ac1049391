"""A fused folder as a GGUF file in BF16, the form from which llama.cpp loads and quantises a model.

One architecture is written here: llama, which SmolLM2, Llama and many others share. For all others llama.cpp's own
converter reads the same folder. Matrices keep the folder's bfloat16 numbers bit by bit; vectors, which llama.cpp wants
in float32, are widened, which changes no number either.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy

from sqldojo.errors import UserError
from sqldojo.export.free_space import check_free_space
from sqldojo.export.gguf_tokenizer import CONVERTER_REMEDY, GgufTokenizer, read_tokenizer
from sqldojo.files import replacing_file
from sqldojo.training.gguf import LAYER_NAMES, TOP_NAMES, mlx_name
from sqldojo.training.model_folder import read_json, weight_files

ARCHITECTURES = ("llama",)
EXTRA_REMEDY = "install the extra with `pip install 'sqldojo[export]'`"

_KEYS_THAT_CHANGE_THE_MODEL = ("attention_bias", "mlp_bias", "sliding_window")  # for which `llama` has no place here
_SPECIAL_KEYS = {"bos": "bos", "eos": "eos", "unk": "unknown", "pad": "padding"}
# llama.cpp insists on a list of merges, and gguf writes no empty one. Two bytes 0 that no token joins fall apart again.
_MERGES_OF_NONE = ["\u0100 \u0100"]


def write_gguf(folder: Path, path: Path, name: str) -> None:
    """Write the model of a fused folder to `path`; `name` is what programs call it.

    UserError for an architecture, a tokenizer or a setting that is not supported, for a missing package, and when the
    disk has no room.
    """
    writer_of, types = _gguf_package()
    config = read_json(folder / "config.json", str(folder))
    check_supported(config, folder / "config.json")
    tokenizer = read_tokenizer(folder, config["vocab_size"])
    settings = read_json(folder / "tokenizer_config.json", str(folder))
    weights = {key: tensor for file in weight_files(folder, str(folder)) for key, tensor in mx.load(str(file)).items()}
    names = tensor_names(config["num_hidden_layers"], tied="lm_head.weight" not in weights)
    check_tensors(weights, names, folder)
    check_free_space(path, sum(2 * tensor.size for tensor in weights.values()))
    with replacing_file(path) as temporary:
        writer = writer_of(str(temporary), "llama")
        try:
            _describe(writer, config, name)
            _describe_tokenizer(writer, tokenizer, settings["chat_template"])
            for key, stored in names.items():
                kind = (numpy.uint16, types.BF16) if weights[key].ndim > 1 else (numpy.float32, types.F32)
                size = weights[key].size * numpy.dtype(kind[0]).itemsize
                writer.add_tensor_info(stored, weights[key].shape, numpy.dtype(kind[0]), size, raw_dtype=kind[1])
            writer.write_header_to_file()
            writer.write_kv_data_to_file()
            writer.write_ti_data_to_file()
            for key in names:  # one at a time, so that a large model costs little memory
                writer.write_tensor_data(tensor_data(key, weights[key], config))
        finally:
            writer.close()


def check_supported(config: Mapping[str, Any], path: Path) -> None:
    """UserError naming `path` and llama.cpp's converter unless the config is one of a plain llama."""
    kind = config.get("model_type")
    if kind not in ARCHITECTURES:
        raise UserError(
            f"{path}: model_type {kind!r} is not written here (only {', '.join(ARCHITECTURES)}); {CONVERTER_REMEDY}"
        )
    odd = [key for key in _KEYS_THAT_CHANGE_THE_MODEL if config.get(key)]
    rope = config.get("rope_scaling") or config.get("rope_parameters") or {}
    if rope.get("rope_type", rope.get("type", "default")) != "default":
        odd.append("rope_scaling")
    if set(config.get("layer_types") or ["full_attention"]) != {"full_attention"}:
        odd.append("layer_types")
    if odd:
        raise UserError(f"{path}: {odd[0]}: a llama with this setting is not written here; {CONVERTER_REMEDY}")


def tensor_names(layers: int, *, tied: bool) -> dict[str, str]:
    """Every tensor of a llama by its name in the folder, with its name in a GGUF file, in the order of the file.

    A tied model has no output matrix: llama.cpp takes the embedding for it.
    """
    stems = ["token_embd", *(f"blk.{layer}.{part}" for layer in range(layers) for part in LAYER_NAMES), "output_norm"]
    assert {"token_embd", "output_norm"} == set(TOP_NAMES)
    names = {f"{mlx_name(stem)}.weight": f"{stem}.weight" for stem in stems}
    return names if tied else names | {"lm_head.weight": "output.weight"}


def check_tensors(weights: Mapping[str, mx.array], names: Mapping[str, str], folder: Path) -> None:
    """UserError naming the first tensor that is missing, or that a llama has no place for."""
    odd = sorted(weights.keys() ^ names.keys())
    if odd:
        raise UserError(f"{folder}: {len(odd)} tensors are not those of a llama, first {odd[0]}; {CONVERTER_REMEDY}")


def tensor_data(name: str, weight: mx.array, config: Mapping[str, Any]) -> numpy.ndarray:
    """What the file holds of a tensor: bfloat16 as uint16 [rows, columns], or float32 for a vector."""
    if weight.ndim == 1:
        return numpy.array(weight.astype(mx.float32))
    if name.endswith("q_proj.weight"):
        weight = permute(weight, config["num_attention_heads"])
    elif name.endswith("k_proj.weight"):
        weight = permute(weight, config.get("num_key_value_heads") or config["num_attention_heads"])
    return numpy.array(weight.astype(mx.bfloat16).view(mx.uint16))


def permute(weight: mx.array, heads: int) -> mx.array:
    """Rows from Hugging Face's order, which pairs halves of a head in RoPE, to llama.cpp's, which pairs neighbours.

    The inverse of `training.gguf.unpermute`.
    """
    rows, columns = weight.shape
    return weight.reshape(heads, 2, rows // heads // 2, columns).swapaxes(1, 2).reshape(rows, columns)


def _describe(writer: Any, config: Mapping[str, Any], name: str) -> None:
    heads = config["num_attention_heads"]
    size = config.get("head_dim") or config["hidden_size"] // heads
    rope = config.get("rope_parameters") or {}
    writer.add_type("model")
    writer.add_name(name)
    writer.add_file_type(32)  # mostly BF16
    writer.add_quantization_version(2)
    writer.add_vocab_size(config["vocab_size"])
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(heads)
    writer.add_head_count_kv(config.get("num_key_value_heads") or heads)
    writer.add_key_length(size)
    writer.add_value_length(size)
    writer.add_rope_dimension_count(size)
    writer.add_rope_freq_base(config.get("rope_theta") or rope.get("rope_theta") or 10000.0)
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    # What programs sample with unless told otherwise: the likeliest token, and nothing held against repeating a name.
    writer.add_sampling_temp(0.0)
    writer.add_sampling_penalty_repeat(1.0)


def _describe_tokenizer(writer: Any, tokenizer: GgufTokenizer, template: str) -> None:
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(tokenizer.pre)
    writer.add_token_list(tokenizer.tokens)
    writer.add_token_types(tokenizer.types)
    writer.add_token_merges(tokenizer.merges or _MERGES_OF_NONE)
    for name, index in tokenizer.special.items():
        writer.add_uint32(f"tokenizer.ggml.{_SPECIAL_KEYS[name]}_token_id", index)
    writer.add_add_bos_token(False)  # the template writes what a prompt begins with
    writer.add_add_space_prefix(False)
    writer.add_chat_template(template)


def _gguf_package() -> tuple[Any, Any]:
    """The writer's class and the enumeration of tensor types, from the optional package gguf."""
    try:
        from gguf import GGMLQuantizationType, GGUFWriter
    except ModuleNotFoundError as error:
        raise UserError(f"the package gguf is not installed; {EXTRA_REMEDY}") from error
    return GGUFWriter, GGMLQuantizationType

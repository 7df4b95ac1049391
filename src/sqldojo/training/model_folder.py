"""A model folder as mlx-lm loads it: what must be in it, and the short description beside it.

Weights are only looked at through the headers of their files, so a large model costs no memory here.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Collection
from pathlib import Path
from typing import Any

from sqldojo.errors import UserError
from sqldojo.files import file_sha256

CONFIG_KEYS = (
    "model_type",
    "num_hidden_layers",
    "hidden_size",
    "intermediate_size",
    "num_attention_heads",
    "num_key_value_heads",
    "vocab_size",
    "max_position_embeddings",
    "tie_word_embeddings",
)
TOKENIZER_FILES = ("tokenizer.json", "tokenizer.model", "tiktoken.model")
TEMPLATE_FILES = ("chat_template.jinja", "chat_template.json")


def check_folder(folder: Path, where: str) -> None:
    """UserError, starting with `where`, when `folder` lacks config, weights or tokenizer, or when one is damaged."""
    config = read_json(folder / "config.json", where)
    if not isinstance(config.get("model_type"), str):
        raise UserError(f"{where}: {folder / 'config.json'} has no `model_type`; it is no language model's config")
    for path in weight_files(folder, where):
        weight_shapes(path, where)
    tokenizer_kind(folder, where)


def describe(folder: Path, source: str) -> dict[str, Any]:
    """What a model's card says of a checked folder: its source, hashes, main numbers, tokenizer and quantisation.

    Of a model that is not quantised it has no such entry.
    """
    config = read_json(folder / "config.json", source)
    numbers = config | (config.get("text_config") or {})  # a model that also sees keeps its numbers one level down
    return {
        "source": source,
        "files": {path.name: file_sha256(path) for path in sorted(folder.iterdir())},
        "config": {key: numbers[key] for key in CONFIG_KEYS if key in numbers},
        "parameters": count_parameters(folder, (config.get("quantization") or {}).get("group_size", 1)),
        "tokenizer": tokenizer_kind(folder, source),
        **quantisation(config),
    }


def quantisation(config: dict[str, Any]) -> dict[str, Any]:
    """The card's entry `quantisation` for a config: its settings, and in words; empty for one that has none.

    MLX keeps the settings as `quantization`, with those of single layers among them by name; other tools as
    `quantization_config`, which mlx-lm reads for some of their methods.
    """
    settings = config.get("quantization") or config.get("quantization_config") or {}
    layers = [own for own in (settings, *settings.values()) if isinstance(own, dict)]
    bits = sorted({own["bits"] for own in layers if isinstance(own.get("bits"), int)})
    kept = {key: settings[key] for key in ("bits", "group_size", "mode", "quant_method") if key in settings}
    return {"quantisation": {**kept, "text": quantised_text(bits)}} if settings else {}


def quantised_text(bits: Collection[int]) -> str:
    """`quantised, 4 bit`, as cards and adapters say it; `quantised, 4 to 8 bit` where layers differ."""
    if not bits:
        return "quantised"
    few, many = min(bits), max(bits)
    return f"quantised, {few} bit" if few == many else f"quantised, {few} to {many} bit"


def weight_files(folder: Path, where: str) -> list[Path]:
    """The safetensors files, sorted; UserError when there is none or one that the index names is missing."""
    files = sorted(folder.glob("model*.safetensors"))
    index = folder / "model.safetensors.index.json"
    named = set((read_json(index, where).get("weight_map") or {}).values()) if index.is_file() else set()
    missing = sorted(named - {path.name for path in files})
    if missing:
        raise UserError(f"{where}: {folder} lacks {', '.join(missing)}, named in {index.name}; add it")
    if not files:
        raise UserError(f"{where}: {folder} has no model*.safetensors; convert the weights with `mlx_lm.convert`")
    return files


def weight_shapes(path: Path, where: str) -> dict[str, list[int]]:
    """Name and shape of every tensor in a safetensors file; UserError when the file is cut or another format."""
    with path.open("rb") as file:
        try:
            (length,) = struct.unpack("<Q", file.read(8))
            header = json.loads(file.read(min(length, path.stat().st_size)))
            header.pop("__metadata__", None)
            end = max(tensor["data_offsets"][1] for tensor in header.values())
            shapes = {name: tensor["shape"] for name, tensor in header.items()}
        except (struct.error, ValueError, TypeError, KeyError, AttributeError) as error:
            raise UserError(f"{where}: {path}: not a safetensors file; get it again") from error
    size, expected = path.stat().st_size, 8 + length + end
    if size != expected:
        raise UserError(f"{where}: {path}: {size} bytes where its header says {expected}; get it again")
    return shapes


def count_parameters(folder: Path, group_size: int) -> int:
    """The number of weights; a quantised tensor holds `group_size` of them for each of its scales."""
    shapes: dict[str, list[int]] = {}
    for path in weight_files(folder, str(folder)):
        shapes |= weight_shapes(path, str(folder))
    total = 0
    for name, shape in shapes.items():
        stem, _, kind = name.rpartition(".")
        quantised = f"{stem}.scales" in shapes
        if kind == "scales":
            total += math.prod(shape) * group_size
        elif not (quantised and kind in ("weight", "biases")):
            total += math.prod(shape)
    return total


def tokenizer_kind(folder: Path, where: str) -> dict[str, Any]:
    """The tokenizer's file, its algorithm when that file tells, and whether a chat template comes with it.

    UserError, starting with `where`, when there is no tokenizer or it is damaged.
    """
    name = next((name for name in TOKENIZER_FILES if (folder / name).is_file()), None)
    if name is None:
        raise UserError(f"{where}: {folder} has no tokenizer (one of {', '.join(TOKENIZER_FILES)}); add it")
    model = read_json(folder / name, where).get("model") if name.endswith(".json") else {"type": "sentencepiece"}
    if not isinstance(model, dict):
        raise UserError(f"{where}: {folder / name} holds no tokenizer; get it again")
    settings = folder / "tokenizer_config.json"
    template = settings.is_file() and "chat_template" in read_json(settings, where)
    return {
        "file": name,
        "algorithm": model.get("type", "unknown"),
        "chat_template": template or any((folder / file).is_file() for file in TEMPLATE_FILES),
    }


def read_json(path: Path, where: str) -> dict[str, Any]:
    """A JSON file's mapping; UserError when it is absent or no such thing."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise UserError(f"{where}: {path.parent} has no {path.name}; point at the folder of a model") from error
    except ValueError as error:
        raise UserError(f"{where}: {path}: not JSON ({error}); get it again") from error
    if not isinstance(content, dict):
        raise UserError(f"{where}: {path}: not a JSON mapping; get it again")
    return content

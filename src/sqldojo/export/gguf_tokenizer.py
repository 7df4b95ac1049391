"""A byte-level BPE tokenizer as a GGUF file holds it: tokens with their types, merges, and the way a text is cut first.

llama.cpp has the ways of cutting compiled in, under names. The name follows from what tokenizer.json says of its
pre-tokenizer; one that is not known here is refused, because a wrong guess gives other tokens without any error.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqldojo.errors import UserError
from sqldojo.training.model_folder import read_json

# llama.cpp's own converter knows many more models than this module.
CONVERTER_REMEDY = "convert the fused folder with llama.cpp's convert_hf_to_gguf.py instead"

NORMAL, CONTROL, USER_DEFINED, UNUSED = 1, 3, 4, 5  # GGUF's token types
SPECIAL_NAMES = ("bos", "eos", "unk", "pad")  # as tokenizer_config.json names them: bos_token and so on

_SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|DIGITS"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def _by_regex(digits: str) -> list[tuple[Any, ...]]:
    return [("Split", _SPLIT.replace("DIGITS", digits)), ("ByteLevel", False)]


# llama.cpp's name -> the steps of the pre-tokenizer, as `_steps` gives them.
PRE_TOKENIZERS = {
    "smollm": [("Digits", True), ("ByteLevel", True)],
    "gpt-2": [("ByteLevel", True)],
    "llama-bpe": _by_regex(r"\p{N}{1,3}"),
    "qwen2": _by_regex(r"\p{N}"),
}


@dataclass(frozen=True)
class GgufTokenizer:
    """What a GGUF file says of its tokenizer. `special` maps bos, eos, unk and pad to ids, where there are any."""

    pre: str
    tokens: list[str]
    types: list[int]
    merges: list[str]
    special: dict[str, int]


def read_tokenizer(folder: Path, size: int) -> GgufTokenizer:
    """The tokenizer of a model's folder, filled up to `size` tokens; UserError for a kind that is not known here."""
    path = folder / "tokenizer.json"
    content, settings = read_json(path, str(folder)), read_json(folder / "tokenizer_config.json", str(folder))
    model, pre = content.get("model") or {}, _pre_tokenizer(content)
    byte_level = (content.get("decoder") or {}).get("type") == "ByteLevel"
    plain = (content.get("normalizer") or {"type": "NFC"})["type"] == "NFC"  # which llama.cpp leaves out
    if model.get("type") != "BPE" or model.get("byte_fallback") or not byte_level or not plain or pre is None:
        raise UserError(
            f"{path}: no byte-level BPE that is cut as one of {', '.join(sorted(PRE_TOKENIZERS))}; {CONVERTER_REMEDY}"
        )
    found = {index: (token, NORMAL) for token, index in model["vocab"].items()}
    for added in content.get("added_tokens") or []:
        found[added["id"]] = (added["content"], CONTROL if added["special"] else USER_DEFINED)
    if max(found) >= size:
        raise UserError(f"{path}: has {max(found) + 1} tokens where config.json says {size}; {CONVERTER_REMEDY}")
    rows = [found.get(index, (f"[PAD{index}]", UNUSED)) for index in range(size)]
    ids = {token: index for index, (token, _) in found.items()}
    return GgufTokenizer(
        pre=pre,
        tokens=[token for token, _ in rows],
        types=[kind for _, kind in rows],
        merges=[merge if isinstance(merge, str) else " ".join(merge) for merge in model["merges"]],
        special={name: ids[text] for name in SPECIAL_NAMES if (text := _text(settings.get(f"{name}_token"))) in ids},
    )


def _pre_tokenizer(content: dict[str, Any]) -> str | None:
    """llama.cpp's name of the pre-tokenizer; None for one that is not known here."""
    outer = content.get("pre_tokenizer") or {}
    steps = [_step(step) for step in outer.get("pretokenizers", [outer])]
    return next((name for name, known in PRE_TOKENIZERS.items() if known == steps), None)


def _step(step: dict[str, Any]) -> tuple[Any, ...]:
    """What decides of one step, in a form that can be compared."""
    kind = step.get("type")
    if kind == "Digits":
        return kind, step["individual_digits"]
    if kind == "ByteLevel" and not step.get("add_prefix_space"):
        return kind, step.get("use_regex", True)
    if kind == "Split" and step.get("behavior") == "Isolated" and not step.get("invert"):
        return kind, step["pattern"].get("Regex")
    return (kind, "another way")


def _text(token: Any) -> Any:
    """A special token's text: older files wrap it into a mapping."""
    return token.get("content") if isinstance(token, dict) else token

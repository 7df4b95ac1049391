"""Byte-level tokenizers made from a vocabulary, and the files that transformers and mlx-lm read them from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

from sqldojo.files import write_json, write_text


def byte_level_tokenizer(
    vocabulary: Mapping[str, int], merges: Sequence[tuple[str, str]], special: Sequence[str]
) -> Tokenizer:
    """A byte-level BPE, as SmolLM2's: digits are split one by one and each special token is one id, never pieces."""
    tokenizer = Tokenizer(models.BPE(vocab=dict(vocabulary), merges=list(merges)))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in special])
    return tokenizer


def save_tokenizer(
    folder: Path, tokenizer: Tokenizer, *, names: Mapping[str, str], eos: Sequence[str], template: str, length: int
) -> None:
    """Write tokenizer.json, tokenizer_config.json and generation_config.json.

    `names` maps `bos_token`, `eos_token`, `pad_token` and `unk_token` to their tokens; `eos` are all that end an
    answer; `template` is the chat template; `length` the longest text that the model takes.
    """
    write_text(folder / "tokenizer.json", tokenizer.to_str() + "\n")
    write_json(
        folder / "tokenizer_config.json",
        {
            # not the model's own class: transformers 5 would rebuild that one's pre-tokenizer and stop splitting digits
            "tokenizer_class": "PreTrainedTokenizerFast",
            "add_prefix_space": False,
            "clean_up_tokenization_spaces": False,
            "model_max_length": length,
            "chat_template": template,
            **names,
        },
    )
    write_json(folder / "generation_config.json", {"eos_token_id": [tokenizer.token_to_id(token) for token in eos]})

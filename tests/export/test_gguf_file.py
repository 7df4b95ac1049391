"""A GGUF file holds the folder's numbers under llama.cpp's names and in its order; what does not fit is refused."""

from __future__ import annotations

import json
import sys
from collections import namedtuple
from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy
import pytest
from changed_folder import changed_copy

from sqldojo.errors import UserError
from sqldojo.export import free_space, gguf_file
from sqldojo.export.exporting import file_facts
from sqldojo.export.gguf_file import check_supported, permute, tensor_names, write_gguf
from sqldojo.export.gguf_tokenizer import CONTROL, NORMAL, UNUSED, read_tokenizer
from sqldojo.training.gguf import unpermute
from sqldojo.training.tiny_model import HEADS, KV_HEADS, LAYERS

LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def read(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The tensors by name, and the values of the header."""
    from gguf import GGUFReader

    reader = GGUFReader(path)
    tensors = {tensor.name: tensor for tensor in reader.tensors}
    return tensors, {name: field.contents() for name, field in reader.fields.items()}


@pytest.mark.parametrize("heads", [1, 2, 4])
def test_the_permutation_is_undone_by_the_reader_of_the_embedded_model(heads: int) -> None:
    weight = mx.arange(16 * 3).reshape(16, 3)
    assert mx.array_equal(unpermute(permute(weight, heads), heads), weight).item()
    assert permute(weight[:, :1], 2).flatten().tolist() == [0, 12, 3, 15, 6, 18, 9, 21, 24, 36, 27, 39, 30, 42, 33, 45]


def test_every_tensor_is_read_back_as_it_is_in_the_folder(bf16: Path, fused: Path) -> None:
    tensors, _ = read(bf16)
    weights = mx.load(str(fused / "model.safetensors"))
    names = tensor_names(LAYERS, tied=True)
    assert tensors.keys() == set(names.values()) and weights.keys() == names.keys()
    for name, stored in names.items():
        found, wanted = tensors[stored], weights[name]
        heads = {"q": HEADS, "k": KV_HEADS}.get(stored.rpartition("attn_")[2][:1]) if "attn_" in stored else None
        if wanted.ndim == 1:
            assert found.tensor_type.name == "F32"
            assert numpy.array_equal(found.data, numpy.array(wanted.astype(mx.float32)))
            continue
        assert found.tensor_type.name == "BF16" and found.shape.tolist() == list(reversed(wanted.shape))
        read_back = mx.array(found.data.view(numpy.uint16).reshape(wanted.shape)).view(mx.bfloat16)
        read_back = unpermute(read_back, heads) if heads else read_back
        assert mx.array_equal(read_back, wanted).item(), name


def test_the_header_says_what_the_model_is(bf16: Path, fused: Path) -> None:
    _, header = read(bf16)
    config = json.loads((fused / "config.json").read_text())
    wanted = {
        "general.architecture": "llama", "general.name": "tiny", "general.file_type": 32,
        "llama.block_count": LAYERS, "llama.context_length": 8192, "llama.embedding_length": 64,
        "llama.feed_forward_length": 128, "llama.attention.head_count": HEADS, "llama.attention.key_length": 16,
        "llama.attention.head_count_kv": KV_HEADS, "llama.rope.dimension_count": 16, "llama.rope.freq_base": 10000.0,
        "llama.vocab_size": config["vocab_size"], "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "smollm",
        "tokenizer.ggml.bos_token_id": 1, "tokenizer.ggml.eos_token_id": 2, "tokenizer.ggml.padding_token_id": 2,
        "tokenizer.ggml.unknown_token_id": 0, "tokenizer.ggml.add_bos_token": False,
        "general.sampling.temp": 0.0, "general.sampling.penalty_repeat": 1.0,
    }  # fmt: skip
    assert {name: header.get(name) for name in wanted} == wanted
    assert header["llama.attention.layer_norm_rms_epsilon"] == pytest.approx(1e-5)
    assert header["tokenizer.ggml.token_type"][:4] == [CONTROL, CONTROL, CONTROL, NORMAL]
    settings = json.loads((fused / "tokenizer_config.json").read_text())
    assert header["tokenizer.chat_template"] == settings["chat_template"]


def test_facts_come_from_the_file(bf16: Path, fused: Path) -> None:
    facts = file_facts(bf16)
    weights = mx.load(str(fused / "model.safetensors")).values()
    vectors = sum(weight.size for weight in weights if weight.ndim == 1)
    assert facts.types == {"bf16": sum(weight.size for weight in weights) - vectors, "f32": vectors}
    assert facts.size == bf16.stat().st_size
    assert facts.bits_per_weight == 8 * facts.size / facts.parameters > 16


def test_an_untied_model_has_its_output_matrix() -> None:
    names = tensor_names(1, tied=False)
    assert names["lm_head.weight"] == "output.weight" and "lm_head.weight" not in tensor_names(1, tied=True)


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ({"model_type": "qwen3"}, "model_type 'qwen3' is not written here"),
        ({"model_type": "llama", "rope_scaling": {"rope_type": "llama3", "factor": 8}}, "rope_scaling"),
        ({"model_type": "llama", "rope_parameters": {"type": "yarn"}}, "rope_scaling"),
        ({"model_type": "llama", "attention_bias": True}, "attention_bias"),
        ({"model_type": "llama", "layer_types": ["sliding_attention", "full_attention"]}, "layer_types"),
    ],
)
def test_another_architecture_is_refused_with_the_remedy(config: dict[str, Any], named: str) -> None:
    with pytest.raises(UserError, match=rf"config\.json: {named}.*convert_hf_to_gguf\.py"):
        check_supported(config, Path("config.json"))


def test_a_plain_llama_is_supported() -> None:
    check_supported({"model_type": "llama", "rope_parameters": {"rope_type": "default"}}, Path("config.json"))
    check_supported({"model_type": "llama", "rope_scaling": None, "attention_bias": False}, Path("config.json"))


def test_a_tensor_without_a_place_is_refused(extra: None, fused: Path, tmp_path: Path) -> None:
    folder = changed_copy(fused, tmp_path / "more", "config.json", num_hidden_layers=1)
    with pytest.raises(UserError, match=r"more: 9 tensors are not those of a llama, first model\.layers\.1"):
        write_gguf(folder, tmp_path / "x.gguf", "x")
    assert not list(tmp_path.glob("*.gguf")) and not list(tmp_path.glob(".x*"))


@pytest.mark.parametrize(
    ("pre_tokenizer", "name"),
    [
        ({"type": "ByteLevel", "add_prefix_space": False, "use_regex": True}, "gpt-2"),
        (
            {"type": "Sequence", "pretokenizers": [
                {"type": "Split", "pattern": {"Regex": LLAMA3}, "behavior": "Isolated", "invert": False},
                {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False},
            ]},
            "llama-bpe",
        ),
    ],
)  # fmt: skip
def test_the_way_a_text_is_cut_has_llama_cpps_name(
    fused: Path, tmp_path: Path, pre_tokenizer: dict[str, Any], name: str
) -> None:
    folder = changed_copy(fused, tmp_path / "other", "tokenizer.json", pre_tokenizer=pre_tokenizer)
    assert read_tokenizer(folder, 300).pre == name
    assert read_tokenizer(fused, 300).pre == "smollm"


@pytest.mark.parametrize(
    "change",
    [
        {"pre_tokenizer": {"type": "Whitespace"}},
        {"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": True, "use_regex": True}},
        {"normalizer": {"type": "Lowercase"}},
        {"decoder": {"type": "WordPiece"}},
    ],
)
def test_a_tokenizer_that_is_not_known_is_refused(fused: Path, tmp_path: Path, change: dict[str, Any]) -> None:
    folder = changed_copy(fused, tmp_path / "other", "tokenizer.json", **change)
    with pytest.raises(UserError, match=r"tokenizer\.json: no byte-level BPE.*convert_hf_to_gguf\.py"):
        read_tokenizer(folder, 300)


def test_room_behind_the_vocabulary_is_filled_and_too_little_refused(fused: Path) -> None:
    tokenizer = read_tokenizer(fused, 262)
    assert (tokenizer.tokens[259:], tokenizer.types[259:]) == (["[PAD259]", "[PAD260]", "[PAD261]"], [UNUSED] * 3)
    assert tokenizer.special == {"bos": 1, "eos": 2, "unk": 0, "pad": 2}
    with pytest.raises(UserError, match=r"has 259 tokens where config\.json says 200"):
        read_tokenizer(fused, 200)


def test_a_missing_package_is_named(fused: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gguf", None)
    with pytest.raises(UserError, match=r"package gguf is not installed; .*sqldojo\[export\]"):
        write_gguf(fused, tmp_path / "x.gguf", "x")


def test_a_full_disk_is_told_before_the_file_is_begun(
    extra: None, fused: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(free_space.shutil, "disk_usage", lambda _: usage(10**9, 10**9, 50_000_100))
    with pytest.raises(UserError, match=r"x\.gguf: needs 50 MB, and its disk has 50 MB left"):
        write_gguf(fused, tmp_path / "x.gguf", "x")
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_fills_up_leaves_no_half_file(
    extra: None, fused: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(gguf_file, "tensor_data", fail)
    with pytest.raises(OSError, match="No space left"):
        write_gguf(fused, tmp_path / "x.gguf", "x")
    assert list(tmp_path.iterdir()) == []

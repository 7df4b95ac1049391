"""llama.cpp on an exported file: the same tokens and nearly the same numbers as MLX, also quantised."""

from __future__ import annotations

import stat
from collections import namedtuple
from pathlib import Path

import mlx.core as mx
import numpy
import pytest

from sqldojo.errors import UserError
from sqldojo.export import free_space, quantising
from sqldojo.export.checks import TRICKY_TEXTS
from sqldojo.export.exporting import file_facts
from sqldojo.export.llama_model import LlamaModel
from sqldojo.export.quantising import KINDS, quantise
from sqldojo.training.policy_model import PolicyModel

TOKENS = [1, 50, 100, 150, 200, 2, 77, 33]


def mlx_logits(policy: PolicyModel, tokens: list[int]) -> numpy.ndarray:
    return numpy.array(policy.model(mx.array([tokens]))[0, -1])


def test_the_logits_are_those_of_mlx_but_for_rounding(bf16: Path, policy: PolicyModel) -> None:
    with LlamaModel(bf16, 64) as model:
        for length in (1, 3, len(TOKENS)):
            found, wanted = model.logits(TOKENS[:length]), mlx_logits(policy, TOKENS[:length])
            assert numpy.abs(found - wanted).max() < 0.05 < numpy.ptp(wanted)


def test_what_was_computed_before_is_reused_and_right(bf16: Path) -> None:
    with LlamaModel(bf16, 64) as model, LlamaModel(bf16, 64) as other:
        model.logits([*TOKENS[:5], 9, 10, 11])  # five tokens in common, three to be forgotten
        assert numpy.allclose(model.logits(TOKENS), other.logits(TOKENS), atol=1e-3)
        assert numpy.allclose(model.logits(TOKENS), other.logits(TOKENS), atol=1e-3)  # the very same ones again


def test_a_prompt_longer_than_a_batch(bf16: Path, policy: PolicyModel) -> None:
    tokens = [3 + (7 * number) % 250 for number in range(700)]
    with LlamaModel(bf16, 800) as model:
        assert numpy.abs(model.logits(tokens) - mlx_logits(policy, tokens)).max() < 0.05


def test_tokens_template_and_ends_are_the_folders(bf16: Path, policy: PolicyModel) -> None:
    tokenizer = policy.dialogue.tokenizer
    with LlamaModel(bf16, 64) as model:
        for text in TRICKY_TEXTS:
            assert model.tokenise(text) == tokenizer.encode(text, add_special_tokens=False)
        assert model.chat_template() == tokenizer.chat_template
        assert [token for token in range(model.vocabulary_size) if model.ends(token)] == sorted(policy.end_tokens)
        assert model.parameters() == file_facts(bf16).parameters


@pytest.mark.parametrize("kind", ["q8_0", "q4_k_m"])
def test_a_quantised_file_loads_and_is_near(bf16: Path, policy: PolicyModel, tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"tiny-{kind}.gguf"
    quantise(bf16, path, kind)
    assert path.stat().st_size < bf16.stat().st_size
    # The tiny model's rows are no multiple of 256 long, so llama.cpp takes types of 32-blocks with more bits.
    assert set(file_facts(path).types) == {"q8_0": {"f32", "q8_0"}, "q4_k_m": {"f32", "q5_0", "q8_0"}}[kind]
    wanted = mlx_logits(policy, TOKENS)
    with LlamaModel(path, 64) as model:
        found = model.logits(TOKENS)
        assert model.tokenise("SELECT 12") == policy.dialogue.tokenizer.encode("SELECT 12", add_special_tokens=False)
    limit = {"q8_0": 0.1, "q4_k_m": 0.6}[kind]
    assert 0 < numpy.abs(found - wanted).max() < limit < numpy.ptp(wanted)


def test_the_kinds_are_llama_cpps(extra: None) -> None:
    from sqldojo.export.llama_library import llama_library

    assert all(hasattr(llama_library().lib, f"LLAMA_FTYPE_MOSTLY_{kind.upper()}") for kind in KINDS)


def test_an_unknown_kind_is_refused(bf16: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such type of weights: 'q4'; choose of q8_0"):
        quantise(bf16, tmp_path / "x.gguf", "q4")


@pytest.mark.parametrize("content", [b"", b"GGUF but not the one"])
def test_a_damaged_file_is_told(extra: None, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "broken.gguf").write_bytes(content)
    with pytest.raises(UserError, match=r"broken\.gguf: llama\.cpp cannot load it \(.+\); export it again"):
        LlamaModel(tmp_path / "broken.gguf", 64)
    with pytest.raises(UserError, match=r"broken\.gguf: llama\.cpp cannot make q8_0 of it"):
        quantise(tmp_path / "broken.gguf", tmp_path / "x.gguf", "q8_0")
    assert [path.name for path in tmp_path.iterdir()] == ["broken.gguf"]


def test_a_full_disk_is_told_before_it_is_filled(
    bf16: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(free_space.shutil, "disk_usage", lambda _: usage(1, 1, 0))
    with pytest.raises(UserError, match="make room"):
        quantise(bf16, tmp_path / "x.gguf", "q8_0")


def llama_quantize(folder: Path, script: str) -> None:
    """A program on the PATH in the place of llama.cpp's own."""
    program = folder / "llama-quantize"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)


def test_without_the_library_llama_cpps_program_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quantising, "is_installed", lambda: False)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    (tmp_path / "source.gguf").write_bytes(b"weights ")
    llama_quantize(tmp_path, 'cat "$1" > "$2"; printf %s "$3" >> "$2"')
    quantise(tmp_path / "source.gguf", tmp_path / "x.gguf", "q4_k_m")
    assert (tmp_path / "x.gguf").read_bytes() == b"weights Q4_K_M"


def test_what_the_program_complains_of_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quantising, "is_installed", lambda: False)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    (tmp_path / "source.gguf").write_bytes(b"weights")
    llama_quantize(tmp_path, 'echo one >&2; echo "failed to open" >&2; exit 1')
    with pytest.raises(UserError, match=r"source\.gguf: .*llama-quantize cannot make q8_0 of it \(failed to open\)"):
        quantise(tmp_path / "source.gguf", tmp_path / "x.gguf", "q8_0")


def test_without_either_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quantising, "is_installed", lambda: False)
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "source.gguf").write_bytes(b"weights")
    with pytest.raises(UserError, match=r"sqldojo\[export\].*or llama\.cpp itself"):
        quantise(tmp_path / "source.gguf", tmp_path / "x.gguf", "q8_0")

"""A file that llama.cpp treats otherwise than MLX its folder is told, with the place; a near-tie is no fault."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import mlx.core as mx
import numpy
import pytest
from changed_folder import changed_copy

from sqldojo.errors import UserError
from sqldojo.export import checks, gguf_file
from sqldojo.export.checks import NEAR_TIE, check_file, compare, mlx_greedy
from sqldojo.export.examples import prompts_without_data
from sqldojo.export.gguf_file import write_gguf
from sqldojo.records import Message
from sqldojo.training.policy_model import PolicyModel


@pytest.fixture(scope="module")
def prompts(policy: PolicyModel) -> list[tuple[Message, ...]]:
    return prompts_without_data(policy.dialogue.tool_format)


@pytest.fixture(scope="module")
def tokens(policy: PolicyModel, prompts: list[tuple[Message, ...]]) -> list[list[int]]:
    return [policy.dialogue.prompt(messages) for messages in prompts]


class Canned:
    """Writes these tokens after every prompt of this length."""

    def __init__(self, length: int, tokens: Sequence[int]) -> None:
        self._length, self._tokens = length, tokens

    def logits(self, tokens: Sequence[int]) -> numpy.ndarray:
        found = numpy.zeros(300, numpy.float32)
        found[self._tokens[len(tokens) - self._length]] = 1.0
        return found


@pytest.fixture(scope="module")
def varied(policy: PolicyModel) -> PolicyModel:
    """The tiny model with another output layer: of itself it finds one token likeliest, whatever it is given."""
    return replace(policy, head=lambda hidden: mx.cos(50.0 * policy.head(hidden)))


def test_greedy_tokens_are_the_likeliest_of_the_whole_sequence(varied: PolicyModel) -> None:
    prompts = [[1, 40, *range(last - 3, last)] for last in (60, 120, 180)]
    found = mlx_greedy(varied, prompts, 4)
    assert [len(tokens) for tokens in found] == [4, 4, 4]
    whole = mx.array([[*prompt, *tokens] for prompt, tokens in zip(prompts, found, strict=True)])
    logits = varied.head(varied.body(whole))[:, len(prompts[0]) - 1 : -1]
    chosen = mx.take_along_axis(logits, mx.array(found)[..., None], axis=-1).squeeze(-1)
    assert (logits.max(axis=-1) - chosen).max().item() < 1e-3
    assert len({token for tokens in found for token in tokens}) > 3


def test_greedy_tokens_end_with_the_turn(varied: PolicyModel) -> None:
    prompt = [1, 40, 41, 42]
    (tokens,) = mlx_greedy(varied, [prompt], 4)
    (ended,) = mlx_greedy(replace(varied, end_tokens=frozenset({tokens[1]})), [prompt], 4)
    assert ended == tokens[: tokens.index(tokens[1]) + 1]


def test_bf16_agrees_with_mlx_on_ten_prompts(
    bf16: Path, policy: PolicyModel, prompts: list[tuple[Message, ...]], tokens: list[list[int]]
) -> None:
    found = check_file(bf16, policy, prompts, mlx_greedy(policy, tokens), exact=True)
    assert found.prompts == 10 and all(each.margin <= NEAR_TIE for each in found.differences)
    assert found.equal >= 10 and found.tokens >= found.equal


def test_the_first_difference_is_told(policy: PolicyModel, tokens: list[list[int]]) -> None:
    prompt = tokens[0]
    model = Canned(len(prompt), [70, 71, 99, 73])
    found = compare(model, policy, [prompt, prompt], [[70, 71, 72, 73], [70, 71]])
    assert (found.prompts, found.equal_prompts, found.tokens, found.equal) == (2, 1, 6, 4)
    (difference,) = found.differences
    assert (difference.prompt, difference.position) == (0, 2)
    decode = policy.dialogue.tokenizer.decode
    assert (difference.mlx, difference.llama) == (decode([72]), decode([99]))
    logits = policy.model(mx.array([[*prompt, 70, 71]]))[0, -1]
    assert difference.margin == pytest.approx((logits[72] - logits[99]).item(), abs=1e-3)
    assert found.as_json()["differences"][0]["position"] == 2


def test_other_weights_are_found(
    extra: None, fused: Path, tmp_path: Path, policy: PolicyModel, prompts: list[tuple[Message, ...]],
    tokens: list[list[int]],
) -> None:  # fmt: skip
    folder = changed_copy(fused, tmp_path / "other", "config.json")
    weights = mx.load(str(fused / "model.safetensors"))
    name = "model.layers.1.self_attn.q_proj.weight"
    # Rows in another order, as without the permutation, and larger values: a file that loads, and speaks nonsense.
    weights["model.layers.0.self_attn.v_proj.weight"] = 4 * weights["model.layers.0.self_attn.v_proj.weight"]
    mx.save_safetensors(str(folder / "model.safetensors"), weights | {name: weights[name][::-1]}, {"format": "mlx"})
    write_gguf(folder, tmp_path / "other.gguf", "other")
    expected = mlx_greedy(policy, tokens[:2], 8)
    with pytest.raises(UserError, match=r"other\.gguf: after prompt \d+ llama\.cpp writes .* where MLX writes"):
        check_file(tmp_path / "other.gguf", policy, prompts[:2], expected, exact=True)
    found = check_file(tmp_path / "other.gguf", policy, prompts[:2], expected, exact=False)
    assert found.equal < found.tokens


def test_another_template_is_found(
    extra: None, fused: Path, tmp_path: Path, policy: PolicyModel, prompts: list[tuple[Message, ...]]
) -> None:
    folder = changed_copy(fused, tmp_path / "other", "tokenizer_config.json", chat_template="{{ messages }}")
    write_gguf(folder, tmp_path / "other.gguf", "other")
    with pytest.raises(UserError, match="another chat template"):
        check_file(tmp_path / "other.gguf", policy, prompts, [[]] * 10, exact=True)


def test_another_tokenizer_is_found(
    extra: None, fused: Path, tmp_path: Path, policy: PolicyModel, prompts: list[tuple[Message, ...]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    path = tmp_path / "other.gguf"
    right = gguf_file.read_tokenizer

    def swapped(folder: Path, size: int) -> object:
        found = right(folder, size)
        exchanged = {"S": "T", "T": "S"}  # both in SELECT
        return replace(found, tokens=[exchanged.get(token, token) for token in found.tokens])

    monkeypatch.setattr(gguf_file, "read_tokenizer", swapped)
    write_gguf(fused, path, "other")
    with pytest.raises(UserError, match=r"other\.gguf: llama\.cpp cuts .* into other tokens"):
        check_file(path, policy, prompts, [[]] * 10, exact=True)


def test_another_end_is_found(bf16: Path, policy: PolicyModel, prompts: list[tuple[Message, ...]]) -> None:
    other = replace(policy, end_tokens=policy.end_tokens | {77})
    with pytest.raises(UserError, match="does not end a reply at token 77"):
        check_file(bf16, other, prompts, [[]] * 10, exact=True)


def test_ten_prompts_are_ten_different_questions(prompts: list[tuple[Message, ...]]) -> None:
    assert len({messages[-1].content for messages in prompts}) == 10
    assert checks.TOKENS >= 32

"""Sliding windows and recurrent states behind shared prefixes give what a plain forward pass gives."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import mlx.core as mx
import mlx.nn as nn
import pytest
from chat_templates import GEMMA3, LFM2, QWEN3_5
from mlx.utils import tree_flatten
from mlx_lm.models.cache import ArraysCache, KVCache, RotatingKVCache
from tiny_families import CONFIGS, WINDOW, write_family
from tiny_policy import AGENT, QUESTION, attempt, with_adapter

from sqldojo.errors import UserError
from sqldojo.training.decoding import Decoder, RolloutCounts
from sqldojo.training.layer_states import LayerKind, layer_kinds
from sqldojo.training.policy_model import PolicyModel
from sqldojo.training.rollouts import play
from sqldojo.training.shared_prefix import action_logprobs, loss_and_gradients, make_tree

TEMPLATES = {"gemma3_text": GEMMA3, "lfm2": LFM2, "qwen3_5": QWEN3_5}
WINDOWED, FULL = LayerKind(window=WINDOW), LayerKind()
KINDS = {
    "llama": (WINDOWED, FULL, WINDOWED),
    "gemma3_text": (WINDOWED, WINDOWED, FULL),
    "lfm2": (LayerKind(arrays=1), FULL, LayerKind(arrays=1)),
    "qwen3_5": (LayerKind(arrays=2), LayerKind(arrays=2), FULL),
}
Pair = tuple[list[int], list[int]]


@pytest.fixture(scope="module")
def policies(tmp_path_factory: pytest.TempPathFactory) -> dict[str, PolicyModel]:
    root = tmp_path_factory.mktemp("families")
    found = {}
    for name in CONFIGS:
        write_family(root / name, name, TEMPLATES.get(name, QWEN3_5))
        found[name] = with_adapter(root / name)
    return found


def some_tokens(name: str, count: int) -> list[int]:
    return [random.Random(name).randrange(3, 250) for _ in range(count)]


def plain_logprobs(policy: PolicyModel, tokens: Sequence[int]) -> mx.array:
    """[T, V]: what the model itself, without a cache, says of the token behind each."""
    logits = policy.model(mx.array([tokens]))[0].astype(mx.float32)
    return logits - mx.logsumexp(logits, axis=-1, keepdims=True)


@pytest.mark.parametrize("name", KINDS)
def test_kinds_are_read_off_the_model(policies: dict[str, PolicyModel], name: str) -> None:
    assert policies[name].layers == KINDS[name]


@pytest.mark.parametrize("prefix", [0, 1, 40])
@pytest.mark.parametrize("name", KINDS)
def test_rows_that_rest_return_and_leave_are_those_of_a_plain_forward(
    policies: dict[str, PolicyModel], name: str, prefix: int
) -> None:
    """Padding and rows at rest must leave no trace in a state; a window moves on over prefix and own keys."""
    policy, shared = policies[name], some_tokens("prefix", prefix)
    decoder = Decoder(policy, shared, RolloutCounts())
    said: dict[str, list[tuple[int, int, float]]] = {}
    read = {row: [*shared, *some_tokens(row, length)] for row, length in (("a", 3), ("b", 29), ("c", 1), ("d", 12))}

    def step(times: int) -> None:
        for _ in range(times):
            for row, token, logprob in decoder.step():
                of_row = names[row]
                said.setdefault(of_row, []).append((len(read[of_row]), token, logprob))
                read[of_row].append(token)

    prompts = decoder.compute([read[row][prefix:] for row in "abc"])
    rows = decoder.join([(prompt, f"{row}/0") for prompt, row in zip(prompts, "abc", strict=True)], [])
    names = dict(zip(rows, "abc", strict=True))
    step(6)
    decoder.rest(rows[1])
    decoder.rest(rows[2])
    step(5)
    decoder.leave(rows[0])
    (late,) = decoder.compute([read["d"][prefix:]])
    back = some_tokens("back", 17), some_tokens("again", 2)
    returning = [(rows[1], back[0], "b/1"), (rows[2], back[1], "c/1")]
    joined = decoder.join([(late, "d/0")], returning)
    names[joined[0]] = "d"
    read["b"] += back[0]
    read["c"] += back[1]
    step(14)
    assert {row: len(tokens) for row, tokens in said.items()} == {"a": 6 + 5, "b": 6 + 14, "c": 6 + 14, "d": 14}
    for row, tokens in said.items():
        plain = plain_logprobs(policy, read[row])
        for place, token, logprob in tokens:
            assert logprob == pytest.approx(plain[place - 1, token].item(), abs=1e-4), (row, place)


def groups() -> list[list[Pair]]:
    """Two questions with several attempts each, and one that shares the trunk alone; longer than the window."""
    trunk, found = some_tokens("trunk", 21), []
    for question, length, lengths in (("a", 70, (1, 7, 30)), ("b", 67, (16, 3)), ("c", 5, (12,))):
        prompt = trunk + some_tokens(question, length)
        own = [some_tokens(f"{question}{number}", count) for number, count in enumerate(lengths)]
        found.append([
            ([*prompt, number, *tokens], [0] * len(prompt) + [1] + [place % 3 and 1 for place in range(len(tokens))])
            for number, tokens in enumerate(own)
        ])  # fmt: skip
    return found


@pytest.mark.parametrize("name", KINDS)
def test_losses_and_gradients_are_those_of_each_sequence_alone(policies: dict[str, PolicyModel], name: str) -> None:
    policy, pairs = policies[name], [pair for members in groups() for pair in members]
    factors = [[random.Random(f"{n}/{len(tokens)}").uniform(-1, 1) for n in range(len(tokens))] for tokens, _ in pairs]

    def alone(_: nn.Module) -> mx.array:
        total = mx.array(0.0)
        for (tokens, mask), own in zip(pairs, factors, strict=True):
            plain = plain_logprobs(policy, tokens)
            total = total + sum(own[n] * plain[n - 1, tokens[n]] for n, learnt in enumerate(mask) if learnt)
        return total

    expected, gradients = nn.value_and_grad(policy.model, alone)(policy.model)
    tree = make_tree(groups(), rows=2)
    assert [branch.tokens.size for branch in tree.branches] == [69, 66, 0]
    found, own, logprobs = loss_and_gradients(policy, tree, lambda values, batch: (values * batch.pick(factors)).sum())
    assert found.item() == pytest.approx(expected.item(), rel=1e-4)
    assert logprobs == [pytest.approx(row, abs=1e-4) for row in action_logprobs(policy, tree)]
    assert not policy.model.training
    own, gradients = dict(tree_flatten(own)), dict(tree_flatten(gradients))
    assert own.keys() == gradients.keys() and own
    for weight, gradient in gradients.items():
        largest = mx.abs(gradient).max().item()
        assert largest > 0, weight
        assert mx.abs(own[weight] - gradient).max().item() <= 2e-3 * largest, weight


@pytest.mark.parametrize("name", KINDS)
def test_what_is_sampled_in_an_episode_is_what_is_trained(
    policies: dict[str, PolicyModel], databases: tuple[Path, ...], name: str
) -> None:
    policy = policies[name]
    attempts = [attempt(databases, number, tool_format=policy.dialogue.tool_format) for number in range(3)]
    episodes = list(play(policy, attempts, AGENT, seed=1, width=2))
    assert len(episodes) == 3 and all(sum(episode.action_mask) for episode in episodes)
    pairs = [(list(episode.tokens), list(episode.action_mask)) for episode in episodes]
    assert attempts[0].question is QUESTION and len({tuple(tokens) for tokens, _ in pairs}) == 3
    found = action_logprobs(policy, make_tree([pairs], rows=2))
    for episode, logprobs in zip(episodes, found, strict=True):
        assert logprobs == pytest.approx(list(episode.logprobs), abs=2e-4)


class _Layer:
    """A layer of an architecture that nobody has tried."""


@pytest.mark.parametrize(
    "cache", [RotatingKVCache(max_size=8), RotatingKVCache(max_size=8, keep=4), ArraysCache(2), SimpleNamespace()]
)
def test_states_that_nobody_has_tried_are_refused(cache: object) -> None:
    model = SimpleNamespace(layers=[_Layer(), _Layer()], make_cache=lambda: [KVCache(), cache])
    with pytest.raises(UserError, match=r"params.yaml: sources: .*recurrent state.* choose another model"):
        layer_kinds(model)
    model.make_cache = lambda: [KVCache(), KVCache()]
    assert layer_kinds(model) == (FULL, FULL)
    model.make_cache = lambda: [KVCache()]  # layers that share one
    with pytest.raises(UserError, match="can share prefixes"):
        layer_kinds(model)

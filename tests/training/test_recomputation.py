"""Layers that are run again in the backward pass give the gradients of those that keep everything, in less memory."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import mlx.core as mx
import pytest
from mlx.utils import tree_flatten
from mlx_lm.models.base import create_causal_mask
from tiny_families import CONFIGS, write_family
from tiny_policy import with_adapter, write_model

from sqldojo.training import recomputation, shared_prefix, tiny_model
from sqldojo.training.attention import attend
from sqldojo.training.policy_model import PolicyModel
from sqldojo.training.recomputation import allowed_bytes, attend_in_blocks, recomputing
from sqldojo.training.shared_prefix import PrefixTree, action_logprobs, loss_and_gradients, make_tree

Pair = tuple[list[int], list[int]]
NAMES = ("grouped queries", "dense", *CONFIGS)
LITTLE = 6000  # bytes a layer: less than any trunk, branch or micro-batch below keeps


@pytest.fixture(scope="module")
def policies(tmp_path_factory: pytest.TempPathFactory) -> dict[str, PolicyModel]:
    root, found = tmp_path_factory.mktemp("models"), {}
    write_model(root / "grouped queries")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tiny_model, "KV_HEADS", tiny_model.HEADS)
        write_model(root / "dense")
    for name in CONFIGS:
        write_family(root / name, name)
    for name in NAMES:
        found[name] = with_adapter(root / name)
    return found


def some_tokens(name: str, count: int) -> list[int]:
    return [random.Random(name).randrange(3, 250) for _ in range(count)]


def tree() -> PrefixTree:
    """Two questions with two attempts each behind one trunk, as one branch each."""
    trunk, groups = some_tokens("trunk", 41), []
    for question, length, lengths in (("a", 70, (9, 30)), ("b", 67, (16, 3))):
        prompt = trunk + some_tokens(question, length)
        own = [[number, *some_tokens(f"{question}{number}", count)] for number, count in enumerate(lengths)]
        groups.append([(prompt + tokens, [0] * len(prompt) + [1] * len(tokens)) for tokens in own])
    made = make_tree(groups, rows=2, trunk_length=30)
    assert made.trunk.size == 30 and all(branch.tokens.size for branch in made.branches)
    return made


def gradients(policy: PolicyModel, tree: PrefixTree) -> tuple[float, dict[str, mx.array], list[list[float]]]:
    def loss(logprobs: mx.array, batch: Any) -> mx.array:
        return (logprobs * batch.weights * mx.sin(batch.targets.astype(mx.float32))).sum()

    value, found, logprobs = loss_and_gradients(policy, tree, loss)
    return value.item(), dict(tree_flatten(found)), logprobs


class Calls:
    """Counts the calls of a function that it stands for."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function, self.count = function, 0

    def __call__(self, *args: Any, **named: Any) -> Any:
        self.count += 1
        return self.function(*args, **named)


@pytest.fixture
def checkpoints(monkeypatch: pytest.MonkeyPatch) -> Calls:
    calls = Calls(mx.checkpoint)
    monkeypatch.setattr(mx, "checkpoint", calls)
    return calls


@pytest.fixture
def blocks(monkeypatch: pytest.MonkeyPatch) -> Calls:
    calls = Calls(attend_in_blocks)
    monkeypatch.setattr(shared_prefix, "attend_in_blocks", calls)
    return calls


@pytest.mark.parametrize("name", NAMES)
def test_gradients_are_those_of_layers_that_keep_everything(
    policies: dict[str, PolicyModel], checkpoints: Calls, blocks: Calls, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    policy, prefixes = policies[name], tree()
    layers, kinds = policy.model.layers, policy.layers
    before = dict(tree_flatten(policy.model.trainable_parameters()))
    calls = {kind: kind.__call__ for kind in map(type, layers)}
    value, expected, logprobs = gradients(policy, prefixes)
    assert (checkpoints.count, blocks.count) == (0, 0)
    monkeypatch.setattr(recomputation, "BUDGET", LITTLE * len(layers))
    found_value, found, found_logprobs = gradients(policy, prefixes)
    after = dict(tree_flatten(policy.model.trainable_parameters()))
    assert all(before[name] is after[name] for name in before)  # no traced arrays
    assert all(kind.__call__ is call for kind, call in calls.items())
    passes = 1 + len(prefixes.branches) + len(list(prefixes.batches))
    attending = sum(not kind.arrays for kind in kinds)
    assert blocks.count >= attending * passes
    assert attending * passes <= checkpoints.count <= len(layers) * passes
    assert found_value == pytest.approx(value, rel=1e-5)
    assert found_logprobs == [pytest.approx(row, abs=1e-5) for row in logprobs]
    assert action_logprobs(policy, prefixes) == [pytest.approx(row, abs=1e-6) for row in found_logprobs]
    assert found.keys() == expected.keys() and found
    for weight, gradient in expected.items():
        largest = mx.abs(gradient).max().item()
        assert largest > 0, weight
        assert mx.abs(found[weight] - gradient).max().item() <= 2e-5 * largest, weight


@pytest.mark.parametrize("window", [None, 7])
@pytest.mark.parametrize(("rows", "before", "size"), [(1, 0, 5), (3, 11, 4), (2, 3, 1), (2, 3, 12)])
def test_attention_in_blocks_is_attention(rows: int, before: int, size: int, window: int | None) -> None:
    length, shapes = 13, [(rows, 4, 13, 8), (rows, 2, 13, 8), (rows, 2, 13, 8), (1, 2, before, 8), (1, 2, before, 8)]
    arrays = [mx.random.normal(shape, key=mx.random.key(n)) for n, shape in enumerate(shapes[: 5 if before else 3])]
    mask = create_causal_mask(length, before, window_size=window) if window else "causal"
    factors = mx.random.normal(shapes[0], key=mx.random.key(9))

    def whole(queries: mx.array, keys: mx.array, values: mx.array, *prefix: mx.array) -> mx.array:
        return attend(queries, keys, values, scale=0.3, mask=mask, prefix=prefix or None)

    def in_blocks(queries: mx.array, keys: mx.array, values: mx.array, *prefix: mx.array) -> mx.array:
        return attend_in_blocks(queries, keys, values, scale=0.3, mask=mask, prefix=prefix or None, size=size)

    (expected,), expected_gradients = mx.vjp(whole, arrays, [factors])
    (found,), found_gradients = mx.vjp(in_blocks, arrays, [factors])
    assert mx.allclose(found, expected, rtol=1e-5, atol=1e-6).item()
    for one, other in zip(found_gradients, expected_gradients, strict=True):
        assert mx.allclose(one, other, rtol=1e-5, atol=1e-5).item()


@pytest.mark.parametrize(
    ("rows", "length", "before", "in_blocks"),
    [(1, 206, 0, False), (4, 256, 240, False), (4, 384, 240, False), (1, 1000, 0, False), (1, 1500, 0, True),
     (1, 4000, 0, True), (4, 128, 4000, True)],
)  # fmt: skip
def test_shapes_decide_in_the_embedded_model(
    blocks: Calls, rows: int, length: int, before: int, in_blocks: bool
) -> None:
    """30 layers of 9 query and 3 key-value heads. Nothing is computed here: mlx knows shapes without."""
    prefix = tuple(mx.zeros((1, 3, before, 64)) for _ in range(2)) if before else None
    cache = shared_prefix._Cache(prefix, None, allowed_bytes(30))
    cache.attend(*(mx.zeros((rows, heads, length, 64)) for heads in (9, 3, 3)), scale=1.0, mask="causal")
    assert cache.kept == 4 * rows * 9 * length * (before + length)
    assert blocks.count == in_blocks == (cache.kept > cache.allowed)


def test_memory_of_a_long_prompt_does_not_grow_with_its_square(
    policies: dict[str, PolicyModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two layers of 4 heads keep 32 MB of weights of 1,000 tokens."""
    policy = policies["grouped queries"]
    prompt = some_tokens("long", 1001)
    long = make_tree([[([*prompt, n, 7], [0] * len(prompt) + [1, 1]) for n in (5, 6)]], rows=2)

    def peak() -> int:
        held = mx.get_active_memory()
        mx.reset_peak_memory()
        gradients(policy, long)
        return mx.get_peak_memory() - held

    plain = peak()
    monkeypatch.setattr(recomputation, "BUDGET", 2 * 2**20)
    assert peak() < plain / 4


def test_layers_with_another_cache_run_as_ever(policies: dict[str, PolicyModel], checkpoints: Calls) -> None:
    model, tokens = policies["dense"].model, mx.array([some_tokens("plain", 9)])
    expected = model(tokens)
    with recomputing(model):
        assert mx.array_equal(model(tokens), expected).item()
    assert checkpoints.count == 0

"""Losses on a shared prefix: the same numbers and gradients as each sequence run alone, whatever the padding."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import mlx.core as mx
import mlx.nn as nn
import numpy as np
import pytest
from mlx.utils import tree_flatten
from tiny_policy import with_adapter

from sqldojo.training.policy_model import PolicyModel
from sqldojo.training.shared_prefix import (
    SharedPrefixBatch,
    action_logprobs,
    loss_and_gradients,
    make_batch,
    make_micro_batches,
)

Pair = tuple[list[int], list[int]]
PROMPT = 21


@pytest.fixture(scope="module")
def adapted(tiny_folder: Path) -> PolicyModel:
    """The tiny model with an adapter that is not zero."""
    return with_adapter(tiny_folder)


def ragged(lengths: Sequence[int] = (1, 7, 30, 16, 17), seed: int = 5) -> list[Pair]:
    """Sequences with one prompt and own continuations, whose masks have holes and end on 1 or 0."""
    generator = random.Random(f"{seed}/sequences")
    prompt = [generator.randrange(259) for _ in range(PROMPT)]
    pairs = []
    for number, length in enumerate(lengths):
        own = [(number + 1) % 259, *(generator.randrange(259) for _ in range(length - 1))]
        mask = [1, *(generator.randrange(2) for _ in range(length - 1))]
        pairs.append((prompt + own, [0] * PROMPT + mask))
    return pairs


def alone(policy: PolicyModel, pair: Pair) -> mx.array:
    """The log-probabilities of one sequence's actions from a plain forward pass of all of it."""
    tokens, mask = pair
    logits = policy.model(mx.array([tokens[:-1]]))[0]
    logprobs = logits - mx.logsumexp(logits, axis=-1, keepdims=True)
    return mx.stack([logprobs[place - 1, tokens[place]] for place in range(1, len(tokens)) if mask[place]])


def real(batch: SharedPrefixBatch, values: mx.array) -> np.ndarray:
    """The values that are not padding."""
    return np.array(values)[np.array(batch.weights) == 1]


@pytest.mark.parametrize("prefix_length", [2, 9, 20, PROMPT])
def test_logprobs_are_those_of_each_sequence_alone(adapted: PolicyModel, prefix_length: int) -> None:
    pairs = ragged()
    batch = make_batch(pairs, prefix_length)
    assert batch.prefix.shape == (1, prefix_length - 1)
    expected = np.concatenate([np.array(alone(adapted, pair)) for pair in pairs])
    np.testing.assert_allclose(real(batch, action_logprobs(adapted, batch)), expected, atol=1e-5)


def test_targets_are_the_masked_tokens_themselves() -> None:
    pairs = ragged()
    batch = make_batch(pairs, PROMPT)
    wanted = [token for tokens, mask in pairs for token, learnt in zip(tokens, mask, strict=True) if learnt]
    assert real(batch, batch.targets).tolist() == wanted
    assert batch.weights.sum().item() == sum(sum(mask) for _, mask in pairs)
    # the state before a target is that of the token before it
    before = [tokens[i - 1] for tokens, mask in pairs for i in range(PROMPT, len(tokens)) if mask[i]]
    assert real(batch, batch.continuations.reshape(-1)[batch.positions]).tolist() == before


def test_gradients_are_those_of_the_sequences_alone(adapted: PolicyModel) -> None:
    pairs = ragged()
    batch = make_batch(pairs, PROMPT)
    coefficients = mx.random.normal(batch.weights.shape, key=mx.random.key(1)) * batch.weights
    own = real(batch, coefficients).tolist()

    def shared(_: nn.Module) -> mx.array:
        return (action_logprobs(adapted, batch) * coefficients).sum()

    def naive(_: nn.Module) -> mx.array:
        return (mx.concatenate([alone(adapted, pair) for pair in pairs]) * mx.array(own)).sum()

    gradients, expected = (
        dict(tree_flatten(nn.value_and_grad(adapted.model, loss)(adapted.model)[1])) for loss in (shared, naive)
    )
    assert gradients.keys() == expected.keys() and len(gradients) == 2 * 2 * 7  # a and b of 7 layers in 2 blocks
    for name, gradient in expected.items():
        largest = mx.abs(gradient).max().item()
        assert largest > 0, name
        assert mx.abs(gradients[name] - gradient).max().item() <= 1e-4 * largest, name


@pytest.mark.parametrize("rows", [1, 2, 5])
def test_micro_batches_give_the_same_loss_and_gradients(adapted: PolicyModel, rows: int) -> None:
    """The prompt's own backward pass is run once for all of them; its part of the gradient must not be lost."""
    pairs = ragged()
    micro = make_micro_batches(pairs, PROMPT, rows)
    assert [batch.continuations.shape[0] for batch in micro] == {1: [1] * 5, 2: [2, 2, 1], 5: [5]}[rows]

    def loss(logprobs: mx.array, batch: SharedPrefixBatch) -> mx.array:
        return -(logprobs * batch.weights).sum() / 7

    def naive(_: nn.Module) -> mx.array:
        return -sum(alone(adapted, pair).sum() for pair in pairs) / 7

    before = dict(tree_flatten(adapted.model.trainable_parameters()))
    value, gradients = loss_and_gradients(adapted, micro, loss)
    after = dict(tree_flatten(adapted.model.trainable_parameters()))
    assert all(mx.array_equal(before[name], after[name]) for name in before)
    expected_value, expected = nn.value_and_grad(adapted.model, naive)(adapted.model)
    assert value.item() == pytest.approx(expected_value.item(), rel=1e-5)
    gradients, expected = dict(tree_flatten(gradients)), dict(tree_flatten(expected))
    assert gradients.keys() == expected.keys()
    for name, gradient in expected.items():
        assert mx.abs(gradients[name] - gradient).max().item() <= 1e-4 * mx.abs(gradient).max().item(), name


def test_micro_batches_with_different_prompts_are_our_fault(adapted: PolicyModel) -> None:
    batches = [make_batch(ragged(seed=seed), PROMPT) for seed in (1, 2)]
    with pytest.raises(ValueError, match="share their prefix"):
        loss_and_gradients(adapted, batches, lambda logprobs, batch: logprobs.sum())


def test_neighbours_and_padding_change_nothing(adapted: PolicyModel) -> None:
    pairs = ragged()
    together = make_batch(pairs, PROMPT)
    few = make_batch(pairs[:2], PROMPT)  # shorter: 16 columns in place of 32
    assert together.continuations.shape[1] > few.continuations.shape[1]
    count = int(few.weights.sum().item())
    first = real(together, action_logprobs(adapted, together))[:count]
    np.testing.assert_allclose(first, real(few, action_logprobs(adapted, few)), atol=1e-5)

    lengths = mx.array([len(tokens) - PROMPT for tokens, _ in pairs])  # with the prompt's last token, without the last
    padded = mx.arange(together.continuations.shape[1])[None] >= lengths[:, None]
    other = replace(together, continuations=mx.where(padded, 77, together.continuations))
    assert padded.sum().item() > 0
    assert mx.array_equal(action_logprobs(adapted, together), action_logprobs(adapted, other))


def test_a_sequence_without_actions_adds_nothing(adapted: PolicyModel) -> None:
    pairs = ragged()
    masked = (pairs[2][0], [0] * len(pairs[2][0]))
    with_it, without = make_batch([*pairs[:2], masked], PROMPT), make_batch(pairs[:2], PROMPT)
    assert real(with_it, with_it.targets).tolist() == real(without, without.targets).tolist()
    np.testing.assert_allclose(
        real(with_it, action_logprobs(adapted, with_it)), real(without, action_logprobs(adapted, without)), atol=1e-5
    )


def test_actions_that_all_sequences_begin_with_are_not_lost(adapted: PolicyModel) -> None:
    """Attempts at one question often begin alike; what they share is then more than the prompt."""
    tokens, mask = ragged((12,))[0]
    twins: list[Pair] = [(tokens, mask), (tokens, mask)]
    batch = make_batch(twins, len(tokens))
    assert batch.weights.sum().item() == 2 * sum(mask)
    expected = np.concatenate([np.array(alone(adapted, pair)) for pair in twins])
    np.testing.assert_allclose(real(batch, action_logprobs(adapted, batch)), expected, atol=1e-5)


@pytest.mark.parametrize("prefix_length", [0, 1])
def test_sequences_that_share_nothing_are_our_fault(prefix_length: int) -> None:
    with pytest.raises(ValueError, match="must share"):
        make_batch(ragged(), prefix_length)


def test_a_run_sees_few_shapes() -> None:
    batches = [make_batch(ragged((length, 3)), PROMPT) for length in range(1, 129)]
    assert {batch.continuations.shape for batch in batches} == {(2, columns) for columns in range(16, 129, 16)}
    assert {batch.targets.size % 16 for batch in batches} == {0}
    assert len({(batch.continuations.shape, batch.targets.shape) for batch in batches}) <= 16

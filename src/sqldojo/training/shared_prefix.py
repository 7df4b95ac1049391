"""Log-probabilities of many continuations of one prompt, with the prompt computed once.

The prompt runs through the model alone; its keys and values stand before those of every continuation. mlx-lm's models
ask a cache for nothing but `update_and_fetch`, `make_mask` and `offset`, so they run unmodified, and because the
caches below only hold arrays, gradients flow through the continuations and the prompt alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import mlx.core as mx
from mlx.utils import tree_map

from sqldojo.training.policy_model import PolicyModel

_LENGTH_STEP = 16  # lengths are rounded up to it, so that a run sees few different shapes


class _PrefixCache:
    """Keeps one layer's keys and values of the prompt, each [1, heads, P, D]."""

    offset = 0

    def update_and_fetch(self, keys: mx.array, values: mx.array) -> tuple[mx.array, mx.array]:
        self.keys, self.values = keys, values
        return keys, values

    def make_mask(self, *_: object, **__: object) -> str:
        return "causal"


class _ContinuationCache:
    """Puts the prompt's keys and values before those of [G, ...] continuations."""

    def __init__(self, keys: mx.array, values: mx.array) -> None:
        self.keys, self.values, self.offset = keys, values, keys.shape[2]

    def update_and_fetch(self, keys: mx.array, values: mx.array) -> tuple[mx.array, mx.array]:
        return self._behind(self.keys, keys), self._behind(self.values, values)

    @staticmethod
    def _behind(prefix: mx.array, own: mx.array) -> mx.array:
        return mx.concatenate([mx.broadcast_to(prefix, (own.shape[0], *prefix.shape[1:])), own], axis=2)

    def make_mask(self, *_: object, **__: object) -> str:
        return "causal"  # aligned at the lower right: token i of a continuation sees the prompt and i + 1 of its own


@dataclass(frozen=True)
class SharedPrefixBatch:
    """Sequences with a common start, cut apart at it, as arrays of one shape.

    `prefix` is [1, P]; `continuations` [G, C], padded at the right; `positions` [N] index the flattened [G, C] states
    whose next token is an action, and `targets` [N] are those tokens, `weights` [N] 1 for real and 0 for padding.
    """

    prefix: mx.array
    continuations: mx.array
    positions: mx.array
    targets: mx.array
    weights: mx.array


def make_batch(sequences: Sequence[tuple[Sequence[int], Sequence[int]]], prefix_length: int) -> SharedPrefixBatch:
    """A batch of (tokens, action mask) pairs that agree in their first `prefix_length` tokens.

    The token before a continuation's first is kept with it, so that every action's predecessor lies inside.
    ValueError when nothing is left to share.
    """
    start = _prompt_part(sequences, prefix_length) - 1
    rows = [tokens[start:-1] for tokens, _ in sequences]
    length = _rounded_up(max(map(len, rows)))
    positions, targets = [], []
    for number, (tokens, mask) in enumerate(sequences):
        for place in range(start + 1, len(tokens)):
            if mask[place]:
                positions.append(number * length + place - 1 - start)
                targets.append(tokens[place])
    padding = _rounded_up(max(1, len(targets))) - len(targets)
    return SharedPrefixBatch(
        prefix=mx.array([list(sequences[0][0][:start])]),
        continuations=mx.array([list(row) + [0] * (length - len(row)) for row in rows]),
        positions=mx.array(positions + [0] * padding),
        targets=mx.array(targets + [0] * padding),
        weights=mx.array([1.0] * len(targets) + [0.0] * padding),
    )


def make_micro_batches(
    sequences: Sequence[tuple[Sequence[int], Sequence[int]]], prefix_length: int, rows: int
) -> list[SharedPrefixBatch]:
    """The same as batches of at most `rows` sequences each, near lengths together, all behind the same prefix."""
    shared = _prompt_part(sequences, prefix_length)
    near = sorted(sequences, key=lambda sequence: len(sequence[0]))
    return [make_batch(near[start : start + rows], shared) for start in range(0, len(near), rows)]


def _prompt_part(sequences: Sequence[tuple[Sequence[int], Sequence[int]]], prefix_length: int) -> int:
    """The prefix cut before the first action: attempts at one question often begin alike, and those actions count."""
    length = min([prefix_length, *(list(mask).index(1) for _, mask in sequences if any(mask))])
    if length < 2:
        raise ValueError("the sequences must share the first two tokens of their prompts")
    return length


def action_logprobs(policy: PolicyModel, batch: SharedPrefixBatch) -> mx.array:
    """log p of each target given all before it, float32 [N]; the output head runs on these positions only."""
    return _logprobs_behind(policy, _prefix_states(policy, batch.prefix), batch)


def loss_and_gradients(
    policy: PolicyModel,
    micro_batches: Sequence[SharedPrefixBatch],
    loss: Callable[[mx.array, SharedPrefixBatch], mx.array],
) -> tuple[mx.array, dict]:
    """The sum over micro-batches of `loss(logprobs [N], batch)`, and its gradients in the trainable parameters.

    All must have the same prefix (ValueError otherwise). It runs forward once without a graph; each micro-batch gives
    gradients for the parameters and for the prefix's keys and values; one backward pass of the prefix takes their
    sum. So memory is set by the micro-batch, and the prefix costs two passes forward and one back, however many there
    are. By the chain rule these are the gradients of the plain computation.
    """
    prefix = micro_batches[0].prefix
    if any(not mx.array_equal(batch.prefix, prefix).item() for batch in micro_batches[1:]):
        raise ValueError("micro-batches must share their prefix")
    parameters = policy.model.trainable_parameters()
    states = _prefix_states(policy, prefix)
    mx.eval(states)

    def batch_loss(parameters: dict, states: _States, batch: SharedPrefixBatch) -> mx.array:
        policy.model.update(parameters)
        return loss(_logprobs_behind(policy, states, batch), batch)

    def prefix_product(parameters: dict, factors: _States) -> mx.array:
        policy.model.update(parameters)
        products = tree_map(lambda state, factor: (state * factor).sum(), _prefix_states(policy, prefix), factors)
        return sum(keys + values for keys, values in products)

    total, gradients = mx.array(0.0), None
    for batch in micro_batches:
        value, gradient = mx.value_and_grad(batch_loss, argnums=(0, 1))(parameters, states, batch)
        total = total + value
        gradients = gradient if gradients is None else tree_map(mx.add, gradients, gradient)
        mx.eval(total, gradients)  # frees the micro-batch's graph before the next one is built
    through_rows, through_states = gradients
    through_prefix = mx.grad(prefix_product)(parameters, through_states)
    policy.model.update(parameters)
    return total, tree_map(mx.add, through_rows, through_prefix)


_States = list[tuple[mx.array, mx.array]]


def _prefix_states(policy: PolicyModel, prefix: mx.array) -> _States:
    """Keys and values of the prompt, a pair a layer."""
    caches = [_PrefixCache() for _ in policy.model.layers]
    policy.body(prefix, cache=caches)
    return [(cache.keys, cache.values) for cache in caches]


def _logprobs_behind(policy: PolicyModel, states: _States, batch: SharedPrefixBatch) -> mx.array:
    hidden = policy.body(batch.continuations, cache=[_ContinuationCache(keys, values) for keys, values in states])
    logits = policy.head(hidden.reshape(-1, hidden.shape[-1])[batch.positions]).astype(mx.float32)
    chosen = mx.take_along_axis(logits, batch.targets[:, None], axis=-1).squeeze(-1)
    return chosen - mx.logsumexp(logits, axis=-1)


def _rounded_up(length: int) -> int:
    return -(-length // _LENGTH_STEP) * _LENGTH_STEP

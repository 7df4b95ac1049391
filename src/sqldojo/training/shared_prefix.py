"""Log-probabilities of many continuations of one prompt, with the prompt computed once.

The prompt runs through the model alone; its keys and values stand before those of every continuation. mlx-lm's models
ask a cache for nothing but `update_and_fetch`, `make_mask` and `offset`, so they run unmodified, and because the
caches below only hold arrays, gradients flow through the continuations and the prompt alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import mlx.core as mx

from sqldojo.training.policy_model import PolicyModel

_LENGTH_STEP = 16  # lengths are rounded up to it, so that a run sees few different shapes


class _PrefixCache:
    """Keeps one layer's keys and values of the prompt, [1, heads, P, D]."""

    offset = 0

    def update_and_fetch(self, keys: mx.array, values: mx.array) -> tuple[mx.array, mx.array]:
        self.keys, self.values = keys, values
        return keys, values

    def make_mask(self, *_: object, **__: object) -> str:
        return "causal"


class _ContinuationCache:
    """Puts the prompt's keys and values before those of [G, ...] continuations."""

    def __init__(self, prefix: _PrefixCache) -> None:
        self.prefix, self.offset = prefix, prefix.keys.shape[2]

    def update_and_fetch(self, keys: mx.array, values: mx.array) -> tuple[mx.array, mx.array]:
        return self._behind(self.prefix.keys, keys), self._behind(self.prefix.values, values)

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

    The prefix ends before the first action: attempts at one question often begin alike, and those actions count too.
    The token before a continuation's first is kept with it, so that every action's predecessor lies inside.
    ValueError when nothing is left to share.
    """
    first_actions = [list(mask).index(1) for _, mask in sequences if any(mask)]
    prefix_length = min([prefix_length, *first_actions])
    if prefix_length < 2:
        raise ValueError("the sequences must share the first two tokens of their prompts")
    start = prefix_length - 1
    rows = [tokens[start:-1] for tokens, _ in sequences]
    length = _rounded_up(max(map(len, rows)))
    positions, targets = [], []
    for number, (tokens, mask) in enumerate(sequences):
        for place in range(prefix_length, len(tokens)):
            if mask[place]:
                positions.append(number * length + place - 1 - start)
                targets.append(tokens[place])
    padding = _rounded_up(len(targets)) - len(targets)
    return SharedPrefixBatch(
        prefix=mx.array([list(sequences[0][0][:start])]),
        continuations=mx.array([list(row) + [0] * (length - len(row)) for row in rows]),
        positions=mx.array(positions + [0] * padding),
        targets=mx.array(targets + [0] * padding),
        weights=mx.array([1.0] * len(targets) + [0.0] * padding),
    )


def action_logprobs(policy: PolicyModel, batch: SharedPrefixBatch) -> mx.array:
    """log p of each target given all before it, float32 [N]; the output head runs on these positions only."""
    caches = [_PrefixCache() for _ in policy.model.layers]
    policy.body(batch.prefix, cache=caches)
    hidden = policy.body(batch.continuations, cache=[_ContinuationCache(cache) for cache in caches])
    logits = policy.head(hidden.reshape(-1, hidden.shape[-1])[batch.positions]).astype(mx.float32)
    chosen = mx.take_along_axis(logits, batch.targets[:, None], axis=-1).squeeze(-1)
    return chosen - mx.logsumexp(logits, axis=-1)


def _rounded_up(length: int) -> int:
    return -(-length // _LENGTH_STEP) * _LENGTH_STEP

"""Drawing tokens at temperature 1, unfiltered, so that the stored log-probabilities are those of the policy; or taking
the likeliest.

Every draw has a name, and its random number is a hash of the name: it depends on no generator's state and on no other
draw, and is the same on every machine.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import mlx.core as mx

from sqldojo.training.cpu_math import exp_below, logsumexp

_BLOCK, _GROUP = 256, 16
_LEAST = 1e-30  # of the largest probability; less counts as none (exp_below gives 8e-31 for all that is smaller)
_BELOW_ONE = 1.0 - 2.0**-24  # the largest float32 below 1


def uniform(name: str) -> float:
    """A number in [0, 1) that is a hash of the name, with 53 random bits."""
    digest = hashlib.blake2b(name.encode(), digest_size=8).digest()
    return (int.from_bytes(digest) >> 11) / 2.0**53


def draw(logits: mx.array, names: Sequence[str]) -> tuple[mx.array, mx.array]:
    """One token a row of logits [B, V] and its log-probability, each [B]; the row's name decides the draw."""
    return sample(logits.astype(mx.float32), mx.array([uniform(name) for name in names]))


def likeliest(logits: mx.array) -> tuple[mx.array, mx.array]:
    """The most probable token of each row of logits [B, V], of equals the first, and its log-probability, each [B]."""
    logits = logits.astype(mx.float32)
    tokens = mx.argmax(logits, axis=-1, keepdims=True)
    logprobs = mx.take_along_axis(logits, tokens, axis=-1).squeeze(-1) - logsumexp(logits)
    return tokens.squeeze(-1).astype(mx.int32), logprobs


def sample(logits: mx.array, uniforms: mx.array) -> tuple[mx.array, mx.array]:
    """For float32 logits [B, V] and uniforms [B] in [0, 1]: tokens [B] (int32) and their log-probabilities [B].

    Inverse transform sampling: the first token at which the running sum of probabilities exceeds the uniform number.
    The sum runs over blocks of tokens and then inside the block that is hit, so that what is small keeps its share. A
    token without probability is never drawn.
    """
    largest = logits.max(axis=-1, keepdims=True)
    blocks = _blocks(exp_below(logits, largest), _BLOCK)
    sums = blocks.sum(axis=-1)
    # In the stages of `_pick`, so that both round alike.
    total = _blocks(sums, _GROUP).sum(axis=-1).sum(axis=-1, keepdims=True)
    block, left = _pick(mx.where(sums > _LEAST * _BLOCK, sums, 0.0), uniforms[:, None] * total)
    powers = mx.take_along_axis(blocks, block[:, :, None], axis=1).squeeze(1)
    place, _ = _pick(mx.where(powers > _LEAST, powers, 0.0), left)
    tokens = block * _BLOCK + place
    logprobs = mx.take_along_axis(logits, tokens, axis=-1) - largest - mx.log(total)
    return tokens.squeeze(-1), logprobs.squeeze(-1)


def _pick(weights: mx.array, targets: mx.array) -> tuple[mx.array, mx.array]:
    """As `_first_above`, in two stages: a float32 sum over more than a few numbers drops what is small beside it."""
    groups = _blocks(weights, _GROUP)
    group, left = _first_above(groups.sum(axis=-1), targets)
    place, left = _first_above(mx.take_along_axis(groups, group[:, :, None], axis=1).squeeze(1), left)
    return group * _GROUP + place, left


def _first_above(weights: mx.array, targets: mx.array) -> tuple[mx.array, mx.array]:
    """The first place [B, 1] where the running sum of weights [B, N] exceeds the target [B, 1], and what is left of it.

    A target that is too large by rounding means the last place. The weight there is never 0, unless all are: places
    without weight are passed over, since sums that a GPU takes in parallel may differ in the last bit where none is.
    """
    sums = mx.cumsum(weights, axis=-1)
    ends = mx.where(weights > 0.0, sums, -1.0)
    targets = mx.minimum(targets, ends.max(axis=-1, keepdims=True) * _BELOW_ONE)
    place = mx.argmax((ends > targets).astype(mx.int32), axis=-1, keepdims=True).astype(mx.int32)
    before = mx.where(place > 0, mx.take_along_axis(sums, mx.maximum(place - 1, 0), axis=-1), 0.0)
    return place, mx.maximum(targets - before, 0.0)


def _blocks(weights: mx.array, size: int) -> mx.array:
    """Weights [B, N] as [B, N / size, size], with zeros behind them where they do not fill the last block."""
    if weights.shape[1] % size:
        weights = mx.pad(weights, ((0, 0), (0, -weights.shape[1] % size)))
    return weights.reshape(weights.shape[0], -1, size)

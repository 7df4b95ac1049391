"""The loss of a policy-gradient step on sampled tokens, and what to log about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mlx.core as mx
import numpy as np

from sqldojo.training.guards import Guards

_LARGEST_DRIFT = 5.0  # nats; beyond it a single token's penalty, which is exponential, would outweigh all others
_LARGE_DIFFERENCE = 0.2  # of two logprobs of the same token


def policy_loss(
    logprobs: mx.array,
    sampled: mx.array,
    reference: mx.array,
    advantages: mx.array,
    weights: mx.array,
    denominator: float,
    guards: Guards,
) -> mx.array:
    """The clipped policy-gradient loss with a KL penalty: a float32 scalar, to be minimised.

    All arrays are float32 [N], a number a token: its logprob under the policy, under the sampling policy and under the
    reference policy, its episode's advantage, and its weight. `sampled` is nan for a token that was not sampled (a
    tool's result, with `loss_on: actions_and_results`): its ratio is 1. A token of weight 0 (padding) contributes
    nothing, whatever its other numbers are.

    With the ratio r = exp(logprob - sampled) a token's loss is -min(r A, clip(r, 1 - clip_low, 1 + clip_high) A)
    (PPO, arXiv 1707.06347; unequal bounds as in DAPO, arXiv 2503.14476). Its gradient is -r A times that of the
    logprob, and 0 where a token with A > 0 is above the upper bound or one with A < 0 below the lower. The r that
    multiplies is truncated at `importance_cap` (E. L. Ionides, "Truncated importance sampling", 2008). So a token with
    A < 0 that the policy likes much better than the sampler did is still pushed down, with bounded weight; were the
    ratio itself truncated under the gradient, it would not be.

    Plus `kl_weight` times k3 = exp(d) - d - 1 with d = reference - logprob, at most 5 (J. Schulman, "Approximating KL
    divergence", 2020), for every token of non-zero weight, also where the advantage is 0: the policy may drift on those
    as well. Under samples of the policy its mean is KL(policy | reference), and its mean gradient 1 - exp(d) times that
    of the logprob is the gradient of KL(reference | policy).

    The sum is divided by `denominator`, a constant of the run: a mean over lengths would favour long wrong answers
    (Dr. GRPO, arXiv 2503.20783).
    """
    counted = weights != 0
    # Replaced before anything is computed from them: 0 times nan is nan, in gradients too.
    logprobs, sampled, reference, advantages = (
        mx.where(counted, values, 0.0) for values in (logprobs, sampled, reference, advantages)
    )
    current = mx.stop_gradient(logprobs)
    ratio = mx.exp(current - mx.where(mx.isnan(sampled), current, sampled))
    clipped = _is_clipped_high(ratio, advantages, guards) | _is_clipped_low(ratio, advantages, guards)
    truncated = mx.minimum(ratio, guards.importance_cap)
    surrogate = mx.where(
        clipped,
        mx.clip(truncated, 1 - guards.clip_low, 1 + guards.clip_high),
        truncated * mx.exp(logprobs - current),  # the factor is 1 and has the gradient of the logprob
    )
    difference = mx.minimum(reference - logprobs, _LARGEST_DRIFT)
    kl = mx.exp(difference) - difference - 1
    return (weights * (guards.kl_weight * kl - advantages * surrogate)).sum() / denominator


def _is_clipped_high(ratio: Any, advantages: Any, guards: Guards) -> Any:
    return (advantages > 0) & (ratio > 1 + guards.clip_high)


def _is_clipped_low(ratio: Any, advantages: Any, guards: Guards) -> Any:
    return (advantages < 0) & (ratio < 1 - guards.clip_low)


@dataclass(frozen=True)
class TokenStatistics:
    """What the trained tokens of a step were like; means and shares over tokens of non-zero weight, logprobs in nats.

    `kl` is the mean of k3 to the reference policy. `dlogp_mean` and `dlogp_max` are of |logprob - sampled|, and
    `dlogp_large` is the share above 0.2; over sampled tokens, as is `entropy_trained`, the mean of -sampled.
    `clipped_low` and `clipped_high` are the shares whose policy gradient a clip bound stops, `capped` the share whose
    ratio the cap truncates. `logprob_right` and `logprob_wrong` are mean logprobs in right and in other episodes, None
    without any.
    """

    kl: float
    dlogp_mean: float
    dlogp_max: float
    dlogp_large: float
    clipped_low: float
    clipped_high: float
    capped: float
    entropy_trained: float
    logprob_right: float | None
    logprob_wrong: float | None


def token_statistics(
    logprobs: Any, sampled: Any, reference: Any, advantages: Any, weights: Any, right: Any, guards: Guards
) -> TokenStatistics:
    """The statistics of a step's tokens, all micro-batches in one; arguments as those of `policy_loss`.

    Each is a sequence or array of N numbers; `right` is 1 for tokens of episodes with a right answer. ValueError when
    no token has a weight, or none of those that have was sampled.
    """
    counted = np.asarray(weights) != 0
    logprobs, sampled, reference, advantages = (
        np.asarray(values, dtype=np.float64)[counted] for values in (logprobs, sampled, reference, advantages)
    )
    right = np.asarray(right)[counted] != 0
    known = ~np.isnan(sampled)
    if not known.any():
        raise ValueError("no trained tokens to describe")
    apart = np.abs(logprobs - sampled)[known]
    difference = reference - logprobs
    ratio = np.exp(np.where(known, logprobs - sampled, 0.0))
    return TokenStatistics(
        kl=float(np.mean(np.exp(difference) - difference - 1)),
        dlogp_mean=float(apart.mean()),
        dlogp_max=float(apart.max()),
        dlogp_large=float(np.mean(apart > _LARGE_DIFFERENCE)),
        clipped_low=float(np.mean(_is_clipped_low(ratio, advantages, guards))),
        clipped_high=float(np.mean(_is_clipped_high(ratio, advantages, guards))),
        capped=float(np.mean(ratio > guards.importance_cap)),
        entropy_trained=float(-sampled[known].mean()),
        logprob_right=float(logprobs[right].mean()) if right.any() else None,
        logprob_wrong=float(logprobs[~right].mean()) if not right.all() else None,
    )

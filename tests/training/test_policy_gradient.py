"""The loss and its gradient against a reference in numpy, and the numbers that are logged about its tokens."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import cpu_first  # noqa: F401

# isort: split
import grpo_settings
import mlx.core as mx
import numpy as np
import pytest

from sqldojo.training.guards import Guards
from sqldojo.training.policy_gradient import policy_loss, token_statistics

GUARDS = replace(grpo_settings.GUARDS, kl_weight=0.0)
WITH_KL = replace(GUARDS, kl_weight=0.3)
NAN, INF = math.nan, math.inf


def loss_and_gradient(guards: Guards, denominator: float = 7.0, **arrays: Sequence[float]) -> tuple[float, np.ndarray]:
    """The loss and its gradient in `logprobs`; what is not given is: sampled = reference = logprobs, A = weight = 1."""
    logprobs = arrays["logprobs"]
    columns = {"sampled": logprobs, "reference": logprobs, "advantages": [1.0] * len(logprobs),
               "weights": [1.0] * len(logprobs)} | arrays  # fmt: skip
    sampled, reference, advantages, weights = (
        mx.array(columns[name], dtype=mx.float32) for name in ("sampled", "reference", "advantages", "weights")
    )

    def loss(values: mx.array) -> mx.array:
        return policy_loss(values, sampled, reference, advantages, weights, denominator, guards)

    value, gradient = mx.value_and_grad(loss)(mx.array(logprobs, dtype=mx.float32))
    assert value.dtype == mx.float32 and value.shape == ()
    return value.item(), np.array(gradient)


def reference_loss(guards: Guards, denominator: float, logprobs: np.ndarray, **columns: np.ndarray) -> float:
    """The formula as it is written, in double precision."""
    ratio = np.minimum(np.exp(logprobs - columns["sampled"]), guards.importance_cap)
    bounded = np.clip(ratio, 1 - guards.clip_low, 1 + guards.clip_high)
    surrogate = np.minimum(ratio * columns["advantages"], bounded * columns["advantages"])
    difference = columns["reference"] - logprobs
    kl = np.exp(difference) - difference - 1
    return float((columns["weights"] * (guards.kl_weight * kl - surrogate)).sum() / denominator)


def random_tokens(count: int = 60, spread: float = 0.3) -> dict[str, np.ndarray]:
    generator = np.random.default_rng(3)
    logprobs = -generator.exponential(1.5, count)
    return {
        "logprobs": logprobs,
        "sampled": logprobs + generator.uniform(-spread, spread, count),
        "reference": logprobs + generator.normal(0, 0.5, count),
        "advantages": generator.choice([1.5, 0.0, -0.4], count),
        "weights": generator.choice([1.0, 0.0, 0.25], count),
    }


def test_value_and_gradient_are_those_of_the_formula() -> None:
    """Finite differences of the numpy formula; ratios up to 1.35, so the cap of 2 plays no part."""
    columns = random_tokens()
    value, gradient = loss_and_gradient(WITH_KL, **columns)
    assert value == pytest.approx(reference_loss(WITH_KL, 7.0, **columns), rel=1e-5)
    for place in range(60):
        shifted = [columns | {"logprobs": columns["logprobs"] + sign * 1e-6 * (np.arange(60) == place)}
                   for sign in (1, -1)]  # fmt: skip
        slope = (reference_loss(WITH_KL, 7.0, **shifted[0]) - reference_loss(WITH_KL, 7.0, **shifted[1])) / 2e-6
        assert gradient[place] == pytest.approx(slope, abs=1e-5)


def test_at_ratio_one_the_gradient_is_the_advantage() -> None:
    value, gradient = loss_and_gradient(GUARDS, logprobs=[-0.1, -2.0, -5.0, 0.0], advantages=[0.75, -0.5, 0.0, 2.0])
    assert value == pytest.approx(-2.25 / 7)
    np.testing.assert_allclose(gradient, np.array([-0.75, 0.5, 0.0, -2.0]) / 7, rtol=1e-6)


@pytest.mark.parametrize(
    ("ratio", "advantage", "slope"),
    [
        (1.27, 1.0, -1.27),
        (1.29, 1.0, 0.0),
        (0.7, 1.0, -0.7),  # already less likely than when it was sampled: a right token is still pulled up
        (3.0, 1.0, 0.0),
        (0.81, -1.0, 0.81),
        (0.79, -1.0, 0.0),
        (1.6, -1.0, 1.6),  # a wrong token that became more likely is still pushed down,
        (2.5, -1.0, 2.0),  # with a weight that the cap bounds
        (1e30, -1.0, 2.0),
        (1e-30, -1.0, 0.0),
    ],
)
def test_clipping_stops_the_gradient_on_the_sides_of_ppo(ratio: float, advantage: float, slope: float) -> None:
    _, gradient = loss_and_gradient(
        GUARDS, 1.0, logprobs=[-0.5], sampled=[-0.5 - math.log(ratio)], advantages=[advantage]
    )
    assert gradient[0] == pytest.approx(slope, rel=1e-5)


def test_clip_bounds_can_be_turned_off_and_work_above_the_cap() -> None:
    wide = replace(GUARDS, clip_low=1.0, clip_high=1e9, importance_cap=1e9)
    _, gradient = loss_and_gradient(
        wide, 1.0, logprobs=[-9.0, -0.5], sampled=[-0.5, -4.0], advantages=[-1.0, 1.0]
    )  # fmt: skip
    np.testing.assert_allclose(gradient, [math.exp(-8.5), -math.exp(3.5)], rtol=1e-5)
    low_cap = replace(GUARDS, importance_cap=1.0)
    _, gradient = loss_and_gradient(low_cap, 1.0, logprobs=[-0.5, -0.5], sampled=[-0.7, -0.9])
    np.testing.assert_allclose(gradient, [-1.0, 0.0], rtol=1e-5)


def test_the_value_takes_the_truncated_ratio() -> None:
    value, _ = loss_and_gradient(GUARDS, 1.0, logprobs=[-0.5], sampled=[-3.0], advantages=[-1.0])
    assert value == pytest.approx(2.0)


def test_kl_is_k3_also_without_advantage() -> None:
    """exp(d) - d - 1, whose derivative in the logprob is 1 - exp(d)."""
    logprobs, reference = [-1.0, -2.0, -0.5], [-1.5, -1.0, -0.5]
    value, gradient = loss_and_gradient(WITH_KL, 1.0, logprobs=logprobs, reference=reference, advantages=[0.0] * 3)
    apart = np.array(reference) - np.array(logprobs)
    assert value == pytest.approx(0.3 * (np.exp(apart) - apart - 1).sum(), rel=1e-5)
    np.testing.assert_allclose(gradient, 0.3 * (1 - np.exp(apart)), rtol=1e-5, atol=1e-7)


def test_the_mean_of_k3_is_the_divergence() -> None:
    """Over all tokens of a small vocabulary, weighted by their probability."""
    policy, reference = np.array([0.7, 0.2, 0.1]), np.array([0.5, 0.25, 0.25])
    value, _ = loss_and_gradient(
        replace(GUARDS, kl_weight=1.0), 1.0, logprobs=np.log(policy), reference=np.log(reference), weights=policy,
        advantages=[0.0] * 3,
    )  # fmt: skip
    assert value == pytest.approx((policy * np.log(policy / reference)).sum(), rel=1e-5)


@pytest.mark.parametrize("odd", [-INF, INF, NAN])
@pytest.mark.parametrize("column", ["logprobs", "sampled", "reference", "advantages"])
def test_weight_zero_contributes_nothing(column: str, odd: float) -> None:
    plain: dict[str, Any] = {"logprobs": [-1.0, -2.0], "sampled": [-1.1, -1.9], "reference": [-1.3, -2.5],
                             "advantages": [1.0, -1.0], "weights": [1.0, 0.5]}  # fmt: skip
    padded = {name: [*values, 0.0] for name, values in plain.items()}
    padded[column] = [*plain[column], odd]
    value, gradient = loss_and_gradient(WITH_KL, **plain)
    assert loss_and_gradient(WITH_KL, **padded)[0] == value
    assert loss_and_gradient(WITH_KL, **padded)[1].tolist() == [*gradient.tolist(), 0.0]


def test_micro_batches_add_up() -> None:
    """The denominator is given, so it does not depend on which tokens are together."""
    columns = random_tokens()
    value, gradient = loss_and_gradient(WITH_KL, **columns)
    parts = [loss_and_gradient(WITH_KL, **{name: values[part] for name, values in columns.items()})
             for part in (slice(0, 13), slice(13, 60))]  # fmt: skip
    assert value == pytest.approx(sum(part for part, _ in parts), rel=1e-5)
    np.testing.assert_allclose(np.concatenate([part for _, part in parts]), gradient, rtol=1e-6)


def test_tokens_that_were_not_sampled_have_ratio_one() -> None:
    _, gradient = loss_and_gradient(GUARDS, 1.0, logprobs=[-6.0, -6.0], sampled=[NAN, -6.0], advantages=[0.5, 0.5])
    np.testing.assert_allclose(gradient, [-0.5, -0.5])


def test_statistics() -> None:
    nothing = [99.0, NAN, INF, 1.0, 0.0, 1.0]  # of weight 0
    rows = [  # logprob, sampled, reference, advantage, weight, right
        [-1.0, -1.0, -1.0, 1.0, 1.0, 1.0],
        [-1.0, -1.5, -1.2, 1.0, 1.0, 1.0],  # ratio 1.65, clipped high
        [-2.0, -1.5, -2.0, -0.5, 1.0, 0.0],  # ratio 0.61, clipped low
        [-2.0, -3.0, -2.0, -0.5, 1.0, 0.0],  # ratio 2.72, capped
        [-4.0, NAN, -4.0, -0.5, 1.0, 0.0],
        nothing,
    ]
    logprobs, sampled, reference, advantages, weights, right = (list(column) for column in zip(*rows, strict=True))
    found = token_statistics(mx.array(logprobs), sampled, reference, advantages, weights, right, GUARDS)
    assert found.kl == pytest.approx((math.exp(-0.2) + 0.2 - 1) / 5)
    assert (found.dlogp_mean, found.dlogp_max, found.dlogp_large) == pytest.approx((0.5, 1.0, 0.75))
    assert (found.clipped_low, found.clipped_high, found.capped) == pytest.approx((0.2, 0.2, 0.2))
    assert found.entropy_trained == pytest.approx(7 / 4)
    assert (found.logprob_right, found.logprob_wrong) == pytest.approx((-1.0, -8 / 3))
    assert all(type(value) is float for value in vars(found).values())


def test_statistics_of_one_kind_and_of_nothing() -> None:
    found = token_statistics([-1.0], [-1.0], [-1.0], [1.0], [1.0], [1.0], GUARDS)
    assert (found.logprob_right, found.logprob_wrong) == (-1.0, None)
    for sampled, weight in ((-1.0, 0.0), (NAN, 1.0)):
        with pytest.raises(ValueError, match="no trained tokens"):
            token_statistics([-1.0], [sampled], [-1.0], [1.0], [weight], [1.0], GUARDS)


def test_clip_shares_are_those_whose_gradient_the_loss_stops() -> None:
    columns = {name: values.astype(np.float32) for name, values in random_tokens(300, 0.6).items()}
    _, gradient = loss_and_gradient(GUARDS, **columns)
    counted = columns["weights"] > 0
    found = token_statistics(*columns.values(), np.ones(300), GUARDS)
    stopped = counted & (gradient == 0) & (columns["advantages"] != 0)
    assert min(found.clipped_low, found.clipped_high) > 0.05
    assert found.clipped_low + found.clipped_high == pytest.approx(stopped.sum() / counted.sum())

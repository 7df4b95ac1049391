"""exp made of arithmetic agrees with mlx's own, values and gradients, wherever a score may lie."""

from __future__ import annotations

from collections.abc import Callable

import cpu_first  # noqa: F401

# isort: split
import mlx.core as mx
import mlx.nn as nn
import numpy as np
import pytest

from sqldojo.training import cpu_math


@pytest.fixture(autouse=True)
def everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the arithmetic on every system, not only where it is the faster one."""
    monkeypatch.setattr(cpu_math, "_slow_exp", lambda x: x.dtype == mx.float32)


def scores(*shape: int, spread: float = 6.0) -> mx.array:
    return mx.random.normal(shape, key=mx.random.key(len(shape))) * spread


def test_exp_is_exact_enough_and_vanishes() -> None:
    x = np.linspace(-69, 0, 200_001).astype(np.float32)
    found = np.array(cpu_math._exp(mx.array(x)), dtype=np.float64)
    exact = np.exp(x.astype(np.float64))
    np.testing.assert_allclose(found, exact, rtol=5e-6)
    np.testing.assert_allclose(found[x > -10], exact[x > -10], rtol=1e-6)
    assert cpu_math._exp(mx.array(0.0)).item() == pytest.approx(1.0, abs=2e-7)
    for low in (-70.0, -1e4, -1e30, -np.inf):
        assert 0 <= cpu_math._exp(mx.array(low)).item() < 1e-30


@pytest.mark.parametrize(
    ("own", "reference"),
    [
        (cpu_math.softmax, lambda x: mx.softmax(x, axis=-1)),
        (cpu_math.logsumexp, lambda x: mx.logsumexp(x, axis=-1)),
        (lambda x: cpu_math.swiglu(x, x[..., ::-1]), lambda x: nn.silu(x) * x[..., ::-1]),
    ],
    ids=["softmax", "logsumexp", "swiglu"],
)
@pytest.mark.parametrize("shape", [(3, 5), (2, 3, 4, 33), (1, 1), (9, 40_000)], ids=str)
def test_values_and_gradients_are_mlx_s(own: Callable, reference: Callable, shape: tuple[int, ...]) -> None:
    x = scores(*shape)
    factor = mx.random.normal(reference(x).shape, key=mx.random.key(9))
    np.testing.assert_allclose(own(x), reference(x), rtol=1e-5, atol=2e-6)
    gradients = [mx.grad(lambda x, f=f: (f(x) * factor).sum())(x) for f in (own, reference)]
    np.testing.assert_allclose(*gradients, rtol=1e-4, atol=1e-5)


def test_hidden_scores_get_no_weight() -> None:
    x = mx.where(mx.arange(8) < 3, scores(4, 8), -1e30)
    weights = np.array(cpu_math.softmax(x))
    assert weights[:, 3:].max() < 1e-30
    np.testing.assert_allclose(weights[:, :3], mx.softmax(x[:, :3], axis=-1), rtol=1e-5)
    np.testing.assert_allclose(cpu_math.logsumexp(x), mx.logsumexp(x[:, :3], axis=-1), rtol=1e-6)


def test_few_traces_are_kept() -> None:
    """mlx keeps what it compiles for a shape for ever; over a long run with many lengths that would fill the memory."""
    double = cpu_math._fused(lambda x: x + x)
    for length in range(1, 3 * cpu_math._SHAPES_KEPT):
        assert double(mx.ones((length,))).tolist() == [2.0] * length
    assert double.cache_info().currsize == cpu_math._SHAPES_KEPT


def test_half_precision_is_left_to_mlx(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    x = scores(4, 8).astype(mx.bfloat16)
    assert cpu_math.softmax(x).dtype == mx.bfloat16
    assert mx.array_equal(cpu_math.softmax(x), mx.softmax(x, axis=-1, precise=True))

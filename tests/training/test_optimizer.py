"""The optimizer is Adam as published, on a schedule with known values, and refuses to take a broken step."""

from __future__ import annotations

import math
from typing import Any

import mlx.core as mx
import mlx.nn as nn
import numpy as np
import pytest

from sqldojo.training.optimizer import OptimizerParams, apply_gradients, learning_rate_at, make_optimizer

PARAMS = OptimizerParams(learning_rate=0.3, final_share=0.1, warmup_steps=2, gradient_norm=1.0)
START = np.array([[0.5, -1.0], [2.0, 0.0]], dtype=np.float32)


def layer() -> nn.Linear:
    linear = nn.Linear(2, 2, bias=False)
    linear.weight = mx.array(START)
    return linear


def step(model: nn.Module, optimizer: Any, gradient: np.ndarray, rate: float, limit: float = 1e9) -> float:
    gradients = {"weight": mx.array(gradient)}
    return apply_gradients(model, optimizer, gradients, learning_rate=rate, gradient_norm=limit)


def test_updates_are_those_of_the_paper() -> None:
    """Algorithm 1 of Kingma and Ba in numpy, with changing rates."""
    model, optimizer = layer(), make_optimizer()
    weights, first, second = START.astype(np.float64), np.zeros((2, 2)), np.zeros((2, 2))
    gradients = np.random.default_rng(1).normal(size=(6, 2, 2)).astype(np.float32)
    for number, gradient in enumerate(gradients, start=1):
        rate = 0.1 / number
        step(model, optimizer, gradient, rate)
        first = 0.9 * first + 0.1 * gradient
        second = 0.999 * second + 0.001 * gradient.astype(np.float64) ** 2
        weights -= rate * (first / (1 - 0.9**number)) / (np.sqrt(second / (1 - 0.999**number)) + 1e-8)
        np.testing.assert_allclose(np.array(model.weight), weights, rtol=1e-5, atol=1e-6)


def test_the_first_step_is_as_long_as_the_rate() -> None:
    """Without the bias correction it would be three times as long."""
    model, optimizer = layer(), make_optimizer()
    step(model, optimizer, np.array([[3.0, -0.01], [1e-3, 5.0]], dtype=np.float32), 0.25)
    moved = np.array(model.weight) - START
    np.testing.assert_allclose(moved, 0.25 * np.array([[-1, 1], [-1, -1]]), rtol=1e-4)


def test_the_schedule_warms_up_and_falls_to_the_final_share() -> None:
    rates = [learning_rate_at(number, 12, PARAMS) for number in range(12)]
    expected = [0.1, 0.2, *(0.3 - 0.03 * number for number in range(10))]
    assert rates == pytest.approx(expected)
    assert rates[-1] == pytest.approx(0.1 * 0.3)


@pytest.mark.parametrize(
    ("steps", "warmup", "expected"),
    [(1, 0, [0.3]), (2, 0, [0.3, 0.03]), (3, 2, [0.1, 0.2, 0.3]), (2, 5, [0.05, 0.1])],
)
def test_short_runs_have_a_schedule_too(steps: int, warmup: int, expected: list[float]) -> None:
    params = OptimizerParams(0.3, 0.1, warmup, 1.0)
    assert [learning_rate_at(number, steps, params) for number in range(steps)] == pytest.approx(expected)


def test_the_norm_is_reported_before_it_is_cut() -> None:
    model, optimizer = layer(), make_optimizer()
    gradient = np.array([[3.0, 0.0], [0.0, 4.0]], dtype=np.float32)
    assert step(model, optimizer, gradient, 0.1, limit=1.0) == pytest.approx(5.0)
    np.testing.assert_allclose(np.array(optimizer.state["weight"]["m"]), 0.1 * gradient / 5, rtol=1e-5)
    model, optimizer = layer(), make_optimizer()
    assert step(model, optimizer, gradient, 0.1, limit=5.1) == pytest.approx(5.0)
    np.testing.assert_allclose(np.array(optimizer.state["weight"]["m"]), 0.1 * gradient, rtol=1e-5)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_gradient_that_is_not_finite_changes_nothing(value: float) -> None:
    model, optimizer = layer(), make_optimizer()
    step(model, optimizer, np.ones((2, 2), dtype=np.float32), 0.1)
    before = np.array(model.weight)
    moments = {name: np.array(optimizer.state["weight"][name]) for name in ("m", "v")}
    with pytest.raises(ArithmeticError, match="lower the learning rate"):
        step(model, optimizer, np.array([[1.0, value], [1.0, 1.0]], dtype=np.float32), 0.1, limit=1.0)
    assert np.array_equal(np.array(model.weight), before)
    assert all(np.array_equal(np.array(optimizer.state["weight"][name]), moments[name]) for name in moments)
    assert optimizer.state["step"].item() == 1


@pytest.mark.parametrize(
    ("values", "key"),
    [((0.0, 0.1, 2, 1.0), "learning_rate"), ((0.1, 1.1, 2, 1.0), "final_share"), ((0.1, -0.1, 2, 1.0), "final_share"),
     ((0.1, 0.1, -1, 1.0), "warmup_steps"), ((0.1, 0.1, 2, 0.0), "gradient_norm")],
)  # fmt: skip
def test_params_out_of_range_name_the_key(values: tuple[float, float, int, float], key: str) -> None:
    with pytest.raises(ValueError, match=f"^{key}: must "):
        OptimizerParams(*values)

"""Adam as published, a linear schedule and one guarded step; used by every kind of training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mlx.core as mx
import mlx.nn as nn
import mlx.optimizers as optim


@dataclass(frozen=True)
class OptimizerParams:
    """Peak rate, share of the steps that warm up to it, the share of it that is left at the end, and the norm limit."""

    learning_rate: float
    final_share: float
    warmup_steps: int
    gradient_norm: float

    def __post_init__(self) -> None:
        for name, value in (("learning_rate", self.learning_rate), ("gradient_norm", self.gradient_norm)):
            if value <= 0:
                raise ValueError(f"{name}: must be above 0, found {value}")
        if not 0 <= self.final_share <= 1:
            raise ValueError(f"final_share: must lie between 0 and 1, found {self.final_share}")
        if self.warmup_steps < 0:
            raise ValueError(f"warmup_steps: must not be negative, found {self.warmup_steps}")


def learning_rate_at(step: int, steps: int, params: OptimizerParams) -> float:
    """The rate of update `step` (from 0) of `steps`: linear warm-up, then linear to `final_share` of the peak."""
    if step < params.warmup_steps:
        return params.learning_rate * (step + 1) / (params.warmup_steps + 1)
    done = (step - params.warmup_steps) / max(1, steps - 1 - params.warmup_steps)
    return params.learning_rate * (1 - (1 - params.final_share) * done)


def make_optimizer(*, bias_correction: bool = True) -> optim.Adam:
    """Adam (Kingma and Ba 2015) with its bias correction, which mlx leaves off by default.

    Without it the early steps are several times as long as the rate says.
    """
    return optim.Adam(learning_rate=0.0, bias_correction=bias_correction)


def apply_gradients(
    model: nn.Module, optimizer: optim.Adam, gradients: Any, *, learning_rate: float, gradient_norm: float
) -> float:
    """One update with the gradients' global norm cut to `gradient_norm`; returns the norm before the cut.

    ArithmeticError when it is not finite: such a step would destroy the adapter.
    """
    clipped, norm = optim.clip_grad_norm(gradients, gradient_norm)
    length = norm.item()
    if not mx.isfinite(norm).item():
        raise ArithmeticError(f"the gradient's norm is {length}; lower the learning rate")
    optimizer.learning_rate = learning_rate
    optimizer.update(model, clipped)
    mx.eval(model.trainable_parameters(), optimizer.state)
    return length

"""exp and what is made of it, fast on Linux's CPU, where mlx computes it one number at a time.

There an exp takes 9 ns and a product 0.2 ns, so softmax and SwiGLU took more than a third of a layer's training step.
Here exp is a polynomial in plain arithmetic, which mlx fuses into one vectorised loop where a C++ compiler is installed
(it finds one by itself) and runs step by step otherwise. On a GPU, and on a Mac, mlx's own functions are used.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from functools import lru_cache, wraps

import mlx.core as mx
from mlx_lm.models.activations import swiglu as mlx_swiglu

# 2 ** f for -0.5 <= f <= 0.5, from the constant up: least squares weighted until the relative error is level, 8e-8.
_POLYNOMIAL = (1.0000000716757906, 0.6931469670051471, 0.24022119615748877, 0.05550713323103102, 0.009675547321742944,
               0.00132764719024853)  # fmt: skip
_TO_INTEGER = 1.5 * 2**23  # added to a small float32, it leaves the nearest whole number in the lowest bits
_LEAST_EXPONENT = -100.0  # far from denormal numbers, with which a matrix product is a hundred times slower
_SHAPES_KEPT = 32
_PIECE = 2**18


def softmax(x: mx.array) -> mx.array:
    """The softmax over the last axis, float32 or the type of x."""
    return _fast_softmax(x) if _slow_exp(x) else mx.softmax(x, axis=-1, precise=True)


def logsumexp(x: mx.array) -> mx.array:
    """log(sum(exp(x))) over the last axis, which goes."""
    return _fast_logsumexp(x) if _slow_exp(x) else mx.logsumexp(x, axis=-1)


def swiglu(gate: mx.array, x: mx.array) -> mx.array:
    """gate * sigmoid(gate) * x, elementwise (N. Shazeer, "GLU Variants Improve Transformer", 2020)."""
    return _fast_swiglu(gate, x) if _slow_exp(gate) else mlx_swiglu(gate, x)


def exp_below(x: mx.array, largest: mx.array) -> mx.array:
    """exp(x - largest), where `largest` is at least x and broadcasts to it; without a gradient."""
    return _exp_below(x, largest) if _slow_exp(x) else mx.exp(x - largest)


def _slow_exp(x: mx.array) -> bool:
    return sys.platform == "linux" and x.dtype == mx.float32 and mx.default_device().type == mx.cpu


def _fused(function: Callable) -> Callable:
    """`function` as one loop. mlx keeps what it compiled for each shape for ever, so the oldest are given up here."""

    @lru_cache(maxsize=_SHAPES_KEPT)
    def compiled(*_: tuple[int, ...]) -> Callable:
        return mx.compile(lambda *arrays: function(*arrays))  # an own function each: mlx's cache goes by identity

    @wraps(function)
    def call(*arrays: mx.array) -> mx.array | tuple[mx.array, ...]:
        return compiled(*(array.shape for array in arrays))(*arrays)

    call.cache_info = compiled.cache_info
    return call


def _exp(x: mx.array) -> mx.array:
    """exp(x) for x <= 0: within 1e-6 of it from -10 on, 5e-6 from -69 on, and 8e-31 below, which is as good as 0."""
    power = mx.maximum(x * math.log2(math.e), _LEAST_EXPONENT)
    shifted = power + _TO_INTEGER
    fraction = power - (shifted - _TO_INTEGER)
    value = fraction * _POLYNOMIAL[-1] + _POLYNOMIAL[-2]
    for coefficient in reversed(_POLYNOMIAL[:-2]):
        value = value * fraction + coefficient
    # 2 ** n times a float32 is n added to its exponent, which starts at bit 23.
    return (value.view(mx.int32) + mx.left_shift(shifted.view(mx.int32), 23)).view(mx.float32)


_fused_exp = _fused(_exp)


def _exp_below(x: mx.array, largest: mx.array) -> mx.array:
    """In pieces that stay in the processor's cache: while gradients are traced, mlx fuses nothing."""
    rows = (x - largest).reshape(-1, x.shape[-1])  # not fused too: a loop over a broadcast array is not vectorised
    size = max(1, _PIECE // rows.shape[1])
    pieces = [_fused_exp(rows[start : start + size]) for start in range(0, rows.shape[0], size)]
    return mx.concatenate(pieces).reshape(x.shape)


def _sigmoid(x: mx.array) -> mx.array:
    small = _exp(-mx.abs(x))
    return mx.where(x >= 0, 1.0, small) / (1.0 + small)


@mx.custom_function
def _fast_softmax(x: mx.array) -> mx.array:
    powers = _exp_below(x, x.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


@_fast_softmax.vjp
def _softmax_vjp(_: mx.array, cotangent: mx.array, output: mx.array) -> mx.array:
    product = output * cotangent
    return product - output * product.sum(axis=-1, keepdims=True)


@mx.custom_function
def _fast_logsumexp(x: mx.array) -> mx.array:
    largest = x.max(axis=-1, keepdims=True)
    return (largest + mx.log(_exp_below(x, largest).sum(axis=-1, keepdims=True))).squeeze(-1)


@_fast_logsumexp.vjp
def _logsumexp_vjp(x: mx.array, cotangent: mx.array, output: mx.array) -> mx.array:
    return cotangent[..., None] * _exp_below(x, output[..., None])


@_fused
def _swiglu_value(gate: mx.array, x: mx.array) -> mx.array:
    return gate * _sigmoid(gate) * x


@_fused
def _swiglu_gradients(gate: mx.array, x: mx.array, cotangent: mx.array) -> tuple[mx.array, mx.array]:
    share = _sigmoid(gate)
    return cotangent * x * share * (1.0 + gate * (1.0 - share)), cotangent * gate * share


@mx.custom_function
def _fast_swiglu(gate: mx.array, x: mx.array) -> mx.array:
    return _swiglu_value(gate, x)


@_fast_swiglu.vjp
def _swiglu_vjp(primals: tuple[mx.array, mx.array], cotangent: mx.array, _: mx.array) -> tuple[mx.array, mx.array]:
    return _swiglu_gradients(*primals, cotangent)

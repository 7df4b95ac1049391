"""Attention behind a prefix that all rows share, and how mlx-lm's model code is brought to use it.

A prompt's keys and values stand once in memory, and the scores of all rows against them are one matrix product, in
decoding and in training alike (J. Juravsky et al., "Hydragen: High-Throughput LLM Inference with Shared Prefixes",
2024). mlx-lm's models stay as they are: a cache that has a method `attend` is asked to do the attention itself.
"""

from __future__ import annotations

import sys
from typing import Any

import mlx.core as mx
import mlx.nn as nn
from mlx_lm.models import activations, base

from sqldojo.errors import UserError
from sqldojo.training.cpu_math import exp_below, softmax, swiglu

KeysAndValues = tuple[mx.array, mx.array]
_HIDDEN = -1e30  # finite: a row of padding that may see nothing must not become nan


def attend(
    queries: mx.array,
    keys: mx.array,
    values: mx.array,
    *,
    scale: float,
    mask: mx.array | str | None,
    prefix: KeysAndValues | None = None,
) -> mx.array:
    """Softmax attention of queries [B, H, T, D] over a shared prefix and each row's own keys; [B, H, T, D].

    `prefix` holds keys and values [1, K, P, D] that every query sees; the own ones are [B, K, S, D], where K divides H
    (grouped queries). `mask` is boolean and broadcasts to [B, 1, T, S] (true where a key may be seen), None for all, or
    "causal", aligned at the lower right. One for P + S keys hides some of the prefix too.
    """
    rows, heads, length, size = queries.shape
    groups, own = keys.shape[1], keys.shape[2]
    shared = heads // groups
    # Scores in float32 from the start: rounded to half precision, they would differ by thousandths.
    grouped = (queries.astype(mx.float32) * scale).reshape(rows, groups, shared * length, size)
    multiply = mx.matmul if length > 1 else _products_of_few_rows
    scores = multiply(grouped, keys.astype(mx.float32).swapaxes(-1, -2)).reshape(rows, heads, length, own)
    on_prefix_mask = None
    if prefix is not None and isinstance(mask, mx.array) and mask.shape[-1] > own:
        on_prefix_mask, mask = mask[..., :-own], mask[..., -own:]
    if isinstance(mask, str):
        mask = mx.arange(own - length, own)[:, None] >= mx.arange(own)[None]
    if mask is not None:
        scores = scores + mx.where(mask, 0.0, _HIDDEN)
    if prefix is None:
        weights = softmax(scores).astype(values.dtype)
        return multiply(weights.reshape(rows, groups, shared * length, own), values).reshape(queries.shape)
    prefix_keys, prefix_values = prefix
    # All rows under one another for each of the K heads, so that the prefix is multiplied once.
    stacked = grouped.swapaxes(0, 1).reshape(groups, rows * shared * length, size)
    prefix_scores = stacked @ prefix_keys[0].astype(mx.float32).swapaxes(-1, -2)
    if on_prefix_mask is not None:
        by_token = prefix_scores.reshape(groups, rows, shared, length, -1)
        prefix_scores = (by_token + mx.where(on_prefix_mask, 0.0, _HIDDEN)).reshape(prefix_scores.shape)
    on_prefix, on_own = _joint_softmax(
        prefix_scores.reshape(groups, rows, shared * length, -1), scores.reshape(rows, groups, shared * length, own)
    )
    on_prefix = on_prefix.astype(values.dtype).reshape(prefix_scores.shape)
    from_prefix = (on_prefix @ prefix_values[0]).reshape(groups, rows, shared * length, size).swapaxes(0, 1)
    return (from_prefix + multiply(on_own.astype(values.dtype), values)).reshape(queries.shape)


def _products_of_few_rows(left: mx.array, right: mx.array) -> mx.array:
    """left @ right as products of vectors with matrices: a BLAS starts its threads for each tiny matrix product."""
    return (left[..., None, :] @ right[:, :, None]).squeeze(-2)


@mx.custom_function
def _joint_softmax(prefix_scores: mx.array, scores: mx.array) -> tuple[mx.array, mx.array]:
    """One softmax over two arrays of scores, [K, B, N, P] and [B, K, N, S]; neither is moved to join the other."""
    largest = mx.maximum(prefix_scores.max(axis=-1, keepdims=True), scores.max(axis=-1, keepdims=True).swapaxes(0, 1))
    powers, own_powers = exp_below(prefix_scores, largest), exp_below(scores, largest.swapaxes(0, 1))
    total = powers.sum(axis=-1, keepdims=True) + own_powers.sum(axis=-1, keepdims=True).swapaxes(0, 1)
    return powers / total, own_powers / total.swapaxes(0, 1)


@_joint_softmax.vjp
def _joint_softmax_vjp(_: object, cotangents: KeysAndValues, weights: KeysAndValues) -> KeysAndValues:
    products = [weight * cotangent for weight, cotangent in zip(weights, cotangents, strict=True)]
    own_sum = products[1].sum(axis=-1, keepdims=True).swapaxes(0, 1)
    total = products[0].sum(axis=-1, keepdims=True) + own_sum
    return products[0] - weights[0] * total, products[1] - weights[1] * total.swapaxes(0, 1)


def let_caches_attend(model: nn.Module) -> None:
    """Put our functions in the place of mlx-lm's in the modules that define this model's layers.

    Attention goes to the cache where it has a method `attend`; SwiGLU is the fast one of `cpu_math`. Every other model
    of the same architecture is served as before. UserError when the layers do not call mlx-lm's attention.
    """
    modules = {sys.modules[type(part).__module__] for part in model.modules()}
    attending = [module for module in modules if hasattr(module, "scaled_dot_product_attention")]
    if not attending:
        raise UserError(
            "params.yaml: sources: this model's code does not call mlx-lm's attention, so prompts cannot be "
            "shared; choose another model"
        )
    for module in attending:
        module.scaled_dot_product_attention = _attention
    for module in modules:
        if getattr(module, "swiglu", None) is activations.swiglu:
            module.swiglu = swiglu


def _attention(
    queries: mx.array,
    keys: mx.array,
    values: mx.array,
    cache: Any,
    scale: float,
    mask: mx.array | str | None,
    sinks: mx.array | None = None,
) -> mx.array:
    if hasattr(cache, "attend"):
        if sinks is not None:
            raise UserError("params.yaml: sources: models with attention sinks are not supported; choose another")
        return cache.attend(queries, keys, values, scale=scale, mask=mask)
    return base.scaled_dot_product_attention(queries, keys, values, cache, scale, mask, sinks)

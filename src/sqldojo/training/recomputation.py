"""Gradients of long prompts in little memory: what their layers keep for the backward pass is computed again there.

A layer keeps its attention's weights, which grow with the square of the tokens. A layer that would keep much is run
again when its gradients are due, and keeps no more than what goes in and comes out (T. Chen et al., "Training Deep Nets
with Sublinear Memory Cost", 2016). Its attention goes block by block, so that one layer's weights are not held at once
either. Layers that keep little run as ever, to the last bit.

mlx-lm's layers stay as they are. They take states from a cache and leave theirs there, so a run of one becomes here a
function of its parameters, its arguments and the states before it, which returns the hidden state and its own states.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial, wraps
from itertools import chain
from typing import Any, Protocol

import mlx.core as mx
import mlx.nn as nn

from sqldojo.training.attention import KeysAndValues, attend

# Bytes of scores and states that all layers together may keep in one pass. What the shop trains stays below (four rows
# of 384 tokens behind 240 others are 1.0 GB in the embedded model), a prompt of more than 1,410 tokens does not.
BUDGET = 2**31


def allowed_bytes(layers: int) -> int:
    """What each of so many layers may keep."""
    return BUDGET // layers


class Cache(Protocol):
    """What a layer's cache must offer for its layer to be run again; of any other cache the layer runs as ever."""

    before: tuple[mx.array, ...] | None  # the states that the layer begins with
    own: tuple[mx.array, ...]  # those that it leaves
    kept: int  # bytes that it keeps for the backward pass, known once it has run
    allowed: int  # bytes that it may keep

    def begun_with(self, before: tuple[mx.array, ...] | None) -> Cache:
        """A cache of the same kind that begins with these states."""


@contextmanager
def recomputing(model: nn.Module) -> Iterator[None]:
    """Within it, layers of this model that keep more than their caches allow are run again in the backward pass.

    As in mlx-lm's own `grad_checkpoint`, the layers' classes get another `__call__`, here for as long as a pass lasts.
    """
    calls = {kind: kind.__call__ for kind in map(type, model.layers)}
    for kind, call in calls.items():
        kind.__call__ = _with_recomputation(call)
    try:
        yield
    finally:
        for kind, call in calls.items():
            kind.__call__ = call


def _with_recomputation(call: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(call)
    def run(layer: nn.Module, *args: Any, **named: Any) -> Any:
        cache = next((each for each in chain(args, named.values()) if hasattr(each, "begun_with")), None)
        if cache is None:
            return call(layer, *args, **named)
        before = cache.before
        output = call(layer, *args, **named)  # nothing is computed yet: it tells the shapes
        if cache.kept <= cache.allowed:
            return output

        def again(parameters: dict, before: Any, args: tuple, named: dict) -> tuple[Any, tuple[mx.array, ...]]:
            now, given = cache.begun_with(before), layer.trainable_parameters()
            args = [now if each is cache else each for each in args]
            named = {name: now if each is cache else each for name, each in named.items()}
            layer.update(parameters)
            output = call(layer, *args, **named)
            layer.update(given)  # the traced ones would keep all that is waited for before they are computed
            return output, now.own

        # Gradients go to what is handed over here, and to nothing that the function finds elsewhere.
        output, cache.own = mx.checkpoint(again)(layer.trainable_parameters(), before, args, named)
        return output

    return run


def attend_in_blocks(
    queries: mx.array,
    keys: mx.array,
    values: mx.array,
    *,
    scale: float,
    mask: mx.array | str,
    prefix: KeysAndValues | None,
    size: int,
) -> mx.array:
    """What `attend` gives for tokens [B, H, T, D] that see no later ones, from `size` queries at a time.

    Only one block's scores are in memory, in the backward pass too, where they are computed again (M. Rabe, C. Staats,
    "Self-attention Does Not Need O(n^2) Memory", 2021). The keys behind a block's last query are left out, which saves
    half of the products. `mask` is "causal" or a boolean array that hides those keys.
    """
    length = queries.shape[2]
    blocks = [(start, min(start + size, length)) for start in range(0, length, size)]

    def block(start: int, end: int, queries: mx.array, keys: mx.array, values: mx.array, *prefix: mx.array) -> mx.array:
        own = mask if isinstance(mask, str) else mask[..., start:end, : mask.shape[-1] - length + end]
        parts = (queries[:, :, start:end], keys[:, :, :end], values[:, :, :end])
        return attend(*parts, scale=scale, mask=own, prefix=prefix or None)

    @mx.custom_function
    def attention(*arrays: mx.array) -> mx.array:
        outputs: list[mx.array] = []
        for start, end in blocks:
            outputs.append(block(start, end, *_after(outputs[-1:], arrays)))
        return mx.concatenate(outputs, axis=2)

    @attention.vjp
    def attention_vjp(arrays: tuple[mx.array, ...], cotangent: mx.array, _: mx.array) -> tuple[mx.array, ...]:
        sums: list[mx.array] = []
        for start, end in blocks:
            own = cotangent[:, :, start:end]
            _, gradients = mx.vjp(partial(block, start, end), _after(sums, arrays), [own])
            gradients = [gradient.astype(mx.float32) for gradient in gradients]  # summed in full precision
            sums = [*map(mx.add, sums, gradients)] if sums else gradients
        return tuple(total.astype(array.dtype) for total, array in zip(sums, arrays, strict=True))

    return attention(queries, keys, values, *(prefix or ()))


def _after(earlier: list[mx.array], arrays: tuple[mx.array, ...]) -> list[mx.array]:
    """These arrays, for use once the earlier ones are computed: mlx may else compute all blocks side by side."""
    return mx.depends(list(arrays), earlier) if earlier else list(arrays)

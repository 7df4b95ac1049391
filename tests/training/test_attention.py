"""Attention behind a shared prefix is plain attention over prefix and own keys, with its gradients."""

from __future__ import annotations

import math
import sys
import types
from typing import Any

import mlx.core as mx
import mlx.nn as nn
import numpy as np
import pytest
from mlx_lm.models import activations, base, llama

from sqldojo.errors import UserError
from sqldojo.training import cpu_math
from sqldojo.training.attention import attend, let_caches_attend
from sqldojo.training.policy_model import PolicyModel

HEADS, GROUPS, SIZE = 6, 2, 8


def random(*shape: int, name: int) -> mx.array:
    return mx.random.normal(shape, key=mx.random.key(name))


def inputs(rows: int, length: int, own: int, before: int) -> list[mx.array]:
    """Queries, own keys and values, the prefix's keys and values."""
    return [
        random(rows, HEADS, length, SIZE, name=1),
        *(random(rows, GROUPS, own, SIZE, name=name) for name in (2, 3)),
        *(random(1, GROUPS, before, SIZE, name=name) for name in (4, 5)),
    ]


def plain(
    queries: mx.array, keys: mx.array, values: mx.array, before_keys: mx.array, before_values: mx.array, seen: mx.array
) -> mx.array:
    """Textbook attention, head by head, over prefix and own keys; `seen` [B, T, S] says which own keys count."""
    rows, _, length, _ = queries.shape
    keys, values = (
        mx.concatenate([mx.broadcast_to(before, (rows, *before.shape[1:])), own], axis=2)
        for before, own in ((before_keys, keys), (before_values, values))
    )
    seen = mx.concatenate([mx.ones((rows, length, before_keys.shape[2]), dtype=mx.bool_), seen], axis=-1)
    heads = []
    for head in range(HEADS):
        group = head // (HEADS // GROUPS)
        scores = queries[:, head] @ keys[:, group].swapaxes(-1, -2) / math.sqrt(SIZE)
        heads.append(mx.softmax(mx.where(seen, scores, -mx.inf), axis=-1) @ values[:, group])
    return mx.stack(heads, axis=1)


CASES = [(3, 1, 9, 5), (2, 4, 4, 7), (1, 3, 8, 1), (4, 5, 5, 20)]


@pytest.mark.parametrize(("rows", "length", "own", "before"), CASES)
@pytest.mark.parametrize("kind", ["all", "causal", "padded"])
def test_values_and_gradients_are_those_of_plain_attention(
    rows: int, length: int, own: int, before: int, kind: str
) -> None:
    arrays = inputs(rows, length, own, before)
    causal = mx.broadcast_to(mx.arange(own - length, own)[:, None] >= mx.arange(own), (rows, length, own))
    left = causal & (mx.arange(own) >= mx.arange(rows)[:, None, None])  # row n begins with n columns of padding
    seen = {"all": mx.ones((rows, length, own), dtype=mx.bool_), "causal": causal, "padded": left}[kind]
    mask: Any = {"all": None, "causal": "causal", "padded": seen[:, None]}[kind]

    def own_way(queries: mx.array, keys: mx.array, values: mx.array, *prefix: mx.array) -> mx.array:
        return attend(queries, keys, values, scale=SIZE**-0.5, mask=mask, prefix=prefix)

    np.testing.assert_allclose(own_way(*arrays), plain(*arrays, seen), atol=2e-6)
    factor = random(*arrays[0].shape, name=6)
    gradients, expected = (
        mx.grad(lambda *a, f=f: (f(*a) * factor).sum(), argnums=tuple(range(5)))(*arrays)
        for f in (own_way, lambda *a: plain(*a, seen))
    )
    for found, wanted in zip(gradients, expected, strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-5)


def test_without_a_prefix_it_is_mlx_s_attention() -> None:
    queries, keys, values, *_ = inputs(3, 4, 6, 1)
    found = attend(queries, keys, values, scale=0.3, mask="causal")
    expected = mx.fast.scaled_dot_product_attention(queries, keys, values, scale=0.3, mask="causal")
    np.testing.assert_allclose(found, expected, atol=2e-6)


def test_a_row_that_may_see_only_the_prefix_is_no_nan() -> None:
    arrays = inputs(2, 1, 3, 4)
    nothing = mx.zeros((2, 1, 1, 3), dtype=mx.bool_)
    found = attend(*arrays[:3], scale=SIZE**-0.5, mask=nothing, prefix=tuple(arrays[3:]))
    np.testing.assert_allclose(found, plain(*arrays, nothing[:, 0]), atol=2e-6)


def test_a_cache_that_can_attend_is_asked(policy: PolicyModel) -> None:
    """One that answers with zeros cuts attention off; mlx-lm's own caches go the usual way."""

    class Silent:
        offset = 0

        def update_and_fetch(self, keys: mx.array, values: mx.array) -> tuple[mx.array, mx.array]:
            return keys, values

        def make_mask(self, *_: object, **__: object) -> str:
            return "causal"

        def attend(self, queries: mx.array, *_: mx.array, scale: float, mask: str) -> mx.array:
            assert scale == 16**-0.5 and mask == "causal"
            return mx.zeros_like(queries)

    tokens = mx.array([[5, 6, 7]])
    silent = policy.body(tokens, cache=[Silent() for _ in policy.model.layers])
    alone = policy.body(tokens[:, 2:], cache=[Silent() for _ in policy.model.layers])
    np.testing.assert_allclose(silent[:, 2], alone[:, 0], atol=1e-6)  # a token no longer knows what came before
    assert not np.allclose(silent[:, 2], policy.body(tokens)[:, 2], atol=1e-3)


def test_mlx_lm_s_functions_are_replaced_where_the_model_uses_them(policy: PolicyModel) -> None:
    assert llama.scaled_dot_product_attention is not base.scaled_dot_product_attention
    assert llama.swiglu is cpu_math.swiglu and activations.swiglu is not cpu_math.swiglu


def test_a_model_with_its_own_attention_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("odd_model")
    monkeypatch.setitem(sys.modules, "odd_model", module)
    odd = type("Odd", (nn.Module,), {"__module__": "odd_model"})()
    with pytest.raises(UserError, match=r"sources.*attention"):
        let_caches_attend(odd)


def test_a_model_with_attention_sinks_is_refused(policy: PolicyModel) -> None:
    """With sinks there is no way to share a prefix, and the user is told."""
    queries, keys, values, *_ = inputs(1, 2, 2, 1)
    cache = types.SimpleNamespace(attend=None)
    with pytest.raises(UserError, match="sinks"):
        llama.scaled_dot_product_attention(queries, keys, values, cache, 1.0, None, sinks=mx.zeros((HEADS,)))

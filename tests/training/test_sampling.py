"""Draws follow the probabilities, whatever their size, and hang on their names alone."""

from __future__ import annotations

import math
from collections import Counter

import cpu_first  # noqa: F401

# isort: split
import mlx.core as mx
import numpy as np
import pytest

from sqldojo.training.sampling import draw, likeliest, sample, uniform


def drawn(logits: list[float] | mx.array, uniforms: list[float]) -> list[int]:
    """The tokens that these uniform numbers give, one each, for the same logits."""
    row = mx.array(logits) if isinstance(logits, list) else logits
    return sample(mx.broadcast_to(row, (len(uniforms), row.size)), mx.array(uniforms))[0].tolist()


@pytest.mark.parametrize("size", [3, 256, 700])
def test_draws_are_as_frequent_as_the_probabilities_say(size: int) -> None:
    """Pearson's chi-squared over `size` tokens, 8,000 draws; the bound is exceeded once in a thousand sets of names."""
    logits = mx.random.normal((size,), key=mx.random.key(5)) * (1.0 if size < 10 else 0.2)
    tokens, _ = draw(mx.broadcast_to(logits, (8000, size)), [f"chi/{number}" for number in range(8000)])
    expected = 8000 * np.exp(np.array(logits)) / np.exp(np.array(logits)).sum()
    counts = np.bincount(np.array(tokens), minlength=size)
    degrees = size - 1
    # The Wilson-Hilferty approximation of the chi-squared quantile, 3.09 being the normal one.
    bound = degrees * (1 - 2 / (9 * degrees) + 3.09 * math.sqrt(2 / (9 * degrees))) ** 3
    assert expected.min() > 3
    assert ((counts - expected) ** 2 / expected).sum() < bound


def test_successive_draws_are_independent() -> None:
    tokens, _ = draw(mx.zeros((4000, 8)), [f"1/q/0/0/{number}" for number in range(4000)])
    pairs = Counter(zip(tokens.tolist()[::2], tokens.tolist()[1::2], strict=True))
    assert len(pairs) == 64
    assert sum((count - 2000 / 64) ** 2 / (2000 / 64) for count in pairs.values()) < 103.4  # 0.999 of 63 degrees


def test_a_long_tail_keeps_its_mass() -> None:
    """50,000 tokens of 2e-9 each beside one likely token: one float32 running sum would never reach them."""
    logits = np.full(50_001, -20.0)
    logits[0] = 0.0
    running = np.cumsum(np.exp(logits)) / np.exp(logits).sum()
    tail = 1.0 - running[0]
    assert 1e-4 < tail < 1.1e-4
    uniforms = [1.0 - tail * share for share in (0.999, 0.75, 0.5, 0.25, 0.001)] + [1.0 - 1.01 * tail]
    expected = np.searchsorted(running, uniforms, side="right")
    tokens = drawn(mx.array(logits, dtype=mx.float32), uniforms)
    assert tokens[-1] == expected[-1] == 0
    assert tokens == pytest.approx(expected.tolist(), abs=300)  # a float32 number near 1 has steps of 30 such tokens
    reversed_tail = drawn(mx.array(logits[::-1].copy(), dtype=mx.float32), [tail * 0.5, tail * 0.001])
    assert reversed_tail == pytest.approx([25_000, 50], abs=5)


def test_a_token_without_probability_is_never_drawn() -> None:
    """Also at the ends of [0, 1], to which rounding may lead, and in blocks that hold nothing else."""
    nothing = -math.inf
    ends = [0.0, 1e-30, 2.0**-53, 1.0 - 2.0**-53, 1.0]
    assert drawn([nothing, 2.0, 1.0, nothing], ends) == [1, 1, 1, 2, 2]
    wide = [nothing] * 300 + [0.0] + [nothing] * 500
    assert drawn(wide, [*ends, 0.5]) == [300] * 6
    sparse = [0.0 if place % 7 == 3 else nothing for place in range(1000)]
    assert {token % 7 for token in drawn(sparse, ends + [number / 512 for number in range(512)])} == {3}
    assert drawn([-200.0, 0.0, -200.0], ends) == [1] * 5  # e ** -200 is none in float32


def test_running_sums_choose_as_in_float64() -> None:
    logits = mx.random.normal((1500,), key=mx.random.key(2)) * 3
    probabilities = np.exp(np.array(logits, dtype=np.float64))
    running = np.cumsum(probabilities / probabilities.sum())
    middles = [(low + high) / 2 for low, high in zip([0.0, *running], running, strict=False)]
    clear = [token for token in range(1500) if probabilities[token] / probabilities.sum() > 1e-5]
    assert len(clear) > 500
    assert drawn(logits, [middles[token] for token in clear]) == clear


@pytest.mark.parametrize("dtype", [mx.float32, mx.bfloat16])
def test_log_probabilities_are_those_of_the_softmax(dtype: mx.Dtype) -> None:
    logits = (mx.random.normal((6, 700), key=mx.random.key(1)) * 8 + 40).astype(dtype)
    tokens, logprobs = draw(logits, list("abcdef"))
    assert logprobs.dtype == mx.float32
    exact = np.array(logits.astype(mx.float32), dtype=np.float64)
    exact -= np.log(np.exp(exact - exact.max(axis=1, keepdims=True)).sum(axis=1, keepdims=True)) + exact.max(
        axis=1, keepdims=True
    )
    assert logprobs.tolist() == pytest.approx([row[token] for row, token in zip(exact, tokens.tolist(), strict=True)],
                                              abs=2e-5)  # fmt: skip


def test_a_draw_hangs_on_its_name_and_its_logits_alone() -> None:
    names = [f"1/q/0/{number}" for number in range(40)]
    logits = mx.random.normal((40, 500), key=mx.random.key(4))
    together = draw(logits, names)[0].tolist()
    mx.random.seed(3)
    mx.random.uniform(shape=(7,))
    assert draw(logits[::-1], names[::-1])[0].tolist() == together[::-1]
    assert [draw(logits[row : row + 1], names[row : row + 1])[0].item() for row in range(5)] == together[:5]
    assert len(set(together)) > 30
    assert draw(logits, [f"2/q/0/{number}" for number in range(40)])[0].tolist() != together


def test_uniform_numbers_are_the_same_on_every_machine() -> None:
    assert uniform("1/q-1/0/0/0") == 0.19547679521788452
    numbers = [uniform(f"{seed}/{place}") for seed in range(2) for place in range(2000)]
    assert len(set(numbers)) == 4000 and all(0.0 <= number < 1.0 for number in numbers)
    assert all((number * 2.0**53).is_integer() for number in numbers)
    tenths = Counter(int(number * 10) for number in numbers)
    assert sum((tenths[tenth] - 400) ** 2 / 400 for tenth in range(10)) < 27.9  # 0.999 of 9 degrees


def test_the_likeliest_is_the_first_of_the_largest_with_its_own_logprob() -> None:
    logits = mx.array([[0.0, 2.0, 2.0, -1.0], [5.0, -50.0, 4.0, 0.0]])
    tokens, logprobs = likeliest(logits.astype(mx.bfloat16))
    wanted = np.array(logits) - np.log(np.exp(np.array(logits)).sum(axis=-1, keepdims=True))
    assert tokens.tolist() == [1, 0] and tokens.dtype == mx.int32
    assert logprobs.tolist() == pytest.approx([wanted[0, 1], wanted[1, 0]], rel=1e-5)

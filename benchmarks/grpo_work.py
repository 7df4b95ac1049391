"""What all arms of the GRPO benchmark get alike: model, adapter, token ids, lengths, and the clock."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sqldojo.training  # noqa: F401  # puts the fast BLAS under mlx, for the peers too

# isort: split
import mlx.core as mx
import mlx.nn as nn
import mlx_lm
from mlx.utils import tree_map
from mlx_lm.tuner.utils import linear_to_lora_layers

LEARNING_RATE = 1e-5
RANK, SCALE = 8, 2.0
_SCHEMA = (
    "You answer questions about the SQLite database of a shop. Tables: customers(id, name, city, joined), "
    "orders(id, customer_id, placed, status), lines(order_id, product_id, quantity), products(id, name, price). "
)
_QUESTION = "{}. Which customers ordered more than ten products in one order? Name, city and the number of orders. "
_SHARED_SHARE = 0.85  # of a text: a system prompt and a schema are the same for all questions


@dataclass(frozen=True)
class Work:
    """Lengths in tokens, all forced. Attempts at `questions` prompts, with a tool's result between two turns each."""

    prompt: int
    questions: int
    attempts: int
    sampled_a_turn: int
    results: tuple[int, ...] = ()

    @property
    def turns(self) -> int:
        return len(self.results) + 1


@dataclass(frozen=True)
class FixedTokenizer:
    """Encodes the texts of `text_of` to what they name; no token ends a turn; else it is the real tokenizer."""

    real: Any
    eos_token_id: None = None
    eos_token_ids: frozenset[int] = field(default_factory=frozenset)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)

    def encode(self, text: str, **_: object) -> list[int]:
        number, length = map(int, re.search(r"text (\d+) of (\d+) tokens", text).groups())
        shared, own = (self.real.encode(part) for part in (_SCHEMA, _QUESTION.format(number)))
        kept = int(_SHARED_SHARE * length)
        return (shared * length)[:kept] + (own * length)[: length - kept]


def text_of(number: int, length: int) -> str:
    """The text that `FixedTokenizer` encodes to `length` tokens; different numbers differ in their last ones only."""
    return f"text {number} of {length} tokens"


def load_for_peer(folder: Path) -> tuple[nn.Module, FixedTokenizer]:
    """The model in float32 with the same adapter as ours, by mlx-lm alone, so that no code of ours touches it."""
    model, tokenizer = mlx_lm.load(str(folder))
    model.update(tree_map(lambda x: x.astype(mx.float32), model.parameters()))
    model.freeze()
    mx.random.seed(0)
    linear_to_lora_layers(model, len(model.layers), {"rank": RANK, "scale": SCALE, "dropout": 0.0})
    move_adapter(model)
    return model, FixedTokenizer(tokenizer)


def move_adapter(model: nn.Module) -> None:
    """Make B random: while it is zero, so are half of the gradients."""
    mx.random.seed(1)
    model.update(tree_map(lambda x: x + 0.01 * mx.random.normal(x.shape), model.trainable_parameters()))
    mx.eval(model.parameters())


@dataclass
class Measured:
    """Seconds and peak memory in bytes by phase, and counts of tokens and episodes."""

    seconds: dict[str, float] = field(default_factory=dict)
    memory: dict[str, int] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        mx.clear_cache()
        mx.reset_peak_memory()
        started = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - started
        self.memory[name] = mx.get_peak_memory()

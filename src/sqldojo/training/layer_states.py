"""What a layer keeps of the tokens before: keys and values, those of a window alone, or a state of fixed size.

Losses and decoding share prefixes, which is plain for keys and values: new ones stand behind the old ones. A sliding
window only hides some of them. A recurrent state (LFM2's short convolutions, Qwen 3.5's gated delta rule) is a function
of all tokens before: rows begin with the prefix's state, and gradients flow back through it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mlx.core as mx
import mlx.nn as nn
from mlx_lm.models.cache import ArraysCache, KVCache, RotatingKVCache, make_prompt_cache

from sqldojo.errors import UserError

# mlx-lm's modules whose layers ask the cache for their mask and respect it; each has its test.
_WITH_WINDOWS = ("llama", "gemma3_text")
_WITH_STATES = ("lfm2", "qwen3_5")


@dataclass(frozen=True)
class LayerKind:
    """Keys and values of all tokens, or of the last `window`; or a recurrent state of so many `arrays`."""

    window: int | None = None
    arrays: int = 0


def layer_kinds(model: nn.Module) -> tuple[LayerKind, ...]:
    """The kind of each of a model's layers; UserError for a model with one that cannot share a prefix."""
    code = type(model.layers[0]).__module__.rpartition(".")[2]
    caches = make_prompt_cache(model)
    kinds = [_kind(cache, code) for cache in caches]
    if None in kinds or len(kinds) != len(model.layers):
        raise UserError(
            f"params.yaml: sources: this model ({code}) keeps more than plain keys and values (a sliding window or a "
            f"recurrent state), and only those of {', '.join((*_WITH_WINDOWS, *_WITH_STATES))} can share prefixes; "
            "choose another model"
        )
    return tuple(kinds)


def _kind(cache: Any, code: str) -> LayerKind | None:
    if type(cache) is KVCache:
        return LayerKind()
    if type(cache) is RotatingKVCache and cache.keep == 0 and code in _WITH_WINDOWS:
        return LayerKind(window=cache.max_size)
    if type(cache) is ArraysCache and code in _WITH_STATES:
        return LayerKind(arrays=len(cache.cache))
    return None


class RecurrentState(ArraysCache):
    """One layer's state of some rows, arrays [B, ...]; the same interface as that of keys and values.

    Rows begin with `start`, arrays [1, ...], or with nothing read.
    """

    columns = 0  # it does not grow

    def __init__(self, arrays: int, start: Sequence[mx.array] | None = None) -> None:
        super().__init__(arrays)
        self._start = start

    @property
    def own(self) -> tuple[mx.array, ...] | None:
        """The state, or None before anything was read."""
        return None if self.empty() else tuple(self.cache)

    @own.setter
    def own(self, arrays: Sequence[mx.array]) -> None:
        self.cache = list(arrays)

    def begin(self, rows: int) -> None:
        """Let so many rows begin, unless they have."""
        if self.empty() and self._start is not None:
            self.cache = [mx.broadcast_to(part, (rows, *part.shape[1:])) for part in self._start]

    def expect(self, places: Any) -> None:
        """Say how many of the next tokens of each row are real; the others leave its state as it is."""
        self.lengths = mx.array(places.new)  # of its own: the layer counts it down in place
        self.begin(len(places.new))

    def kept(self, _: int) -> tuple[mx.array, ...]:
        """What rows behind these tokens begin with."""
        return self.own

    def picked(self, rows: mx.array, _: int) -> tuple[mx.array, ...]:
        """The states of some rows."""
        return tuple(part[rows] for part in self.cache)

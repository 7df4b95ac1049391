"""Decoding many sequences together behind one prefix that is computed once and never copied.

mlx-lm's BatchGenerator gives every sequence a copy of the prompt, copies all of them whenever one joins or leaves, and
runs the last token of each prompt a second time. Here a row holds the keys and values of its own tokens only, padded
at the right; a forward pass over new tokens of any rows (a prompt, a tool's result, one sampled token each) writes them
behind the old ones, and the last logits of each row give its next token. So every token is computed once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import mlx.core as mx

from sqldojo.training.attention import KeysAndValues, attend
from sqldojo.training.layer_states import RecurrentState
from sqldojo.training.policy_model import PolicyModel
from sqldojo.training.sampling import draw, likeliest

_COLUMNS_STEP = 32  # columns for keys are added by so many, so that a run sees few different shapes
_PREFIX_STEP = 512  # tokens of the prefix that are computed at once, which bounds the memory for their scores
_PROMPT_STEP = 1_024  # the same of each prompt behind it
_GONE_SHARE = 8  # gone rows are cut out of the batch when they are this part of it


@dataclass
class RolloutCounts:
    """What has been computed, in tokens unless said otherwise; padding does not count.

    `prefix_tokens`, `question_tokens` (prompts behind the prefix, once for all their rows) and `tool_tokens` were given
    to the model; `sampled_tokens` are those of the episodes. `steps` are decoding steps, and `rows` is the sum of their
    widths, which includes rows at rest and rows that have left since. `episodes` have ended.
    """

    prefix_tokens: int = 0
    question_tokens: int = 0
    tool_tokens: int = 0
    sampled_tokens: int = 0
    steps: int = 0
    rows: int = 0
    episodes: int = 0


@dataclass(eq=False)
class Row:
    """A sequence in the batch: how many own tokens are computed, the name of its turn, the next draw's number in it."""

    name: str
    length: int
    position: int = 0
    running: bool = True


@dataclass(frozen=True)
class Prompt:
    """A prompt that is computed: one row of `keys` with `length` own tokens, and the logits [V] for what follows."""

    keys: Sequence[_Layer]
    row: int
    length: int
    logits: mx.array


@dataclass(frozen=True)
class _Places:
    """Where a forward pass over tokens [B, T] puts them: their positions' start [B], columns [B, 1, T, 1] of S, and
    which of these columns each may see, [B, 1, T, S]. Of each row's tokens the first so many of `new` are real; others
    are padding, or of a row at rest. `prefix` tokens stand before them all."""

    offset: mx.array
    columns: mx.array
    mask: mx.array
    new: Sequence[int]
    prefix: int

    @classmethod
    def behind(cls, lengths: Sequence[int], tokens: int, new: Sequence[int], columns: int, prefix: int) -> _Places:
        own = mx.array(lengths)
        places = own[:, None] + mx.arange(tokens)
        mask = mx.arange(columns) <= places[:, None, :, None]
        return cls(own + prefix, places[:, None, :, None], mask, new, prefix)

    def mask_within(self, window: int) -> mx.array:
        """Where a token sees the last `window`, itself among them: [B, 1, T, P + S], the prefix's keys first."""
        on_prefix = mx.arange(self.prefix) > self.columns + (self.prefix - window)
        on_own = self.mask & (mx.arange(self.mask.shape[-1]) > self.columns - window)
        return mx.concatenate([on_prefix, on_own], axis=-1)


class OwnKeys:
    """One layer's keys and values of the rows' own tokens, [B, K, S, D]; what mlx-lm's models take for a cache."""

    def __init__(self, prefix: KeysAndValues | None, window: int | None = None) -> None:
        self._prefix, self._window = prefix, window
        self.own: KeysAndValues | None = None

    @property
    def columns(self) -> int:
        """For how many own tokens of each row there is room."""
        return self.own[0].shape[2] if self.own else 0

    def expect(self, places: _Places) -> None:
        """Say where the next forward pass puts its tokens."""
        self._places = places
        self.offset = places.offset

    def make_mask(self, *_: object, window_size: int | None = None, **__: object) -> mx.array:
        window = window_size or self._window
        return self._places.mask_within(window) if window else self._places.mask

    def update_and_fetch(self, keys: mx.array, values: mx.array) -> KeysAndValues:
        columns = self._places.mask.shape[-1]
        own = self.own or (keys[:, :, :0], values[:, :, :0])
        self.own = tuple(
            mx.put_along_axis(_resized(old, columns), mx.broadcast_to(self._places.columns, new.shape), new, axis=2)
            for old, new in zip(own, (keys, values), strict=True)
        )
        return self.own

    def attend(
        self, queries: mx.array, keys: mx.array, values: mx.array, *, scale: float, mask: mx.array
    ) -> mx.array:
        return attend(queries, keys, values, scale=scale, mask=mask, prefix=self._prefix)

    def kept(self, length: int) -> KeysAndValues:
        """Those of the first `length` tokens, for rows that stand behind them."""
        return tuple(_resized(part, length) for part in self.own)

    def picked(self, rows: mx.array, columns: int) -> KeysAndValues:
        """Those of some rows, with room for `columns` tokens."""
        return tuple(_resized(part, columns)[rows] for part in self.own)


_Layer = OwnKeys | RecurrentState


class Decoder:
    """A batch of rows behind `prefix`. Each launched step runs while its caller looks at the tokens of the last one."""

    def __init__(
        self, policy: PolicyModel, prefix: Sequence[int], counts: RolloutCounts, *, greedy: bool = False
    ) -> None:
        """Computes the prefix, which may be empty. With `greedy` the likeliest token is taken and none drawn."""
        self._policy, self._counts, self._greedy = policy, counts, greedy
        self._prefix: list[tuple[mx.array, ...] | None] = [None] * len(policy.layers)
        self._prefix_length = 0
        self._rows: list[Row | None] = []
        self._keys: Sequence[_Layer] = []
        self._tokens = mx.zeros((0,), mx.int32)
        self._launched: list[_Drawn] = []
        if prefix:
            keys = self._empty()
            for start in range(0, len(prefix), _PREFIX_STEP):
                part = prefix[start : start + _PREFIX_STEP]
                self._forward(keys, [part], [start], [len(part)])
            self._prefix = [layer.kept(len(prefix)) for layer in keys]
            self._prefix_length = len(prefix)
            mx.eval(self._prefix)
            counts.prefix_tokens += len(prefix)

    @property
    def size(self) -> int:
        """How many rows are in the batch, running or at rest."""
        return sum(row is not None for row in self._rows)

    @property
    def running(self) -> int:
        """How many rows a step gives a token."""
        return sum(row is not None and row.running for row in self._rows)

    def compute(self, prompts: Sequence[Sequence[int]]) -> list[Prompt]:
        """Compute prompts together: what of them stands behind the prefix, at least a token each."""
        keys = self._empty()
        logits: list[mx.array] = [mx.array(0.0)] * len(prompts)
        for start in range(0, max(map(len, prompts)), _PROMPT_STEP):
            end = start + _PROMPT_STEP
            parts = [prompt[start:end] for prompt in prompts]
            found = self._last_logits(keys, parts, [min(len(prompt), start) for prompt in prompts])
            mx.eval(found, [layer.own for layer in keys])
            logits = [found[row] if start < len(prompt) <= end else logits[row] for row, prompt in enumerate(prompts)]
        self._counts.question_tokens += sum(map(len, prompts))
        return [Prompt(keys, row, len(prompt), logits[row]) for row, prompt in enumerate(prompts)]

    def join(
        self, fresh: Sequence[tuple[Prompt, str]], returning: Sequence[tuple[Row, Sequence[int], str]]
    ) -> list[Row]:
        """Let rows begin a turn of the given name, and draw its first token; the rows, in the order given.

        Fresh ones are forked off a prompt; returning ones, which were at rest, first read these tokens.
        """
        back = {id(row) for row, _, _ in returning}
        staying = [at for at, row in enumerate(self._rows) if row is not None and id(row) not in back]
        logits, parts = [], [(self._keys, staying)] if staying else []
        joining = [Row(name, prompt.length) for prompt, name in fresh]
        if fresh:
            for _, group in groupby((prompt for prompt, _ in fresh), key=lambda prompt: id(prompt.keys)):
                same = list(group)
                parts.append((same[0].keys, [prompt.row for prompt in same]))
            logits.append(mx.stack([prompt.logits for prompt, _ in fresh]))
        if returning:
            coming = [row for row, _, _ in returning]
            keys = self._gathered([(self._keys, [self._rows.index(row) for row in coming])], coming)
            added = [tokens for _, tokens, _ in returning]
            logits.append(self._last_logits(keys, added, [row.length for row in coming]))
            parts.append((keys, range(len(returning))))
            self._counts.tool_tokens += sum(map(len, added))
            for row, tokens, name in returning:
                row.name, row.position, row.running = name, 0, True
                row.length += len(tokens)
                joining.append(row)
        self._rows = [self._rows[at] for at in staying] + joining
        self._keys = self._gathered(parts, self._rows)
        tokens = self._draw(mx.concatenate(logits), joining)
        self._tokens = mx.concatenate([self._tokens[mx.array(staying)], tokens]) if staying else tokens
        return joining

    def step(self) -> list[tuple[Row, int, float]]:
        """Launch the next token of all running rows; return what the last launches drew: row, token, log-probability.

        A row whose turn turns out to be over has one more token under way, which is dropped. By then its keys include
        those of all tokens that were returned.
        """
        launched, self._launched = self._launched, []
        if self.running:
            self._cut_out()
            lengths = [0 if row is None else row.length for row in self._rows]
            new = [int(row is not None and row.running) for row in self._rows]
            hidden = self._forward(self._keys, self._tokens[:, None], lengths, new)
            for row in self._rows:
                if row is not None and row.running:
                    row.length += 1
            self._tokens = self._draw(self._policy.head(hidden[:, -1]), self._rows)
            self._counts.steps += 1
            self._counts.rows += len(self._rows)
        return [sample for drawn in launched for sample in drawn.samples()]

    def rest(self, row: Row) -> None:
        """End the row's turn; it keeps its place for another one."""
        row.running = False

    def leave(self, row: Row) -> None:
        """Take the row out of the batch."""
        row.running = False
        self._rows[self._rows.index(row)] = None

    def _empty(self) -> list[_Layer]:
        return [
            RecurrentState(kind.arrays, prefix) if kind.arrays else OwnKeys(prefix, kind.window)
            for kind, prefix in zip(self._policy.layers, self._prefix, strict=True)
        ]

    def _forward(
        self, keys: Sequence[_Layer], tokens: mx.array | list, lengths: Sequence[int], new: Sequence[int]
    ) -> mx.array:
        """Hidden states [B, T, D] of tokens [B, T], `new` of each row, behind `lengths` own ones; added to `keys`."""
        tokens = mx.array(tokens)
        present = max(layer.columns for layer in keys)
        columns = max(present, _rounded_up(max(lengths) + tokens.shape[1]))
        places = _Places.behind(lengths, tokens.shape[1], new, columns, self._prefix_length)
        for layer in keys:
            layer.expect(places)
        return self._policy.body(tokens, cache=keys)

    def _last_logits(
        self, keys: Sequence[_Layer], added: Sequence[Sequence[int]], lengths: Sequence[int]
    ) -> mx.array:
        """Logits [B, V] after the last of each row's added tokens."""
        longest = max(map(len, added))
        padded = [[*tokens, *[0] * (longest - len(tokens))] for tokens in added]
        hidden = self._forward(keys, padded, lengths, [len(tokens) for tokens in added])
        last = mx.array([len(tokens) - 1 for tokens in added])
        return self._policy.head(hidden[mx.arange(len(added)), last])

    def _draw(self, logits: mx.array, rows: Sequence[Row | None]) -> mx.array:
        """Begin to draw a token for each row of logits; what is drawn for rows that do not run is of no use."""
        drawn = [(row, row.name) if row is not None and row.running else None for row in rows]
        names = [f"{row.name}/{row.position}" if row is not None else "" for row in rows]
        tokens, logprobs = likeliest(logits) if self._greedy else draw(logits, names)
        mx.async_eval(tokens, logprobs)
        for row in rows:
            if row is not None:
                row.position += 1
        self._launched.append(_Drawn(drawn, tokens, logprobs))
        return tokens

    def _cut_out(self) -> None:
        """Drop the rows that have left, when they are many enough to pay for the copy of the others."""
        staying = [at for at, row in enumerate(self._rows) if row is not None]
        gone = len(self._rows) - len(staying)
        if gone and gone * _GONE_SHARE >= len(self._rows):
            self._rows = [self._rows[at] for at in staying]
            self._tokens = self._tokens[mx.array(staying)]
            self._keys = self._gathered([(self._keys, staying)], self._rows)

    def _gathered(
        self, parts: Sequence[tuple[Sequence[_Layer], Sequence[int]]], rows: Sequence[Row]
    ) -> list[_Layer]:
        """These rows, picked by their places in several batches, as one batch with room for another token."""
        columns = _rounded_up(max(row.length for row in rows) + 1)
        picked = [(keys, mx.array(list(places))) for keys, places in parts]
        gathered = self._empty()
        for number, layer in enumerate(gathered):
            of_parts = [keys[number].picked(places, columns) for keys, places in picked]
            layer.own = tuple(mx.concatenate(arrays) for arrays in zip(*of_parts, strict=True))
        return gathered


@dataclass(frozen=True)
class _Drawn:
    """What one launch draws, and for which turn of which row."""

    turns: Sequence[tuple[Row, str] | None]
    tokens: mx.array
    logprobs: mx.array

    def samples(self) -> Iterator[tuple[Row, int, float]]:
        """The draws of turns that are not over by now. ValueError when the model gave no numbers."""
        for turn, token, logprob in zip(self.turns, self.tokens.tolist(), self.logprobs.tolist(), strict=True):
            if turn is not None and turn[0].running and turn[0].name == turn[1]:
                if not math.isfinite(logprob):
                    raise ValueError(f"the model's logits are not finite at {turn[1]}")
                yield turn[0], token, logprob


def _resized(keys: mx.array, columns: int) -> mx.array:
    """Keys [B, K, S, D] with zeros behind, or without the last ones, so that S is `columns`."""
    rows, heads, present, size = keys.shape
    if present >= columns:
        return keys[:, :, :columns]
    return mx.concatenate([keys, mx.zeros((rows, heads, columns - present, size), keys.dtype)], axis=2)


def _rounded_up(length: int) -> int:
    return -(-length // _COLUMNS_STEP) * _COLUMNS_STEP

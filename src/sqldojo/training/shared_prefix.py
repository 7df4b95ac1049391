"""Losses on many sequences that begin alike, with what they share computed once.

The sequences of a step form a tree: a trunk that all of them begin with (system prompt and schema), a branch for each
group (its question), and the continuations behind it. mlx-lm's models run unmodified: they ask a cache for no more than
the one below has. Because it only holds arrays, gradients flow through continuations, branches and trunk alike.

Gradients are taken in stages, leaves first, so that memory is set by a micro-batch: each gives gradients for the
parameters and for the keys and values that it saw; their sum is carried through the branch, and that of all branches
through the trunk. By the chain rule these are the gradients of the plain computation. A recurrent layer has a state
instead: that of a branch takes the place of the trunk's, where keys and values stand behind the trunk's. Where a pass
is long, its layers run once more instead of keeping their attention (`recomputation.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import mlx.core as mx
from mlx.utils import tree_flatten, tree_map
from mlx_lm.models.base import create_causal_mask

from sqldojo.training.attention import KeysAndValues, attend
from sqldojo.training.cpu_math import logsumexp
from sqldojo.training.dialogue import shared_prefix_length
from sqldojo.training.layer_states import LayerKind, RecurrentState
from sqldojo.training.policy_model import PolicyModel
from sqldojo.training.recomputation import allowed_bytes, attend_in_blocks, recomputing

Sequences = Sequence[tuple[Sequence[int], Sequence[int]]]  # (tokens, action mask) each

_STEP = 16  # the least length, and the step between lengths up to _STEPS of them
_STEPS = 6
_HEAD_SIZES = (16, 32, 64)  # the output head runs on so many positions at a time: logits are [., vocabulary]
_LEAST_SAVING = 64  # a branch costs two forward passes and a backward one of its own, worth about so many tokens


@dataclass(frozen=True)
class Batch:
    """Continuations behind one branch, as arrays of one shape.

    `continuations` [R, C] are padded at the right; `positions` [N] index the flattened [R, C] states whose next token
    is an action, `targets` [N] are those tokens, `weights` [N] 1 for real and 0 for padding. `places` holds the number
    of the sequence (groups flattened, in the order given) and the place in it of each real target.
    """

    continuations: mx.array
    positions: mx.array
    targets: mx.array
    weights: mx.array
    places: tuple[tuple[int, int], ...]

    def pick(self, per_token: Sequence[Sequence[float]]) -> mx.array:
        """The values at the targets, float32 [N], of those given by sequence and place; 0 at padding."""
        values = [per_token[number][place] for number, place in self.places]
        return mx.array(values + [0.0] * (self.targets.size - len(values)), dtype=mx.float32)


@dataclass(frozen=True)
class Branch:
    """What a group shares beyond the trunk, [1, Q] with Q >= 0, and its continuations."""

    tokens: mx.array
    batches: tuple[Batch, ...]


@dataclass(frozen=True)
class PrefixTree:
    """All sequences of a step that hold an action: `trunk` [1, P] with P >= 1, and a branch a group.

    `lengths` are those of all sequences given, groups flattened; `dropped` counts those without an action.
    """

    trunk: mx.array
    branches: tuple[Branch, ...]
    lengths: tuple[int, ...]
    dropped: int

    @property
    def batches(self) -> Iterator[Batch]:
        """The micro-batches, in the order in which they are computed."""
        return chain.from_iterable(branch.batches for branch in self.branches)

    @cached_property
    def prefix_tokens(self) -> int:
        """Tokens of trunk and branches: these run once without a graph as well."""
        return self.trunk.size + sum(branch.tokens.size for branch in self.branches)

    @cached_property
    def loss_tokens(self) -> int:
        """Tokens that run forward and back, with padding: prefixes once, continuations each."""
        return self.prefix_tokens + sum(batch.continuations.size for batch in self.batches)

    @cached_property
    def action_tokens(self) -> int:
        """How many tokens are learnt: the sum of the masks."""
        return sum(len(batch.places) for batch in self.batches)

    @cached_property
    def shapes(self) -> frozenset[tuple[int, ...]]:
        """The different shapes that the continuations give: (R, C) for the model's body, (N,) for its head."""
        bodies = {tuple(batch.continuations.shape) for batch in self.batches}
        heads = {(end - start,) for batch in self.batches for start, end in _head_parts(batch.targets.size)}
        return frozenset(bodies | heads)


def make_tree(groups: Sequence[Sequences], *, rows: int, trunk_length: int | None = None) -> PrefixTree:
    """The sequences as a tree, at most `rows` of them in a micro-batch and near lengths together.

    A group holds sequences with one prompt, but need not: what its sequences share is found here. Trunk and branches
    end before the token that precedes the first action, so that every action and the state before it belong to a
    continuation. `trunk_length` asks for a shorter trunk than all share: one for a whole run means fewer shapes.
    Sequences without an action are left out and counted. ValueError when nothing is left, when a sequence begins with
    an action, or when the sequences do not share their first token or `trunk_length` tokens.
    """
    numbered = list(enumerate(chain.from_iterable(groups)))
    lengths = tuple(len(tokens) for _, (tokens, _) in numbered)
    learnt, start = [], 0
    for group in groups:
        members = [_Member.of(number, *pair) for number, pair in numbered[start : start + len(group)]]
        learnt.append([member for member in members if member.places])
        start += len(group)
    everyone = list(chain.from_iterable(learnt))
    if not everyone:
        raise ValueError(f"none of the {len(lengths)} sequences holds an action to learn")
    trunk = _shared(everyone, trunk_length)
    branches = tuple(_branch(group, trunk, rows) for group in learnt if group)
    tokens = mx.array([everyone[0].tokens[:trunk]])
    return PrefixTree(tokens, branches, lengths, dropped=len(lengths) - len(everyone))


def loss_and_gradients(
    policy: PolicyModel, tree: PrefixTree, loss: Callable[[mx.array, Batch], mx.array]
) -> tuple[mx.array, dict, list[list[float]]]:
    """The sum over micro-batches of `loss(logprobs [N], batch)`, its gradients in the trainable parameters, and the
    logprobs themselves as `action_logprobs` gives them.
    """
    parameters = policy.model.trainable_parameters()
    found = _Found(tree)

    def batch_loss(parameters: dict, states: _States, batch: Batch) -> tuple[mx.array, mx.array]:
        policy.model.update(parameters)
        with recomputing(policy.model):
            logprobs = _logprobs_behind(policy, states, batch)
        return loss(logprobs, batch), logprobs

    def product(parameters: dict, states: _States | None, tokens: mx.array, factors: _States) -> mx.array:
        """Its gradients are those of `tokens`' keys and values, times `factors`."""
        policy.model.update(parameters)
        with recomputing(policy.model):
            made = _states_of(policy, tokens, states)
        products = tree_map(lambda own, factor: (own * factor).sum(), made, factors)
        return sum(product for _, product in tree_flatten(products))

    recurrent = any(kind.arrays for kind in policy.layers)
    if recurrent:  # mlx-lm's kernel for the gated delta rule on a GPU has no gradient; so it takes plain operations
        policy.model.train()
    trunk = _states_of(policy, tree.trunk)
    total, gradients, through_trunk = mx.array(0.0), None, None
    for branch in tree.branches:
        states, through_states = _behind(policy, trunk, branch), None
        for batch in branch.batches:
            of_batch = mx.value_and_grad(batch_loss, argnums=(0, 1))(parameters, states, batch)
            (value, logprobs), (own, of_states) = of_batch
            total, gradients = total + value, _sum(gradients, own)
            through_states = _sum(through_states, _float32(of_states))
            mx.eval(total, gradients, through_states, logprobs)  # frees this graph before the next one is built
            found.note(batch, logprobs)
        of_trunk, of_branch = _split(policy.layers, through_states, tree.trunk.size, branch.tokens.size)
        through_trunk = _sum(through_trunk, of_trunk)
        if branch.tokens.size:
            own, of_trunk = mx.grad(product, argnums=(0, 1))(parameters, trunk, branch.tokens, of_branch)
            gradients, through_trunk = _sum(gradients, own), _sum(through_trunk, _float32(of_trunk))
        mx.eval(gradients, through_trunk)
    own = mx.grad(product)(parameters, None, tree.trunk, through_trunk)
    policy.model.update(parameters)
    if recurrent:
        policy.model.eval()
    return total, _sum(gradients, own), found.logprobs


def action_logprobs(policy: PolicyModel, tree: PrefixTree) -> list[list[float]]:
    """log p of each action token given all before it: a list a sequence, as long as it, 0 at what is no action."""
    found = _Found(tree)
    trunk = _states_of(policy, tree.trunk)
    for branch in tree.branches:
        states = _behind(policy, trunk, branch)
        for batch in branch.batches:
            found.note(batch, _logprobs_behind(policy, states, batch))
    return found.logprobs


class _Found:
    """Logprobs by sequence and place, collected from micro-batches."""

    def __init__(self, tree: PrefixTree) -> None:
        self.logprobs = [[0.0] * length for length in tree.lengths]

    def note(self, batch: Batch, logprobs: mx.array) -> None:
        for (number, place), value in zip(batch.places, logprobs.tolist(), strict=False):
            self.logprobs[number][place] = value


@dataclass(frozen=True)
class _Member:
    """A sequence with its number and the places of its actions."""

    number: int
    tokens: list[int]
    places: list[int]

    @classmethod
    def of(cls, number: int, tokens: Sequence[int], mask: Sequence[int]) -> _Member:
        places = [place for place, (_, learnt) in enumerate(zip(tokens, mask, strict=True)) if learnt]
        if places and places[0] == 0:
            raise ValueError(f"sequence {number} begins with an action, which nothing can predict")
        return cls(number, list(tokens), places)


def _shared(members: Sequence[_Member], wanted: int | None = None) -> int:
    """How many leading tokens these sequences compute together, at most `wanted`."""
    alike = shared_prefix_length([member.tokens for member in members])
    if alike < max(1, wanted or 0):
        raise ValueError(f"the sequences must share their first {max(1, wanted or 0)} tokens, but share {alike}")
    # Attempts at one question often begin alike; those actions count, so the prefix ends before them.
    length = min(wanted or alike, *(member.places[0] - 1 for member in members))
    if length < 1:
        raise ValueError("the sequences' prompts must be at least two tokens long")
    return length


def _branch(members: Sequence[_Member], trunk: int, rows: int) -> Branch:
    start = _shared(members)
    if (len(members) - 1) * (start - trunk) < _LEAST_SAVING:
        start = trunk
    near = sorted(members, key=lambda member: member.places[-1])
    tokens = mx.array([members[0].tokens[trunk:start]], dtype=mx.int32)
    return Branch(tokens, tuple(_batch(near[first : first + rows], start) for first in range(0, len(near), rows)))


def _batch(members: Sequence[_Member], start: int) -> Batch:
    # No loss sees what stands behind a sequence's last action, nor that action's own state.
    rows = [member.tokens[start : member.places[-1]] for member in members]
    length = padded_length(max(map(len, rows)))
    places = [(member.number, place) for member in members for place in member.places]
    positions = [row * length + place - 1 - start for row, member in enumerate(members) for place in member.places]
    targets = [member.tokens[place] for member in members for place in member.places]
    padding = _head_parts(len(targets))[-1][1] - len(targets)
    return Batch(
        continuations=mx.array([row + [0] * (length - len(row)) for row in rows]),
        positions=mx.array(positions + [0] * padding),
        targets=mx.array(targets + [0] * padding),
        weights=mx.array([1.0] * len(targets) + [0.0] * padding),
        places=tuple(places),
    )


def padded_length(length: int) -> int:
    """`length` rounded up to one of few: 16, 32, .. 96, then three to each doubling (128, 160, 192, 256, ..)."""
    step = _STEP
    while length > _STEPS * step:
        step *= 2
    return -(-length // step) * step


def _head_parts(size: int) -> list[tuple[int, int]]:
    """Where the head's runs over `size` positions start and end; the last end is at least `size`."""
    largest = _HEAD_SIZES[-1]
    full = (size - 1) // largest * largest
    rest = next(fitting for fitting in _HEAD_SIZES if fitting >= size - full)
    return [*((start, start + largest) for start in range(0, full, largest)), (full, full + rest)]


_States = list[tuple[mx.array, ...]]  # a layer each: keys and values, [1, heads, P, D], or the arrays of its state


class _Cache:
    """One layer's cache for rows that see shared keys and values, if there are any, and then their own.

    Scores are what the layer keeps for its backward pass; with more of them than allowed it attends in blocks.
    """

    kept = 0

    def __init__(self, before: KeysAndValues | None, window: int | None, allowed: int) -> None:
        self.before, self.window, self.allowed = before, window, allowed
        self.offset = before[0].shape[2] if before else 0

    def begun_with(self, before: KeysAndValues | None) -> _Cache:
        return _Cache(before, self.window, self.allowed)

    def update_and_fetch(self, keys: mx.array, values: mx.array) -> KeysAndValues:
        self.own = (keys, values)
        return self.own

    def make_mask(self, length: int, *, window_size: int | None = None, **_: object) -> mx.array | str:
        window = window_size or self.window
        if window is None or self.offset + length <= window:
            return "causal"
        return create_causal_mask(length, self.offset, window_size=window)

    def attend(self, queries: mx.array, keys: mx.array, values: mx.array, **options: Any) -> mx.array:
        rows, heads, length, _ = queries.shape
        self.kept = mx.float32.size * rows * heads * length * (self.offset + length)
        if self.kept <= self.allowed:
            return attend(queries, keys, values, **options, prefix=self.before)
        size = max(1, length * self.allowed // self.kept)
        return attend_in_blocks(queries, keys, values, **options, prefix=self.before, size=size)


class _RecurrentState(RecurrentState):
    """One layer's state of some rows; mlx-lm's plain operations, which have gradients, keep one a token."""

    kept = 0

    def __init__(self, arrays: int, before: Sequence[mx.array] | None, allowed: int) -> None:
        super().__init__(arrays, before)
        self.allowed = allowed

    @property
    def before(self) -> tuple[mx.array, ...] | None:
        return self.own

    def begun_with(self, before: Sequence[mx.array] | None) -> _RecurrentState:
        state = _RecurrentState(len(self.cache), None, self.allowed)
        if before is not None:
            state.own = before
        return state

    def advance(self, length: int) -> None:
        self.kept = length * sum(part.nbytes for part in self.cache)
        super().advance(length)


def _caches(policy: PolicyModel, shared: _States | None, rows: int) -> list[_Cache | _RecurrentState]:
    """Caches for so many rows behind the shared states."""
    caches: list[_Cache | _RecurrentState] = []
    allowed = allowed_bytes(len(policy.layers))
    for kind, arrays in zip(policy.layers, shared or [None] * len(policy.layers), strict=True):
        if kind.arrays:
            caches.append(_RecurrentState(kind.arrays, arrays, allowed))
            caches[-1].begin(rows)
        else:
            caches.append(_Cache(arrays, kind.window, allowed))
    return caches


def _states_of(policy: PolicyModel, tokens: mx.array, shared: _States | None = None) -> _States:
    """Keys and values of `tokens` [1, T] alone, which stand behind the shared ones; of a recurrent layer its state."""
    caches = _caches(policy, shared, 1)
    policy.body(tokens, cache=caches)
    return [cache.own for cache in caches]


def _behind(policy: PolicyModel, trunk: _States, branch: Branch) -> _States:
    """The states of trunk and branch together, computed and held without a graph."""
    states = trunk
    if branch.tokens.size:
        own = _states_of(policy, branch.tokens, trunk)
        states = [
            after if kind.arrays else tuple(mx.concatenate(pair, axis=2) for pair in zip(before, after, strict=True))
            for kind, before, after in zip(policy.layers, trunk, own, strict=True)
        ]
    mx.eval(states)
    return states


def _logprobs_behind(policy: PolicyModel, states: _States, batch: Batch) -> mx.array:
    """log p of the targets, float32 [N]; the output head runs on their positions only."""
    hidden = policy.body(batch.continuations, cache=_caches(policy, states, batch.continuations.shape[0]))
    hidden = hidden.reshape(-1, hidden.shape[-1])[batch.positions]
    parts = _head_parts(batch.targets.size)
    return mx.concatenate([_log_softmax_at(policy, hidden[i:j], batch.targets[i:j]) for i, j in parts])


def _log_softmax_at(policy: PolicyModel, hidden: mx.array, targets: mx.array) -> mx.array:
    logits = policy.head(hidden).astype(mx.float32)
    return mx.take_along_axis(logits, targets[:, None], axis=-1).squeeze(-1) - logsumexp(logits)


def _split(layers: Sequence[LayerKind], states: _States, trunk: int, branch: int) -> tuple[_States, _States]:
    """What of the gradients of states belongs to the trunk's first `trunk` tokens, and to the `branch` behind them."""
    of_trunk, of_branch = [], []
    for kind, arrays in zip(layers, states, strict=True):
        if kind.arrays:  # the last tokens have made the state
            none = tuple(mx.zeros_like(part) for part in arrays)
            of_trunk.append(none if branch else arrays)
            of_branch.append(arrays if branch else none)
        else:
            of_trunk.append(tuple(part[:, :, :trunk] for part in arrays))
            of_branch.append(tuple(part[:, :, trunk:] for part in arrays))
    return of_trunk, of_branch


def _float32(states: _States) -> _States:
    """In half precision a sum over many micro-batches would swallow its later terms."""
    return tree_map(lambda x: x.astype(mx.float32), states)


def _sum(total: dict | _States | None, more: dict | _States) -> dict | _States:
    return more if total is None else tree_map(mx.add, total, more)

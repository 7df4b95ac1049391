"""The loop of supervised training: an adapter learns the action tokens of given sequences, update by update.

Distillation from a teacher, from own solutions and from corrections differ in what they learn from, not in this.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import mlx.core as mx

from sqldojo.errors import UserError
from sqldojo.progress import progress, unobserved
from sqldojo.training.checkpoints import TrainingState, load_checkpoint, save_checkpoint
from sqldojo.training.dialogue import TokenSequence, shared_prefix_length
from sqldojo.training.optimizer import OptimizerParams, apply_gradients, learning_rate_at, make_optimizer
from sqldojo.training.policy_model import PolicyModel, adapter_weights, load_adapter_weights
from sqldojo.training.selection import Look, Selection
from sqldojo.training.shared_prefix import Batch, loss_and_gradients, make_tree

_WINDOW = 6  # updates among which examples are exchanged so that those of one have near lengths


@dataclass(frozen=True)
class SupervisedParams:
    """What all kinds have: `updates` optimizer steps of `batch_size` examples each.

    `micro_batch_size` of them are computed at a time: it sets the memory and changes no result but in the last bits.
    """

    seed: int
    updates: int
    batch_size: int
    micro_batch_size: int
    learning_rate: float
    final_share: float
    warmup_steps: int
    gradient_norm: float
    checkpoint_every: int

    def __post_init__(self) -> None:
        for name in ("updates", "batch_size", "micro_batch_size", "checkpoint_every"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}: must be at least 1, found {getattr(self, name)}")
        if self.seed < 0:
            raise ValueError(f"seed: must not be negative, found {self.seed}")
        _ = self.optimizer  # checks its own values

    @property
    def optimizer(self) -> OptimizerParams:
        return OptimizerParams(self.learning_rate, self.final_share, self.warmup_steps, self.gradient_norm)


@dataclass(frozen=True)
class UpdateRecord:
    """One row of the training curve: mean loss per action token, the rate used, the gradient's norm before clipping.

    Where tokens are weighed, the loss is the weighted mean.
    """

    update: int
    loss: float
    learning_rate: float
    gradient_norm: float
    action_tokens: int


Observe = Callable[[Sequence[UpdateRecord]], None]  # is shown the curve so far, after each update
Weigh = Callable[[TokenSequence], Sequence[float]]  # a weight for each token, 0 for those that are not learnt


@dataclass(frozen=True)
class Looking:
    """Looks at held-out tasks on the way: what to do with them, and how one is taken, given the updates done."""

    selection: Selection
    look: Callable[[int], Look]


def learn(
    policy: PolicyModel,
    steps: Sequence[Sequence[TokenSequence]],
    params: SupervisedParams,
    scratch: Path,
    section: str,
    *,
    observe: Observe = unobserved,
    looking: Looking | None = None,
    weigh: Weigh | None = None,
) -> list[UpdateRecord]:
    """The adapter on `policy` learns the actions in `steps`, the sequences of each update; returns the curve.

    Checkpoints go to `scratch`; a rerun with the same inputs continues from the last one and ends the same. `section`
    names the section of params.yaml in messages. With `looking` there is a look whenever its selection says so, but
    none before the first update, and the adapter is at the end that of the look to keep. `weigh` gives the tokens of a
    sequence their weights in the loss; without it all action tokens count alike.
    """
    trunk = shared_prefix_length([each.tokens for step in steps for each in step])  # one shape for the whole run
    optimizer = make_optimizer()
    state = load_checkpoint(scratch, policy.model, optimizer) or TrainingState(step=0, curve=[])
    curve, kept = [UpdateRecord(**row) for row in state.curve], state.kept
    if looking:
        looking.selection.restore(state.more.get("looks", []))
    with progress(section, len(steps), done=state.step) as report:
        for step in range(state.step, len(steps)):
            if looking and looking.selection.stop_reason:
                break
            chosen = [(each.tokens, each.action_mask) for each in steps[step]]
            tree = make_tree([chosen], rows=params.micro_batch_size, trunk_length=trunk)
            count = tree.action_tokens
            loss, gradients, _ = loss_and_gradients(policy, tree, _mean_loss(steps[step], count, weigh))
            rate = learning_rate_at(step, len(steps), params.optimizer)
            try:
                norm = apply_gradients(
                    policy.model, optimizer, gradients, learning_rate=rate, gradient_norm=params.gradient_norm
                )
            except ArithmeticError as error:
                raise UserError(f"params.yaml: {section}.learning_rate: update {step + 1} diverged: {error}") from error
            curve.append(UpdateRecord(step + 1, round(loss.item(), 6), round(rate, 9), round(norm, 6), count))
            observe(curve)
            report(step + 1, f"loss {loss.item():.4f}")
            looked = looking is not None and looking.selection.is_due(step + 1, len(steps))
            if looked and looking.selection.take(looking.look(step + 1)):
                kept = adapter_weights(policy.model)
            if looked or ((step + 1) % params.checkpoint_every == 0 and step + 1 < len(steps)):
                more = {"looks": looking.selection.state()} if looking else {}
                rows = [vars(row) for row in curve]
                save_checkpoint(scratch, policy.model, optimizer, TrainingState(step + 1, rows, more, kept))
    if kept:
        load_adapter_weights(policy.model, kept, scratch)
    return curve


def _mean_loss(
    sequences: Sequence[TokenSequence], action_tokens: int, weigh: Weigh | None
) -> Callable[[mx.array, Batch], mx.array]:
    """What a micro-batch adds to the mean of the negative log-likelihood over all action tokens of an update."""
    if not weigh:
        return lambda logprobs, batch: -(logprobs * batch.weights).sum() / action_tokens
    weights = [weigh(each) for each in sequences]
    total = math.fsum(itertools.chain.from_iterable(weights))
    return lambda logprobs, batch: -(logprobs * batch.pick(weights)).sum() / total


def final_loss(curve: Sequence[UpdateRecord], updates: int = 10) -> float:
    """The mean loss of the last few updates, since that of a single batch depends on which types are in it."""
    last = curve[-updates:]
    return round(sum(row.loss for row in last) / len(last), 6)


def balanced(types: Sequence[str], count: int, seed: int) -> list[int]:
    """`count` examples to learn from, by index, given the type of each.

    Balanced by type, so that types with many examples do not crowd out the others: each round takes one of every type,
    in random order, and no type repeats one before all were taken.
    """
    members: dict[str, list[int]] = {}
    for index, name in enumerate(types):
        members.setdefault(name, []).append(index)
    left: dict[str, list[int]] = {name: [] for name in members}
    order: list[int] = []
    for turn in itertools.count():
        if len(order) >= count:
            break
        generator = random.Random(f"{seed}/distill/{turn}")
        for name in generator.sample(sorted(members), len(members)):
            left[name] = left[name] or generator.sample(members[name], len(members[name]))
            order.append(left[name].pop())
    return order[:count]


def near_lengths(order: Sequence[int], lengths: Sequence[int], batch_size: int, seed: int) -> list[int]:
    """`order` with examples of near lengths in one batch, which spares most of the padding.

    Within each window of a few batches the examples are sorted by `lengths`, and the batches they then make are put in
    random order. So windows learn from the same examples as before, and a long batch may come at any time.
    """
    window, grouped = _WINDOW * batch_size, []
    for start in range(0, len(order), window):
        near = sorted(order[start : start + window], key=lambda index: lengths[index])
        pieces = [near[first : first + batch_size] for first in range(0, len(near), batch_size)]
        random.Random(f"{seed}/lengths/{start}").shuffle(pieces)
        grouped += [index for piece in pieces for index in piece]
    return grouped


def batches(types: Sequence[str], lengths: Sequence[int], params: SupervisedParams) -> list[list[int]]:
    """Which examples each update learns from, by index: `balanced`, of `near_lengths`, in pieces of the batch size."""
    size = params.batch_size
    windows = math.ceil(params.updates / _WINDOW)  # whole ones, so that a longer run begins as a shorter one
    order = near_lengths(balanced(types, windows * _WINDOW * size, params.seed), lengths, size, params.seed)
    return [order[start : start + size] for start in range(0, params.updates * size, size)]

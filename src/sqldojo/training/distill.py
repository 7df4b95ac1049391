"""Distillation: supervised training of an adapter on verified episodes, on the agent's own actions only.

It is done twice in a chain: first a fresh adapter learns from the teacher's demonstrations, and after GRPO the adapter
as it then is learns, at a lower rate, from the teacher's and from its own solutions (expert iteration: T. Anthony, Z.
Tian and D. Barber, "Thinking Fast and Slow with Deep Learning and Tree Search", 2017, arXiv 1705.08439).
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqldojo.errors import UserError
from sqldojo.progress import progress, unobserved
from sqldojo.records import Episode
from sqldojo.training.checkpoints import TrainingState, load_checkpoint, save_checkpoint
from sqldojo.training.dialogue import TokenSequence, shared_prefix_length
from sqldojo.training.optimizer import OptimizerParams, apply_gradients, learning_rate_at, make_optimizer
from sqldojo.training.policy_model import LoraParams, PolicyModel, add_fresh_adapter
from sqldojo.training.shared_prefix import loss_and_gradients, make_tree


@dataclass(frozen=True)
class SupervisedParams:
    """What both have: `updates` optimizer steps of `batch_size` episodes each.

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
class DistillParams(SupervisedParams):
    """The section `distill`: a fresh adapter of this rank and scale, on the teacher's demonstrations."""

    lora_rank: int
    lora_scale: float

    def __post_init__(self) -> None:
        for name in ("lora_rank", "lora_scale"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name}: must be above 0, found {getattr(self, name)}")
        super().__post_init__()

    @property
    def lora(self) -> LoraParams:
        return LoraParams(self.lora_rank, self.lora_scale)


@dataclass(frozen=True)
class RedistillParams(SupervisedParams):
    """The section `redistill`: the adapter that GRPO left, on the teacher's solutions and its own.

    Of a type that the teacher solved too, its own solutions are `own_share` of all at most.
    """

    own_share: float

    def __post_init__(self) -> None:
        if not 0 <= self.own_share <= 1:
            raise ValueError(f"own_share: must be from 0 to 1, found {self.own_share:g}")
        super().__post_init__()


@dataclass(frozen=True)
class UpdateRecord:
    """One row of the training curve: mean loss per action token, the rate used, the gradient's norm before clipping."""

    update: int
    loss: float
    learning_rate: float
    gradient_norm: float
    action_tokens: int


Observe = Callable[[Sequence[UpdateRecord]], None]  # is shown the curve so far, after each update


def distill(
    policy: PolicyModel,
    demonstrations: Sequence[Episode],
    params: DistillParams,
    scratch: Path,
    observe: Observe = unobserved,
) -> list[UpdateRecord]:
    """Train a fresh adapter on `policy` in place and return its curve.

    Checkpoints go to `scratch`; a rerun with the same inputs continues from the last one and ends the same.
    """
    sequences = tokenise(policy, demonstrations)
    add_fresh_adapter(policy.model, params.lora, params.seed)
    return _learn(policy, sequences, [each.type for each in demonstrations], params, scratch, observe, "distill")


def redistill(
    policy: PolicyModel,
    demonstrations: Sequence[Episode],
    own: Sequence[Episode],
    params: RedistillParams,
    scratch: Path,
    observe: Observe = unobserved,
) -> list[UpdateRecord]:
    """Train the adapter that is on `policy` in place and return its curve; checkpoints as in `distill`.

    `own` are right attempts as they were sampled; their tokens are taken as they are.
    """
    chosen = balanced_own(own, [each.type for each in demonstrations], params)
    sequences = [*tokenise(policy, demonstrations), *(TokenSequence(each.tokens, each.action_mask) for each in chosen)]
    types = [each.type for each in (*demonstrations, *chosen)]
    return _learn(policy, sequences, types, params, scratch, observe, "redistill")


def balanced_own(own: Sequence[Episode], taught: Sequence[str], params: RedistillParams) -> list[Episode]:
    """Of each type's own solutions so many, drawn at random, that they are `own_share` of all its solutions at most.

    `taught` are the types of the teacher's solutions, one for each. Of a type without any, all own ones are taken.
    """
    members: dict[str, list[Episode]] = {}
    for episode in own:
        members.setdefault(episode.type, []).append(episode)
    chosen: list[Episode] = []
    for name, episodes in sorted(members.items()):
        teacher = taught.count(name)
        most = len(episodes)
        if teacher and params.own_share < 1:
            most = min(most, math.floor(teacher * params.own_share / (1 - params.own_share) + 1e-9))
        chosen += random.Random(f"{params.seed}/own/{name}").sample(episodes, most)
    return chosen


def _learn(
    policy: PolicyModel,
    sequences: Sequence[TokenSequence],
    types: Sequence[str],
    params: SupervisedParams,
    scratch: Path,
    observe: Observe,
    section: str,
) -> list[UpdateRecord]:
    """The training loop: the adapter on `policy` learns the actions in `sequences`, balanced by their `types`."""
    trunk = shared_prefix_length([sequence.tokens for sequence in sequences])  # of all: one shape for the whole run
    optimizer = make_optimizer()
    state = load_checkpoint(scratch, policy.model, optimizer) or TrainingState(step=0, curve=[])
    curve = [UpdateRecord(**row) for row in state.curve]
    order = batches(types, params)
    with progress(section, params.updates, done=state.step) as report:
        for step in range(state.step, params.updates):
            chosen = [(sequences[index].tokens, sequences[index].action_mask) for index in order[step]]
            tree = make_tree([chosen], rows=params.micro_batch_size, trunk_length=trunk)
            count = tree.action_tokens
            loss, gradients, _ = loss_and_gradients(
                policy, tree, lambda logprobs, batch, count=count: -(logprobs * batch.weights).sum() / count
            )
            rate = learning_rate_at(step, params.updates, params.optimizer)
            try:
                norm = apply_gradients(
                    policy.model, optimizer, gradients, learning_rate=rate, gradient_norm=params.gradient_norm
                )
            except ArithmeticError as error:
                raise UserError(f"params.yaml: {section}.learning_rate: update {step + 1} diverged: {error}") from error
            curve.append(UpdateRecord(step + 1, round(loss.item(), 6), round(rate, 9), round(norm, 6), count))
            observe(curve)
            report(step + 1, f"loss {loss.item():.4f}")
            if (step + 1) % params.checkpoint_every == 0 and step + 1 < params.updates:
                save_checkpoint(scratch, policy.model, optimizer, TrainingState(step + 1, [vars(row) for row in curve]))
    return curve


def final_loss(curve: Sequence[UpdateRecord], updates: int = 10) -> float:
    """The mean loss of the last few updates, since that of a single batch depends on which types are in it."""
    last = curve[-updates:]
    return round(sum(row.loss for row in last) / len(last), 6)


def tokenise(policy: PolicyModel, demonstrations: Sequence[Episode]) -> list[TokenSequence]:
    """The demonstrations as tokens, in their order; UserError when there is none or one holds nothing to learn."""
    if not demonstrations:
        raise UserError("data/demonstrations.jsonl: there is no demonstration to learn from; check params.yaml: teach")
    sequences = [policy.dialogue.demonstration(episode.messages) for episode in demonstrations]
    for episode, sequence in zip(demonstrations, sequences, strict=True):
        if not any(sequence.action_mask):
            raise ValueError(f"demonstration {episode.id} has no action to learn")
    return sequences


def batches(types: Sequence[str], params: SupervisedParams) -> list[list[int]]:
    """Which episodes each update learns from, by index, given the question type of each.

    Balanced by type, so that types with many questions do not crowd out the others and an update sees most of them:
    each round takes one episode of every type, in random order, and no type repeats one before all were taken.
    """
    members: dict[str, list[int]] = {}
    for index, name in enumerate(types):
        members.setdefault(name, []).append(index)
    left: dict[str, list[int]] = {name: [] for name in members}
    order: list[int] = []
    for turn in itertools.count():
        if len(order) >= params.updates * params.batch_size:
            break
        generator = random.Random(f"{params.seed}/distill/{turn}")
        for name in generator.sample(sorted(members), len(members)):
            left[name] = left[name] or generator.sample(members[name], len(members[name]))
            order.append(left[name].pop())
    size = params.batch_size
    return [order[start : start + size] for start in range(0, params.updates * size, size)]

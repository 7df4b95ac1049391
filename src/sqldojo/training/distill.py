"""Distillation: supervised training of an adapter on verified episodes, on the agent's own actions only.

It is done twice in a chain: first a fresh adapter learns from the teacher's demonstrations, and after GRPO the adapter
as it then is learns, at a lower rate, from the teacher's and from its own solutions (expert iteration: T. Anthony, Z.
Tian and D. Barber, "Thinking Fast and Slow with Deep Learning and Tree Search", 2017, arXiv 1705.08439).
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sqldojo.errors import UserError
from sqldojo.progress import unobserved
from sqldojo.records import Episode
from sqldojo.training.dialogue import TokenSequence
from sqldojo.training.policy_model import LoraParams, PolicyModel, add_fresh_adapter
from sqldojo.training.supervised import Observe, SupervisedParams, UpdateRecord, batches, learn


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
    steps = _steps(sequences, [each.type for each in demonstrations], params)
    return learn(policy, steps, params, scratch, "distill", observe=observe)


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
    return learn(policy, _steps(sequences, types, params), params, scratch, "redistill", observe=observe)


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


def _steps(
    sequences: Sequence[TokenSequence], types: Sequence[str], params: SupervisedParams
) -> list[list[TokenSequence]]:
    lengths = [len(each.tokens) for each in sequences]
    return [[sequences[index] for index in batch] for batch in batches(types, lengths, params)]


def tokenise(policy: PolicyModel, demonstrations: Sequence[Episode]) -> list[TokenSequence]:
    """The demonstrations as tokens, in their order; UserError when there is none or one holds nothing to learn."""
    if not demonstrations:
        raise UserError("data/demonstrations.jsonl: there is no demonstration to learn from; check params.yaml: teach")
    sequences = [policy.dialogue.demonstration(episode.messages) for episode in demonstrations]
    for episode, sequence in zip(demonstrations, sequences, strict=True):
        if not any(sequence.action_mask):
            raise ValueError(f"demonstration {episode.id} has no action to learn")
    return sequences

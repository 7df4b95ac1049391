"""What one step of GRPO learns from: its groups by the policy loss, and replayed demonstrations beside them.

Rollouts and demonstrations of one database begin with the same system prompt and schema, so they are one tree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import mlx.core as mx
from mlx.utils import tree_map, tree_unflatten

from sqldojo.records import CORRECT, Episode
from sqldojo.training.advantages import advantages, sampling_logprobs, trained_mask
from sqldojo.training.dialogue import TokenSequence
from sqldojo.training.guards import Guards
from sqldojo.training.policy_gradient import policy_loss
from sqldojo.training.policy_model import PolicyModel
from sqldojo.training.shared_prefix import Batch, PrefixTree, action_logprobs, loss_and_gradients, make_tree

Group = Sequence[Episode]  # all attempts at one question
PerToken = list[list[float]]  # a list a sequence, as long as it
TrainedToken = tuple[float, float, float, float, float]  # logprob, sampled, reference, advantage, right


@dataclass(frozen=True)
class Lesson:
    """The sequences of a step as a tree, and what each of their tokens says; the episodes come first.

    `of_episodes` is the tree of these alone, whose logprobs under the reference policy are wanted.

    `sampled` are the sampler's logprobs, nan where a token was not sampled; `right` is 1 in episodes with a right
    answer; `policy` and `replay` are the weights of a token in the two losses, 0 in the sequences of the other.
    """

    tree: PrefixTree
    of_episodes: PrefixTree | None
    sampled: PerToken
    advantages: PerToken
    right: PerToken
    policy: PerToken
    replay: PerToken

    def trained_tokens(self, logprobs: PerToken, reference: PerToken) -> list[TrainedToken]:
        """The trained tokens of the episodes, one after the other, as `token_statistics` takes their columns."""
        columns = (logprobs, self.sampled, reference, self.advantages, self.right, self.policy)
        return [
            values[:-1]
            for sequence in zip(*columns, strict=True)
            for values in zip(*sequence, strict=True)
            if values[-1]
        ]


def make_lesson(
    groups: Sequence[Group], replayed: Sequence[TokenSequence], guards: Guards, *, rows: int, replayed_tokens: int
) -> Lesson | None:
    """The lesson of these groups and demonstrations, `rows` sequences in a micro-batch; None without a token to train.

    Each action token of a replayed demonstration weighs 1 / `replayed_tokens`, their number over all ranks.
    """
    sequences = [[(episode.tokens, trained_mask(episode, guards)) for episode in group] for group in groups]
    masks = [mask for group in sequences for _, mask in group]
    if not replayed and not any(map(any, masks)):
        return None
    episodes = [episode for group in groups for episode in group]
    values = [value for group in groups for value in advantages(group, guards)]
    demonstrations = [(sequence.tokens, sequence.action_mask) for sequence in replayed]
    nothing: PerToken = [[0.0] * len(sequence.tokens) for sequence in replayed]
    return Lesson(
        tree=make_tree([*sequences, demonstrations], rows=rows),
        of_episodes=make_tree(sequences, rows=rows) if any(map(any, masks)) else None,
        sampled=[*map(sampling_logprobs, episodes), *nothing],
        advantages=[*([value] * len(mask) for value, mask in zip(values, masks, strict=True)), *nothing],
        right=[*([float(each.outcome == CORRECT)] * len(each.tokens) for each in episodes), *nothing],
        policy=[*(list(map(float, mask)) for mask in masks), *nothing],
        replay=[
            *([0.0] * len(mask) for mask in masks),
            *([learnt / replayed_tokens for learnt in sequence.action_mask] for sequence in replayed),
        ],
    )


def lesson_gradients(
    policy: PolicyModel, lesson: Lesson, reference: PerToken, denominator: float, guards: Guards
) -> tuple[Any, PerToken]:
    """The gradients of the step's loss in the adapter, and the logprobs of its tokens before the update.

    The loss is `policy_gradient.policy_loss` plus `replay_weight` times the mean loss of the replayed actions.
    """

    def loss(logprobs: mx.array, batch: Batch) -> mx.array:
        of_policy = policy_loss(
            logprobs,
            batch.pick(lesson.sampled),
            batch.pick(reference),
            batch.pick(lesson.advantages),
            batch.pick(lesson.policy),
            denominator,
            guards,
        )
        return of_policy - guards.replay_weight * (logprobs * batch.pick(lesson.replay)).sum()

    _, gradients, logprobs = loss_and_gradients(policy, lesson.tree, loss)
    return gradients, logprobs


def reference_logprobs(policy: PolicyModel, weights: Mapping[str, mx.array], lesson: Lesson) -> PerToken:
    """The logprobs of the episodes' tokens under the reference policy: the same model with that adapter's `weights`."""
    with _adapter_swapped(policy, weights):
        found = action_logprobs(policy, lesson.of_episodes) if lesson.of_episodes else []
    return [*found, *([0.0] * len(each) for each in lesson.replay[len(found) :])]


@contextmanager
def _adapter_swapped(policy: PolicyModel, weights: Mapping[str, mx.array]) -> Iterator[None]:
    own = policy.model.trainable_parameters()
    policy.model.update(tree_unflatten(list(weights.items())))
    try:
        yield
    finally:
        policy.model.update(own)


def zero_gradients(policy: PolicyModel) -> Any:
    """A gradient of nothing, for a rank without a group and for a step without signal whose guard is off."""
    return tree_map(mx.zeros_like, policy.model.trainable_parameters())

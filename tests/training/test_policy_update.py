"""A step's gradient is that of the loss as written down, token by token, each sequence run alone."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import mlx.core as mx
import mlx.nn as nn
import pytest
from grpo_settings import GUARDS
from mlx.utils import tree_flatten
from tiny_policy import with_adapter

from sqldojo.agent.episode import REWARDS
from sqldojo.records import CORRECT, OUT_OF_BUDGET, WRONG_SQL, Episode
from sqldojo.training.advantages import advantages
from sqldojo.training.dialogue import TokenSequence
from sqldojo.training.policy_model import PolicyModel, adapter_weights
from sqldojo.training.policy_update import lesson_gradients, make_lesson, reference_logprobs, zero_gradients

TRUNK = [random.Random("trunk").randrange(259) for _ in range(40)]
DENOMINATOR = 77.0


def sequence(name: str, question: Sequence[int], turns: Sequence[int]) -> tuple[list[int], list[int]]:
    """A dialogue: the prompt, then actions and results of these lengths in turn."""
    generator = random.Random(name)
    tokens, mask = [*TRUNK, *question], [0] * (len(TRUNK) + len(question))
    for number, length in enumerate(turns):
        tokens += [generator.randrange(259) for _ in range(length)]
        mask += [1 - number % 2] * length
    return tokens, mask


def episode(question: str, number: int, outcome: str, turns: Sequence[int]) -> Episode:
    asked = [random.Random(question).randrange(259) for _ in range(24)]
    tokens, mask = sequence(f"{question}/{number}", asked, turns)
    generator = random.Random(f"{question}/{number}/logprobs")
    logprobs = [-generator.uniform(4.0, 7.0) if sampled else 0.0 for sampled in mask]
    return Episode(
        f"{question}/{number}", question, "t", "train", number, (), outcome, REWARDS[outcome], "",
        tokens=tuple(tokens), action_mask=tuple(mask), logprobs=tuple(logprobs),
    )  # fmt: skip


GROUPS = [
    [episode("a", 0, CORRECT, (5, 3, 9)), episode("a", 1, WRONG_SQL, (30,)),
     episode("a", 2, WRONG_SQL, (2, 8, 2, 1, 4)), episode("a", 3, CORRECT, (11,))],
    [episode("b", 0, WRONG_SQL, (7,)), episode("b", 1, CORRECT, (6, 2, 6)), episode("b", 2, OUT_OF_BUDGET, (20, 4)),
     episode("b", 3, WRONG_SQL, (1,))],
]  # fmt: skip
REPLAYED = [TokenSequence(*map(tuple, sequence(f"d{number}", [number, 7], (12, 5, 3)))) for number in range(2)]
OPEN = replace(GUARDS, clip_low=1.0, clip_high=1e9, importance_cap=1e9)


@pytest.fixture(scope="module")
def adapted(tiny_folder: Path) -> PolicyModel:
    return with_adapter(tiny_folder)


def alone(policy: PolicyModel, tokens: Sequence[int]) -> mx.array:
    """The logprob of every token but the first, from a plain forward pass."""
    logits = policy.model(mx.array([list(tokens[:-1])]))[0]
    logprobs = logits - mx.logsumexp(logits, axis=-1, keepdims=True)
    return mx.take_along_axis(logprobs, mx.array(list(tokens[1:]))[:, None], axis=-1).squeeze(-1)


@pytest.mark.parametrize("rows", [1, 2, 4])
def test_the_gradient_is_that_of_the_loss_as_written_down(adapted: PolicyModel, rows: int) -> None:
    """Advantage times ratio over a constant, k3 to the reference, and the replayed demonstrations' mean loss."""
    guards = replace(OPEN, kl_weight=0.3, replay_weight=0.2)
    other = {name: 0.8 * tensor for name, tensor in adapter_weights(adapted.model).items()}
    replayed_tokens = sum(sum(each.action_mask) for each in REPLAYED)
    lesson = make_lesson(GROUPS, REPLAYED, guards, rows=rows, replayed_tokens=replayed_tokens)
    before = dict(adapter_weights(adapted.model))
    reference = reference_logprobs(adapted, other, lesson)
    gradients, logprobs = lesson_gradients(adapted, lesson, reference, DENOMINATOR, guards)
    assert all(mx.array_equal(before[name], tensor) for name, tensor in adapter_weights(adapted.model).items())

    def written_down(_: nn.Module) -> mx.array:
        total = mx.array(0.0)
        episodes = [each for group in GROUPS for each in group]
        values = [value for group in GROUPS for value in advantages(group, guards)]
        for number, (each, advantage) in enumerate(zip(episodes, values, strict=True)):
            if each.outcome == OUT_OF_BUDGET:
                continue
            current = alone(adapted, each.tokens)
            for place, sampled in enumerate(each.action_mask):
                if sampled:
                    ratio = mx.exp(current[place - 1] - each.logprobs[place])
                    difference = reference[number][place] - current[place - 1]
                    k3 = mx.exp(difference) - difference - 1
                    total = total + (0.3 * k3 - advantage * ratio) / DENOMINATOR
        for each in REPLAYED:
            learnt = alone(adapted, each.tokens) * mx.array(each.action_mask[1:])
            total = total - 0.2 * learnt.sum() / replayed_tokens
        return total

    _, expected = nn.value_and_grad(adapted.model, written_down)(adapted.model)
    gradients, expected = dict(tree_flatten(gradients)), dict(tree_flatten(expected))
    assert gradients.keys() == expected.keys()
    for name, gradient in expected.items():
        largest = mx.abs(gradient).max().item()
        assert largest > 0
        assert mx.abs(gradients[name] - gradient).max().item() <= 2e-4 * largest, name
    for each, found in zip([e for group in GROUPS for e in group], logprobs, strict=False):
        if each.outcome != OUT_OF_BUDGET:
            wanted = [0.0, *(alone(adapted, each.tokens) * mx.array(each.action_mask[1:])).tolist()]
            assert found == pytest.approx(wanted, abs=1e-4)


def test_only_the_model_s_own_tokens_are_trained() -> None:
    lesson = make_lesson(GROUPS, [], GUARDS, rows=2, replayed_tokens=0)
    episodes = [each for group in GROUPS for each in group]
    zeros = [[0.0] * len(each.tokens) for each in episodes]
    tokens = lesson.trained_tokens(zeros, zeros)
    trained = [each for each in episodes if each.outcome != OUT_OF_BUDGET]
    assert len(tokens) == sum(sum(each.action_mask) for each in trained) == lesson.tree.action_tokens
    sampled = [logprob for each in trained for logprob, own in zip(each.logprobs, each.action_mask, strict=True) if own]
    assert [row[1] for row in tokens] == sampled
    assert {row[4] for row in tokens} == {0.0, 1.0}


def test_the_switch_trains_results_too_with_ratio_one() -> None:
    lesson = make_lesson(GROUPS[:1], [], replace(GUARDS, loss_on="actions_and_results"), rows=2, replayed_tokens=0)
    zeros = [[0.0] * len(each.tokens) for each in GROUPS[0]]
    sampled = [row[1] for row in lesson.trained_tokens(zeros, zeros)]
    results = sum(len(each.tokens) - 64 - sum(each.action_mask) for each in GROUPS[0])
    assert sum(map(math.isnan, sampled)) == results > 0


def test_a_masked_episode_changes_nobody_else_s_gradient(adapted: PolicyModel) -> None:
    """It counts in its group's mean, and there only."""
    found = []
    for turns in ((20, 4), (3,)):
        groups = [GROUPS[0], [*GROUPS[1][:2], episode("b", 2, OUT_OF_BUDGET, turns), GROUPS[1][3]]]
        lesson = make_lesson(groups, [], GUARDS, rows=2, replayed_tokens=0)
        reference = reference_logprobs(adapted, adapter_weights(adapted.model), lesson)
        found.append(dict(tree_flatten(lesson_gradients(adapted, lesson, reference, DENOMINATOR, GUARDS)[0])))
    assert all(mx.array_equal(found[0][name], found[1][name]) for name in found[0])


def test_nothing_to_train_is_no_lesson(adapted: PolicyModel) -> None:
    cut_off = [episode("c", number, OUT_OF_BUDGET, (9,)) for number in range(3)]
    assert make_lesson([cut_off], [], GUARDS, rows=2, replayed_tokens=0) is None
    assert make_lesson([], [], GUARDS, rows=2, replayed_tokens=0) is None
    assert make_lesson([], REPLAYED, GUARDS, rows=2, replayed_tokens=40).tree.action_tokens == 30
    assert all((tensor == 0).all().item() for _, tensor in tree_flatten(zero_gradients(adapted)))

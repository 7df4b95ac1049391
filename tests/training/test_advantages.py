"""Advantages against their formulas, the numbers of known failures, and the rule for episodes that a limit cut off."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import grpo_settings
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqldojo.agent.episode import REWARDS
from sqldojo.records import CORRECT, NEVER_SUBMITTED, OUT_OF_BUDGET, OUTCOMES, WRONG_SQL, Episode
from sqldojo.training.advantages import (
    advantages,
    is_informative,
    sampler_looks_stuck,
    sampling_logprobs,
    summarise_rollouts,
    trained_mask,
)
from sqldojo.training.guards import Guards

GUARDS = replace(grpo_settings.GUARDS, negative_weight=1.0)
TRAINED = replace(GUARDS, cut_off="trained")
STANDARD = replace(TRAINED, standardise_advantages=True)
outcome_lists = st.lists(st.sampled_from(OUTCOMES), min_size=2, max_size=16)
checked = settings(max_examples=60, deadline=None, derandomize=True)


def episode(outcome: str, number: int = 0, *, reward: float | None = None, logprob: float = -0.5) -> Episode:
    """Prompt of 2 tokens, an action of 2, a tool's result of 1, an action of 1 to 3 that tells attempts apart."""
    last = [90 + number] * (1 + number % 3)
    tokens, mask = [1, 2, 3, 4, 5, *last], [0, 0, 1, 1, 0, *[1] * len(last)]
    return Episode(
        f"q/{number}", "q", "count", "train", number, (), outcome, REWARDS[outcome] if reward is None else reward, "",
        tokens=tuple(tokens), action_mask=tuple(mask), logprobs=tuple(logprob * sampled for sampled in mask),
    )  # fmt: skip


def group(outcomes: Sequence[str]) -> list[Episode]:
    return [episode(outcome, number) for number, outcome in enumerate(outcomes)]


@checked
@given(outcome_lists)
def test_advantages_of_a_group_sum_to_zero(outcomes: list[str]) -> None:
    assert sum(advantages(group(outcomes), TRAINED)) == pytest.approx(0, abs=1e-12)


@checked
@given(outcome_lists, st.sampled_from([TRAINED, STANDARD, GUARDS]), st.floats(-3, 3))
def test_a_constant_added_to_all_rewards_changes_nothing(outcomes: list[str], guards: Guards, constant: float) -> None:
    episodes = group(outcomes)
    shifted = [replace(one, reward=one.reward + constant) for one in episodes]
    if len(set(outcomes)) > 1:
        assert advantages(shifted, guards) == pytest.approx(advantages(episodes, guards), abs=1e-6)


@checked
@given(outcome_lists)
def test_standardised_are_divided_by_the_deviation(outcomes: list[str]) -> None:
    rewards = np.array([REWARDS[outcome] for outcome in outcomes])
    if np.ptp(rewards) > 0:
        assert advantages(group(outcomes), STANDARD) == pytest.approx((rewards - rewards.mean()) / rewards.std())


@pytest.mark.parametrize("size", [1, 3, 7, 16])
@pytest.mark.parametrize("guards", [TRAINED, STANDARD])
def test_equal_rewards_give_exactly_nothing(size: int, guards: Guards) -> None:
    """The mean of three times -0.2 is not -0.2; divided by its tiny deviation the difference would be about 1."""
    assert advantages(group([OUT_OF_BUDGET] * size), guards) == [0.0] * size


def test_negative_ones_are_weighted_after_everything_else() -> None:
    outcomes = [CORRECT, CORRECT, WRONG_SQL, NEVER_SUBMITTED]
    assert advantages(group(outcomes), replace(GUARDS, negative_weight=0.5)) == pytest.approx([0.5, 0.5, -0.25, -0.25])
    standard = replace(STANDARD, negative_weight=0.5)
    assert advantages(group(outcomes), standard) == pytest.approx([1, 1, -0.5, -0.5])


def test_the_deviation_blows_up_groups_that_say_little() -> None:
    """One odd attempt of 16: 15 times its share with the deviation; a hopeless group weighs as much as any."""
    one_right = group([CORRECT] + [WRONG_SQL] * 15)
    hopeless = group([OUT_OF_BUDGET] + [WRONG_SQL] * 15)
    assert advantages(one_right, STANDARD)[0] == pytest.approx(3.87, abs=0.005)
    assert sum(map(abs, advantages(hopeless, STANDARD))) == pytest.approx(7.7, abs=0.05)
    assert sum(map(abs, advantages(one_right, STANDARD))) == pytest.approx(7.7, abs=0.05)
    assert sum(map(abs, advantages(hopeless, TRAINED))) == pytest.approx(0.38, abs=0.005)
    assert sum(map(abs, advantages(one_right, TRAINED))) == pytest.approx(1.88, abs=0.005)


@pytest.mark.parametrize(
    ("outcomes", "with_guard", "without"),
    [
        ([CORRECT] * 16, False, False),
        ([WRONG_SQL] * 16, False, False),
        ([WRONG_SQL] * 15 + [NEVER_SUBMITTED], False, False),
        ([WRONG_SQL] * 15 + [OUT_OF_BUDGET], False, True),
        ([WRONG_SQL] * 15 + [CORRECT], True, True),
        ([CORRECT] * 15 + [OUT_OF_BUDGET], True, True),
    ],
)
def test_informative_means_right_and_not_right(outcomes: list[str], with_guard: bool, without: bool) -> None:
    assert is_informative(group(outcomes), True) is with_guard
    assert is_informative(group(outcomes), False) is without


def test_masked_episodes_count_in_the_mean_and_are_not_trained() -> None:
    episodes = group([CORRECT, WRONG_SQL, OUT_OF_BUDGET])
    mean = 0.8 / 3
    assert advantages(episodes, GUARDS) == pytest.approx([1 - mean, -mean, 0])
    assert advantages(episodes, TRAINED) == pytest.approx([1 - mean, -mean, -0.2 - mean])
    assert [sum(trained_mask(one, GUARDS)) for one in episodes] == [3, 4, 0]
    assert [sum(trained_mask(one, TRAINED)) for one in episodes] == [3, 4, 5]


@checked
@given(outcome_lists.filter(lambda outcomes: CORRECT in outcomes and set(outcomes) != {CORRECT}), st.integers(1, 4))
def test_adding_masked_episodes_changes_no_trained_token_and_no_length(outcomes: list[str], added: int) -> None:
    before = group(outcomes)
    after = [*before, *(episode(OUT_OF_BUDGET, 50 + number) for number in range(added))]
    assert [trained_mask(one, GUARDS) for one in after[: len(before)]] == [trained_mask(one, GUARDS) for one in before]
    assert not any(sum(trained_mask(one, GUARDS)) for one in after[len(before) :])
    assert advantages(after, GUARDS)[len(before) :] == [0.0] * added
    alone, together = summarise_rollouts([before], GUARDS), summarise_rollouts([after], GUARDS)
    for name in ("trained_tokens", "tokens_right", "tokens_wrong"):
        assert getattr(together, name) == getattr(alone, name)


def test_the_loss_takes_actions_or_all_behind_the_prompt() -> None:
    one = episode(WRONG_SQL)
    assert trained_mask(one, GUARDS) == (0, 0, 1, 1, 0, 1)
    with_results = replace(GUARDS, loss_on="actions_and_results")
    assert trained_mask(one, with_results) == (0, 0, 1, 1, 1, 1)
    assert trained_mask(episode(OUT_OF_BUDGET), with_results) == (0,) * 6
    assert trained_mask(replace(one, action_mask=(0,) * 6), with_results) == (0,) * 6


def test_sampling_logprobs_tell_what_was_not_sampled() -> None:
    values = sampling_logprobs(replace(episode(WRONG_SQL), logprobs=(0.0, 0.0, -0.5, 0.0, 0.0, -0.25)))
    assert values[2:4] == [-0.5, 0.0] and values[5] == -0.25
    assert [math.isnan(value) for value in values] == [True, True, False, False, True, False]


def test_a_stuck_sampler_is_told_from_a_mastered_question() -> None:
    def alike(logprob: float) -> list[Episode]:
        return [replace(episode(CORRECT, logprob=logprob), attempt=number) for number in range(16)]

    assert sampler_looks_stuck(alike(-0.5))  # three tokens: chance exp(-1.5 * 15)
    assert not sampler_looks_stuck(alike(-0.4))
    assert not sampler_looks_stuck(group([CORRECT] * 16))
    assert not sampler_looks_stuck([episode(CORRECT, logprob=-9.0)])


def test_summary_of_a_step() -> None:
    groups = [
        group([CORRECT] * 4),
        group([WRONG_SQL] * 3 + [OUT_OF_BUDGET]),
        group([CORRECT, WRONG_SQL, WRONG_SQL, OUT_OF_BUDGET]),
        [episode(CORRECT, 0)] * 3 + [episode(NEVER_SUBMITTED, 1)],
    ]
    summary = summarise_rollouts(groups, GUARDS)
    assert (summary.groups, summary.informative) == (4, 2)
    assert summary.reward == pytest.approx((4 - 0.2 + 0.8 + 3) / 16)
    assert summary.accuracy == 8 / 16 and summary.cut_off == 2 / 16
    assert (summary.all_right, summary.all_wrong) == (0.25, 0.25)
    assert summary.distinct == pytest.approx((1 + 1 + 1 + 0.5) / 4)
    assert summary.entropy == pytest.approx(0.5)
    third, fourth = advantages(groups[2], GUARDS), advantages(groups[3], GUARDS)
    assert summary.positive == pytest.approx(third[0] + 3 * 0.25) and summary.negative == pytest.approx(0.4 + 0.75)
    assert summary.weight_lopsided == summary.weight_no_right == summary.weight_cut_off == 0
    lengths = [3 + number % 3 for number in range(4)]
    assert summary.tokens_right == pytest.approx((sum(lengths) + lengths[0] + 3 * lengths[0]) / 8)
    assert summary.tokens_wrong == pytest.approx((sum(lengths[:3]) + lengths[1] + lengths[2] + lengths[1]) / 6)
    assert summary.trained_tokens == sum(lengths[:3]) + 3 * lengths[0] + lengths[1]
    assert fourth == pytest.approx([0.25] * 3 + [-0.75])


def test_summary_shows_what_the_missing_guards_let_in() -> None:
    loose = replace(STANDARD, right_answer_needed=False)
    hopeless, nearly = group([WRONG_SQL] * 15 + [OUT_OF_BUDGET]), group([CORRECT] * 15 + [WRONG_SQL])
    summary = summarise_rollouts([hopeless, nearly], loose)
    assert summary.informative == 2
    assert summary.weight_no_right == pytest.approx(0.5) and summary.weight_lopsided == pytest.approx(1)
    assert summary.weight_cut_off == pytest.approx(0.25)  # half of the hopeless group's
    assert summarise_rollouts([hopeless, nearly], GUARDS).weight_no_right == 0


def test_a_step_without_signal_has_a_summary() -> None:
    summary = summarise_rollouts([group([WRONG_SQL] * 4), group([OUT_OF_BUDGET] * 4)], GUARDS)
    assert (summary.informative, summary.trained_tokens, summary.positive, summary.negative) == (0, 0, 0, 0)
    assert (summary.weight_no_right, summary.tokens_right) == (0, None)
    with pytest.raises(ValueError, match="no groups"):
        summarise_rollouts([], GUARDS)

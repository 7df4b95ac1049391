"""What a group of attempts at one question says to the optimizer: which tokens are trained, and how strongly.

A cut-off episode is one that ended as `out_of_budget`, whichever limit ended it: the tokens of a turn, the tokens of
the episode or the turns.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqldojo.records import CORRECT, OUT_OF_BUDGET, Episode
from sqldojo.training.guards import ACTIONS, MASKED, Guards

_LOPSIDED = 0.2  # a group with a smaller share of right, or of not right, attempts says little about the question
_UNLIKELY = 1e-9


def is_informative(group: Sequence[Episode], right_answer_needed: bool) -> bool:
    """Whether some attempts are right and some are not; without the guard, whether rewards differ at all."""
    if right_answer_needed:
        return 0 < _right(group) < len(group)
    return len({episode.reward for episode in group}) > 1


def is_masked(episode: Episode, guards: Guards) -> bool:
    """Whether the episode is cut off and such episodes are not trained."""
    return guards.cut_off == MASKED and episode.outcome == OUT_OF_BUDGET


def advantages(group: Sequence[Episode], guards: Guards) -> list[float]:
    """The advantage of each episode: its reward minus the group's mean (Dr. GRPO, arXiv 2503.20783).

    With `standardise_advantages` it is divided by the group's population deviation (GRPO, arXiv 2402.03300). Then
    negative ones are multiplied by `negative_weight`. A masked episode counts in mean and deviation and has 0.
    """
    rewards = [episode.reward for episode in group]
    if min(rewards) == max(rewards):  # the mean of equal rewards may differ from them in its last bit
        return [0.0] * len(group)
    mean = math.fsum(rewards) / len(rewards)
    scale = 1.0
    if guards.standardise_advantages:
        scale = math.sqrt(math.fsum((reward - mean) ** 2 for reward in rewards) / len(rewards))
    centred = [(reward - mean) / scale for reward in rewards]
    weighted = [value * guards.negative_weight if value < 0 else value for value in centred]
    return [0.0 if is_masked(episode, guards) else value for episode, value in zip(group, weighted, strict=True)]


def trained_mask(episode: Episode, guards: Guards) -> tuple[int, ...]:
    """1 for each token that is trained: the actions, none of them in a masked episode.

    With `loss_on: actions_and_results` all tokens behind the prompt, so the tool's results too.
    """
    if is_masked(episode, guards) or not any(episode.action_mask):
        return (0,) * len(episode.tokens)
    if guards.loss_on == ACTIONS:
        return episode.action_mask
    prompt = episode.action_mask.index(1)
    return (0,) * prompt + (1,) * (len(episode.tokens) - prompt)


def sampling_logprobs(episode: Episode) -> list[float]:
    """The sampler's logprob of each token, nan where the token was not sampled, as `policy_loss` wants it."""
    return [
        logprob if sampled else math.nan for logprob, sampled in zip(episode.logprobs, episode.action_mask, strict=True)
    ]


def sampler_looks_stuck(group: Sequence[Episode]) -> bool:
    """Whether all attempts are the same, token by token, although chance gives that less than once in 1e9 groups.

    A random generator that stands still does it. Mastered questions have equal attempts too, but likely ones.
    """
    if len({episode.tokens for episode in group}) > 1:
        return False
    return (len(group) - 1) * math.fsum(group[0].logprobs) < math.log(_UNLIKELY)


@dataclass(frozen=True)
class RolloutSummary:
    """What the rollouts of a step were like, for its row of the log. Shares lie in [0, 1].

    Of all groups: `reward`, `accuracy` and `cut_off` (share) over episodes; `all_right` and `all_wrong` (no right
    answer), the shares of groups; `distinct`, the mean share of different attempts in a group; `entropy`, the mean of
    -logprob over sampled tokens in nats, which estimates the policy's entropy; `tokens_right` and `tokens_wrong`, the
    mean number of trained tokens of the episodes that are not masked, None without any.

    Of the informative groups, which are trained: `trained_tokens`; `positive` and `negative`, the sums of positive and
    of negative advantages, as absolute values; and the shares of the two together that fall on groups without a right
    answer (`weight_no_right`), on groups with less than 20 % right or less than 20 % not right (`weight_lopsided`), and
    on cut-off episodes (`weight_cut_off`).
    """

    groups: int
    informative: int
    reward: float
    accuracy: float
    cut_off: float
    all_right: float
    all_wrong: float
    distinct: float
    entropy: float
    tokens_right: float | None
    tokens_wrong: float | None
    trained_tokens: int
    positive: float
    negative: float
    weight_no_right: float
    weight_lopsided: float
    weight_cut_off: float


def summarise_rollouts(groups: Sequence[Sequence[Episode]], guards: Guards) -> RolloutSummary:
    """The summary of a step's groups, each all attempts at one question; ValueError when there is none."""
    if not groups:
        raise ValueError("no groups to summarise")
    episodes = [episode for group in groups for episode in group]
    informative = [group for group in groups if is_informative(group, guards.right_answer_needed)]
    trained = [(group, advantages(group, guards)) for group in informative]
    values = [value for _, group_values in trained for value in group_values]
    total = math.fsum(map(abs, values))

    def share(weights: Iterable[float]) -> float:
        return math.fsum(map(abs, weights)) / total if total else 0.0

    return RolloutSummary(
        groups=len(groups),
        informative=len(informative),
        reward=_mean([episode.reward for episode in episodes]),
        accuracy=_right(episodes) / len(episodes),
        cut_off=sum(episode.outcome == OUT_OF_BUDGET for episode in episodes) / len(episodes),
        all_right=sum(_right(group) == len(group) for group in groups) / len(groups),
        all_wrong=sum(_right(group) == 0 for group in groups) / len(groups),
        distinct=_mean([len({episode.tokens for episode in group}) / len(group) for group in groups]),
        entropy=_entropy(episodes),
        tokens_right=_mean_length([episode for episode in episodes if episode.outcome == CORRECT], guards),
        tokens_wrong=_mean_length([episode for episode in episodes if episode.outcome != CORRECT], guards),
        trained_tokens=sum(sum(trained_mask(episode, guards)) for group in informative for episode in group),
        positive=math.fsum(value for value in values if value > 0),
        negative=-math.fsum(value for value in values if value < 0),
        weight_no_right=share(value for group, own in trained if _right(group) == 0 for value in own),
        weight_lopsided=share(value for group, own in trained if _is_lopsided(group) for value in own),
        weight_cut_off=share(
            value
            for group, own in trained
            for episode, value in zip(group, own, strict=True)
            if episode.outcome == OUT_OF_BUDGET
        ),
    )


def _right(group: Sequence[Episode]) -> int:
    return sum(episode.outcome == CORRECT for episode in group)


def _is_lopsided(group: Sequence[Episode]) -> bool:
    right = _right(group)
    return min(right, len(group) - right) < _LOPSIDED * len(group)


def _entropy(episodes: Sequence[Episode]) -> float:
    tokens = sum(sum(episode.action_mask) for episode in episodes)
    return -math.fsum(logprob for episode in episodes for logprob in episode.logprobs) / tokens if tokens else 0.0


def _mean_length(episodes: Sequence[Episode], guards: Guards) -> float | None:
    lengths = [sum(trained_mask(episode, guards)) for episode in episodes if not is_masked(episode, guards)]
    return _mean(lengths) if lengths else None


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)

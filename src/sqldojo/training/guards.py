"""The guards against the ways in which more training makes a policy worse, each a switch in params.yaml."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

MASKED, TRAINED = "masked", "trained"
ACTIONS, ACTIONS_AND_RESULTS = "actions", "actions_and_results"

_COMPARED_STEPS = 5  # a few, since the questions drawn make the lengths of single steps differ


@dataclass(frozen=True)
class Guards:
    """The section `grpo.guards`; each line says what goes wrong without the guard, and the value that turns it off.

    - `optimizer_needs_signal` (false): a step with fewer informative groups than wanted still moves the policy, as far
      as a full one, since Adam's moments go on by themselves and scale what little there is.
    - `bias_correction` (false): early steps are several times as long as the learning rate says.
    - `standardise_advantages` (true): division by the group's deviation blows up nearly solved and hopeless questions.
    - `right_answer_needed` (false): groups without a right answer count, and teach how to be wrong in style.
    - `draw_by_signal` (false): mastered questions take the rollouts, few groups are mixed and updates get noisy.
    - `mastered_floor` (0): what is mastered is not played again for long and is forgotten unseen. The least weight of a
      question in the draw, as a share of the largest.
    - `negative_weight` (1): wrong attempts dominate, push probability anywhere and take the right ones' down as well.
      Factor on negative advantages.
    - `cut_off` (`trained`): attempts that a limit ended are trained as wrong, and the policy learns to be short. With
      `masked` they count in their group's mean but their tokens are not trained.
    - `loss_on` (`actions_and_results`): the policy learns to invent the tool's results.
    - `clip_low`, `clip_high` (1 and a large number): several updates on the same rollouts move too far; with equal
      bounds rare tokens hardly rise. How far the ratio to the sampling policy may fall below and rise above 1.
    - `importance_cap` (a large number): a token on which sampler and trainer disagree dominates the gradient. The
      largest weight of a token.
    - `kl_weight` (0): drift from the starting adapter, in formats and skills that the reward does not see.
    - `kl_limit` (a large number): the same, slowly. The run stops above it; nats a token.
    - `dlogp_limit` (a large number): sampler and trainer compute different policies, which looks like training. The run
      stops when they differ by more in the mean; nats a token.
    - `entropy_floor` (0): the policy collapses to one answer and no group is mixed any more. The run stops below it;
      nats a token.
    - `length_alarm` (a large number): attempts grow into gibberish, up to the budget of tokens. The run stops when they
      get longer by a larger share while the reward falls; see `length_rise`.
    - `replay_weight` (0): demonstrated skills that no rollout exercises are forgotten. Weight of the supervised loss on
      demonstrations.
    """

    optimizer_needs_signal: bool
    bias_correction: bool
    standardise_advantages: bool
    right_answer_needed: bool
    draw_by_signal: bool
    mastered_floor: float
    negative_weight: float
    cut_off: str
    loss_on: str
    clip_low: float
    clip_high: float
    importance_cap: float
    kl_weight: float
    kl_limit: float
    dlogp_limit: float
    entropy_floor: float
    length_alarm: float
    replay_weight: float

    def __post_init__(self) -> None:
        for name, allowed in (("cut_off", (MASKED, TRAINED)), ("loss_on", (ACTIONS, ACTIONS_AND_RESULTS))):
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name}: must be {' or '.join(allowed)}, found {getattr(self, name)!r}")
        for name in ("mastered_floor", "negative_weight"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name}: must lie between 0 and 1, found {getattr(self, name)}")
        for name in ("kl_weight", "entropy_floor", "replay_weight"):
            if not getattr(self, name) >= 0:
                raise ValueError(f"{name}: must not be negative, found {getattr(self, name)}")
        for name in ("clip_high", "kl_limit", "dlogp_limit", "length_alarm"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name}: must be above 0, found {getattr(self, name)}")
        if not 0 < self.clip_low <= 1:
            raise ValueError(f"clip_low: must be above 0 and at most 1, found {self.clip_low}")
        if not self.importance_cap >= 1:
            raise ValueError(f"importance_cap: must be at least 1, found {self.importance_cap}")


def length_rise(curve: Sequence[Mapping[str, Any]]) -> float:
    """By what share attempts got longer while they earned less, the means of the last 5 steps against the 5 before.

    Of the rows of a run's curve; 0 when the mean reward did not fall, and while there are no 10 steps to compare.
    """
    before, last = curve[-2 * _COMPARED_STEPS : -_COMPARED_STEPS], curve[-_COMPARED_STEPS:]
    if len(before) < _COMPARED_STEPS or _mean(last, "reward") >= _mean(before, "reward"):
        return 0.0
    return _mean(last, "tokens") / _mean(before, "tokens") - 1


def _mean(rows: Sequence[Mapping[str, Any]], name: str) -> float:
    return fmean(row[name] for row in rows)

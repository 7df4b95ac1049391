"""Whether one checkpoint is better than another, question by question: both played the same ones with the same keys."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sqldojo.chains import DISTILLED, GRPO, KEPT, REDISTILLED, RELEASED
from sqldojo.evaluation.statistics import paired_interval
from sqldojo.evaluation.summary import DIGITS, grouped, right_attempts
from sqldojo.records import Episode

# What each checkpoint is compared with: where its training began; the kept one with what the teacher alone had made.
COMPARED_WITH = {DISTILLED: RELEASED, GRPO: DISTILLED, REDISTILLED: GRPO, KEPT: DISTILLED}


def chain_changes(episodes: Mapping[str, Sequence[Episode]]) -> dict[str, dict[str, dict[str, float]]]:
    """What `changes` says of every checkpoint there is and the one in COMPARED_WITH: checkpoint -> split -> change."""
    return {
        after: changes(episodes[before], episodes[after])
        for after, before in COMPARED_WITH.items()
        if after in episodes and before in episodes
    }


def changes(before: Iterable[Episode], after: Iterable[Episode]) -> dict[str, dict[str, float]]:
    """By how much the accuracy of `after` differs from that of `before`: split -> `change` with its 95 % interval.

    ValueError when they did not play the same questions as often.
    """
    sides = [grouped(episodes, "split") for episodes in (before, after)]
    if sides[0].keys() != sides[1].keys():
        raise ValueError("both must hold the same splits")
    found = {}
    for split in sides[0]:
        interval = paired_interval(*(right_attempts(side[split]) for side in sides))
        numbers = {"change": interval.mean, "change_low": interval.low, "change_high": interval.high}
        found[split] = {name: round(number, DIGITS) for name, number in numbers.items()}
    return found

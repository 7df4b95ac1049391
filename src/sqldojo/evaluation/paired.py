"""Whether one checkpoint is better than another, question by question: both played the same ones with the same keys."""

from __future__ import annotations

from collections.abc import Iterable

from sqldojo.evaluation.statistics import paired_interval
from sqldojo.evaluation.summary import DIGITS, grouped, right_attempts
from sqldojo.records import Episode


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

"""Whether one checkpoint is better than another, question by question: both played the same ones with the same keys."""

from __future__ import annotations

from collections.abc import Iterable

from sqldojo.evaluation.statistics import paired_interval
from sqldojo.records import CORRECT, Episode

DIGITS = 4


def changes(before: Iterable[Episode], after: Iterable[Episode]) -> dict[str, dict[str, float]]:
    """By how much the accuracy of `after` differs from that of `before`: split -> `change` with its 95 % interval.

    ValueError when they did not play the same questions as often.
    """
    sides = [_values(before), _values(after)]
    if sides[0].keys() != sides[1].keys():
        raise ValueError("both must hold the same splits")
    found = {}
    for split, values in sides[1].items():
        interval = paired_interval(sides[0][split], values)
        numbers = {"change": interval.mean, "change_low": interval.low, "change_high": interval.high}
        found[split] = {name: round(number, DIGITS) for name, number in numbers.items()}
    return found


def _values(episodes: Iterable[Episode]) -> dict[str, dict[str, dict[str, list[float]]]]:
    """1 for each right attempt and 0 for others: split -> type -> question -> attempts."""
    values: dict[str, dict[str, dict[str, list[float]]]] = {}
    for episode in episodes:
        types = values.setdefault(episode.split, {})
        types.setdefault(episode.type, {}).setdefault(episode.question, []).append(float(episode.outcome == CORRECT))
    return values

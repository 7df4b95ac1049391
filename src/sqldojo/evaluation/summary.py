"""What a set of episodes comes to: accuracy with its interval and the shares of outcomes, per split and per type."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqldojo.evaluation.statistics import Interval, clustered_interval, pass_at
from sqldojo.records import CORRECT, OUTCOMES, Episode

DIGITS = 4  # of every share: more would be noise, and training is only reproducible to about this

Row = dict[str, float | int]


def summarise(episodes: Iterable[Episode], seed: int) -> dict[str, Row]:
    """The metrics of each split, for a metrics file: split -> `accuracy`, its bounds, outcome shares, counts.

    With several attempts at each question also `pass@2`, `pass@4`, ..., powers of two up to that number, the chance
    that one of so many attempts is right, with its bounds; pass@1 is the accuracy.
    """
    return {split: _row(members, f"{seed}/{split}") for split, members in grouped(episodes, "split").items()}


def summarise_types(episodes: Iterable[Episode], seed: int) -> list[dict[str, str | float | int]]:
    """The same per question type, for a table: one row a split and type, sorted."""
    rows: list[dict[str, str | float | int]] = []
    for split, members in grouped(episodes, "split").items():
        for name, attempts in grouped(members, "type").items():
            rows.append({"split": split, "type": name, **_row(attempts, f"{seed}/{split}/{name}")})
    return rows


def accuracy_interval(episodes: Sequence[Episode], seed: str) -> Interval:
    """The share of attempts with a right answer, with its interval clustered by question type."""
    values = {name: list(questions.values()) for name, questions in right_attempts(episodes).items()}
    return clustered_interval(values, seed)


def right_attempts(episodes: Iterable[Episode]) -> dict[str, dict[str, list[float]]]:
    """1 for each attempt with a right answer and 0 for others: type -> question -> attempts."""
    return {
        name: {
            question: [float(attempt.outcome == CORRECT) for attempt in attempts]
            for question, attempts in grouped(members, "question").items()
        }
        for name, members in grouped(episodes, "type").items()
    }


def pass_intervals(episodes: Iterable[Episode], seed: str) -> dict[int, Interval]:
    """pass@k with its interval clustered by question type, for k = 2, 4, ... up to the attempts at every question."""
    right = right_attempts(episodes)
    attempts = min(len(values) for questions in right.values() for values in questions.values())
    found, k = {}, 2
    while k <= attempts:
        shares = {
            name: [[pass_at(k, len(values), int(sum(values)))] for values in questions.values()]
            for name, questions in right.items()
        }
        found[k] = clustered_interval(shares, f"{seed}/pass@{k}")
        k *= 2
    return found


def _row(episodes: Sequence[Episode], seed: str) -> Row:
    shares = {
        outcome: round(sum(episode.outcome == outcome for episode in episodes) / len(episodes), DIGITS)
        for outcome in OUTCOMES
    }
    accuracy = accuracy_interval(episodes, seed)
    row: Row = _bounds("accuracy", accuracy) | shares
    for k, interval in pass_intervals(episodes, seed).items():
        row |= _bounds(f"pass@{k}", interval)
    return row | {"questions": accuracy.questions, "attempts": accuracy.attempts}


def _bounds(name: str, interval: Interval) -> Row:
    numbers = {name: interval.mean, f"{name}_low": interval.low, f"{name}_high": interval.high}
    return {key: round(number, DIGITS) for key, number in numbers.items()}


def grouped(episodes: Iterable[Episode], field: str) -> dict[str, list[Episode]]:
    """The episodes under each value of a field, sorted by value."""
    groups: dict[str, list[Episode]] = {}
    for episode in episodes:
        groups.setdefault(getattr(episode, field), []).append(episode)
    return dict(sorted(groups.items()))

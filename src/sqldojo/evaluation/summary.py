"""What a set of episodes comes to: accuracy with its interval and the shares of outcomes, per split and per type."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqldojo.evaluation.statistics import Interval, clustered_interval
from sqldojo.records import CORRECT, OUTCOMES, Episode

DIGITS = 4  # of every share: more would be noise, and training is only reproducible to about this

Row = dict[str, float | int]


def summarise(episodes: Iterable[Episode], seed: int) -> dict[str, Row]:
    """The metrics of each split, for a metrics file: split -> `accuracy`, its bounds, outcome shares, counts."""
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


def _row(episodes: Sequence[Episode], seed: str) -> Row:
    interval = accuracy_interval(episodes, seed)
    shares = {
        outcome: round(sum(episode.outcome == outcome for episode in episodes) / len(episodes), DIGITS)
        for outcome in OUTCOMES
    }
    return {
        "accuracy": round(interval.mean, DIGITS),
        "accuracy_low": round(interval.low, DIGITS),
        "accuracy_high": round(interval.high, DIGITS),
        **shares,
        "questions": interval.questions,
        "attempts": interval.attempts,
    }


def grouped(episodes: Iterable[Episode], field: str) -> dict[str, list[Episode]]:
    """The episodes under each value of a field, sorted by value."""
    groups: dict[str, list[Episode]] = {}
    for episode in episodes:
        groups.setdefault(getattr(episode, field), []).append(episode)
    return dict(sorted(groups.items()))

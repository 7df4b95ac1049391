"""Draws that invented worlds are made of: days, values that are sometimes missing, values of which some are common.

Weights are whole numbers: `pow` and `exp` differ between C libraries in the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from random import Random
from typing import TypeVar

Item = TypeVar("Item")


def day(rng: Random, first: str, last: str) -> str:
    """An ISO date from `first` to `last`, both included; ValueError when `last` comes before `first`."""
    start, end = (date.fromisoformat(each).toordinal() for each in (first, last))
    return date.fromordinal(rng.randint(start, end)).isoformat()


def sometimes(rng: Random, percent: int, value: Item) -> Item | None:
    """The value, None in so many of a hundred draws."""
    return None if rng.randrange(100) < percent else value


def favoured(rng: Random, items: Sequence[Item]) -> Item:
    """One of the items, the first of them more often: the last about a third as often as the first."""
    most = len(items)
    return rng.choices(items, [3 * most - 2 * place for place in range(most)])[0]


def people(rng: Random, first_names: Sequence[str], last_names: Sequence[str], count: int, namesakes: int) -> list[str]:
    """`count` names in random order, of which so many are those of another person.

    ValueError when there are fewer different names than are wanted.
    """
    names = [f"{first} {last}" for first in first_names for last in last_names]
    chosen = rng.sample(names, count - namesakes)
    chosen += rng.sample(chosen, namesakes)
    rng.shuffle(chosen)
    return chosen

"""Who comes to the adversarial shop next, where they live and on which day they come.

Homes and days are dealt out in turn, so that whatever the customers are for, together they fill each rare city up to
its size and meet every boundary of the calendar.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import cycle

from sqldojo.databases.mirror import Mirror, Place
from sqldojo.databases.shop import COUNT_THRESHOLDS, YEARS

LAST_EVENING = "12-31 18:30:00"  # a text that sorts after the day, and still belongs to the year
UNUSUAL_DATES = ("1970-01-01", "1999-12-31", "2000-02-29", "2017-12-31", "2026-01-01", "2038-01-19", "2099-12-31")


@dataclass(frozen=True)
class Arrivals:
    """The shop so far, and where and when its next customers come."""

    mirror: Mirror
    rng: random.Random
    homes: Iterator[Place]
    dates: Iterator[str]
    years: Iterator[int]

    def someone(self) -> int:
        """A customer with a name of their own."""
        return self.mirror.customer(self.mirror.new_name(), next(self.homes), next(self.dates))

    def namesakes(self, city: str, days: tuple[str, str], *, emails: int) -> tuple[int, int]:
        """Two customers of one name in one city, who signed up on these days; the first `emails` have an address."""
        name, place = self.mirror.new_name(), self.mirror.place(city)
        one, other = (self.mirror.customer(name, place, day, email=rank < emails) for rank, day in enumerate(days))
        return one, other

    def day(self, year: int | None = None) -> str:
        """Any day of the year, or of the usual years in turn."""
        return _day(self.rng, next(self.years) if year is None else year)


def open_shop(mirror: Mirror, rng: random.Random) -> Arrivals:
    """The shop before its first customer."""
    return Arrivals(mirror, rng, _homes(mirror), _signup_dates(rng), cycle(YEARS))


def month_ends(year: int) -> list[date]:
    """The last day of each month but December and the first of the next."""
    firsts = [date(year, month, 1) for month in range(2, 13)]
    return [day for first in firsts for day in (first - timedelta(days=1), first)]


def _homes(mirror: Mirror) -> Iterator[Place]:
    """Each rare city until it has, without who comes otherwise, a size around COUNT_THRESHOLDS; then the last city."""
    for size, city in enumerate(mirror.rare_cities, start=COUNT_THRESHOLDS[0]):
        yield from [mirror.place(city)] * (size - 2)
    # As many as any count in one that is spelt like the last, so that there are more than it counts in both.
    yield from mirror.near_places(mirror.cities[-1])[:1] * (COUNT_THRESHOLDS[-1] + 1)
    yield from cycle([mirror.place(mirror.cities[-1])])


def _signup_dates(rng: random.Random) -> Iterator[str]:
    """Both ends of each year, both ends of each month in one year or another, unusual ones, then any."""
    days = [day for year in YEARS for day in (date(year, 1, 1), date(year, 12, 31))]
    for number, year in zip(range(11), cycle(YEARS)):
        days += month_ends(year)[2 * number : 2 * number + 2]
    texts = [*(day.isoformat() for day in days), *(f"{year}-{LAST_EVENING}" for year in YEARS), *UNUSUAL_DATES]
    yield from rng.sample(texts, len(texts))
    for year in cycle(YEARS):
        yield _day(rng, year)


def _day(rng: random.Random, year: int) -> str:
    return date.fromordinal(date(year, 1, 1).toordinal() + rng.randrange(365)).isoformat()

"""Whether two full results are the same answer: multisets of typed rows.

The rules, each with its reason:

- Row order is ignored, because no question asks for one; duplicates count, because one row a customer is not one row
  a city.
- Column order and column count matter, also when both results are empty; column names do not, since the question
  does not give them.
- Storage classes are told apart: the text '1' is not the integer 1, a BLOB is not a TEXT, NULL equals only NULL.
- Integers are exact at 64 bits and never pass through float. (Python's == and hash keep this rule and the one above.)
- An integer equals a real of exactly the same value, so that SUM over whole prices may be written either way.
- Two reals are equal within a relative 1e-9 (absolute 1e-9 near zero): summing in another order moves the last bits,
  and no question's answer differs by so little. -0.0 equals 0.0; an infinity equals itself.

The tolerance must never depend on how rows happen to be sorted: that would call right answers wrong. So rows are
grouped, not searched for: two rows are in one group when each of their cells is the same up to a chain of reals within
the tolerance. Every possible pair is in one group, and ten thousand rows cost a sort a column.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence

Row = Sequence[object]
Result = tuple[Sequence[str], Sequence[Row]]  # columns, rows
REAL_TOLERANCE = 1e-9


def first_difference(reference: Result, submission: Result) -> str | None:
    """Why the submission's (columns, rows) differ from the reference's, or None when they are the same answer."""
    (reference_columns, reference_rows), (columns, rows) = reference, submission
    if len(columns) != len(reference_columns):
        return f"{len(columns)} columns where {len(reference_columns)} are expected"
    if len(rows) != len(reference_rows):
        return f"{len(rows)} rows where {len(reference_rows)} are expected"
    wanted, found = list(map(tuple, reference_rows)), list(map(tuple, rows))
    if Counter(wanted) == Counter(found):
        return None
    links = [_linked_reals(column) for column in zip(*wanted, *found, strict=True)]
    groups: dict[Row, tuple[list[Row], list[Row]]] = defaultdict(lambda: ([], []))
    for side, side_rows in enumerate((wanted, found)):
        for row in side_rows:
            groups[tuple(link.get(value, value) for link, value in zip(links, row, strict=True))][side].append(row)
    missing = [
        (min(map(_show, ours)), len(ours), len(theirs))
        for ours, theirs in groups.values()
        if len(ours) > len(theirs) or (len(ours) == len(theirs) and not _pair_up(ours, theirs))
    ]
    if not missing:
        return None
    row, expected, there = min(missing)
    return f"row {row} is expected {expected} times, not {there}" if expected > there else f"no row is close to {row}"


def _linked_reals(column: Row) -> dict[float, float]:
    """Each real of a column with the lowest that steps within the tolerance lead to."""
    lowest: dict[float, float] = {}
    last = None
    for value in sorted({value for value in column if isinstance(value, float)}):
        lowest[value] = lowest[last] if last is not None and _close(last, value) else value
        last = value
    return lowest


def _pair_up(ours: list[Row], theirs: list[Row]) -> bool:
    """Whether the rows of a group agree column by column, so that a long chain of small steps is not one value."""
    columns = zip(zip(*ours, strict=True), zip(*theirs, strict=True), strict=True)
    return all(
        all(map(_close, sorted(one, key=_exact_first), sorted(other, key=_exact_first)))
        for one, other in columns
        if isinstance(one[0], int | float)
    )


def _exact_first(number: int | float) -> tuple[int | float, bool]:
    """By value, and 3 before 3.0, which may also be the partner of a real a little above."""
    return number, isinstance(number, float)


def _close(one: object, other: object) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=REAL_TOLERANCE, abs_tol=REAL_TOLERANCE)
    return one == other


def _show(row: Row) -> str:
    return "(" + ", ".join("NULL" if value is None else repr(value) for value in row) + ")"

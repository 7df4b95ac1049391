"""Whether two full results are the same answer: multisets of typed rows.

The rules, each with its reason:

- Row order is ignored, because no question asks for one; duplicates count, because one row a customer is not one row
  a city.
- Column order and column count matter, also when both results are empty; column names do not, since the question
  does not give them.
- Storage classes are told apart: the text '1' is not the integer 1, a BLOB is not a TEXT, NULL equals only NULL.
- Integers are exact at 64 bits and never pass through float.
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
from collections.abc import Iterable, Sequence

Result = tuple[Sequence[str], Sequence[Sequence[object]]]  # columns, rows
Cell = tuple[str, object]  # storage class, value
Row = tuple[Cell, ...]
REAL_TOLERANCE = 1e-9


def first_difference(reference: Result, submission: Result) -> str | None:
    """Why the submission's (columns, rows) differ from the reference's, or None when they are the same answer."""
    (reference_columns, reference_rows), (columns, rows) = reference, submission
    if len(columns) != len(reference_columns):
        return f"{len(columns)} columns where {len(reference_columns)} are expected"
    if len(rows) != len(reference_rows):
        return f"{len(rows)} rows where {len(reference_rows)} are expected"
    wanted, found = list(map(_key, reference_rows)), list(map(_key, rows))
    if Counter(wanted) == Counter(found):
        return None
    labels = [_labels(column) for column in zip(*wanted, *found, strict=True)]
    groups: dict[tuple[object, ...], tuple[list[Row], list[Row]]] = defaultdict(lambda: ([], []))
    for side, keys in enumerate((wanted, found)):
        for key in keys:
            groups[tuple(label.get(cell, cell) for label, cell in zip(labels, key, strict=True))][side].append(key)
    missing = [
        (min(map(_show, ours)), len(ours), len(theirs))
        for ours, theirs in groups.values()
        if len(ours) > len(theirs) or (len(ours) == len(theirs) and not _pair_up(ours, theirs))
    ]
    if not missing:
        return None
    row, expected, there = min(missing)
    return f"row {row} is expected {expected} times, not {there}" if expected > there else f"no row is close to {row}"


def _key(row: Sequence[object]) -> Row:
    """The row as hashable cells that say their storage class; Python compares 3 and 3.0, and 2**53 + 1, exactly."""
    return tuple(map(_cell, row))


def _cell(value: object) -> Cell:
    if value is None:
        return ("null", None)
    if isinstance(value, int | float):
        return ("number", value)
    return ("text", value) if isinstance(value, str) else ("blob", value)


def _labels(column: Iterable[Cell]) -> dict[Cell, int]:
    """A number for each real of a column, the same for reals linked by steps within the tolerance."""
    labels: dict[Cell, int] = {}
    last = None
    for value in sorted({value for _, value in column if isinstance(value, float)}):
        new = last is None or not _close(last, value)
        labels["number", value] = len(labels) if new else labels["number", last]
        last = value
    return labels


def _pair_up(ours: list[Row], theirs: list[Row]) -> bool:
    """Whether the rows of a group agree column by column, so that a long chain of small steps is not one value."""
    columns = zip(zip(*ours, strict=True), zip(*theirs, strict=True), strict=True)
    return all(
        _close(a, b)
        for one, other in columns
        if one[0][0] == "number"
        for (_, a), (_, b) in zip(sorted(one), sorted(other), strict=True)
    )


def _close(one: object, other: object) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=REAL_TOLERANCE, abs_tol=REAL_TOLERANCE)
    return one == other


def _show(key: Row) -> str:
    return "(" + ", ".join("NULL" if kind == "null" else repr(value) for kind, value in key) + ")"

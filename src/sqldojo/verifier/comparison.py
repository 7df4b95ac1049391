"""Whether two full results are the same answer: multisets of typed rows, or sequences where the question orders them.

The rules, each with its reason:

- Row order counts only where the question declares it; duplicates always count, because one row a customer is not one
  row a city.
- Column order and column count matter, also when both results are empty; column names do not, since the question
  does not give them.
- Storage classes are told apart: the text '1' is not the integer 1, a BLOB is not a TEXT, NULL equals only NULL.
- Integers are exact at 64 bits and never pass through float. (Python's == and hash keep this rule and the one above.)
- An integer equals a real of exactly the same value, so that SUM over whole prices may be written either way.
- Two reals are equal within a relative 1e-9: summing in another order moves the last bits, and no question's answer
  differs by so little. Near zero, where amounts have cancelled each other, an absolute 1e-12 takes its place: SQLite
  adds with compensation, so what is left is smaller, and rates of 1e-10 stay apart. -0.0 equals 0.0; an infinity
  equals itself.

The tolerance must never depend on how rows happen to be sorted: that would call right answers wrong. So rows are
grouped, not searched for: two rows are in one group when each of their cells is the same up to a chain of reals within
the tolerance. Every possible pair is in one group, and ten thousand rows cost a sort a column. Nearly always all rows
of a group are equal; where a chain is longer than the tolerance, an exact pairing of the two sides decides. Only in a
group of more than `EXACT_PAIRING` rows that differ in several columns by chains of such small steps are columns
compared one by one instead.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence

Row = Sequence[object]
Result = tuple[Sequence[str], Sequence[Row]]  # columns, rows
REAL_TOLERANCE = 1e-9
TOLERANCE_NEAR_ZERO = 1e-12
EXACT_PAIRING = 300
_LONGEST_CELL, _LONGEST_ROW = 60, 300


def first_difference(reference: Result, submission: Result, *, ordered: bool = False) -> str | None:
    """Why the submission's (columns, rows) differ from the reference's, or None when they are the same answer."""
    (reference_columns, reference_rows), (columns, rows) = reference, submission
    if len(columns) != len(reference_columns):
        return f"{len(columns)} columns where {len(reference_columns)} are expected"
    wanted, found = list(map(tuple, reference_rows)), list(map(tuple, rows))
    if wanted == found:
        return None
    difference = _first_in_order(wanted, found) if ordered else _first_in_any_order(wanted, found)
    if len(found) != len(wanted):
        difference = f"{len(found)} rows where {len(wanted)} are expected; {difference}"
    return difference


def _first_in_order(wanted: list[Row], found: list[Row]) -> str | None:
    for number, (ours, theirs) in enumerate(zip(wanted, found, strict=False), start=1):
        if not _rows_close(ours, theirs):
            return f"row {number} is {_show(theirs)} where {_show(ours)} is expected"
    if len(wanted) > len(found):
        return f"row {len(found) + 1} is missing: {_show(wanted[len(found)])}"
    if len(found) > len(wanted):
        return f"row {len(wanted) + 1} is one too many: {_show(found[len(wanted)])}"
    return None


def _first_in_any_order(wanted: list[Row], found: list[Row]) -> str | None:
    if len(wanted) == len(found) and Counter(wanted) == Counter(found):
        return None
    links = [_linked_reals(column) for column in zip(*wanted, *found, strict=True)]
    groups: dict[Row, tuple[list[Row], list[Row]]] = defaultdict(lambda: ([], []))
    for side, rows in enumerate((wanted, found)):
        for row in rows:
            groups[tuple(link.get(value, value) for link, value in zip(links, row, strict=True))][side].append(row)
    for ours, theirs in groups.values():
        if len(ours) != len(theirs):
            return f"row {_show((ours or theirs)[0])} is expected {len(ours)} times, not {len(theirs)}"
        alone = _unpaired(ours, theirs)
        if alone is not None:
            return f"row {_show(alone)} is expected, and no row that is left is close to it"
    return None


def _linked_reals(column: Row) -> dict[float, float]:
    """Each real of a column with the lowest that steps within the tolerance lead to."""
    lowest: dict[float, float] = {}
    last = None
    for value in sorted({value for value in column if isinstance(value, float)}):
        lowest[value] = lowest[last] if last is not None and _close(last, value) else value
        last = value
    return lowest


def _unpaired(ours: list[Row], theirs: list[Row]) -> Row | None:
    """A row of `ours` that is left over when the rows of a group are paired as well as can be; None when none is."""
    columns = [(*one, *other) for one, other in zip(zip(*ours, strict=True), zip(*theirs, strict=True), strict=True)]
    loose = [number for number, column in enumerate(columns) if not _all_close(column)]
    if not loose:
        return None
    only_reals = all(isinstance(value, float) for number in loose for value in columns[number])
    if (len(loose) == 1 and only_reals) or len(ours) > EXACT_PAIRING:
        return next(filter(None, (_unpaired_in_column(ours, theirs, number) for number in loose)), None)
    return _unpaired_exactly(ours, theirs)


def _all_close(column: Row) -> bool:
    """Whether any two of a group's cells are close: numbers of one kind and their ends close, or all the same."""
    if all(isinstance(value, float) for value in column):
        return _close(min(column), max(column))
    return all(value == column[0] for value in column)


def _unpaired_in_column(ours: list[Row], theirs: list[Row], number: int) -> Row | None:
    """In one column of reals, pairs from the lowest up are as good as any."""
    one, other = (sorted(rows, key=lambda row: _exact_first(row[number])) for rows in (ours, theirs))
    return next((a for a, b in zip(one, other, strict=True) if not _close(a[number], b[number])), None)


def _exact_first(number: int | float) -> tuple[int | float, bool]:
    """By value, and 3 before 3.0, which may also be the partner of a real a little above."""
    return number, isinstance(number, float)


def _unpaired_exactly(ours: list[Row], theirs: list[Row]) -> Row | None:
    """By augmenting paths (Kuhn's algorithm for the largest matching of a bipartite graph)."""
    near = [[place for place, other in enumerate(theirs) if _rows_close(row, other)] for row in ours]
    partner: dict[int, int] = {}  # of a place in `theirs`, its place in `ours`

    def find(row: int, tried: set[int]) -> bool:
        for place in near[row]:
            if place not in tried:
                tried.add(place)
                if place not in partner or find(partner[place], tried):
                    partner[place] = row
                    return True
        return False

    return next((row for number, row in enumerate(ours) if not find(number, set())), None)


def _rows_close(one: Row, other: Row) -> bool:
    return all(map(_close, one, other))


def _close(one: object, other: object) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=REAL_TOLERANCE, abs_tol=TOLERANCE_NEAR_ZERO)
    return one == other


def _show(row: Row) -> str:
    return _shorten("(" + ", ".join(map(_show_cell, row)) + ")", _LONGEST_ROW)


def _show_cell(value: object) -> str:
    if isinstance(value, str | bytes):
        value = value[:_LONGEST_CELL]
    return "NULL" if value is None else _shorten(repr(value), _LONGEST_CELL)


def _shorten(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 3] + "..."

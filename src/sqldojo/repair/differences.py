"""What a user would notice about a wrong result beside the right one: one finding, measured from the two."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sqldojo.databases.execution import OK, QueryResult
from sqldojo.verifier.mutation.names import words

Row = tuple[object, ...]

ERROR, EMPTY, ONE_VALUE = "error", "empty", "one value"
MORE_COLUMNS, FEWER_COLUMNS, SWAPPED_COLUMNS = "more columns", "fewer columns", "swapped columns"
ORDER, REPEATED, LOST_REPEATS = "order", "repeated", "lost repeats"
EXTRA, MISSING, VALUES, MIXED, ALL_WRONG = "extra", "missing", "values", "mixed", "all wrong"

_LONGEST_VALUE = 60  # letters that somebody would copy into a message
_PLACES = 2  # decimals that people compare


@dataclass(frozen=True)
class Finding:
    """One difference: `got` and `wanted` are counts, of rows or columns, and the texts are values as people write them.

    `label` names a row, `other` another one, `column` a column in words; `got_value` and `wanted_value` are what stands
    there. `trait` says more: of values "higher", "lower", "whole" or "nothing", of rows "zero", of an order "reversed".
    """

    what: str
    got: int = 0
    wanted: int = 0
    label: str = ""
    other: str = ""
    column: str = ""
    got_value: str = ""
    wanted_value: str = ""
    trait: str = ""
    message: str = ""


def finding(right: QueryResult, wrong: QueryResult, *, ordered: bool) -> Finding | None:
    """The most telling difference of a wrong result or error; None when a user would see none.

    Reals are compared as people read them, to two places.
    """
    if wrong.status != OK:
        return Finding(ERROR, message=wrong.message)
    wanted, got = _read(right.rows), _read(wrong.rows)
    if not got:
        if not wanted:
            return None
        one_number = len(wanted) == len(right.columns) == 1 and not isinstance(wanted[0][0], str)
        return Finding(EMPTY, 0, len(wanted), "" if one_number else _label(right.columns, wanted[0]))
    if len(wrong.columns) != len(right.columns):
        return _columns(right, wrong)
    if got == wanted:
        return None
    if len(got) == len(wanted) == 1 and len(got[0]) == 1:
        value, expected = _pair(got[0][0], wanted[0][0])
        return Finding(ONE_VALUE, got_value=value, wanted_value=expected, trait=_trait([(got[0][0], wanted[0][0])]))
    if Counter(got) == Counter(wanted):
        return _order(right, wanted, got) if ordered else None
    return (
        _swapped(right, wanted, got)
        or _repeats(right, wanted, got)
        or _one_sided(right, wanted, got)
        or _values(right, wanted, got)
        or _mixed(right, wanted, got)
    )


def _read(rows: Sequence[Row]) -> list[Row]:
    return [tuple(round(value, _PLACES) if isinstance(value, float) else value for value in row) for row in rows]


def _columns(right: QueryResult, wrong: QueryResult) -> Finding:
    ours, theirs = right.columns, wrong.columns
    if len(theirs) > len(ours):
        added = [name for name in theirs if name not in ours]
        return Finding(MORE_COLUMNS, len(theirs), len(ours), column=_heading(added[0]) if len(added) == 1 else "")
    lost = [name for name in ours if name not in theirs]
    return Finding(FEWER_COLUMNS, len(theirs), len(ours), column=_heading(lost[0]) if len(lost) == 1 else "")


def _order(right: QueryResult, wanted: list[Row], got: list[Row]) -> Finding:
    trait = "reversed" if got == wanted[::-1] else ""
    place = next(place for place, (one, other) in enumerate(zip(got, wanted, strict=True)) if one != other)
    return Finding(ORDER, place + 1, len(wanted), _label(right.columns, got[place]),
                   _label(right.columns, wanted[place]), trait=trait)  # fmt: skip


def _swapped(right: QueryResult, wanted: list[Row], got: list[Row]) -> Finding | None:
    """Whether two columns stand in each other's place."""
    width = len(wanted[0]) if wanted else 0
    for one in range(width):
        for other in range(one + 1, width):
            order = [other if n == one else one if n == other else n for n in range(width)]
            if Counter(tuple(row[n] for n in order) for row in got) == Counter(wanted):
                return Finding(SWAPPED_COLUMNS, label=_value(got[0][one]), column=_heading(right.columns[one]),
                               other=_heading(right.columns[other]))  # fmt: skip
    return None


def _repeats(right: QueryResult, wanted: list[Row], got: list[Row]) -> Finding | None:
    """Rows that come more or fewer times than they should, and no others."""
    ours, theirs = Counter(wanted), Counter(got)
    if set(ours) != set(theirs):
        return None
    more = [row for row in theirs if theirs[row] > ours[row]]
    fewer = [row for row in theirs if theirs[row] < ours[row]]
    if more and fewer:
        return None
    row = (more or fewer)[0]
    what = REPEATED if more else LOST_REPEATS
    return Finding(what, len(got), len(wanted), _label(right.columns, row), got_value=str(theirs[row]),
                   wanted_value=str(ours[row]))  # fmt: skip


def _one_sided(right: QueryResult, wanted: list[Row], got: list[Row]) -> Finding | None:
    """Rows too many, or too few, and all others right."""
    extra, missing = list((Counter(got) - Counter(wanted)).elements()), Counter(wanted) - Counter(got)
    if extra and missing:
        return None
    row = extra[0] if extra else next(iter(missing))
    # A row's label may belong to a right row as well, which would make a riddle of it.
    others = wanted if extra else got
    label = _label(right.columns, row)
    if label in {_label(right.columns, other) for other in others}:
        label = ""
    zero = not extra and len(right.columns) > 1 and all(row[-1] == 0 for row in missing)
    return Finding(EXTRA if extra else MISSING, len(got), len(wanted), label, trait="zero" if zero else "")


def _values(right: QueryResult, wanted: list[Row], got: list[Row]) -> Finding | None:
    """The same rows with other values in one column."""
    width = len(wanted[0]) if wanted else 0
    if width < 2 or len(wanted) != len(got):
        return None
    for column in range(width - 1, -1, -1):
        ours = {row[:column] + row[column + 1 :]: row for row in wanted}
        theirs = {row[:column] + row[column + 1 :]: row for row in got}
        if len(ours) == len(wanted) and ours.keys() == theirs.keys():
            pairs = [(theirs[key][column], row[column]) for key, row in ours.items()]
            key = next(key for key, row in ours.items() if row != theirs[key])
            names = tuple(name for n, name in enumerate(right.columns) if n != column)
            value, expected = _pair(theirs[key][column], ours[key][column])
            return Finding(VALUES, len([p for p in pairs if p[0] != p[1]]), len(pairs), _label(names, key),
                           column=_heading(right.columns[column]), got_value=value, wanted_value=expected,
                           trait=_trait(pairs))  # fmt: skip
    return None


def _mixed(right: QueryResult, wanted: list[Row], got: list[Row]) -> Finding:
    extra, missing = list(Counter(got) - Counter(wanted)), list(Counter(wanted) - Counter(got))
    names, wanted_names = ([_label(right.columns, row) for row in rows] for rows in (extra, missing))
    # Namesakes hide which row a wrong one should have been; one that has no namesake shows it.
    alone = [name for name in names if name and names.count(name) == wanted_names.count(name) == 1]
    if alone and set(names) == set(wanted_names):
        mine, other = extra[names.index(alone[0])], missing[wanted_names.index(alone[0])]
        column = next(n for n, (one, two) in enumerate(zip(mine, other, strict=True)) if one != two)
        value, expected = _pair(mine[column], other[column])
        return Finding(VALUES, len(extra), len(wanted), alone[0], column=_heading(right.columns[column]),
                       got_value=value, wanted_value=expected)  # fmt: skip
    label = next((each for each in names if each and each not in wanted_names), "")
    other_label = next((each for each in wanted_names if each and each not in names), "")
    what = MIXED if set(got) & set(wanted) else ALL_WRONG
    return Finding(what, len(got), len(wanted), label, other_label)


def _trait(pairs: Sequence[tuple[object, object]]) -> str:
    """What the wrong ones of (got, wanted) values have in common."""
    wrong = [(got, wanted) for got, wanted in pairs if got != wanted]
    if all(got is None for got, _ in wrong):
        return "nothing"
    if not all(isinstance(value, int | float) for pair in wrong for value in pair):
        return ""
    shown = [got for got, _ in pairs if isinstance(got, int | float)]
    if all(_is_whole(got) for got in shown) and not all(_is_whole(wanted) for _, wanted in wrong):
        return "whole"
    if all(got > wanted for got, wanted in wrong):
        return "higher"
    return "lower" if all(got < wanted for got, wanted in wrong) else ""


def _is_whole(number: float) -> bool:
    return math.isfinite(number) and number == int(number)


def _label(columns: Sequence[str], row: Row) -> str:
    """What people call a row: its first text, else its first value with the heading; "" when there is nothing short."""
    for name, value in zip(columns, row, strict=False):
        if isinstance(value, str) and value.strip() and _fits(value):
            return f"{_heading(name)} {value}" if value.isdigit() and _plain(name) else value
    for name, value in zip(columns, row, strict=False):
        if isinstance(value, int | float):
            return f"the row with {_heading(name)} {_value(value)}" if _plain(name) else f"the {_value(value)}"
        if value is None and _plain(name):
            return f"the row without a value for {_heading(name)}"
    return ""


def _pair(got: object, wanted: object) -> tuple[str, str]:
    """Two values, with as many digits as tell them apart."""
    one, other = _value(got), _value(wanted)
    return (one, other) if one != other else (repr(got), repr(wanted))


def _value(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, float):
        return f"{value:.{_PLACES}f}".rstrip("0").rstrip(".") if abs(value) < 1e15 else repr(value)
    text = str(value)
    return text if _fits(text) else text[: _LONGEST_VALUE - 3] + "..."


def _fits(text: str) -> bool:
    return len(text) <= _LONGEST_VALUE and text.isprintable()


def _plain(name: str) -> bool:
    return name.isidentifier()


def _heading(name: str) -> str:
    """A column's name in words; an expression has none."""
    return words(name).replace("_", " ") if _plain(name) else "number"

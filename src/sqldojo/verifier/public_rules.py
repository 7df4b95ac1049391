"""Two comparison rules that published benchmarks score by, to count where they disagree with ours.

Written from their descriptions, not from their code:

- BIRD, execution accuracy (DAMO-ConvAI/bird, mini_dev `evaluation_ex`): the two results are sets of rows, compared with
  Python's ==. Repeats and row order are lost, column order counts, 1 equals 1.0 exactly and reals have no tolerance.
  Two empty results are equal whatever their columns.
- Test suite accuracy (Zhong et al., arXiv 2010.02840; taoyds/test-suite-sql-eval `result_eq`): the two results are
  multisets of rows under some permutation of the columns, values compared with ==; lists of rows where the order
  counts, which they take from the words "order by" in the reference and we from the question. Two empty results are
  equal; another number of columns is another result. (Their default also deletes DISTINCT from both texts; we never
  edit a text, so this is `keep_distinct`.)

`explain` says which documented difference makes a rule judge otherwise than we do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

from sqldojo.verifier.comparison import Result, first_difference

DUPLICATES, COLUMN_ORDER, ROW_ORDER, TOLERANCE, EMPTY, UNEXPLAINED = (
    "duplicates", "column order", "row order", "tolerance of reals", "columns of an empty result", "unexplained"
)  # fmt: skip
DIFFERENCES = (DUPLICATES, COLUMN_ORDER, ROW_ORDER, TOLERANCE, EMPTY, UNEXPLAINED)
_MOST_STEPS = 10_000


def equal_as_sets(reference: Result, submission: Result, *, ordered: bool = False) -> bool:
    """BIRD's rule: the same rows, however often each occurs and in whatever order, also where one was asked for."""
    return set(map(tuple, reference[1])) == set(map(tuple, submission[1]))


def equal_as_permuted_multisets(reference: Result, submission: Result, *, ordered: bool = False) -> bool:
    """Test suite's rule: the same rows, each as often, once the columns are put in some order; in the same order of
    rows where it is `ordered`.

    Only columns with the same multiset of values can stand for each other, and equal columns are tried once, so twelve
    equal columns take one step rather than 12^12. A search of more than 10,000 steps gives up and says no.
    """
    wanted, found = list(map(tuple, reference[1])), list(map(tuple, submission[1]))
    if not wanted and not found:
        return True
    if len(wanted) != len(found) or len(wanted[0]) != len(found[0]):
        return False
    ours, theirs = _columns(wanted), _columns(found)
    if ordered:
        return Counter(ours) == Counter(theirs)
    if Counter(wanted) == Counter(found):
        return True
    signatures = [_signature(column) for column in theirs]
    candidates = [[place for place, other in enumerate(signatures) if other == _signature(column)] for column in ours]
    # The column with the fewest candidates first: it leaves the fewest combinations.
    order = sorted(range(len(ours)), key=lambda place: (len(candidates[place]), place))
    return _matched(ours, theirs, order, candidates)


def _matched(ours: list[tuple], theirs: list[tuple], order: list[int], candidates: list[list[int]]) -> bool:
    """Whether columns can be paired so that the rows agree; each partial pairing must already agree as a multiset."""
    steps = 0
    stack: list[tuple[int, ...]] = [()]
    while stack and steps < _MOST_STEPS:
        chosen = stack.pop()
        steps += 1
        if chosen:
            part = order[: len(chosen)]
            ours_so_far = Counter(zip(*(ours[place] for place in part), strict=True))
            if ours_so_far != Counter(zip(*(theirs[place] for place in chosen), strict=True)):
                continue
            if len(chosen) == len(order):
                return True
        tried: set[tuple] = set()
        for place in candidates[order[len(chosen)]]:
            if place not in chosen and theirs[place] not in tried:
                tried.add(theirs[place])
                stack.append((*chosen, place))
    return False


def explain(
    reference: Result, submission: Result, *, theirs: bool, by_sets: bool, ordered: bool = False
) -> str | None:
    """Why a public rule and ours disagree on two results: one of DIFFERENCES; None when they agree.

    `theirs` is what the rule said (`by_sets` for BIRD's, else test suite's). A difference explains a disagreement when
    our own rule, with that one difference taken over, says what theirs did.
    """
    ours = first_difference(reference, submission, ordered=ordered) is None
    if ours == theirs:
        return None
    if theirs and not reference[1] and not submission[1]:
        return EMPTY
    if ours:  # theirs is exact: it refuses what we take for equal reals
        return TOLERANCE if _only_reals_differ(reference, submission) else UNEXPLAINED
    if by_sets:
        if ordered and first_difference(reference, submission) is None:
            return ROW_ORDER
        without_repeats = [(each[0], list(dict.fromkeys(map(tuple, each[1])))) for each in (reference, submission)]
        return DUPLICATES if first_difference(*without_repeats) is None else UNEXPLAINED
    columns = [Counter(map(_signature, _columns(list(map(tuple, each[1]))))) for each in (reference, submission)]
    return COLUMN_ORDER if columns[0] == columns[1] else UNEXPLAINED


def _only_reals_differ(reference: Result, submission: Result) -> bool:
    """Whether the results are the same but for numbers, so that only the tolerance makes them equal to us."""
    plain = [
        Counter(tuple("number" if isinstance(value, int | float) else value for value in row) for row in rows)
        for _, rows in (reference, submission)
    ]
    return plain[0] == plain[1]


def _columns(rows: Sequence[tuple]) -> list[tuple]:
    return list(zip(*rows, strict=True))


def _signature(column: Sequence[Hashable]) -> frozenset[tuple[Hashable, int]]:
    """The multiset of a column's values, as a key."""
    return frozenset(Counter(column).items())

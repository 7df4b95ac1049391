import random
import time

import pytest

from sqldojo.verifier.comparison import first_difference
from sqldojo.verifier.public_rules import (
    COLUMN_ORDER,
    DUPLICATES,
    EMPTY,
    ROW_ORDER,
    TOLERANCE,
    equal_as_permuted_multisets,
    equal_as_sets,
    explain,
)


def result(*rows, columns=None):
    width = len(rows[0]) if rows else columns
    return tuple(f"c{number}" for number in range(width)), rows


@pytest.mark.parametrize(
    ("reference", "submission", "sets", "permuted"),
    [
        (result((1,), (2,)), result((2,), (1,)), True, True),
        (result((1,), (1,)), result((1,)), True, False),
        (result((1,), (1,), (2,)), result((1,), (2,), (2,)), True, False),
        (result((1, "a")), result(("a", 1)), False, True),
        (result((1, 2), (3, 4)), result((2, 1), (4, 3)), False, True),
        (result((1, 2), (3, 4)), result((2, 3), (4, 1)), False, False),  # columns agree alone, rows do not
        (result((1, "a")), result((1,)), False, False),
        (result((1,)), result((1.0,)), True, True),
        (result((1,)), result(("1",)), False, False),
        (result(("a",)), result((b"a",)), False, False),
        (result((None,)), result((0,)), False, False),
        (result((0.1 + 0.2,)), result((0.3,)), False, False),
        (result(columns=1), result(columns=2), True, True),
        (result(columns=1), result((1,)), False, False),
    ],
)
def test_what_each_rule_says(reference, submission, sets, permuted):
    assert equal_as_sets(reference, submission) is equal_as_sets(submission, reference) is sets
    assert equal_as_permuted_multisets(reference, submission) is permuted
    assert equal_as_permuted_multisets(submission, reference) is permuted


@pytest.mark.parametrize("shuffled", [False, True])
def test_twelve_equal_columns_take_no_search(shuffled):
    rows = [(value,) * 12 for value in (1, 2, 3)]
    found = rows[::-1] if shuffled else rows
    started = time.process_time()
    assert equal_as_permuted_multisets(result(*rows), result(*found))
    assert not equal_as_permuted_multisets(result(*rows), result((1,) * 12, (2,) * 12, (2,) * 12))
    assert time.process_time() - started < 1


def test_twelve_columns_with_the_same_values_in_other_orders_end_soon():
    rng = random.Random("columns")
    columns = [rng.sample(range(6), 6) for _ in range(12)]
    rows = list(zip(*columns, strict=True))
    found = list(zip(*rng.sample(columns, 12), strict=True))
    started = time.process_time()
    assert equal_as_permuted_multisets(result(*rows), result(*found))
    other = [*columns[:-1], columns[-1][::-1]]
    assert not equal_as_permuted_multisets(result(*rows), result(*zip(*other, strict=True)))
    assert time.process_time() - started < 2


def test_order_of_rows_counts_where_it_was_asked_for_and_never_as_sets():
    one, other, permuted = result((1, "a"), (2, "b")), result((2, "b"), (1, "a")), result(("a", 1), ("b", 2))
    assert equal_as_sets(one, other, ordered=True)
    assert not equal_as_permuted_multisets(one, other, ordered=True)
    assert equal_as_permuted_multisets(one, permuted, ordered=True)


def test_permutation_is_found_for_random_tables():
    rng = random.Random("permutations")
    for _ in range(200):
        width, height = rng.randint(1, 5), rng.randint(1, 6)
        rows = [tuple(rng.choice((None, 1, 2, "a")) for _ in range(width)) for _ in range(height)]
        order = rng.sample(range(width), width)
        shown = [tuple(row[place] for place in order) for row in rng.sample(rows, height)]
        assert equal_as_permuted_multisets(result(*rows), result(*shown))


@pytest.mark.parametrize(
    ("by_sets", "reference", "submission", "why"),
    [
        (True, result((1,), (1,)), result((1,)), DUPLICATES),
        (True, result((0.1 + 0.2,)), result((0.3,)), TOLERANCE),
        (False, result((0.1 + 0.2, 7)), result((0.3, 7)), TOLERANCE),
        (False, result((1, "a")), result(("a", 1)), COLUMN_ORDER),
        (True, result(columns=1), result(columns=2), EMPTY),
        (False, result(columns=1), result(columns=2), EMPTY),
        (True, result((1,), (2,)), result((2,), (1,)), None),
    ],
)
def test_the_cause_of_each_disagreement(by_sets, reference, submission, why):
    rule = equal_as_sets if by_sets else equal_as_permuted_multisets
    assert explain(reference, submission, theirs=rule(reference, submission), by_sets=by_sets) == why


@pytest.mark.parametrize("by_sets", [True, False])
@pytest.mark.parametrize("ordered", [True, False])
def test_no_disagreement_on_random_results_is_unexplained(by_sets, ordered):
    rng = random.Random("disagreements")
    rule = equal_as_sets if by_sets else equal_as_permuted_multisets
    values = (None, 1, 1.0, 2, 0.3, 0.1 + 0.2, "1", b"1")
    found = set()
    for _ in range(5000):
        width = rng.randint(1, 3)
        rows = [tuple(rng.choice(values) for _ in range(width)) for _ in range(rng.randint(0, 3))]
        other = [tuple(rng.sample(row, width)) if rng.random() < 0.2 else row for row in rng.sample(rows, len(rows))]
        other = [tuple(0.3 if value == 0.1 + 0.2 else value for value in row) for row in other]
        if rows and rng.random() < 0.3:
            other.append(rng.choice(other))
        one, two = result(*rows, columns=width), result(*other, columns=rng.randint(1, 2))
        theirs = rule(one, two, ordered=ordered)
        why = explain(one, two, theirs=theirs, by_sets=by_sets, ordered=ordered)
        assert (why is None) == (theirs == (first_difference(one, two, ordered=ordered) is None))
        found.add(why)
    expected = {None, TOLERANCE, EMPTY, DUPLICATES if by_sets else COLUMN_ORDER}
    assert found == (expected | {ROW_ORDER} if by_sets and ordered else expected)

"""When two results are the same answer: known pairs, and properties that hold for all results."""

import math
import random
import time
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqldojo.verifier.comparison import EXACT_PAIRING, first_difference

ints = st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3)
reals = st.floats(allow_nan=False) | st.sampled_from([0.0, -0.0, 0.1, 1.0, 2.0**53])
cells = st.none() | ints | reals | st.text(max_size=3) | st.binary(max_size=3)
tables = st.integers(1, 3).flatmap(lambda width: st.lists(st.tuples(*[cells] * width), min_size=1, max_size=8))
fixed = settings(derandomize=True, database=None, deadline=None, max_examples=150)


def difference(reference, submission):
    """first_difference of two lists of rows, whose columns are named differently on purpose."""
    return first_difference((["a"] * len(reference[0]), reference), (["b"] * len(submission[0]), submission))


def same(reference, submission):
    return difference(reference, submission) is None


@fixed
@given(tables, st.randoms(use_true_random=False))
def test_row_order_does_not_matter(rows, generator):
    assert same(rows, generator.sample(rows, len(rows)))


@fixed
@given(tables, tables)
def test_the_comparison_is_symmetric(one, other):
    assert same(one, other) == same(other, one)


@fixed
@given(tables, st.data())
def test_one_changed_cell_is_seen(rows, data):
    row, column = data.draw(st.integers(0, len(rows) - 1)), data.draw(st.integers(0, len(rows[0]) - 1))
    changed = [list(values) for values in rows]
    changed[row][column] = "never drawn, being longer than three"
    assert difference(rows, changed) is not None


@fixed
@given(tables, st.data())
def test_one_row_doubled_in_place_of_another_is_seen(rows, data):
    rows = [(*values, f"row {number}") for number, values in enumerate(rows)] + [(*rows[0], "last")]
    doubled = list(rows)
    doubled[-1] = doubled[data.draw(st.integers(0, len(rows) - 2))]
    assert difference(rows, doubled) is not None
    assert difference(doubled, rows) is not None


@fixed
@given(st.lists(st.tuples(*[st.floats(-1e6, 1e6)] * 3), min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_noise_in_the_last_bits_never_makes_a_difference(rows, generator):
    """Whatever the rows: a noise a hundred times smaller than the tolerance, in any order."""
    noisy = [tuple(value * (1 + generator.uniform(-1e-11, 1e-11)) for value in row) for row in rows]
    assert same(rows, generator.sample(noisy, len(noisy)))


@fixed
@given(ints, ints)
def test_integers_are_exact_at_64_bits(one, other):
    assert same([(one,)], [(other,)]) == (one == other)
    assert difference([(one,)], [(one + 1,)]) is not None


@fixed
@given(ints)
def test_an_integer_equals_a_real_of_exactly_its_value(value):
    assert same([(value,)], [(float(value),)]) == (int(float(value)) == value)


@pytest.mark.parametrize("value", [2**53 + 1, -(2**53) - 1, 2**63 - 1, 10**16 + 1])
def test_no_integer_is_rounded_to_meet_a_real(value):
    assert difference([(value,)], [(float(value),)]) is not None
    assert difference([(value,), (float(value),)], [(float(value),), (float(value),)]) is not None


def test_an_integer_is_exact_even_beside_reals_that_are_linked_to_its_value():
    assert not same([(3,), (3,)], [(3.0,), (3 + 1e-10,)])
    assert same([(3.0,), (3,)], [(3 + 1e-10,), (3.0,)])
    assert same([(3,), (3.0,)], [(3.0,), (3 + 1e-10,)])
    assert not same([(10**16,), (1e16,)], [(10**16 + 1,), (1e16,)])


def test_null_empty_zero_and_their_spellings_are_five_things():
    values = [None, "", 0, "0", b"0", b"", "NULL"]
    for one in values:
        for other in values:
            assert same([(one,)], [(other,)]) == (one is other), (one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 1.0), (0.0, -0.0), (0, -0.0), (math.inf, math.inf), (-math.inf, -math.inf), (0.1 + 0.2, 0.3),
        (1e15, 1e15 + 1), (3e9, 3e9 + 1), (1e300, 1e300 * (1 + 1e-10)), (5e-17, 0.0), (2.0**53, 2**53),
        (1e-13, -1e-13), (123456789.123456789, 123456789.12345678),
    ],
)  # fmt: skip
def test_equal_numbers(one, other):
    assert same([(one,)], [(other,)])
    assert same([(other,)], [(one,)])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 2), (1, 1.0000000001), (0.1, 0.10000001), (math.inf, -math.inf), (math.inf, 1.7e308), (1e-8, 2e-8),
        (3 * 10**9, 3 * 10**9 + 1), (3 * 10**9, 3e9 + 1), (1.0, 1 + 2e-9), (None, 0.0), ("1.0", 1.0),
        (2**63 - 1, 2.0**63), ("a", "a "), ("a", "A"), ("\u00e9", "e\u0301"), (b"a", "a"), (1.5, None), ("1e3", 1000.0),
    ],
)  # fmt: skip
def test_different_values(one, other):
    assert not same([(one,)], [(other,)])
    assert not same([(other,)], [(one,)])


def test_column_order_and_count_matter_even_without_rows_and_names_do_not():
    assert first_difference((["a"], []), (["b"], [])) is None
    assert first_difference((["a"], []), (["a", "b"], [])) == "2 columns where 1 are expected"
    assert not same([("x", "y")], [("y", "x")])
    assert not same([(1, 2), (2, 1), (3, 3)], [(1, 2), (1, 2), (3, 3)])


def test_columns_are_not_compared_one_by_one():
    """Each column is right as a bag, and so is each column of reals within the tolerance."""
    assert not same([(1, "a"), (2, "b")], [(1, "b"), (2, "a")])
    assert not same([(1.0, 5.0), (2.0, 6.0)], [(1.0 + 1e-12, 6.0), (2.0, 5.0)])


def test_noise_across_a_rounding_boundary_of_the_first_column_does_not_reorder_by_the_second():
    boundary = 1.00000000005  # where ten digits round up or down
    reference = [(boundary - 1e-14, 1.0), (boundary + 1e-14, 2.0)]
    submission = [(boundary + 1e-14, 1.0), (boundary - 1e-14, 2.0)]
    assert same(reference, submission)
    assert not same(reference, [(boundary, 1.0), (boundary, 1.0)])


def test_a_pair_is_found_though_a_row_is_close_to_two():
    step = 0.9e-9
    assert same([(1.0,), (1 + step,)], [(1 + step,), (1 + 2 * step,)])
    assert same([(1 + step,), (1.0,)], [(1 + 2 * step,), (1 + step,)])
    assert not same([(1.0,), (1 + step,)], [(1 + 2 * step,), (1 + 2 * step,)])


def test_a_chain_of_small_steps_is_not_one_value():
    chain = [(1 + number * 0.9e-9,) for number in range(1000)]
    assert same(chain, chain[::-1])
    assert same(chain, [*chain[1:], chain[500]])  # every row has a neighbour
    assert not same(chain, [*chain[2:], chain[500], chain[500]])
    assert not same([*chain, (1.0,), (1.0,)], [*chain, chain[-1], chain[-1]])


def test_counts_within_the_tolerance_matter():
    assert not same([(0.3, "x"), (0.3, "x"), (0.3, "y")], [(0.1 + 0.2, "x"), (0.3, "y"), (0.3, "y")])


def test_reason_shows_the_row_and_its_counts():
    assert difference([("a",), ("b",)], [("a",), ("c",)]) == "row ('b') is expected 1 times, not 0"
    assert difference([(None, 1)] * 3, [(None, 1)] * 2 + [(None, 2)]) == "row (NULL, 1) is expected 3 times, not 2"
    assert difference([(1,)], [(1,), (1,)]) == "2 rows where 1 are expected; row (1) is expected 1 times, not 2"
    assert difference([(2,), (1,)], [(2,), (1,), (3,)]) == (
        "3 rows where 2 are expected; row (3) is expected 0 times, not 1"
    )
    assert difference([(1.0,), (2.0,)], [(1.0,)]) == "1 rows where 2 are expected; row (2.0) is expected 1 times, not 0"
    assert difference([(1.0,), (1 + 0.9e-9,)], [(1 + 1.8e-9,), (1 + 1.8e-9,)]) == (
        "row (1.0) is expected, and no row that is left is close to it"
    )


def test_a_reason_is_short_whatever_the_row():
    reason = difference([("a" * 1_000_000, b"b" * 1_000_000) * 100], [(None, None) * 100])
    assert len(reason) < 400


def in_order(reference, submission):
    return first_difference((["a"], reference), (["b"], submission), ordered=True)


def test_where_order_counts_rows_are_compared_one_by_one_under_the_same_rules():
    assert in_order([(1, "x"), (2.0, None)], [(1.0, "x"), (2.0 + 1e-12, None)]) is None
    assert in_order([(1,), (2,), (2,)], [(1,), (2,), (2,)]) is None
    assert in_order([], []) is None
    assert in_order([(1,), (2,)], [(2,), (1,)]) == "row 1 is (2) where (1) is expected"
    assert in_order([(1,), ("1",)], [(1,), (1,)]) == "row 2 is (1) where ('1') is expected"
    assert in_order([(1,)], [(1,), (2,)]) == "2 rows where 1 are expected; row 2 is one too many: (2)"
    assert in_order([(1,), (2,)], [(1,)]) == "1 rows where 2 are expected; row 2 is missing: (2)"
    assert in_order([(1,), (2,)], [(2,)]) == "1 rows where 2 are expected; row 1 is (2) where (1) is expected"
    assert in_order([(0.1 + 0.2,), (3 * 10**9,)], [(0.3,), (3 * 10**9 + 1,)]) == (
        "row 2 is (3000000001) where (3000000000) is expected"
    )


@fixed
@given(tables, st.randoms(use_true_random=False))
def test_what_is_the_same_in_order_is_the_same_in_any(rows, generator):
    assert in_order(rows, rows) is None
    other = generator.sample(rows, len(rows))
    assert difference(rows, other) is None
    assert (in_order(rows, other) is None) == (rows == other)  # rows are all of one table: equal cells are equal rows


def pairs_exist(reference, submission):
    """By trying every pairing of the rows."""
    return any(
        all(math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12) if isinstance(a, float) and isinstance(b, float) else a == b
            for one, other in zip(reference, order, strict=True) for a, b in zip(one, other, strict=True))
        for order in permutations(submission)
    )  # fmt: skip


steps = st.sampled_from([3, *(3 + number * 0.4e-9 for number in range(-3, 4))])
near = st.integers(1, 4).flatmap(
    lambda length: st.tuples(*[st.lists(st.tuples(steps, steps), min_size=length, max_size=length)] * 2)
)


@settings(derandomize=True, database=None, deadline=None, max_examples=1500)
@given(near)
def test_rows_on_dense_chains_in_several_columns_are_paired_exactly(both):
    assert same(*both) == pairs_exist(*both)


def test_an_integer_leaves_its_only_partner_to_it_though_others_are_close():
    """3 - 1e-10 could take 3.0, but then 3 would have none."""
    assert same([(3 - 1e-10,), (3,)], [(3.0,), (3 + 1e-10,)])
    assert not same([(3 - 1e-10,), (3,)], [(3 - 1e-10,), (3 + 1e-10,)])


def test_three_hundred_rows_on_a_chain_in_two_columns_are_paired_exactly():
    chain = [1 + number * 0.9e-9 for number in range(EXACT_PAIRING)]
    rows = list(zip(chain, chain[::-1], strict=True))
    assert same(rows, rows[::-1])
    swapped = [*rows[2:], (rows[0][0], rows[1][1]), (rows[1][0], rows[0][1])]
    assert same(rows, swapped)  # neighbours are close
    far = [*rows[1:-1], (rows[0][0], rows[-1][1]), (rows[-1][0], rows[0][1])]
    assert not same(rows, far)


@pytest.mark.parametrize("spread", [1e-13, 1e-10, 1e-3])
def test_ten_thousand_nearly_equal_rows_cost_a_sort(spread):
    generator = random.Random("10,000 rows")
    rows = [(1 + generator.random() * spread, "x", 1 + generator.random() * spread) for _ in range(10_000)]
    noisy = [(one * (1 + generator.uniform(-1e-15, 1e-15)), text, other) for one, text, other in rows]
    generator.shuffle(noisy)
    started = time.perf_counter()
    assert same(rows, noisy)
    assert not same(rows, [*noisy[1:], (0.5, "x", 1.0)])
    assert time.perf_counter() - started < 3

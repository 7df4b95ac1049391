"""Intervals against known answers, and the properties that a clustered interval must have."""

import itertools
import math

import numpy
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from sqldojo.evaluation.statistics import (
    clustered_interval,
    exact_interval,
    luck_of_the_best,
    paired_interval,
    pass_at,
)


def width(interval):
    return interval.high - interval.low


def test_mean_and_counts():
    interval = clustered_interval({"a": [[1, 0], [1, 1]], "b": [[0, 0, 0]]}, "17")
    assert interval.mean == pytest.approx((0.5 + 1 + 0) / 3)  # a question weighs the same however often it is asked
    assert (interval.questions, interval.attempts, interval.types) == (3, 7, 2)
    assert interval.low <= interval.mean <= interval.high


def test_one_type_is_the_plain_bootstrap_over_its_questions():
    """40 of 100 single attempts: the percentile bootstrap is the binomial(100, 0.4) / 100, known exactly."""
    interval = clustered_interval({"a": [[1]] * 40 + [[0]] * 60}, "17", resamples=40_000)
    low, high = scipy.stats.binom.ppf([0.025, 0.975], 100, 0.4) / 100
    assert interval.low == pytest.approx(low, abs=0.011)
    assert interval.high == pytest.approx(high, abs=0.011)


def test_types_of_one_question_are_the_plain_bootstrap_over_questions():
    """With one question a type, the second stage has no choice, so the answer is the same binomial."""
    values = {f"type {index:03}": [[float(index < 40)]] for index in range(100)}
    interval = clustered_interval(values, "17", resamples=40_000)
    low, high = scipy.stats.binom.ppf([0.025, 0.975], 100, 0.4) / 100
    assert interval.low == pytest.approx(low, abs=0.011)
    assert interval.high == pytest.approx(high, abs=0.011)


@pytest.mark.parametrize(("types", "beyond_each_end"), [(10, 0.0086), (15, 0.0132), (100, 0.0231)])
def test_percentiles_are_expanded_for_few_types(types, beyond_each_end):
    """One question a type, two of five right: the bootstrap is a known binomial, its percentiles are known."""
    values = {f"type {index}": [[float(index % 5 < 2)]] for index in range(types)}
    student = scipy.stats.t.ppf(0.025, types - 1) * math.sqrt(types / (types - 1))
    assert scipy.stats.norm.cdf(student) == pytest.approx(beyond_each_end, abs=0.0001)
    low, high = scipy.stats.binom.ppf([beyond_each_end, 1 - beyond_each_end], types, 0.4) / types
    interval = clustered_interval(values, "17", resamples=40_000)
    assert interval.low == pytest.approx(low, abs=0.011)
    assert interval.high == pytest.approx(high, abs=0.011)


def test_two_types_claim_hardly_anything():
    interval = clustered_interval({"a": [[0.0]] * 6, "b": [[1.0]] * 6}, "17")
    assert (interval.low, interval.high) == (0.0, 1.0)


def test_types_that_differ_give_a_wider_interval_than_the_same_questions_unclustered():
    """Ten types all right, ten all wrong, 20 questions each: 20 independent units, not 400."""
    values = {f"type {index:02}": [[float(index < 10)]] * 20 for index in range(20)}
    clustered = clustered_interval(values, "17")
    plain = clustered_interval({"all": [question for questions in values.values() for question in questions]}, "17")
    assert clustered.mean == plain.mean == 0.5
    expanded = 2.147 / 1.969  # Student's quantiles times sqrt(m / (m - 1)) for 20 and for 400 units
    assert width(clustered) / width(plain) == pytest.approx(expanded * math.sqrt(20), rel=0.1)


def test_second_stage_adds_the_spread_of_questions_within_types():
    """Variance of the two-stage mean: between types plus within types, both known for this design."""
    values = {f"type {index:02}": [[1.0]] * 5 + [[0.0]] * 5 for index in range(30)}  # all types alike: only within
    interval = clustered_interval(values, "17")
    deviation = math.sqrt(0.25 / 300)
    assert width(interval) == pytest.approx(2 * 1.96 * deviation, rel=0.08)


def test_depends_on_seed_alone_and_not_on_order():
    values = {"a": [[1, 0], [1, 1], [0, 0]], "b": [[0, 0], [1, 0]], "c": [[1, 1]]}
    shuffled = {"c": [[1, 1]], "b": [[1, 0], [0, 0]], "a": [[0, 0], [1, 1], [1, 0]]}
    assert clustered_interval(values, "17") == clustered_interval(values, "17") == clustered_interval(shuffled, "17")
    other = {clustered_interval(values, str(seed), resamples=50) for seed in range(5)}
    assert len(other) > 1


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_all_alike_is_exact_binomial_over_types(value):
    interval = clustered_interval({f"type {index}": [[value] * 3] * 8 for index in range(15)}, "17")
    exact = scipy.stats.binomtest(int(15 * value), 15).proportion_ci(method="exact")
    assert (interval.low, interval.high) == pytest.approx((exact.low, exact.high))
    assert width(interval) == pytest.approx(0.218, abs=0.001)


def test_few_types_are_never_more_certain_than_their_number_allows():
    """One right attempt of forty must not look surer than none at all."""
    nearly_none = {f"type-{number}": [[0.0, 0.0]] * 4 for number in range(5)}
    nearly_none["type-0"] = [[1.0, 0.0], *nearly_none["type-0"][1:]]
    interval = clustered_interval(nearly_none, "seed")
    assert (interval.low, interval.high) == (0.0, pytest.approx(exact_interval(0.0, 5)[1]))
    nearly_all = {name: [[1 - value for value in values] for values in asked] for name, asked in nearly_none.items()}
    mirrored = clustered_interval(nearly_all, "seed")
    assert (mirrored.low, mirrored.high) == (pytest.approx(1 - interval.high), 1.0)


def test_all_alike_in_one_type_counts_questions():
    interval = clustered_interval({"a": [[0.0]] * 8}, "17")
    assert interval.high == pytest.approx(scipy.stats.binomtest(0, 8).proportion_ci(method="exact").high)


@pytest.mark.parametrize("successes", range(0, 11))
def test_exact_interval_is_clopper_pearson(successes):
    exact = scipy.stats.binomtest(successes, 10).proportion_ci(method="exact")
    assert exact_interval(successes / 10, 10) == pytest.approx((exact.low, exact.high))


@pytest.mark.parametrize("values", [{}, {"a": []}, {"a": [[1.0], []]}, {"a": [[1.5]]}])
def test_nothing_to_average_is_refused(values):
    with pytest.raises(ValueError):
        clustered_interval(values, "17")


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    st.dictionaries(
        st.text("abc", min_size=1, max_size=2),
        st.lists(st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=3), min_size=1, max_size=4),
        min_size=1,
        max_size=5,
    )
)
def test_bounds_are_ordered_and_mirror_when_right_and_wrong_are_swapped(values):
    interval = clustered_interval(values, "17", resamples=1000)
    assert 0 <= interval.low <= interval.mean <= interval.high <= 1
    swapped = {
        name: [[1 - value for value in attempts] for attempts in questions] for name, questions in values.items()
    }
    mirrored = clustered_interval(swapped, "17", resamples=1000)
    assert mirrored.mean == pytest.approx(1 - interval.mean)
    assert numpy.isclose(mirrored.low, 1 - interval.high, atol=0.15)


@pytest.mark.parametrize("right", range(0, 7))
@pytest.mark.parametrize("k", [1, 2, 4, 6])
def test_pass_at_is_the_share_of_choices_with_a_right_attempt(k, right):
    choices = list(itertools.combinations([1] * right + [0] * (6 - right), k))
    assert pass_at(k, 6, right) == pytest.approx(sum(map(max, choices)) / len(choices))


def test_pass_at_one_is_the_accuracy_and_large_numbers_stay_exact():
    assert pass_at(1, 8, 3) == 3 / 8
    assert pass_at(2, 4, 2) == 5 / 6
    assert pass_at(100, 10_000, 1) == pytest.approx(0.01, rel=1e-12)
    assert pass_at(5_000, 10_000, 10_000) == pass_at(10_000, 10_000, 1) == 1
    assert pass_at(4, 10_000, 0) == 0


def test_pass_at_is_unbiased():
    """Its mean over all samples of six attempts is the true chance, unlike 1 - (1 - share right)^k."""
    counts = numpy.arange(7)
    weights = scipy.stats.binom.pmf(counts, 6, 0.3)
    assert sum(weights * [pass_at(4, 6, right) for right in counts]) == pytest.approx(1 - 0.7**4)
    assert sum(weights * (1 - (1 - counts / 6) ** 4)) < 1 - 0.7**4 - 0.02


@pytest.mark.parametrize(("k", "attempts", "right"), [(0, 4, 1), (5, 4, 1), (2, 4, 5), (2, 4, -1)])
def test_pass_at_of_too_few_attempts_is_refused(k, attempts, right):
    with pytest.raises(ValueError, match=f"pass@{k} of {attempts} attempts with {right}"):
        pass_at(k, attempts, right)


def by_question(values_by_type):
    return {name: {f"{name}-{number}": values for number, values in enumerate(questions)}
            for name, questions in values_by_type.items()}  # fmt: skip


def test_paired_is_the_t_test_over_types_when_types_are_equally_large():
    generator = numpy.random.default_rng(4)
    before = {f"type {index}": [generator.integers(0, 2, 4).tolist() for _ in range(6)] for index in range(7)}
    after = {name: [generator.integers(0, 2, 4).tolist() for _ in range(6)] for name in before}
    interval = paired_interval(by_question(before), by_question(after))
    means = [numpy.mean(after[name]) - numpy.mean(before[name]) for name in before]
    expected = scipy.stats.ttest_1samp(means, 0).confidence_interval(0.95)
    assert interval.mean == pytest.approx(numpy.mean(means))
    assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high))
    assert (interval.questions, interval.attempts, interval.types) == (42, 168, 7)


def test_paired_is_the_t_test_over_questions_with_one_type():
    before, after = [[0, 1], [0, 0], [1, 1], [0, 0], [0, 1]], [[1, 1], [0, 1], [1, 0], [0, 1], [0, 1]]
    interval = paired_interval(by_question({"a": before}), by_question({"a": after}))
    expected = scipy.stats.ttest_1samp([0.5, 0.5, -0.5, 0.5, 0], 0).confidence_interval(0.95)
    assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high))


def test_pairing_takes_out_what_makes_questions_hard():
    """Types from never to always right, all but the ends better by the same: only the difference is left."""
    before = {f"type {index}": [[1] * index + [0] * (10 - index)] * 4 for index in range(9)}
    after = {f"type {index}": [[1] * (index + 1) + [0] * (9 - index)] * 4 for index in range(9)}
    interval = paired_interval(by_question(before), by_question(after))
    assert interval.mean == pytest.approx(0.1) and 0.09 < interval.low < interval.high < 0.11
    assert width(clustered_interval(after, "17")) > 0.3


def test_paired_swaps_sign_and_knows_questions_by_name():
    before = by_question({"a": [[0, 1], [1, 1]], "b": [[0, 0]]})
    after = by_question({"a": [[1, 1], [0, 1]], "b": [[1, 1]]})
    forth, back = paired_interval(before, after), paired_interval(after, before)
    assert (back.mean, back.low, back.high) == pytest.approx((-forth.mean, -forth.high, -forth.low))
    shuffled = {name: dict(reversed(questions.items())) for name, questions in reversed(after.items())}
    assert paired_interval(before, shuffled) == forth


def test_no_difference_is_as_sure_as_the_smallest_one():
    same = by_question({f"type {index}": [[0, 1]] * 4 for index in range(5)})
    nearly = {name: dict(questions) for name, questions in same.items()}
    nearly["type 0"]["type 0-0"] = [1, 1]
    none, one = paired_interval(same, same), paired_interval(same, nearly)
    assert none.mean == 0 and none.low == -none.high
    assert width(none) == pytest.approx(width(one)) and one.mean == pytest.approx(1 / 40)


def test_one_question_says_nothing():
    interval = paired_interval({"a": {"q": [0]}}, {"a": {"q": [1]}})
    assert (interval.mean, interval.low, interval.high) == (1, -1, 1)


def test_paired_covers_the_truth_with_few_types():
    """Five types of unequal size whose true gains differ around 0.1; with normal quantiles it would be near 0.88."""
    generator = numpy.random.default_rng(11)
    held = 0
    for _ in range(400):
        before, after = {}, {}
        for index in range(5):
            rate = generator.uniform(0.3, 0.5)
            gain = 0.1 + generator.choice([-0.1, 0.1])
            before[f"{index}"] = generator.binomial(1, rate, (3 + index % 3, 8)).tolist()
            after[f"{index}"] = generator.binomial(1, rate + gain, (3 + index % 3, 8)).tolist()
        interval = paired_interval(by_question(before), by_question(after))
        held += interval.low <= 0.1 <= interval.high
    assert 0.92 <= held / 400 <= 0.985


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {}),
        ({"a": {"q": [1]}}, {}),
        ({"a": {"q": [1]}}, {"a": {"q": [1]}, "b": {"q": [1]}}),
        ({"a": {"q": [1]}, "b": {"q": [1]}}, {"a": {"q": [1]}}),
        ({"a": {"q": [1]}}, {"a": {"p": [1]}}),
        ({"a": {"q": [1]}}, {"a": {"q": [1, 1]}}),
        ({"a": {"q": []}}, {"a": {"q": []}}),
        ({"a": {}}, {"a": {}}),
        ({"a": {"q": [1]}}, {"a": {"q": [1.5]}}),
    ],
)
def test_what_is_not_paired_is_refused(before, after):
    with pytest.raises(ValueError):
        paired_interval(before, after)


@pytest.mark.parametrize(("attempts", "luck"), [(50, 0.138), (100, 0.098), (500, 0.044)])
def test_luck_of_the_best_of_thirty(attempts, luck) :
    assert luck_of_the_best(0.6, attempts, 30) == pytest.approx(luck, abs=0.002)


def test_luck_of_the_best_is_the_mean_of_the_largest() :
    drawn = numpy.random.default_rng(1).binomial(40, 0.35, size=(20_000, 8)).max(axis=1).mean() / 40 - 0.35
    assert luck_of_the_best(0.35, 40, 8) == pytest.approx(drawn, abs=0.002)
    assert luck_of_the_best(0.35, 40, 1) == pytest.approx(0, abs=1e-12)
    assert luck_of_the_best(0.0, 40, 8) == luck_of_the_best(1.0, 40, 8) == 0

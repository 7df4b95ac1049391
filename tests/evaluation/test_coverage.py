"""How often the intervals hold the truth when questions of one type succeed and fail together, as they do here.

A simulated evaluation has 10 to 15 types with 3 to 5 questions each and 1 to 4 attempts at every question. Types
differ in difficulty by a U-shaped beta distribution (many are mastered or hopeless), questions within a type by a
second one around it. The truth is the mean over all types that might have been asked.
"""

import math

import numpy
import pytest
import scipy.stats

from sqldojo.evaluation.statistics import clustered_interval, paired_interval

EVALUATIONS = 300  # the standard error of a coverage of 95 % is then 1.3 points
RESAMPLES = 1000


def draw_rates(generator, mean, types, like_each_other=1.0):
    """Chances of a right attempt: one array of questions a type; the larger the last number, the more alike types."""
    rates = []
    for of_type in generator.beta(mean * like_each_other, (1 - mean) * like_each_other, types):
        near = numpy.clip([6 * of_type, 6 * (1 - of_type)], 1e-9, None)
        rates.append(generator.beta(*near, size=generator.integers(3, 6)))
    return rates


def play(generator, rates, attempts):
    """Type -> question -> attempts, 1 where right."""
    return {
        f"type {index}": dict(enumerate(generator.binomial(1, of_type[:, None], (len(of_type), attempts)).tolist()))
        for index, of_type in enumerate(rates)
    }


def evaluations(mean):
    generator = numpy.random.default_rng(7)
    for index in range(EVALUATIONS):
        rates = draw_rates(generator, mean, generator.integers(10, 16))
        yield play(generator, rates, attempts=1 + index % 4)


def clustered(right, seed):
    values = {name: list(questions.values()) for name, questions in right.items()}
    interval = clustered_interval(values, str(seed), resamples=RESAMPLES)
    return interval.low, interval.high


def wilson(right):
    """The interval for as many independent attempts."""
    values = [value for questions in right.values() for attempts in questions.values() for value in attempts]
    share, size, z = sum(values) / len(values), len(values), 1.96
    reach = z * math.sqrt(share * (1 - share) / size + z**2 / (4 * size**2))
    return tuple((share + z**2 / (2 * size) + sign * reach) / (1 + z**2 / size) for sign in (-1, 1))


def share_holding(truth, intervals):
    return numpy.mean([low <= truth <= high for low, high in intervals])


@pytest.mark.parametrize("mean", [0.3, 0.5])
def test_clustered_interval_holds_the_truth_as_often_as_it_says(mean):
    """Seen: 95.7 and 97.3 %, and 60.3 and 61.0 % for attempts taken for independent.

    Percentiles that are not expanded for few types: 92.7 and 94.0 %.
    """
    found = list(evaluations(mean))
    assert 0.935 <= share_holding(mean, [clustered(right, seed) for seed, right in enumerate(found)]) <= 0.985
    assert 0.4 <= share_holding(mean, [wilson(right) for right in found]) <= 0.7


def test_clustered_interval_errs_on_the_safe_side_near_the_ends():
    """Seen at a true accuracy of 5 %: 100 %, and 62.7 % for attempts taken for independent."""
    found = list(evaluations(0.05))
    assert share_holding(0.05, [clustered(right, seed) for seed, right in enumerate(found)]) >= 0.97
    assert share_holding(0.05, [wilson(right) for right in found]) <= 0.75


def draw_change(generator, learnt, lost, attempts):
    """Before and after a training that teaches some types wholly, makes some forgotten, and leaves the others."""
    rates = draw_rates(generator, 0.5, generator.integers(10, 16), like_each_other=2.0)
    fates = generator.choice([1, 0, -1], len(rates), p=[learnt, lost, 1 - learnt - lost])
    after = [rate if fate < 0 else numpy.full_like(rate, fate) for rate, fate in zip(rates, fates, strict=True)]
    return play(generator, rates, attempts), play(generator, after, attempts)


def differences(before, after):
    """One a question: how much larger its share of right attempts is after than before."""
    return numpy.array([numpy.mean(after[name][question]) - numpy.mean(attempts)
                        for name, questions in before.items() for question, attempts in questions.items()])  # fmt: skip


def by_question(before, after):
    """The paired interval for as many independent questions."""
    found = differences(before, after)
    reach = 1.96 * found.std(ddof=1) / math.sqrt(len(found))
    return found.mean() - reach, found.mean() + reach


def test_paired_interval_holds_the_truth_as_often_as_it_says():
    """Seen: 95.0 %, and 72.7 % for questions taken for independent."""
    generator = numpy.random.default_rng(7)
    pairs = [draw_change(generator, 0.3, 0.1, attempts=1 + index % 4) for index in range(EVALUATIONS)]
    intervals = [paired_interval(*pair) for pair in pairs]
    assert 0.92 <= share_holding(0.1, [(each.low, each.high) for each in intervals]) <= 0.98
    assert share_holding(0.1, [by_question(*pair) for pair in pairs]) <= 0.82


def test_mcnemar_would_call_chance_a_change():
    """Seen with types that are learnt as often as they are lost, at the level of 5 %: 16.3 %, clustered 5.0 %."""
    generator = numpy.random.default_rng(7)
    pairs = [draw_change(generator, 0.2, 0.2, attempts=1) for _ in range(EVALUATIONS)]
    steps = [differences(*pair) for pair in pairs]
    gains = [(int((each > 0).sum()), numpy.count_nonzero(each)) for each in steps]
    mcnemar = [bool(changed) and scipy.stats.binomtest(gained, changed).pvalue < 0.05 for gained, changed in gains]
    intervals = [paired_interval(*pair) for pair in pairs]
    assert numpy.mean(mcnemar) >= 0.12
    assert 0.02 <= 1 - share_holding(0, [(each.low, each.high) for each in intervals]) <= 0.08

"""Intervals for accuracies: how far a score would move had other questions of other types been asked.

Questions of one type succeed or fail together, so attempts are no independent sample: an interval that takes them for
one is too narrow, at worst by a factor above three (E. Miller, "Adding Error Bars to Evals", 2024, arXiv 2411.00640,
section on clustered standard errors). The type is the unit that is sampled here, of one score and of a difference.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy
import scipy.stats

CONFIDENCE = 0.95
RESAMPLES = 4000


@dataclass(frozen=True)
class Interval:
    """A mean with its 95 % interval, and how much was measured for it."""

    mean: float
    low: float
    high: float
    questions: int
    attempts: int
    types: int


def clustered_interval(
    values_by_type: Mapping[str, Sequence[Sequence[float]]], seed: str, resamples: int = RESAMPLES
) -> Interval:
    """The mean of values in [0, 1], given as type -> questions -> attempts, with a 95 % two-stage bootstrap interval.

    Every question weighs the same, however often it was attempted. A resample draws as many types as there are, then
    as many questions within each as that type has, both with replacement (A. C. Davison and D. V. Hinkley, "Bootstrap
    Methods and their Application", 1997, section 3.8). scipy.stats.bootstrap draws in one stage, so the drawing is
    ours; distributions are scipy's. With one type, that is the bootstrap over its questions.

    The interval spans the percentiles of the resampled means, expanded for few types: resamples of m units vary less
    than such samples do, by sqrt((m - 1) / m), and normal quantiles are too short where the spread itself is estimated.
    So the 2.5 % at each end become Phi(-t * sqrt(m / (m - 1))), with Student's quantile t of m - 1 degrees of freedom
    (T. C. Hesterberg, "What Teachers Should Know About the Bootstrap", 2015, on the expanded percentile interval).
    In simulations with 10 to 30 types and accuracies from 30 to 50 %, plain percentiles cover 91 to 98 %, these 95 to
    99 % (tests/evaluation/test_coverage.py has such a simulation).

    With few types that all fail, or all but one, resamples are nearly alike and the bootstrap would claim more
    certainty than so few types can give. So the interval reaches at least as far as the exact binomial one would had
    every type failed (its upper end) or succeeded (its lower end), with the number of types as sample size; when all
    questions have the same mean it is the exact binomial one. See `exact_interval`. This errs on the safe side: up
    to 10 % and from 90 %, and with five types, intervals cover 98 % and more.

    The result depends on the seed and the values, not on the order in which types or questions come. ValueError when
    there is no type, a type without questions or a question without attempts.
    """
    means = [_question_means(name, values_by_type[name]) for name in sorted(values_by_type)]
    if not means:
        raise ValueError("no values to summarise")
    pooled = numpy.concatenate(means)
    mean = float(pooled.mean())
    units = len(means) if len(means) > 1 else len(pooled)
    if numpy.ptp(pooled) == 0:
        low, high = exact_interval(mean, units)
    else:
        tail = _expanded_tail(units)
        low, high = numpy.quantile(_resampled_means(means, _generator(seed), resamples), [tail, 1 - tail])
        low, high = min(low, exact_interval(1.0, units)[0]), max(high, exact_interval(0.0, units)[1])
    attempts = sum(len(values) for questions in values_by_type.values() for values in questions)
    return Interval(mean, float(low), float(high), len(pooled), attempts, len(means))


def paired_interval(
    before: Mapping[str, Mapping[str, Sequence[float]]], after: Mapping[str, Mapping[str, Sequence[float]]]
) -> Interval:
    """The mean of `after` minus `before`, given as type -> question -> attempts in [0, 1], with its 95 % interval.

    Both must hold the same questions with as many attempts, played with the same random keys (ValueError otherwise), so
    that what makes a question hard cancels. Every question weighs the same. The interval is Student's, with the
    standard error of the questions' differences clustered by type (Miller 2024, sections on paired differences and on
    clustered errors) and one degree of freedom less than there are types, because with few clusters normal quantiles
    are too short (A. C. Cameron and D. L. Miller, "A Practitioner's Guide to Cluster-Robust Inference", 2015). With one
    type, questions are the clusters; with one question it is [-1, 1], since its spread is unknown.

    The standard error is at least that of a single attempt that turned out differently, so no difference at all does
    not look surer than the smallest one.

    In simulations where training moves a fifth or more of 10 to 30 types the interval covers 91 to 97 %, with 5 types
    87 to 100 %. It cannot know of what no type shows: where one type in ten is learnt wholly and the others not at all,
    ten types miss that every third time, and the interval covers 70 % (77 % with 14 types, 90 % with 30).
    """
    differences = [_differences(name, before.get(name, {}), after[name]) for name in sorted(after)]
    if not differences or before.keys() != after.keys():
        raise ValueError("both must hold the same types, at least one")
    pooled = numpy.concatenate(differences)
    mean = float(pooled.mean())
    attempts = sum(len(values) for questions in after.values() for values in questions.values())
    clusters = differences if len(differences) > 1 else [pooled[index : index + 1] for index in range(len(pooled))]
    reach = 2.0
    if len(clusters) > 1:
        sums = numpy.array([(cluster - mean).sum() for cluster in clusters])
        variance = (sums**2).sum() * len(clusters) / (len(clusters) - 1)
        error = max(math.sqrt(variance) / len(pooled), 1 / attempts)
        reach = scipy.stats.t.ppf((1 + CONFIDENCE) / 2, len(clusters) - 1) * error
    low, high = max(-1.0, mean - reach), min(1.0, mean + reach)
    return Interval(mean, float(low), float(high), len(pooled), attempts, len(differences))


def exact_interval(share: float, size: int) -> tuple[float, float]:
    """The Clopper-Pearson 95 % interval for a share seen in `size` independent units.

    `share * size` need not be whole: the beta quantiles go on between whole numbers, as E. L. Korn and B. I. Graubard
    ("Confidence intervals for proportions with small expected number of positive counts estimated from survey data",
    1998) use them for clustered samples, with the effective size in place of the sample's.
    """
    successes = share * size
    tail = (1 - CONFIDENCE) / 2
    low = scipy.stats.beta.ppf(tail, successes, size - successes + 1) if successes > 0 else 0.0
    high = scipy.stats.beta.ppf(1 - tail, successes + 1, size - successes) if successes < size else 1.0
    return float(low), float(high)


def exact_mcnemar(only_first: int, only_second: int) -> float:
    """The two-sided p-value of two runs that differ on so many questions, each answered rightly by only one of them.

    With no difference each of these questions is as likely to be one's as the other's, whatever both got right or wrong
    (Q. McNemar, "Note on the sampling error of the difference between correlated proportions or percentages",
    Psychometrika 12, 1947); the exact form takes that binomial itself for his chi-square. 1 when nothing differs.

    It takes questions for independent. Where those of one type are answered alike it calls chance a difference too
    often, and `paired_interval` is the one to trust. ValueError for a negative count.
    """
    if min(only_first, only_second) < 0:
        raise ValueError(f"no numbers of questions: {only_first} and {only_second}")
    differing = only_first + only_second
    return float(scipy.stats.binomtest(only_first, differing).pvalue) if differing else 1.0


def pass_at(k: int, attempts: int, right: int) -> float:
    """The chance that at least one of `k` attempts at a question is right, estimated from more of them without bias.

    1 - C(attempts - right, k) / C(attempts, k), the share of choices of `k` attempts with a right one among them
    (M. Chen et al., "Evaluating Large Language Models Trained on Code", 2021, arXiv 2107.03374, section 2.1); in whole
    numbers up to the one division, so that nothing overflows or cancels. ValueError unless 1 <= k <= attempts and
    0 <= right <= attempts.
    """
    if not (1 <= k <= attempts and 0 <= right <= attempts):
        raise ValueError(f"no pass@{k} of {attempts} attempts with {right} right ones")
    choices = math.comb(attempts, k)
    return (choices - math.comb(attempts - right, k)) / choices


def luck_of_the_best(accuracy: float, attempts: int, looks: int) -> float:
    """By how much the best of `looks` equal adapters of this true accuracy would overstate it, on average.

    The mean of the largest of that many independent binomial shares of `attempts`, minus the accuracy: an upper bound
    for looks at the same questions with the same keys, since these move together.
    """
    # The mean of the largest count is the sum over n of P(largest > n).
    below = scipy.stats.binom.cdf(numpy.arange(attempts), attempts, accuracy)
    return float((1 - below**looks).sum() / attempts - accuracy)


def _expanded_tail(units: int) -> float:
    """The share of resamples beyond each end of the interval."""
    student = scipy.stats.t.ppf((1 - CONFIDENCE) / 2, units - 1)
    return float(scipy.stats.norm.cdf(student * math.sqrt(units / (units - 1))))


def _question_means(name: str, questions: Sequence[Sequence[float]]) -> numpy.ndarray:
    if not questions or not all(len(values) for values in questions):
        raise ValueError(f"type {name}: no questions, or a question without attempts")
    means = numpy.array([sum(values) / len(values) for values in questions])
    if means.min() < 0 or means.max() > 1:
        raise ValueError(f"type {name}: values must lie between 0 and 1")
    return numpy.sort(means)


def _differences(
    name: str, before: Mapping[str, Sequence[float]], after: Mapping[str, Sequence[float]]
) -> numpy.ndarray:
    """One difference of means a question, sorted by its id."""
    sizes = [{question: len(values) for question, values in side.items()} for side in (before, after)]
    if sizes[0] != sizes[1] or not all(sizes[1].values()) or not sizes[1]:
        raise ValueError(f"type {name}: both must hold the same questions, with as many attempts at each")
    values = [value for side in (before, after) for attempts in side.values() for value in attempts]
    if min(values) < 0 or max(values) > 1:
        raise ValueError(f"type {name}: values must lie between 0 and 1")
    return numpy.array([(sum(after[key]) - sum(before[key])) / len(after[key]) for key in sorted(after)])


def _resampled_means(
    means: Sequence[numpy.ndarray], generator: numpy.random.Generator, resamples: int
) -> numpy.ndarray:
    """One mean a resample. Drawn type by type, so that a thousand resamples are a few array operations."""
    drawn = generator.integers(len(means), size=(resamples, len(means)))
    sums = numpy.empty(drawn.shape)
    sizes = numpy.array([len(questions) for questions in means])
    for index, questions in enumerate(means):
        places = drawn == index
        picks = generator.integers(len(questions), size=(int(places.sum()), len(questions)))
        sums[places] = questions[picks].sum(axis=1)
    return sums.sum(axis=1) / sizes[drawn].sum(axis=1)


def _generator(seed: str) -> numpy.random.Generator:
    """A generator of its own for each stable name: Python's hash of a text differs from run to run."""
    return numpy.random.default_rng(int.from_bytes(hashlib.sha256(seed.encode()).digest()[:8], "big"))

"""Draws follow the expected chance of a mixed group, never repeat within a step, and are the same after a restart."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
import scipy.stats
from grpo_settings import GUARDS

from sqldojo.records import Question
from sqldojo.training.guards import Guards
from sqldojo.training.question_draw import QuestionPool, expected_mixed_chance

UNIFORM = replace(GUARDS, draw_by_signal=False)
G = 16


def questions(sizes: Mapping[str, int]) -> list[Question]:
    return [
        Question(f"{kind}-{number:02}", kind, "train", "train", "?", "SELECT 1", {})
        for kind, size in sizes.items()
        for number in range(size)
    ]


def pool(sizes: Mapping[str, int], guards: Guards = GUARDS, seed: int = 7) -> QuestionPool:
    return QuestionPool(questions(sizes), guards, seed, attempts=G)


def ids(drawn: list[Question]) -> list[str]:
    return [question.id for question in drawn]


def played(rates: Mapping[str, float], guards: Guards = GUARDS, seed: int = 7, size: int = 4) -> QuestionPool:
    """A pool whose types were seen to have these pass rates, beyond doubt, in step 0."""
    subject = pool(dict.fromkeys(rates, size), guards, seed)
    for kind, rate in rates.items():
        for number in range(size):
            subject.record(f"{kind}-{number:02}", round(4000 * rate), 4000, 0)
    return subject


@pytest.mark.parametrize(("right", "wrong"), [(1.0, 1.0), (0.3, 2.0), (40.0, 3.0)])
def test_expected_chance_is_the_integral_over_the_posterior(right: float, wrong: float) -> None:
    middle = (np.arange(100_000) + 0.5) / 100_000
    rates = scipy.stats.beta.ppf(middle, right, wrong)
    expected = np.mean(1 - rates**G - (1 - rates) ** G)
    assert expected_mixed_chance(right, wrong, G) == pytest.approx(expected, abs=1e-4)


def test_expected_chance_at_known_rates() -> None:
    for rate, chance in ((0.02, 0.28), (0.05, 0.56), (0.1, 0.82)):
        assert expected_mixed_chance(1e7 * rate, 1e7 * (1 - rate), G) == pytest.approx(chance, abs=0.006)
        assert expected_mixed_chance(1e7 * (1 - rate), 1e7 * rate, G) == pytest.approx(chance, abs=0.006)
    assert expected_mixed_chance(1.0, 1.0, G) == pytest.approx(1 - 2 / (G + 1))
    assert expected_mixed_chance(3.0, 5.0, 1) == pytest.approx(0)


def shares_of_first_draws(rates: Mapping[str, float], guards: Guards) -> dict[str, float]:
    """How often the single question of a draw is of each type, over 1200 seeds."""
    drawn = Counter(played(rates, guards, seed, size=2).draw(1, step=0, round_number=0)[0].type for seed in range(1200))
    return {kind: drawn[kind] / 1200 for kind in rates}


def test_draws_are_in_proportion_to_the_weights() -> None:
    """The chances at G = 16 are 1, 0.82 and 0, the last raised to the floor."""
    weights = np.array([1.0, expected_mixed_chance(1e7, 9e7, G), 0.1])
    shares = shares_of_first_draws({"mixed": 0.5, "hard": 0.1, "mastered": 1.0}, GUARDS)
    assert list(shares.values()) == pytest.approx(list(weights / weights.sum()), abs=0.03)


def test_without_a_floor_what_is_mastered_is_hardly_drawn() -> None:
    shares = shares_of_first_draws({"mixed": 0.5, "mastered": 1.0}, replace(GUARDS, mastered_floor=0.0))
    assert shares["mastered"] < 0.02


def test_without_the_guard_draws_are_uniform() -> None:
    shares = shares_of_first_draws({"mixed": 0.5, "mastered": 1.0}, UNIFORM)
    assert shares["mastered"] == pytest.approx(0.5, abs=0.03)


def test_a_type_that_was_never_seen_is_explored_first() -> None:
    """One group at each of the others is enough to tell."""
    subject = pool({"mastered": 4, "hopeless": 4, "new": 4})
    subject.record("mastered-00", 16, 16, 0)
    subject.record("hopeless-00", 0, 16, 0)
    chances = {kind: subject.expected_mixed(questions({kind: 4}), 1) for kind in ("mastered", "hopeless", "new")}
    assert chances["new"] > 0.9 > 3 * max(chances["mastered"], chances["hopeless"])
    assert {question.type for question in subject.draw(1, step=1, round_number=0)} == {"new"}


def test_what_a_type_showed_is_believed_of_its_unseen_questions() -> None:
    """One question at 8 of 16, another at 16 of 16: their types' unseen questions follow, the seen ones more so."""
    subject = pool({"a": 2, "b": 2})
    subject.record("a-00", 8, 16, 0)
    subject.record("b-00", 16, 16, 0)
    chance = {question.id: subject.expected_mixed([question], 0) for question in questions({"a": 2, "b": 2})}
    assert chance["b-00"] < chance["b-01"] < chance["a-01"] < chance["a-00"]


def test_old_evidence_fades() -> None:
    subject = played({"a": 1.0})
    now, later, much_later = (subject.expected_mixed(questions({"a": 4}), step) for step in (0, 80, 600))
    assert now < later < much_later
    unseen = pool({"a": 4}).expected_mixed(questions({"a": 4}), 0)
    assert much_later == pytest.approx(unseen, abs=1e-6)
    subject.record("a-00", 8, 16, 80)  # a little fresh evidence outweighs much that is 8 half-lives old
    assert subject.expected_mixed(questions({"a": 1}), 80) > 0.9


def test_nothing_is_drawn_twice_in_a_step() -> None:
    subject = pool({"a": 6, "b": 6})
    drawn = [ids(subject.draw(5, step=3, round_number=number)) for number in range(4)]
    assert [len(names) for names in drawn] == [5, 5, 2, 0]
    assert len({name for names in drawn for name in names}) == 12
    assert len(subject.draw(5, step=4, round_number=0)) == 5


def test_draws_depend_on_seed_step_and_round_and_not_on_order() -> None:
    sizes = {"a": 20, "b": 20, "c": 20, "d": 20}
    first = ids(pool(sizes).draw(8, step=1, round_number=0))
    backwards = QuestionPool(questions(sizes)[::-1], GUARDS, 7, attempts=G)
    assert ids(backwards.draw(8, step=1, round_number=0)) == first
    others = [pool(sizes, seed=8).draw(8, step=1, round_number=0), pool(sizes).draw(8, step=2, round_number=0),
              pool(sizes).draw(8, step=1, round_number=1)]  # fmt: skip
    assert all(ids(other) != first for other in others)


def test_the_order_of_recording_does_not_matter() -> None:
    one, other = pool({"a": 9, "b": 9}), pool({"a": 9, "b": 9})
    records = [(question.id, index % 17, 16, index % 3) for index, question in enumerate(questions({"a": 9, "b": 9}))]
    for record in records:
        one.record(*record)
    for record in records[::-1]:
        other.record(*record)
    assert one.state() == other.state()
    everything = questions({"a": 9, "b": 9})
    assert [one.expected_mixed([q], 5) for q in everything] == [other.expected_mixed([q], 5) for q in everything]


def test_what_is_recorded_twice_in_a_step_adds_up() -> None:
    parts, whole = pool({"a": 1}), pool({"a": 1})
    parts.record("a-00", 3, 8, 2)
    parts.record("a-00", 5, 8, 2)
    whole.record("a-00", 8, 16, 2)
    assert parts.state() == whole.state()


def test_a_type_has_at_most_a_quarter_of_a_draw() -> None:
    rates = {"mixed": 0.5, **{f"mastered-{number}": 1.0 for number in range(6)}}
    for seed in range(10):
        drawn = Counter(q.type for q in played(rates, seed=seed, size=16).draw(16, step=0, round_number=0))
        assert drawn["mixed"] == 4 and sum(drawn.values()) == 16
    free = Counter(q.type for q in played({"a": 0.5, "b": 0.5}, size=8).draw(15, step=0, round_number=0))
    assert sum(free.values()) == 15  # two types alone fill a draw between them


def test_a_restored_pool_draws_the_same() -> None:
    """Also when the restart falls between two rounds of a step."""

    def play(subject: QuestionPool, step: int, number: int) -> list[str]:
        names = ids(subject.draw(4, step=step, round_number=number))
        for place, name in enumerate(names):
            subject.record(name, (step + place) % 17, 16, step)
        return names

    rounds = [(step, number) for step in range(4) for number in range(2)]
    sizes = {"a": 9, "b": 9, "c": 9}
    whole = pool(sizes)
    expected = [play(whole, *place) for place in rounds]
    for cut in (1, 4, 7):
        before, after = pool(sizes), pool(sizes)
        drawn = [play(before, *place) for place in rounds[:cut]]
        after.restore(json.loads(json.dumps(before.state())))
        assert drawn + [play(after, *place) for place in rounds[cut:]] == expected
        assert after.state() == whole.state()


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="needs questions"):
        QuestionPool([], GUARDS, 7, attempts=G)
    with pytest.raises(ValueError, match="only once"):
        QuestionPool(questions({"a": 1}) * 2, GUARDS, 7, attempts=G)
    subject = pool({"a": 2})
    for record in (("b-00", 1, 2, 0), ("a-00", 3, 2, 0), ("a-00", -1, 2, 0), ("a-00", 0, 0, 0)):
        with pytest.raises(ValueError, match=record[0]):
            subject.record(*record)
    assert subject.expected_mixed([], 0) == 0

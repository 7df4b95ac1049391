"""Which questions to play: those more often whose attempts are likely to be mixed, since only they teach.

A group of G attempts at a question with pass rate p is mixed with the chance 1 - p^G - (1 - p)^G. The pass rate is
known from what was seen of the question and of its type, the recent more than the old, because the policy moves.
"""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from sqldojo.records import Question
from sqldojo.training.guards import Guards

_HALF_LIFE = 10  # steps after which what was seen counts half
_TYPE_ATTEMPTS = 4.0  # what its type says of a question weighs as much as this many attempts at itself
_LARGEST_TYPE_SHARE = 0.25  # of one draw


def expected_mixed_chance(right: float, wrong: float, attempts: int) -> float:
    """E[1 - p^G - (1 - p)^G] for p from Beta(right, wrong) and G = `attempts`; both parameters positive.

    The moments of the Beta distribution in closed form. It is larger the less is known: 1 - 2 / (G + 1) for Beta(1, 1).
    """
    total = right + wrong
    all_right = math.prod((right + index) / (total + index) for index in range(attempts))
    all_wrong = math.prod((wrong + index) / (total + index) for index in range(attempts))
    return 1 - all_right - all_wrong


class QuestionPool:
    """The training questions with what was seen of them; draws and is told how the drawn ones went.

    A question's pass rate has the prior Beta(4 m, 4 (1 - m)), where m = (right + 1) / (attempts + 2) over its type,
    updated with the question's own attempts; attempts count half after 10 steps. Its weight is the expected chance of a
    mixed group, but at least `mastered_floor` of the largest in the pool. What was never seen is uncertain and so has a
    large weight; what was not seen for long becomes so. Without `draw_by_signal` all weights are equal.
    """

    def __init__(self, questions: Sequence[Question], guards: Guards, seed: int, *, attempts: int) -> None:
        self._questions = {question.id: question for question in sorted(questions, key=lambda question: question.id)}
        if not questions or len(self._questions) < len(questions):
            raise ValueError("the pool needs questions, and each only once")
        self._guards, self._seed, self._attempts = guards, seed, attempts
        # question -> step -> (right, attempts): whole numbers, so that the order of recording cannot matter.
        self._seen: dict[str, dict[int, tuple[int, int]]] = {}
        self._step, self._drawn = -1, set[str]()

    def draw(self, count: int, *, step: int, round_number: int) -> list[Question]:
        """`count` questions that were not drawn before in this step; fewer when no more are left.

        Drawn one after the other in proportion to their weights, by a generator seeded by (seed, step, round). With
        `draw_by_signal` one type has at most a quarter of a draw, rounded up, while other types have questions left.
        """
        if step != self._step:
            self._step, self._drawn = step, set()
        generator = random.Random(f"{self._seed}/{step}/{round_number}")
        # The smallest of independent exponential times with rates w is i with the chance w_i / sum(w), and so on among
        # the rest (P. S. Efraimidis and P. G. Spirakis, "Weighted random sampling with a reservoir", 2006).
        times = {
            name: (-math.log1p(-generator.random()) / weight if weight > 0 else math.inf)
            for name, weight in self._weights(step).items()
        }
        order = [self._questions[name] for name in sorted(times, key=times.__getitem__) if name not in self._drawn]
        largest = math.ceil(_LARGEST_TYPE_SHARE * count) if self._guards.draw_by_signal else count
        chosen = _first_of_each_type(order, count, largest)
        self._drawn |= {question.id for question in chosen}
        return chosen

    def record(self, question_id: str, right: int, attempts: int, step: int) -> None:
        """Note that `right` of `attempts` at a question succeeded in a step; ValueError when that cannot be."""
        if question_id not in self._questions:
            raise ValueError(f"question {question_id} is not in the pool")
        if not 0 <= right <= attempts or attempts < 1:
            raise ValueError(f"question {question_id}: {right} right of {attempts} attempts")
        steps = self._seen.setdefault(question_id, {})
        before = steps.get(step, (0, 0))
        steps[step] = (before[0] + right, before[1] + attempts)

    def expected_mixed(self, questions: Sequence[Question], step: int) -> float:
        """The share of these questions that is expected to give a mixed group, as known in `step`; 0 for none."""
        if not questions:
            return 0.0
        chances = self._mixed_chances(step)
        return math.fsum(chances[question.id] for question in questions) / len(questions)

    def state(self) -> dict[str, Any]:
        """Everything that later draws depend on beside the arguments of the pool, as plain JSON."""
        seen = [[name, step, *counts] for name, steps in self._seen.items() for step, counts in steps.items()]
        return {"seen": sorted(seen), "step": self._step, "drawn": sorted(self._drawn)}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from `state()` of a pool made with the same arguments; ValueError when questions are missing."""
        self._seen = {}
        for name, step, right, attempts in state["seen"]:
            self.record(name, right, attempts, step)
        self._step, self._drawn = state["step"], set(state["drawn"])

    def _weights(self, step: int) -> dict[str, float]:
        if not self._guards.draw_by_signal:
            return dict.fromkeys(self._questions, 1.0)
        chances = self._mixed_chances(step)
        floor = self._guards.mastered_floor * max(chances.values())
        return {name: max(chance, floor) for name, chance in chances.items()}

    def _mixed_chances(self, step: int) -> dict[str, float]:
        """The expected chance of a mixed group, by question in the order of ids."""
        own = {name: _recent(self._seen.get(name, {}), step) for name in self._questions}
        of_type: dict[str, list[float]] = defaultdict(lambda: [1.0, 1.0])
        for name, counts in own.items():
            of_type[self._questions[name].type][0] += counts[0]
            of_type[self._questions[name].type][1] += counts[1]
        chances = {}
        for name, (right, wrong) in own.items():
            type_right, type_wrong = of_type[self._questions[name].type]
            part = _TYPE_ATTEMPTS / (type_right + type_wrong)
            chances[name] = expected_mixed_chance(right + part * type_right, wrong + part * type_wrong, self._attempts)
        return chances


def _recent(steps: dict[int, tuple[int, int]], now: int) -> tuple[float, float]:
    """Right and wrong attempts, each weighted by its age."""
    ages = {step: 0.5 ** ((now - step) / _HALF_LIFE) for step in sorted(steps)}
    right = math.fsum(age * steps[step][0] for step, age in ages.items())
    wrong = math.fsum(age * (steps[step][1] - steps[step][0]) for step, age in ages.items())
    return right, wrong


def _first_of_each_type(order: Sequence[Question], count: int, largest: int) -> list[Question]:
    """The first `count` in order with at most `largest` of one type; then, if too few, the first of those left out."""
    taken: Counter[str] = Counter()
    chosen, left_out = [], []
    for question in order:
        if len(chosen) == count:
            break
        if taken[question.type] < largest:
            taken[question.type] += 1
            chosen.append(question)
        else:
            left_out.append(question)
    return chosen + left_out[: count - len(chosen)]

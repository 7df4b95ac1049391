"""A look plays the same questions with the same keys each time, and sums them up as evaluation does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import cpu_first  # noqa: F401
import pytest

# isort: split
from grpo_settings import GUARDS, SELECTION

from sqldojo.evaluation import selection_look
from sqldojo.evaluation.selection_look import make_look
from sqldojo.evaluation.summary import accuracy_interval
from sqldojo.records import CORRECT, WRONG_SQL, Episode, Question
from sqldojo.records import SELECTION as SPLIT
from sqldojo.training.data_parallel import Ranks
from sqldojo.training.grpo import GrpoParams
from sqldojo.training.selection import Look

PARAMS = GrpoParams(
    seed=5, steps=1, questions=1, attempts=2, informative_groups=1, most_questions=1, width=9, micro_batch_size=1,
    updates_per_rollout=1, replayed=0, learning_rate=0.1, final_share=1.0, warmup_steps=0, gradient_norm=1.0,
    checkpoint_every=1, hours=0.0, hosts=(), guards=GUARDS, selection=replace(SELECTION, attempts=3),
)  # fmt: skip
QUESTIONS = [Question(f"q-{n}", f"t-{n % 2}", SPLIT, "evaluation", f"Question {n}?", "SELECT 1", {}) for n in range(4)]


def episode(question: Question, number: int) -> Episode:
    right = question.id == "q-1" or (question.id == "q-2" and number == 0)
    outcome = CORRECT if right else WRONG_SQL
    return Episode(f"{question.id}/{number}", question.id, question.type, SPLIT, number, (), outcome, 0.0, "")


@pytest.fixture
def look(monkeypatch: pytest.MonkeyPatch) -> tuple[Callable[[int], Look], list[dict[str, Any]]]:
    """A look whose episodes end in another order than they began, and the calls of `play`."""
    calls: list[dict[str, Any]] = []

    def play(_: Any, attempts: Sequence[Any], __: Any, **options: Any) -> Iterator[Episode]:
        calls.append({"attempts": attempts, **options})
        yield from [episode(*attempt) for attempt in attempts][::-1]

    monkeypatch.setattr(selection_look, "play", play)
    made = make_look(None, QUESTIONS, lambda question, number: (question, number), None, PARAMS, Ranks())
    return made, calls


def test_a_look_is_the_clustered_accuracy(look: Any) -> None:
    take, _ = look
    expected = accuracy_interval([episode(q, n) for q in QUESTIONS for n in range(3)], "5/selection")
    assert take(7) == Look(7, 4 / 12, expected.low, expected.high, 4, 12)


def test_every_look_has_the_same_questions_and_keys(look: Any) -> None:
    take, calls = look
    take(0)
    take(6)
    assert calls[0] == calls[1]
    assert calls[0]["attempts"] == [(question, number) for question in QUESTIONS for number in range(3)]
    assert (calls[0]["seed"], calls[0]["width"]) == ("5/selection", 9)

"""From filled types to questions: which phrasing asks for which values.

What may be asked was decided in the review (review.py) and again on all databases (standing.py); nothing is run here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from random import Random

from sqldojo.records import (
    CHECK,
    HELD_OUT_SPLITS,
    RESERVED,
    SELECTION,
    TRAIN,
    FilledType,
    Question,
    QuestionType,
)

SPLITS = (TRAIN, RESERVED, SELECTION, CHECK)


@dataclass(frozen=True)
class QuestionParams:
    """The section `questions` of params.yaml: how many questions a type gives, and which types are trained.

    Only types of the `trained_proposers` are, all when none is named; what is held out does not depend on it.
    Of a split in `held_out_questions` so many are asked, one of every type before a second of any; of others all.
    """

    seed: int
    train_per_type: int
    held_out_per_type: int
    trained_proposers: tuple[str, ...] = ()
    held_out_questions: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("train_per_type", "held_out_per_type"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}: must be at least 1, found {getattr(self, name)}")
        for split, count in self.held_out_questions.items():
            if split not in HELD_OUT_SPLITS or count < 1:
                raise ValueError(f"held_out_questions: expected at least 1 question of {', '.join(HELD_OUT_SPLITS)}, "
                                 f"found {split}: {count}")  # fmt: skip


def make_questions(
    question_types: Sequence[QuestionType], filled: Sequence[FilledType], params: QuestionParams
) -> dict[str, list[Question]]:
    """The questions of every split, type by type in their order."""
    groups: dict[tuple[str, str], list[FilledType]] = {}
    for each in filled:
        groups.setdefault((each.type, each.split), []).append(each)
    questions: dict[str, list[Question]] = {split: [] for split in SPLITS}
    for question_type in question_types:
        left_out = params.trained_proposers and question_type.proposer not in params.trained_proposers
        for split in SPLITS:
            if not (left_out and split in (TRAIN, RESERVED)):
                questions[split] += _ask(question_type, split, groups.get((question_type.id, split), ()), params)
    return questions | {
        split: _spread(questions[split], count, Random(f"{params.seed}/{split}"))
        for split, count in params.held_out_questions.items()
    }


def _spread(questions: Sequence[Question], count: int, random: Random) -> list[Question]:
    """So many of the questions, in their order: of every type, types in a random order, one before a second of any."""
    rounds: dict[str, list[Question]] = {}
    for question in questions:
        rounds.setdefault(question.type, []).append(question)
    shuffled = random.sample(list(rounds.values()), len(rounds))
    in_turn = [question for each in zip_longest(*shuffled) for question in each if question is not None]
    chosen = {question.id for question in in_turn[:count]}
    return [question for question in questions if question.id in chosen]


def _ask(
    question_type: QuestionType, split: str, filled: Sequence[FilledType], params: QuestionParams
) -> list[Question]:
    wanted = params.train_per_type if split == TRAIN else params.held_out_per_type
    random = Random(f"{params.seed}/{question_type.id}/{split}")
    return [
        Question(
            id=f"{question_type.id}-{split}-{number:04d}",
            type=question_type.id,
            split=split,
            family=each.family,
            text=phrasing.format(**each.parameters),
            reference=each.reference,
            parameters=each.parameters,
            ordered=question_type.ordered,
        )
        for number, (each, phrasing) in zip(
            range(1, wanted + 1), _phrased(filled, question_type.phrasings, random), strict=False
        )
    ]


def _phrased(
    filled: Sequence[FilledType], phrasings: Sequence[str], random: Random
) -> Iterator[tuple[FilledType, str]]:
    """Every pair once: all values before any repeats, phrasings in turn."""
    shuffled, phrasings = random.sample(filled, len(filled)), random.sample(phrasings, len(phrasings))
    for turn in range(len(phrasings)):
        for index, each in enumerate(shuffled):
            yield each, phrasings[(index + turn) % len(phrasings)]

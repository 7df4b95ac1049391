"""Where two checkpoints differ: type by type and question by question, of the same attempts at the same questions.

No p-value stands beside the counts. McNemar's test, the usual one for gains against losses, takes questions for
independent, and those of one type are gained or lost together: it would call chance a change far more often than it
says (tests/evaluation/test_coverage.py has the figure). The paired interval of `paired.changes` answers the same
question with types as its units.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqldojo.evaluation.paired import changes
from sqldojo.evaluation.summary import DIGITS, grouped
from sqldojo.records import CORRECT, Episode

GAINED, LOST, SAME = "gained", "lost", "same"
BOTH_RIGHT, BOTH_WRONG, BOTH_PARTLY = "both_right", "both_wrong", "both_partly"


@dataclass(frozen=True)
class QuestionChange:
    """A question that both checkpoints attempted as often; `before` and `after` count the right ones of `attempts`."""

    split: str
    type: str
    question: str
    text: str
    before: int
    after: int
    attempts: int

    @property
    def kind(self) -> str:
        """GAINED when more attempts are right than before, LOST when fewer are, SAME otherwise."""
        if self.before == self.after:
            return SAME
        return GAINED if self.after > self.before else LOST


@dataclass(frozen=True)
class TypeChange:
    """A question type in one split: shares of right attempts in [0, 1], their difference, and of how much it is one.

    `attempts` counts those of one checkpoint; the other made as many.
    """

    split: str
    type: str
    questions: int
    attempts: int
    before: float
    after: float
    change: float


def type_changes(before: Iterable[Episode], after: Iterable[Episode]) -> list[TypeChange]:
    """One row a split and type, from what lost most to what gained most, then by split and name.

    Every question weighs the same, as in all accuracies of the project. ValueError as in `question_changes`.
    """
    groups: dict[tuple[str, str], list[QuestionChange]] = {}
    for each in question_changes(before, after):
        groups.setdefault((each.split, each.type), []).append(each)
    rows = [_type_change(split, name, members) for (split, name), members in groups.items()]
    return sorted(rows, key=lambda row: (row.change, row.split, row.type))


def question_changes(before: Iterable[Episode], after: Iterable[Episode]) -> list[QuestionChange]:
    """One row a question, sorted by split, type and id.

    ValueError naming the first question that only one of both attempted, or that they did not attempt as often.
    """
    sides = [grouped(episodes, "question") for episodes in (before, after)]
    for name in sorted(sides[0].keys() | sides[1].keys()):
        counts = [len(side.get(name, ())) for side in sides]
        if counts[0] != counts[1]:
            raise ValueError(f"question {name} has {counts[0]} attempts before and {counts[1]} after")
    rows = [_question_change(name, sides[0][name], sides[1][name]) for name in sides[0]]
    return sorted(rows, key=lambda row: (row.split, row.type, row.question))


def gains_and_losses(rows: Iterable[QuestionChange]) -> dict[str, dict[str, int]]:
    """How many questions of each split were gained, lost, right both times, wrong both times; they sum to `questions`.

    With several attempts at a question, BOTH_RIGHT means all of them and BOTH_WRONG none; BOTH_PARTLY counts those of
    which some attempts are right, and equally many as before.
    """
    found: dict[str, Counter[str]] = {}
    for row in rows:
        found.setdefault(row.split, Counter())[_counted_as(row)] += 1
    kinds = (GAINED, LOST, BOTH_RIGHT, BOTH_WRONG, BOTH_PARTLY)
    return {
        split: {kind: counts[kind] for kind in kinds} | {"questions": counts.total()}
        for split, counts in sorted(found.items())
    }


def split_changes(before: Sequence[Episode], after: Sequence[Episode]) -> dict[str, dict[str, float | int]]:
    """What changed in each split: `before`, `after`, `change` with its interval, `attempts` of one side, and counts.

    The counts are those of `gains_and_losses`. ValueError as in `question_changes`.
    """
    rows = question_changes(before, after)
    found = {}
    for split, counts in gains_and_losses(rows).items():
        members = [row for row in rows if row.split == split]
        shares = {side: round(_accuracy(members, side), DIGITS) for side in ("before", "after")}
        found[split] = shares | {"attempts": sum(row.attempts for row in members)} | counts
    return {split: found[split] | change for split, change in changes(before, after).items()}


def question_text(episode: Episode) -> str:
    """What the agent was asked: the text of the first user message, empty when the episode kept no messages."""
    return next((message.content.strip() for message in episode.messages if message.role == "user"), "")


def _counted_as(row: QuestionChange) -> str:
    if row.kind != SAME:
        return row.kind
    return {0: BOTH_WRONG, row.attempts: BOTH_RIGHT}.get(row.after, BOTH_PARTLY)


def _question_change(name: str, before: list[Episode], after: list[Episode]) -> QuestionChange:
    first = after[0]
    if any((each.split, each.type) != (first.split, first.type) for each in (*before, *after)):
        raise ValueError(f"question {name} is not of the same split and type before and after")
    right = [sum(episode.outcome == CORRECT for episode in side) for side in (before, after)]
    return QuestionChange(first.split, first.type, name, question_text(first), *right, len(after))


def _type_change(split: str, name: str, members: list[QuestionChange]) -> TypeChange:
    before, after = _accuracy(members, "before"), _accuracy(members, "after")
    attempts = sum(each.attempts for each in members)
    shares = (round(share, DIGITS) for share in (before, after, after - before))
    return TypeChange(split, name, len(members), attempts, *shares)


def _accuracy(rows: Sequence[QuestionChange], side: str) -> float:
    return sum(getattr(row, side) / row.attempts for row in rows) / len(rows)

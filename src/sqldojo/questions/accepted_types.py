"""The types accepted so far, and what a further one must differ from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqldojo.questions.examining import Filling
from sqldojo.questions.normal_form import type_form
from sqldojo.questions.rules import Fault
from sqldojo.questions.wording import likeness
from sqldojo.records import TRAIN, QuestionType

LIKE_WORDS = 0.5  # from this likeness of their phrasings on, two types with the same answers are one


@dataclass(frozen=True)
class Accepted:
    """A type with what may be asked of it, and with the normal form of its query."""

    type: QuestionType
    fillings: tuple[Filling, ...]
    form: str


class AcceptedTypes:
    """Accepted types in their order. `columns` maps each table to its columns."""

    def __init__(self, columns: Mapping[str, Sequence[str]], *, least_values: int) -> None:
        self.columns, self.least_values = columns, least_values
        self.accepted: list[Accepted] = []
        self._by_form: dict[str, Accepted] = {}
        self._by_answers: dict[str, list[Accepted]] = {}
        self._answers: dict[bool, set[str]] = {True: set(), False: set()}  # of questions to train on, and of others

    def add(self, accepted: Accepted) -> None:
        """Have later ones compared with this one too."""
        self.accepted.append(accepted)
        self._by_form.setdefault(accepted.form, accepted)
        for filling in accepted.fillings:
            self._by_answers.setdefault(filling.answers, []).append(accepted)
            self._answers[_is_trained(filling)].add(filling.answers)

    def compare(
        self, question_type: QuestionType, fillings: Sequence[Filling]
    ) -> tuple[Accepted | None, Fault | None]:
        """What the type would be in the bank, None if nothing of it can be asked, and what is wrong with that.

        Questions to train on that happen to have the answers of a held-out question, on every database, are left out,
        and so are held-out ones with the answers of one to train on.
        """
        form = type_form(question_type.sql, self.columns, question_type.parameters)
        fault = self._same_query(question_type, form) or self._same_answers(question_type, fillings)
        kept = [each for each in fillings if each.answers not in self._answers[not _is_trained(each)]]
        fault = fault or self._too_few(question_type, fillings, kept)
        splits = {each.filled.split for each in kept}
        if splits != {each.filled.split for each in fillings}:
            return None, fault
        return Accepted(question_type, tuple(kept), form), fault

    def _same_query(self, question_type: QuestionType, form: str) -> Fault | None:
        known = self._by_form.get(form)
        if known is None:
            return None
        return Fault(_rule(question_type, known.type), f"{known.type.id} has the same query: {known.type.sql}")

    def _same_answers(self, question_type: QuestionType, fillings: Sequence[Filling]) -> Fault | None:
        ours = {each.values: each.answers for each in fillings}
        candidates = {each.type.id: each for filling in fillings for each in self._by_answers.get(filling.answers, ())}
        for known in candidates.values():
            theirs = {each.values: each.answers for each in known.fillings}
            common = [values for values in ours if values in theirs]
            if common and all(ours[values] == theirs[values] for values in common):
                rule = _rule(question_type, known.type)
                if rule == "overlaps-held-out" or likeness(question_type, known.type) >= LIKE_WORDS:
                    return Fault(rule, f"{known.type.id} has the same answers on every database: {known.type.sql}")
        return None

    def _too_few(
        self, question_type: QuestionType, fillings: Sequence[Filling], kept: Sequence[Filling]
    ) -> Fault | None:
        lost = [each for each in fillings if each not in kept]
        for split in dict.fromkeys(each.filled.split for each in fillings):
            left = [each for each in kept if each.filled.split == split]
            if not left:
                example = next(each for each in lost if each.filled.split == split)
                return Fault("overlaps-held-out", f"all its {split} questions have the answers of a question of the "
                             f"other side, on every database: {example.filled.reference}")  # fmt: skip
            if split == TRAIN and question_type.parameters and len(left) < self.least_values:
                values = ", ".join(repr(dict(each.values)) for each in left)
                return Fault("small-pool", f"only {len(left)} of its values can be trained: {values}")
        return None


def _is_trained(filling: Filling) -> bool:
    return filling.filled.split == TRAIN


def _rule(one: QuestionType, other: QuestionType) -> str:
    return "overlaps-held-out" if (one.split == TRAIN) != (other.split == TRAIN) else "near-duplicate"

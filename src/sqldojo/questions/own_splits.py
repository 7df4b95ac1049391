"""Splits of the questions over a user's own database, where there are no hand-written types that fill them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from sqldojo.databases.execution import Limits
from sqldojo.databases.shop_schema import is_shop
from sqldojo.errors import UserError
from sqldojo.questions.contamination import check_contamination, clashes
from sqldojo.records import HELD_OUT_SPLITS, SELECTION, TRAIN, Question

_NEEDED = (TRAIN, SELECTION)  # what is learnt from, and what decides which adapter is kept


def check_splits(found: Collection[str], where: str) -> None:
    """UserError, naming the split, when none of the splits `found` is one that the chain cannot do without."""
    for split in _NEEDED:
        if split not in found:
            raise UserError(
                f"{where}: the split {split} is empty: the database gives too few question types; give one with more "
                "rows, with foreign keys (see bank/foreign_keys.yaml) and with columns whose values occur more than "
                "once. metrics/review.json counts what was rejected, by rule"
            )


def without_clashes(
    questions: Mapping[str, Sequence[Question]], databases: Mapping[str, Sequence[Path]], limits: Limits
) -> tuple[dict[str, list[Question]], list[str]]:
    """The questions of every split without held-out ones that are trained in other words, and what to tell of them.

    UserError for the first such question of the shop, whose types can be mended, and for a split that must not be
    empty.
    """
    held_out = [question for split in HELD_OUT_SPLITS for question in questions[split]]
    if is_shop(databases[TRAIN][0]):
        check_contamination(questions[TRAIN], held_out, databases, limits)
        found: dict[str, str] = {}
    else:
        found = clashes(questions[TRAIN], held_out, databases, limits)
    kept = {split: [each for each in asked if each.id not in found] for split, asked in questions.items()}
    check_splits([split for split, asked in kept.items() if asked], "data/questions")
    empty = [split for split, asked in kept.items() if not asked]
    notes = [f"left out: {why}" for why in found.values()]
    return kept, [*notes, *(f"the split {split} is empty: it is neither played nor scored" for split in empty)]

"""What is reviewed of the proposals for a database, and how much of it is held out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sqldojo.files import read_records
from sqldojo.questions.review import ReviewParams
from sqldojo.questions.shop_types import hand_written
from sqldojo.records import QuestionType

_LEAST_HELD_OUT = 6  # easy types of selection and of check: the review and the fourth database take some away
_RESERVED = 24  # about so many types are asked with reserved values, if there are as many


def to_review(proposed: Path, database: Path, params: ReviewParams) -> tuple[list[QuestionType], ReviewParams]:
    """The types to review on a database like this one, and the settings to do it by.

    `proposed` is the file of the proposals; hand-written ones come before them, if there are any for the database.
    UserError when a file cannot be read.
    """
    proposals = read_records(proposed, QuestionType)
    written = hand_written(database)
    return [*written, *proposals], params if written else fitted(params, proposals)


def fitted(params: ReviewParams, proposals: Sequence[QuestionType]) -> ReviewParams:
    """The settings with more held-out shapes and reserved types, as far as few proposals need it to fill the splits."""
    with_values = max(1, sum(bool(each.parameters) for each in proposals))
    reserved = max(params.reserved_types, min(1.0, _RESERVED / with_values))
    return replace(params, least_held_out=_LEAST_HELD_OUT, reserved_types=reserved)

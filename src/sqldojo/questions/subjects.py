"""What the verifier is built and audited by: every reference that may be asked."""

from __future__ import annotations

from collections.abc import Sequence

from sqldojo.records import FilledType, QuestionType
from sqldojo.verifier.audit import Subject


def subjects_of(question_types: Sequence[QuestionType], filled: Sequence[FilledType]) -> list[Subject]:
    """The filled types as subjects of an audit, in their order."""
    types = {each.id: each for each in question_types}
    return [
        Subject(
            type=each.type,
            family=each.family,
            reference=each.reference,
            ordered=each.ordered,
            proposer=types[each.type].proposer,
            asked=tuple((pool, each.parameters[name]) for name, pool in types[each.type].parameters.items()),
        )
        for each in filled
    ]

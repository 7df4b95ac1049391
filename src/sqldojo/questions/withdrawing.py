"""Taking back what was accepted: references of which the databases let a wrong rewrite pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqldojo.records import FilledType, QuestionType, Review

MUTANT_SURVIVES = "mutant-survives"


def withdraw(
    question_types: Sequence[QuestionType], filled: Sequence[FilledType], passing: Mapping[tuple[str, str], str]
) -> tuple[list[QuestionType], list[FilledType], list[Review]]:
    """The types and filled types that are left, and a review of each type that loses some.

    `passing` has a wrong rewrite for the (family, reference) of each filled type to take back. A type goes with all of
    its filled types when none is left for a split that it was accepted for; else its review says accepted.
    """
    kept_types, kept, reviews = [], [], []
    for question_type in question_types:
        mine = [each for each in filled if each.type == question_type.id]
        left = [each for each in mine if (each.family, each.reference) not in passing]
        stands = {each.split for each in left} == {each.split for each in mine}
        if stands:
            kept_types.append(question_type)
            kept += left
        if len(left) < len(mine):
            first = next(each for each in mine if (each.family, each.reference) in passing)
            evidence = (
                f"on {first.family}, for {len(mine) - len(left)} of {len(mine)} references: "
                f"{passing[first.family, first.reference]} passes for {first.reference}"
            )
            reviews.append(Review(question_type.id, question_type.proposer, question_type.pattern, stands,
                                  MUTANT_SURVIVES, evidence))  # fmt: skip
    return kept_types, kept, reviews

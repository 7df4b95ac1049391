"""Taking back what was accepted: references for which the databases misjudge a rewrite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqldojo.records import FilledType, QuestionType, Review

MISJUDGED = "misjudged-rewrite"


def withdraw(
    question_types: Sequence[QuestionType], filled: Sequence[FilledType], misjudged: Mapping[tuple[str, str], str]
) -> tuple[list[QuestionType], list[FilledType], list[Review]]:
    """The types and filled types that are left, and a review of each type that loses some.

    `misjudged` has what is wrong for the (family, reference) of each filled type to take back. A type goes with all of
    its filled types when none is left for a split that it was accepted for; else its review says accepted.
    """
    kept_types, kept, reviews = [], [], []
    for question_type in question_types:
        mine = [each for each in filled if each.type == question_type.id]
        left = [each for each in mine if (each.family, each.reference) not in misjudged]
        stands = {each.split for each in left} == {each.split for each in mine}
        if stands:
            kept_types.append(question_type)
            kept += left
        if len(left) < len(mine):
            first = next(each for each in mine if (each.family, each.reference) in misjudged)
            evidence = (
                f"on {first.family}, for {len(mine) - len(left)} of {len(mine)} references: "
                f"{misjudged[first.family, first.reference]} for {first.reference}"
            )
            reviews.append(Review(question_type.id, question_type.proposer, question_type.pattern, stands,
                                  MISJUDGED, evidence))  # fmt: skip
    return kept_types, kept, reviews

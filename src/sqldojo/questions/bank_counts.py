"""What the bank holds and what was rejected, as numbers for metrics and rows for plots."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from sqldojo.questions.review import Reviewed
from sqldojo.questions.rules import RULES
from sqldojo.records import QuestionType, Review


def review_metrics(found: Reviewed, verdicts: Iterable[str]) -> dict[str, Any]:
    """The content of metrics/review.json: proposals, accepted types by pattern and so on, rejected ones by rule.

    `verdicts` are the ids of the types that people judged; those that nobody proposes any more are listed.
    """
    types, reviews = found.types, found.reviews
    accepted = [each for each in reviews if each.accepted]
    rejected = [each for each in reviews if not each.accepted]
    return {
        "proposals": len(reviews),
        "accepted": len(accepted),
        "accepted_by": {
            "pattern": _counts(each.pattern for each in types),
            "difficulty": _counts(str(each.difficulty) for each in types),
            "proposer": _counts(each.proposer for each in types),
            "split": _counts(each.split for each in types),
        },
        "rejected": len(rejected),
        "rejected_by": {
            "rule": _counts(each.rule for each in rejected),
            "proposer": _counts(each.proposer for each in rejected),
        },
        "by_people": _counts("accepted" if each.accepted else "rejected" for each in reviews if each.by == "people"),
        "verdicts_without_a_type": sorted(set(verdicts) - {each.type for each in reviews}),
        "filled": _counts(each.split for each in found.filled),
    }


def pattern_rows(types: Sequence[QuestionType]) -> list[dict[str, Any]]:
    """The rows of plots/bank/patterns.csv: accepted types by pattern and difficulty."""
    counts = Counter((each.pattern, each.difficulty) for each in types)
    return [{"pattern": pattern, "difficulty": difficulty, "accepted": count}
            for (pattern, difficulty), count in sorted(counts.items())]  # fmt: skip


def rule_rows(reviews: Sequence[Review]) -> list[dict[str, Any]]:
    """The rows of plots/bank/rules.csv: how many proposals each rule rejected, in the order of RULES."""
    counts = Counter(each.rule for each in reviews if not each.accepted)
    return [{"rule": rule, "rejected": counts[rule]} for rule in RULES]


def _counts(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))

from dataclasses import replace

from village import IN_TOWN

from sqldojo.questions.bank_counts import pattern_rows, review_metrics, rule_rows
from sqldojo.questions.review import Reviewed
from sqldojo.questions.rules import RULES
from sqldojo.records import FilledType, Review

TYPES = [
    replace(IN_TOWN, id="a", pattern="join", difficulty=2),
    replace(IN_TOWN, id="b", pattern="filter", difficulty=1, split="check"),
    replace(IN_TOWN, id="c", pattern="join", difficulty=2, proposer="pairs"),
]
REVIEWS = [
    *(Review(each.id, each.proposer, each.pattern, accepted=True) for each in TYPES),
    Review("d", "pairs", "join", False, "idle-part", "..."),
    Review("e", "pairs", "join", False, "people", "dull", "people"),
]
FILLED = [FilledType("a", "train", "train", {}, ""), FilledType("a", "train", "train", {}, "")]


def test_types_are_counted_by_everything_and_rejections_by_rule():
    assert review_metrics(Reviewed(TYPES, FILLED, REVIEWS), ["e", "gone"]) == {
        "proposals": 5,
        "accepted": 3,
        "accepted_by": {
            "pattern": {"filter": 1, "join": 2},
            "difficulty": {"1": 1, "2": 2},
            "proposer": {"composed": 2, "pairs": 1},
            "split": {"check": 1, "train": 2},
        },
        "rejected": 2,
        "rejected_by": {"rule": {"idle-part": 1, "people": 1}, "proposer": {"pairs": 2}},
        "by_people": {"rejected": 1},
        "verdicts_without_a_type": ["gone"],
        "filled": {"train": 2},
    }


def test_rows_for_plots():
    assert pattern_rows(TYPES) == [
        {"pattern": "filter", "difficulty": 1, "accepted": 1},
        {"pattern": "join", "difficulty": 2, "accepted": 2},
    ]
    rows = rule_rows(REVIEWS)
    assert [row["rule"] for row in rows] == list(RULES)
    assert {row["rule"]: row["rejected"] for row in rows if row["rejected"]} == {"idle-part": 1, "people": 1}

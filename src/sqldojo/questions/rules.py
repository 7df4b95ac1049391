"""The rules of the review, by name: what a proposed question type is rejected for, and who may say otherwise."""

from __future__ import annotations

from dataclasses import dataclass

# In the order in which they are asked; metrics, reports and the documentation count by these names.
RULES = {
    "same-id": "an earlier proposal has the same id",
    "other-pool": "a parameter has another pool than in an earlier type, so a reserved value could be trained",
    "broken-wording": "there is no phrasing, the same one twice, one with stray braces or an unknown parameter",
    "omits-parameter": "a phrasing does not say the value of a parameter",
    "leaks-sql": "a phrasing holds SQL, an identifier of the schema that is no plain word, or the reference itself",
    "unreadable": "the SQL cannot be read and written back, so no mutant of it can be made",
    "bad-pool": "the query that lists a parameter's values fails, or lists what no question can ask for",
    "sql-fails": "the SQL does not run with the values of its parameters",
    "refused": "the SQL may not be asked: it writes, reads the clock or chance, or looks at the engine's own tables",
    "over-limit": "the SQL takes more steps, time, rows or memory than a query may",
    "empty-everywhere": "the answer is empty on every database, whatever the values",
    "same-answer": "the answer is the same on every database, whatever the values, so a constant would pass",
    "depends-on-ties": "the answer depends on how ties fall or on the physical order of rows",
    "grader-disagrees": "the grader does not call the reference correct, or does not call an empty answer wrong",
    "idle-part": "a condition, DISTINCT, join or LIMIT can be left out without ever changing the answer",
    "small-pool": "too few values of its parameters can be asked",
    "near-duplicate": "an accepted type has the same query but for names and constants, or asks the same in like words",
    "overlaps-held-out": "it is answered as a question of the other side of the split is, on every database",
    "blind-solver": "another model, shown the question alone, does not reach the reference's answer",
    "people": "a person rejected it",
    "misjudged-rewrite": "a wrong rewrite of it passes on all four databases though other rows tell it apart, "
    "or a right one is refused",
}

# What a person may overrule. All others say that there is nothing sound to ask.
MATTERS_OF_OPINION = frozenset((
    "leaks-sql", "idle-part", "small-pool", "near-duplicate", "overlaps-held-out", "blind-solver",
))  # fmt: skip


@dataclass(frozen=True)
class Fault:
    """Why a proposal is rejected: a name of RULES, and the SQL, text or values that show it."""

    rule: str
    evidence: str

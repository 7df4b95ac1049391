"""Questions to try an exported model with: some of the held-out ones for the report, and ten that need no data.

Which held-out questions are shown is fixed before they are played, so that what people read is no choice of successes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqldojo.agent.family_schema import FamilySchema
from sqldojo.agent.prompt import opening
from sqldojo.agent.tool_format import ToolFormat
from sqldojo.records import RESERVED, SELECTION, Message, Question

_SCHEMA = """\
CREATE TABLE members (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT, joined TEXT NOT NULL);
CREATE TABLE courts (id INTEGER PRIMARY KEY, name TEXT NOT NULL, indoor INTEGER NOT NULL);
CREATE TABLE bookings (id INTEGER PRIMARY KEY, member_id INTEGER NOT NULL REFERENCES members (id),
    court_id INTEGER NOT NULL REFERENCES courts (id), day TEXT NOT NULL, price REAL NOT NULL);"""
_QUESTIONS = (
    "How many members are there?",
    "How many members live in Lyon?",
    "List the names of all indoor courts.",
    "List the names of the members who joined in 2024.",
    "What is the average price of a booking?",
    "How many bookings are there for each court?",
    "Which members have never booked a court?",
    "What did each member pay in all?",
    "Show the three most expensive bookings.",
    "How many bookings were there in each month of 2025?",
)


def prompts_without_data(tool_format: ToolFormat) -> list[tuple[Message, ...]]:
    """Ten openings about a small schema, for checks where there is no database."""
    return [opening(question, _SCHEMA, tool_format) for question in _QUESTIONS]


def prompts_about(
    questions: Sequence[Question], schema: FamilySchema, tool_format: ToolFormat
) -> list[tuple[Message, ...]]:
    """The openings of these questions on a schema."""
    return [schema.opening(question.text, tool_format) for question in questions]


def chosen_examples(questions: Sequence[Question], count: int) -> list[Question]:
    """`count` questions of different types: half reserved ones, half of the selection set, spread over their types.

    Of each type the first question. Fewer where there are not as many types.
    """
    firsts: dict[tuple[str, str], Question] = {}
    for question in sorted(questions, key=lambda each: each.id):
        firsts.setdefault((question.split, question.type), question)
    chosen = []
    for split, share in ((RESERVED, count - count // 2), (SELECTION, count // 2)):
        of_split = [question for (where, _), question in sorted(firsts.items()) if where == split]
        chosen += _spread(of_split, share)
    return chosen


def _spread(questions: Sequence[Question], count: int) -> Iterator[Question]:
    """So many of them at even distances."""
    count = min(count, len(questions))
    for number in range(count):
        yield questions[number * len(questions) // count]

"""The records that files hold and stages hand on: one frozen dataclass for each kind of JSONL line.

A record says what is stored, not how it is made or judged, so every other module may import this one and it
imports none of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

TRAIN, RESERVED, SELECTION, CHECK = "train", "reserved", "selection", "check"
HELD_OUT_SPLITS = (RESERVED, SELECTION, CHECK)

CORRECT, WRONG_SQL, NEVER_SUBMITTED, OUT_OF_BUDGET = "correct", "wrong_sql", "never_submitted", "out_of_budget"
OUTCOMES = (CORRECT, WRONG_SQL, NEVER_SUBMITTED, OUT_OF_BUDGET)

RUN_SQL, SUBMIT_SQL = "run_sql", "submit_sql"


@dataclass(frozen=True)
class QuestionType:
    """A question template: one reference query with named parameters, asked in several ways.

    `split` is the split of the type itself: `train`, `selection` or `check`. `phrasings` hold `{name}` and `sql`
    holds `:name` for every key of `parameters`, which maps a name to the query that lists its pool of values.
    `ordered` says that every phrasing asks for the rows in an order that leaves no tie, so that their order counts.
    """

    id: str
    split: str
    phrasings: tuple[str, ...]
    sql: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    ordered: bool = False


@dataclass(frozen=True)
class Question:
    """A question type with its parameters filled in, asked on one family of databases.

    `split` is `train`, `reserved` (a trained type with values that no training question asks for), `selection` or
    `check`.
    `reference` is the complete SQL text, its parameters rendered as literals. `ordered` says that the text asks for
    an order of the rows, which then counts when answers are compared.
    """

    id: str
    type: str
    split: str
    family: str
    text: str
    reference: str
    parameters: Mapping[str, str | int | float]
    ordered: bool = False


@dataclass(frozen=True)
class ToolCall:
    """One call of an agent's tool: `run_sql` or `submit_sql`, with the query it carries."""

    name: str
    sql: str


@dataclass(frozen=True)
class Message:
    """One message of a dialogue. `role` is `system`, `user`, `assistant` or `tool`.

    An assistant's message has its parsed `tool_call` (None for prose) and says whether it may be a training
    `target`: a demonstrated mistake is shown as context but never learnt.
    """

    role: str
    content: str
    tool_call: ToolCall | None = None
    target: bool = True


@dataclass(frozen=True)
class Episode:
    """One attempt at a question, from the system prompt to its outcome.

    `tokens`, `action_mask` (1 where the model itself sampled the token) and `logprobs` (of sampled tokens, 0.0
    elsewhere) are equally long and stored as sampled; they are empty for a scripted teacher, which writes text.
    """

    id: str
    question: str
    type: str
    split: str
    attempt: int
    messages: tuple[Message, ...]
    outcome: str
    reward: float
    reason: str
    submission: str | None = None
    tokens: tuple[int, ...] = ()
    action_mask: tuple[int, ...] = ()
    logprobs: tuple[float, ...] = ()

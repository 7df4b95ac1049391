"""The records that files hold and stages hand on: one frozen dataclass for each kind of JSONL line.

A record says what is stored, not how it is made or judged, so every other module may import this one and it
imports none of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

TRAIN, RESERVED, SELECTION, CHECK, TEST = "train", "reserved", "selection", "check", "test"
HELD_OUT_SPLITS = (RESERVED, SELECTION, CHECK)

CORRECT, WRONG_SQL, NEVER_SUBMITTED, OUT_OF_BUDGET = "correct", "wrong_sql", "never_submitted", "out_of_budget"
OUTCOMES = (CORRECT, WRONG_SQL, NEVER_SUBMITTED, OUT_OF_BUDGET)

RUN_SQL, SUBMIT_SQL = "run_sql", "submit_sql"

HAND_WRITTEN, COMPOSED, PAIRS, STEPPING_STONES = "hand-written", "composed", "pairs", "stepping-stones"

# What a question asks for, by which the bank is counted; the first that fits, from the last.
PATTERNS = (
    "filter", "range", "date", "aggregate", "group", "join", "anti-join", "having", "top", "group-top", "ratio",
    "month", "set", "window",
)  # fmt: skip


@dataclass(frozen=True)
class QuestionType:
    """A question template: one reference query with named parameters, asked in several ways.

    `split` is the split of the type itself: `train`, `selection` or `check`. `phrasings` hold `{name}` and `sql`
    holds `:name` for every key of `parameters`, which maps a name to the query that lists its pool of values.
    `ordered` says that every phrasing asks for the rows in an order that leaves no tie, so that their order counts.
    `pattern` is one of PATTERNS and `difficulty` goes from 1 (one table, one condition) to 4 (several steps).
    `proposer` says who thought of it: `hand-written`, `composed`, `pairs`, `stepping-stones` or the name of a model.
    """

    id: str
    split: str
    phrasings: tuple[str, ...]
    sql: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    ordered: bool = False
    pattern: str = ""
    difficulty: int = 0
    proposer: str = HAND_WRITTEN


@dataclass(frozen=True)
class FilledType:
    """A question type with values for its parameters, on one family of databases: a reference that may be asked.

    `split` is that of the questions made of it, as in `Question`. Whatever is asked was reviewed and audited as this.
    """

    type: str
    family: str
    split: str
    parameters: Mapping[str, str | int | float]
    reference: str
    ordered: bool = False


@dataclass(frozen=True)
class Review:
    """What was decided about one proposed type, by which rule, and what showed it; `by` is `rules` or `people`.

    `rule` and `evidence` are empty for an accepted type, but for a note on a rule that was skipped.
    """

    type: str
    proposer: str
    pattern: str
    accepted: bool
    rule: str = ""
    evidence: str = ""
    by: str = "rules"


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
    elsewhere) are equally long and stored as sampled; they are empty for a teacher, which writes text. `teacher` is
    then `scripted` or the name of the model behind an API.
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
    teacher: str = ""


@dataclass(frozen=True)
class ProviderCall:
    """A tool call as a provider reports it; `arguments` is the text of a JSON object, or whatever the model wrote."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class ProviderRequest:
    """What is asked of a model behind an API: messages and tools as JSON values of the OpenAI chat format.

    `number` tells apart requests that are equal otherwise, such as several attempts at one question.
    """

    model: str
    messages: tuple[Mapping[str, Any], ...]
    tools: tuple[Mapping[str, Any], ...] = ()
    temperature: float = 1.0
    max_tokens: int = 512
    number: int = 0


@dataclass(frozen=True)
class ProviderReply:
    """What came back: text, tool calls, why it ended, the model that answered, tokens, and cost in US dollars."""

    text: str
    calls: tuple[ProviderCall, ...]
    finish: str
    model: str
    input_tokens: int
    output_tokens: int
    usd: float

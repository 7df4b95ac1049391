"""`sqldojo ask`: a trained agent answers a question about somebody's database, which it can only read.

Nobody knows the right answer here, so nothing is graded. With several attempts their agreement says how far to trust
the answer (self-consistency: X. Wang et al., "Self-Consistency Improves Chain of Thought Reasoning in Language Models",
2022, arXiv 2203.11171): those whose results are the same count as one voice, by the verifier's rule of comparison.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqldojo.agent.episode import TOKENS_TO_LOOK, AgentLoop, AgentParams, Endings
from sqldojo.agent.prompt import observation, opening
from sqldojo.agent.schema_budget import FittedSchema, fit_schema
from sqldojo.agent.tool_format import ToolFormat
from sqldojo.databases.execution import OK, Limits, QueryResult
from sqldojo.databases.user_queries import run_on_user_database, user_outlines, user_schema
from sqldojo.databases.workers import shared_workers
from sqldojo.errors import UserError
from sqldojo.records import NEVER_SUBMITTED, OUT_OF_BUDGET, WRONG_SQL, ToolCall
from sqldojo.training.decoding import RolloutCounts
from sqldojo.training.policy_model import PolicyModel
from sqldojo.training.rollouts import play
from sqldojo.verifier.comparison import first_difference

ANSWERED = "answered"

Tell = Callable[[str, str], None]  # is shown each query of an attempt and what came back, as they come


class QuestionError(UserError):
    """A question that cannot be asked, whatever the database."""


@dataclass(frozen=True)
class AskParams:
    """How a question is asked: `attempts` at it, and the share of them that must agree for an answer to be given.

    A schema of more than `schema_tokens`, or than the model can read, is cut down to what the question is about.
    """

    attempts: int = 1
    agreement: float = 0.5
    seed: int = 17
    schema_tokens: int = 4_000

    def __post_init__(self) -> None:
        if self.attempts < 1:
            raise UserError(f"--attempts: must be at least 1, found {self.attempts}")
        if not 0 <= self.agreement <= 1:
            raise UserError(f"--agreement: must be from 0 to 1, found {self.agreement:g}")
        if self.schema_tokens < 1:
            raise UserError(f"--schema-tokens: must be at least 1, found {self.schema_tokens}")


@dataclass(frozen=True)
class Answer:
    """What the attempts come to. `sql` and `result` are those that most of them agree on, None where none answered.

    `agreeing` of `attempts` gave this result; `given` says whether these are enough. `reasons` are those of attempts
    that gave no result.
    """

    question: str
    sql: str | None
    result: QueryResult | None
    agreeing: int
    attempts: int
    given: bool
    reasons: tuple[str, ...] = ()
    queries: tuple[str, ...] = field(default=())

    @property
    def confidence(self) -> float:
        """The share of attempts that gave this result."""
        return self.agreeing / self.attempts

    def as_json(self) -> dict[str, Any]:
        """Plain values, for `--json`; blobs are shown in hexadecimal, infinity as a text."""
        result = self.result if self.given else None
        rows = [[_plain(value) for value in row] for row in result.rows] if result else None
        return {
            "question": self.question,
            "answered": self.given,
            "sql": self.sql,
            "columns": list(result.columns) if result else None,
            "rows": rows,
            "agreeing": self.agreeing,
            "attempts": self.attempts,
            "confidence": round(self.confidence, 4),
            "queries": list(self.queries),
            "reasons": list(self.reasons),
        }


class AskAttempt(AgentLoop):
    """One attempt at a question whose answer nobody knows; its `result` is that of the submitted query.

    `schema_readable` lets it look up statements that its prompt leaves out.
    """

    endings = Endings(NEVER_SUBMITTED, OUT_OF_BUDGET, OUT_OF_BUDGET, OUT_OF_BUDGET)
    rewards = dict.fromkeys((ANSWERED, WRONG_SQL, NEVER_SUBMITTED, OUT_OF_BUDGET), 0.0)

    def __init__(
        self,
        question: str,
        number: int,
        *,
        database: Path,
        schema: str,
        tool_format: ToolFormat,
        params: AgentParams,
        limits: Limits,
        tell: Tell,
        schema_readable: bool = False,
    ) -> None:
        super().__init__("ask", number, opening(question, schema, tool_format), type="", split="",
                         tool_format=tool_format, params=params)  # fmt: skip
        self.result: QueryResult | None = None
        self.queries: list[str] = []
        self._database, self._limits, self._tell, self._schema_readable = database, limits, tell, schema_readable

    def _run(self, call: ToolCall) -> str:
        self.queries.append(call.sql)
        shown = observation(self._query(call.sql, self._params.preview_rows))
        self._tell(call.sql, shown)
        return shown

    def _query(self, sql: str, preview: int | None = None) -> QueryResult:
        return run_on_user_database(
            self._database, sql, self._limits, preview=preview, schema_readable=self._schema_readable
        )

    def _worth(self, sql: str) -> tuple[str, str]:
        found = self._query(sql)
        if found.status != OK:
            self._tell(sql, f"Error: {found.message}")
            return WRONG_SQL, found.message
        self.result = found
        return ANSWERED, ""


def ask(
    policy: PolicyModel,
    database: Path,
    question: str,
    params: AskParams,
    agent: AgentParams,
    limits: Limits,
    tell: Tell = lambda _query, _result: None,
    counts: RolloutCounts | None = None,
) -> Answer:
    """The answer of the agent to a question about the database, which is never opened for writing.

    A single attempt takes the likeliest token each time; several are drawn, alike for the same question and seed.
    What is computed is added to `counts`. QuestionError for an empty question or one that is too long for the model;
    UserError for a database that cannot be read, and for a schema that leaves no room. An interrupt (Ctrl-C) and what
    `tell` raises end it at once.
    """
    question = question.strip()
    if not question:
        raise QuestionError("the question is empty; ask one in words, such as: How many customers are there?")
    if any("\ud800" <= letter <= "\udfff" for letter in question):  # bytes of another encoding, half of a character
        raise QuestionError("the question holds what is no Unicode text; write it in UTF-8")
    schema, agent = _prepared(policy, database, question, params, agent)
    attempts = [
        AskAttempt(question, number, database=database, schema=schema.text, tool_format=policy.dialogue.tool_format,
                   params=agent, limits=limits, tell=tell, schema_readable=not schema.whole)
        for number in range(params.attempts)
    ]  # fmt: skip
    alone = params.attempts == 1  # then the likeliest is best; several must differ to tell anything
    seed = f"{params.seed}/{question}"
    try:
        for _ in play(policy, attempts, agent, seed=seed, width=params.attempts, greedy=alone, counts=counts):
            pass
    finally:  # where it is cut short, queries would go on, and the process could not end before they do
        if any(attempt.outcome is None for attempt in attempts):
            shared_workers().interrupt()
    return agreed(question, attempts, params)


def _prepared(
    policy: PolicyModel, database: Path, question: str, params: AskParams, agent: AgentParams
) -> tuple[FittedSchema, AgentParams]:
    """The schema as the prompt shows it, and what an attempt may use, which is more where it may have to look."""
    dialogue = policy.dialogue
    context = getattr(policy.model.args, "max_position_embeddings", None) or math.inf
    without_schema = len(dialogue.prompt(opening(question, "", dialogue.tool_format)))
    room = context - without_schema - agent.tokens_per_episode - TOKENS_TO_LOOK
    if room < 1:
        raise QuestionError(
            f"the question leaves no room for the schema: the model reads {context} tokens, and the prompt without it "
            f"has {without_schema}; ask a shorter one"
        )

    def count_tokens(text: str) -> int:
        return len(dialogue.tokenizer.encode(text, add_special_tokens=False))

    schema = fit_schema(
        user_schema(database),
        lambda: user_outlines(database),
        question,
        int(min(params.schema_tokens, room)),
        count_tokens,
    )
    return schema, agent if schema.whole else agent.with_looks()


def agreed(question: str, attempts: Sequence[AskAttempt], params: AskParams) -> Answer:
    """The result that most attempts share, of equally many the first one's; given when enough of all share it."""
    groups: list[list[AskAttempt]] = []
    for attempt in attempts:
        if attempt.result is not None:
            mine = attempt.result.columns, attempt.result.rows
            for group in groups:
                first = group[0].result
                if first is not None and first_difference((first.columns, first.rows), mine) is None:
                    group.append(attempt)
                    break
            else:
                groups.append([attempt])
    best = max(groups, key=len, default=[])
    # More than the share, so that two attempts which contradict each other are no agreement of one half.
    enough = bool(best) and (len(best) == len(attempts) or len(best) / len(attempts) > params.agreement)
    return Answer(
        question=question,
        sql=best[0].submission if best else None,
        result=best[0].result if best else None,
        agreeing=len(best),
        attempts=len(attempts),
        given=enough,
        reasons=tuple(attempt.reason for attempt in attempts if attempt.result is None),
        queries=tuple(best[0].queries) if best else (),
    )


def _plain(value: object) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # JSON has no such number
    return value.hex() if isinstance(value, bytes) else value

"""The episode loop: what happens between the model's replies, and how an episode ends.

An attempt is driven from outside, one reply at a time: the scripted teacher drives one, batched rollouts drive many
at once. Whatever the model writes is an outcome; nothing here raises because of it. `AgentLoop` is what attempts at
all kinds of tasks have in common, `Attempt` the attempt at a question.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Self

from sqldojo.agent.family_schema import read_family_schema
from sqldojo.agent.prompt import observation, opening
from sqldojo.agent.schema_budget import FittedSchema
from sqldojo.agent.tool_format import ToolFormat, without_thought
from sqldojo.databases.execution import Limits
from sqldojo.databases.sandbox import run_untrusted
from sqldojo.records import (
    CORRECT,
    NEVER_SUBMITTED,
    OUT_OF_BUDGET,
    SUBMIT_SQL,
    WRONG_SQL,
    Episode,
    Message,
    Question,
    ToolCall,
)
from sqldojo.verifier import grading

REWARDS = {CORRECT: 1.0, WRONG_SQL: 0.0, NEVER_SUBMITTED: 0.0, OUT_OF_BUDGET: -0.2}
# What an episode may use beyond its params where it may have to look up what its prompt leaves out of the schema.
TURNS_TO_LOOK, TOKENS_TO_LOOK = 2, 800
_LEAST_SCHEMA = 1_000  # characters: room for a table or two, and for how to look up the others


@dataclass(frozen=True)
class AgentParams:
    """What one episode may use, in turns, tokens and preview rows."""

    turns: int
    tokens_per_turn: int
    tokens_per_episode: int
    preview_rows: int

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value < 1:
                raise ValueError(f"{name}: must be at least 1, found {value}")

    def with_looks(self) -> Self:
        """The same for an episode whose prompt does not hold the whole schema."""
        return replace(
            self, turns=self.turns + TURNS_TO_LOOK, tokens_per_episode=self.tokens_per_episode + TOKENS_TO_LOOK
        )


@dataclass(frozen=True)
class AnswerParams(AgentParams):
    """The section `agent`: what an episode at a question may use, and the most characters of schema in its prompt."""

    schema_characters: int

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.schema_characters < _LEAST_SCHEMA:
            raise ValueError(f"schema_characters: must be at least {_LEAST_SCHEMA}, found {self.schema_characters}")


def outcome_of(verdict: grading.Verdict) -> tuple[str, str]:
    """The outcome of a submission and the reason for people, empty when it is correct."""
    if verdict.verdict == grading.CORRECT:
        return CORRECT, ""
    return WRONG_SQL, f"{verdict.verdict} on {verdict.database}: {verdict.reason}"


@dataclass(frozen=True)
class Endings:
    """The outcomes that a family of tasks has for episodes that end without a submission."""

    no_call: str
    cut_off: str
    out_of_turns: str
    out_of_tokens: str


class AgentLoop(ABC):
    """One attempt at a task, reply by reply; over when `outcome` is set.

    A family of tasks says what its tools return (`_run`), what a submission is worth (`_worth`), whether a call ends
    the episode at once (`_cut_short`), and what its outcomes are called and worth.
    """

    endings: Endings
    rewards: Mapping[str, float]

    def __init__(
        self,
        task: str,
        number: int,
        messages: Sequence[Message],
        *,
        type: str,
        split: str,
        tool_format: ToolFormat,
        params: AgentParams,
    ) -> None:
        self.number, self.tool_format, self.turns_left = number, tool_format, params.turns
        self.messages = list(messages)
        self.outcome: str | None = None
        self.reason = ""
        self.submission: str | None = None
        self._task, self._type, self._split, self._params = task, type, split, params

    @property
    def id(self) -> str:
        """A name that is the same in every run and batch; random keys are derived from it."""
        return f"{self._task}/{self.number}"

    def reply(self, text: str, *, cut_off: bool = False, target: bool = True) -> str | None:
        """Take the model's reply and return the tool's result, or None when the episode is over.

        `cut_off` says that a token limit ended the reply; a call that was complete by then still counts.
        """
        assert self.outcome is None, "the attempt is over"
        call = self.tool_format.parse(without_thought(text))
        self.messages.append(Message("assistant", text, call, target))
        if call is None:
            self._end(self.endings.cut_off, "the token limit ended the reply") if cut_off else self._end(
                self.endings.no_call, "the reply holds no well-formed tool call"
            )
            return None
        self.turns_left -= 1
        if call.name == SUBMIT_SQL:
            self.submission = call.sql
            self._end(*self._worth(call.sql))
            return None
        end = self._cut_short(call)
        if end is None and self.turns_left == 0:
            end = self.endings.out_of_turns, f"no submission within {self._params.turns} turns"
        if end is not None:
            self._end(*end)
            return None
        self.messages.append(Message("tool", self._run(call)))
        return self.messages[-1].content

    def stop_for_tokens(self) -> None:
        """End the episode because its token budget leaves no room for another reply."""
        self._end(self.endings.out_of_tokens, f"no submission within {self._params.tokens_per_episode} tokens")

    @abstractmethod
    def _run(self, call: ToolCall) -> str:
        """What the tool returns, as the agent reads it."""

    @abstractmethod
    def _worth(self, sql: str) -> tuple[str, str]:
        """The outcome of a submission, and the reason for people."""

    def _cut_short(self, _call: ToolCall) -> tuple[str, str] | None:
        """The outcome and the reason where a call that is no submission ends the episode."""
        return None

    def _end(self, outcome: str, reason: str) -> None:
        assert self.outcome is None, "the attempt is over, and its outcome may not change"
        self.outcome, self.reason = outcome, reason

    def episode(
        self, *, tokens: Sequence[int] = (), action_mask: Sequence[int] = (), logprobs: Sequence[float] = ()
    ) -> Episode:
        """The finished attempt as a record, with the tokens as sampled where a model played it."""
        assert self.outcome is not None, "the attempt is not over"
        return Episode(
            id=self.id,
            question=self._task,
            type=self._type,
            split=self._split,
            attempt=self.number,
            messages=tuple(self.messages),
            outcome=self.outcome,
            reward=self.rewards[self.outcome],
            reason=self.reason,
            submission=self.submission,
            tokens=tuple(tokens),
            action_mask=tuple(action_mask),
            logprobs=tuple(logprobs),
        )


class Attempt(AgentLoop):
    """One attempt at a question on one family of databases.

    The agent's queries run on the first database alone. Its submission is graded on all of them. Where the prompt does
    not show the whole schema, queries may read the schema table of that database; a submission never may. `looked` says
    that the last query did, so that its result holds no data.
    """

    endings = Endings(NEVER_SUBMITTED, OUT_OF_BUDGET, OUT_OF_BUDGET, OUT_OF_BUDGET)
    rewards = REWARDS

    def __init__(
        self,
        question: Question,
        number: int,
        *,
        databases: Sequence[Path],
        schema: FittedSchema,
        tool_format: ToolFormat,
        params: AgentParams,
        limits: Limits,
    ) -> None:
        super().__init__(question.id, number, opening(question.text, schema.text, tool_format), type=question.type,
                         split=question.split, tool_format=tool_format, params=params)  # fmt: skip
        self.question, self.schema, self.looked = question, schema, False
        self._databases, self._limits = databases, limits

    def _run(self, call: ToolCall) -> str:
        found = run_untrusted(self._databases[0], call.sql, self._limits, preview=self._params.preview_rows,
                              schema_readable=not self.schema.whole)  # fmt: skip
        self.looked = found.of_schema
        return observation(found)

    def _worth(self, sql: str) -> tuple[str, str]:
        question = self.question
        return outcome_of(
            grading.grade(question.reference, sql, self._databases, self._limits, ordered=question.ordered)
        )


class AttemptMaker:
    """Makes fresh attempts at questions on one family, whose schema is read once.

    `params` say what an attempt may use, which is more than was given where the schema does not fit into a prompt; who
    plays the attempts keeps to these. UserError where the schema cannot be read, or no part of it fits.
    """

    def __init__(
        self, databases: Sequence[Path], tool_format: ToolFormat, params: AnswerParams, limits: Limits
    ) -> None:
        schema = read_family_schema(databases[0], params.schema_characters)
        self.params = params if schema.whole else params.with_looks()
        self._databases, self._tool_format, self._limits = databases, tool_format, limits
        self._shown_for = cache(schema.shown_for)  # many attempts are made at the same question

    def __call__(self, question: Question, number: int) -> Attempt:
        return Attempt(question, number, databases=self._databases, schema=self._shown_for(question.text),
                       tool_format=self._tool_format, params=self.params, limits=self._limits)  # fmt: skip

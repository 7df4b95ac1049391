"""The episode loop: what happens between the model's replies, and how an episode ends.

An `Attempt` is driven from outside, one reply at a time: the scripted teacher drives one, batched rollouts drive many
at once. Whatever the model writes is an outcome; nothing here raises because of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqldojo.agent.prompt import observation, opening
from sqldojo.agent.tool_format import ToolFormat, without_thought
from sqldojo.databases.execution import Limits
from sqldojo.databases.sandbox import run_untrusted
from sqldojo.databases.schema import schema_text
from sqldojo.records import (
    CORRECT,
    NEVER_SUBMITTED,
    OUT_OF_BUDGET,
    SUBMIT_SQL,
    WRONG_SQL,
    Episode,
    Message,
    Question,
)
from sqldojo.verifier import grading

REWARDS = {CORRECT: 1.0, WRONG_SQL: 0.0, NEVER_SUBMITTED: 0.0, OUT_OF_BUDGET: -0.2}


@dataclass(frozen=True)
class AgentParams:
    """The section `agent`: what one episode may use, in turns, tokens and preview rows."""

    turns: int
    tokens_per_turn: int
    tokens_per_episode: int
    preview_rows: int

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value < 1:
                raise ValueError(f"{name}: must be at least 1, found {value}")


def outcome_of(verdict: grading.Verdict) -> tuple[str, str]:
    """The outcome of a submission and the reason for people, empty when it is correct."""
    if verdict.verdict == grading.CORRECT:
        return CORRECT, ""
    return WRONG_SQL, f"{verdict.verdict} on {verdict.database}: {verdict.reason}"


class Attempt:
    """One attempt at a question on one family of databases; over when `outcome` is set.

    The agent's queries run on the first database alone. Its submission is graded on all of them.
    """

    def __init__(
        self,
        question: Question,
        number: int,
        *,
        databases: Sequence[Path],
        schema: str,
        tool_format: ToolFormat,
        params: AgentParams,
        limits: Limits,
    ) -> None:
        self.question, self.number = question, number
        self.messages: list[Message] = list(opening(question.text, schema, tool_format))
        self.outcome: str | None = None
        self.reason = ""
        self.submission: str | None = None
        self._databases, self._tool_format, self._params, self._limits = databases, tool_format, params, limits
        self._turns_left = params.turns

    @property
    def id(self) -> str:
        """A name that is the same in every run and batch; random keys are derived from it."""
        return f"{self.question.id}/{self.number}"

    def reply(self, text: str, *, cut_off: bool = False, target: bool = True) -> str | None:
        """Take the model's reply and return the tool's result, or None when the episode is over.

        `cut_off` says that a token limit ended the reply; a call that was complete by then still counts.
        """
        assert self.outcome is None, "the attempt is over"
        call = self._tool_format.parse(without_thought(text))
        self.messages.append(Message("assistant", text, call, target))
        if call is None:
            self._end(OUT_OF_BUDGET, "the token limit ended the reply") if cut_off else self._end(
                NEVER_SUBMITTED, "the reply holds no well-formed tool call"
            )
            return None
        self._turns_left -= 1
        if call.name == SUBMIT_SQL:
            self._submit(call.sql)
            return None
        if self._turns_left == 0:
            self._end(OUT_OF_BUDGET, f"no submission within {self._params.turns} turns")
            return None
        result = run_untrusted(self._databases[0], call.sql, self._limits, preview=self._params.preview_rows)
        self.messages.append(Message("tool", observation(result)))
        return self.messages[-1].content

    def stop_for_tokens(self) -> None:
        """End the episode because its token budget leaves no room for another reply."""
        self._end(OUT_OF_BUDGET, f"no submission within {self._params.tokens_per_episode} tokens")

    def _submit(self, sql: str) -> None:
        self.submission = sql
        question = self.question
        verdict = grading.grade(question.reference, sql, self._databases, self._limits, ordered=question.ordered)
        self._end(*outcome_of(verdict))

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
            question=self.question.id,
            type=self.question.type,
            split=self.question.split,
            attempt=self.number,
            messages=tuple(self.messages),
            outcome=self.outcome,
            reward=REWARDS[self.outcome],
            reason=self.reason,
            submission=self.submission,
            tokens=tuple(tokens),
            action_mask=tuple(action_mask),
            logprobs=tuple(logprobs),
        )


def attempt_maker(
    databases: Sequence[Path], tool_format: ToolFormat, params: AgentParams, limits: Limits
) -> Callable[[Question, int], Attempt]:
    """A function from question and number to a fresh attempt on this family, whose schema is read once."""
    schema = schema_text(databases[0])

    def make(question: Question, number: int) -> Attempt:
        return Attempt(question, number, databases=databases, schema=schema, tool_format=tool_format, params=params,
                       limits=limits)  # fmt: skip

    return make

"""Episodes played through llama.cpp: the agent's loop and its grader are those of training, the model's side is not.

Every draw has the name that `training.rollouts` gives it, so an attempt meets the same random numbers here and there,
and scores of MLX and of a file can be compared pair by pair. Episodes are played one after the other: the system prompt
and the schema, which they share, stay in llama.cpp's memory, so only what is new is computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import mlx.core as mx
import numpy

from sqldojo.agent.episode import AgentLoop, AgentParams
from sqldojo.agent.tool_format import without_thought
from sqldojo.records import Episode
from sqldojo.training.dialogue import Dialogue
from sqldojo.training.sampling import draw, likeliest


class NextTokens(Protocol):
    """What says which token may follow others, as `LlamaModel` does."""

    def logits(self, tokens: Sequence[int]) -> numpy.ndarray:
        """The float32 logits [V] for what follows these tokens."""


@dataclass(frozen=True)
class LlamaPolicy:
    """A model with the dialogue that it understands; `end_tokens` are the ids that end a turn."""

    model: NextTokens
    dialogue: Dialogue
    end_tokens: frozenset[int]


def play(
    policy: LlamaPolicy, attempts: Sequence[AgentLoop], params: AgentParams, *, seed: int | str, greedy: bool = False
) -> Iterator[Episode]:
    """Play the attempts in their order and yield each episode; as `training.rollouts.play` would, but for rounding."""
    for attempt in attempts:
        yield _Playing(policy, attempt, params, seed, greedy).episode()


class _Playing:
    """An episode being played: its tokens as drawn, which of them the model wrote, and how likely it was to."""

    def __init__(
        self, policy: LlamaPolicy, attempt: AgentLoop, params: AgentParams, seed: int | str, greedy: bool
    ) -> None:
        self._policy, self._attempt, self._params = policy, attempt, params
        self._seed, self._greedy = seed, greedy
        self._tokens = policy.dialogue.prompt(attempt.messages)
        self._mask, self._logprobs = [0] * len(self._tokens), [0.0] * len(self._tokens)
        self._spent = self._turn = 0  # tokens behind the prompt, replies so far

    def episode(self) -> Episode:
        """Play it to its end."""
        ends = self._policy.end_tokens
        while self._attempt.outcome is None:
            reply, cut_off = self._reply()
            result = self._attempt.reply(self._policy.dialogue.tokenizer.decode(reply), cut_off=cut_off)
            if result is not None:
                bridge = self._policy.dialogue.bridge(result)
                if self._tokens[-1] in ends and bridge[0] in ends:  # the model has ended its turn itself
                    bridge = bridge[1:]
                self._tokens += bridge
                self._mask += [0] * len(bridge)
                self._logprobs += [0.0] * len(bridge)
                self._spent += len(bridge)
                self._turn += 1
                if self._spent >= self._params.tokens_per_episode:
                    self._attempt.stop_for_tokens()
        return self._attempt.episode(tokens=self._tokens, action_mask=self._mask, logprobs=self._logprobs)

    def _reply(self) -> tuple[list[int], bool]:
        """The tokens of the next reply without the one that ends a turn, and whether a limit cut it off."""
        room = min(self._params.tokens_per_turn, self._params.tokens_per_episode - self._spent)
        reply: list[int] = []
        for position in range(room):
            token, logprob = self._next(f"{self._seed}/{self._attempt.id}/{self._turn}/{position}")
            self._tokens.append(token)
            self._mask.append(1)
            self._logprobs.append(logprob)
            self._spent += 1
            if token in self._policy.end_tokens:
                return reply, False
            reply.append(token)
            if self._holds_call(reply):
                return reply, position == room - 1
        return reply, True

    def _next(self, name: str) -> tuple[int, float]:
        logits = mx.array(self._policy.model.logits(self._tokens))[None]
        token, logprob = likeliest(logits) if self._greedy else draw(logits, [name])
        return int(token.item()), float(logprob.item())

    def _holds_call(self, reply: Sequence[int]) -> bool:
        text = without_thought(self._policy.dialogue.tokenizer.decode(list(reply)))
        return self._policy.dialogue.tool_format.is_over(text)

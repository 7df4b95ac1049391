"""Teachers behind an API: they never see a reference, and what they solve is kept only when it verifies."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from sqldojo.agent.episode import AgentParams, Attempt
from sqldojo.records import CORRECT, OUT_OF_BUDGET, Episode, Message, Question, ToolCall
from sqldojo.teacher.api_episode import play
from sqldojo.teacher.provider import SCHEMA_ONLY, Ask, ProviderError, ProviderParams, in_parallel
from sqldojo.teacher.scripted import TeachParams

REPEATED, LEAKED = "repeated", "leaked"


@dataclass(frozen=True)
class Solutions:
    """What API teachers made: episodes to keep, attempts left out by reason, attempts lost to providers by kind."""

    episodes: list[Episode] = field(default_factory=list)
    rejected: Counter[str] = field(default_factory=Counter)
    provider_errors: Counter[str] = field(default_factory=Counter)


def api_solutions(
    questions: Sequence[Question],
    ask: Ask,
    make: Callable[[Question, int], Attempt],
    params: TeachParams,
    agent: AgentParams,
    providers: ProviderParams,
) -> Solutions:
    """The verified episodes of every model in `params` at `choices` questions a type, `attempts` at each.

    `make` gives a fresh attempt in the plain tool format. Left out: what is not correct on all databases (under its
    outcome), a dialogue that shows the reference, and the same calls at the same question once more.
    """
    chosen = _choices(questions, params)
    tasks = [(question, model, number) for question in chosen for model in params.models
             for number in range(params.attempts)]  # fmt: skip

    def work(task: tuple[Question, str, int]) -> Episode | str | ProviderError:
        question, model, number = task
        # 0 is the scripted teacher's.
        attempt = make(question, 1 + params.models.index(model) * params.attempts + number)
        try:
            play(attempt, ask, model, agent, schema_only=providers.privacy == SCHEMA_ONLY, number=number)
        except ProviderError as error:
            return error
        if attempt.outcome is None:
            return OUT_OF_BUDGET
        episode = attempt.episode()
        return replace(episode, messages=without_mistakes_as_targets(episode.messages), teacher=model)

    found = Solutions()
    seen: set[tuple[str, tuple[ToolCall | None, ...]]] = set()
    for (question, _, _), played in zip(tasks, in_parallel(work, tasks, providers.concurrency), strict=True):
        if isinstance(played, ProviderError):
            found.provider_errors[played.kind] += 1
            continue
        reason = played if isinstance(played, str) else _rejected_because(played, question, seen)
        if reason:
            found.rejected[reason] += 1
        else:
            found.episodes.append(played)
    return found


def _choices(questions: Sequence[Question], params: TeachParams) -> list[Question]:
    """Up to `choices` questions of each type, each with other values, drawn by the seed; in the given order."""
    by_type: dict[str, list[Question]] = {}
    for question in questions:
        by_type.setdefault(question.type, []).append(question)
    chosen: set[str] = set()
    for name, members in by_type.items():
        random.Random(f"{params.seed}/teach/choices/{name}").shuffle(members)
        by_values = {tuple(sorted(question.parameters.items())): question.id for question in members}
        chosen |= set(list(by_values.values())[: params.choices])
    return [question for question in questions if question.id in chosen]


def without_mistakes_as_targets(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages with every query that failed as context only: what is learnt is to mend it, not to write it."""
    marked = list(messages)
    for place, following in enumerate(messages[1:]):
        if following.role == "tool" and following.content.startswith("Error: "):
            marked[place] = replace(marked[place], target=False)
    return tuple(marked)


def _rejected_because(
    episode: Episode, question: Question, seen: set[tuple[str, tuple[ToolCall | None, ...]]]
) -> str | None:
    """Why an episode is not kept; `seen` has the calls of those kept before, and gets this one's."""
    if episode.outcome != CORRECT:
        return episode.outcome
    reference = " ".join(question.reference.split())
    if any(reference in " ".join(message.content.split()) for message in episode.messages
           if message.role != "assistant"):  # fmt: skip
        return LEAKED  # a view may be the reference
    calls = (question.id, tuple(message.tool_call for message in episode.messages if message.role == "assistant"))
    if calls in seen:
        return REPEATED
    seen.add(calls)
    return None

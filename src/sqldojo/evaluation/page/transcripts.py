"""Episodes as the page carries them: what people read of each, and what many share only once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from sqldojo.agent.tool_format import render_plain
from sqldojo.evaluation.comparing import question_text
from sqldojo.records import HELD_OUT_SPLITS, Episode, Message, Question


def packed(
    episodes: Mapping[str, Sequence[Episode]],
    questions: Mapping[str, Question],
    titles: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, Any]:
    """The episodes of each checkpoint as JSON, keyed by their ids, which are the same for the same attempt.

    `systems` holds each different system prompt, `questions` each text, type, split and, where `questions` has it, the
    reference. A message is [role, text], or [tool, SQL] for a call in plain tags, with the model's own words as a
    third where they are others. Tokens and logprobs stay behind, but for how many tokens the model sampled.

    What `titles` has for a question stands for its text, where the first message says more than people want to read in
    a list; that message is then among the others.
    """
    systems: dict[str, int] = {}
    asked: dict[str, dict[str, Any]] = {}
    played: dict[str, dict[str, dict[str, Any]]] = {}
    for checkpoint, members in episodes.items():
        played[checkpoint] = {}
        for episode in sorted(members, key=_place):
            about = asked.setdefault(episode.question, _question(episode, questions, titles))
            played[checkpoint][episode.id] = _packed(episode, about["text"], systems)
    return {"systems": list(systems), "questions": asked, "episodes": played}


def _place(episode: Episode) -> tuple[int, str, str, str, int]:
    held_out = HELD_OUT_SPLITS.index(episode.split) if episode.split in HELD_OUT_SPLITS else len(HELD_OUT_SPLITS)
    return held_out, episode.split, episode.type, episode.question, episode.attempt


def _question(episode: Episode, questions: Mapping[str, Question], titles: Mapping[str, str]) -> dict[str, Any]:
    """The reference is given only if it belongs to the same words: a new bank may reuse an id."""
    question, text = questions.get(episode.question), titles.get(episode.question, question_text(episode))
    reference = question.reference if question is not None and question.text.strip() == text else None
    return {"text": text, "type": episode.type, "split": episode.split, "reference": reference}


def _packed(episode: Episode, text: str, systems: dict[str, int]) -> dict[str, Any]:
    messages = list(episode.messages)
    system = None
    if messages and messages[0].role == "system":
        system = systems.setdefault(messages.pop(0).content, len(systems))
    if messages and messages[0].role == "user" and messages[0].content.strip() == text:
        messages.pop(0)
    return {
        "question": episode.question,
        "attempt": episode.attempt,
        "system": system,
        "messages": [_message(message) for message in messages],
        "outcome": episode.outcome,
        "reward": episode.reward,
        "reason": episode.reason,
        "sampled": sum(episode.action_mask),
    }


def _message(message: Message) -> list[str]:
    call = message.tool_call
    if call is None:
        return [message.role, message.content]
    plain = message.content.strip() == render_plain(call)
    return [call.name, call.sql] if plain else [call.name, call.sql, message.content]

"""Questions and answers in the shapes of OpenAI's chat completions, which many programs speak.

Only what an agent for one database can honour is taken: the last message of the user is the question, earlier ones are
not looked at, and settings of sampling have no effect but `seed`. What would change the meaning (several choices,
tools, pictures) is refused instead of being ignored.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqldojo.asking import Answer
from sqldojo.asking_view import MOST_ROWS, cell, no_answer
from sqldojo.training.decoding import RolloutCounts

_ESCAPED = "\\|<[`"  # they would end a cell, or make HTML, a link, a picture or code of a value


class RequestError(Exception):
    """A request that cannot be answered, with the HTTP status and OpenAI's own fields for errors."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        kind: str = "invalid_request_error",
        param: str | None = None,
        code: str | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.kind, self.param, self.code = status, kind, param, code

    def as_json(self) -> dict[str, Any]:
        """The body of the response."""
        return {"error": {"message": str(self), "type": self.kind, "param": self.param, "code": self.code}}


@dataclass(frozen=True)
class ChatRequest:
    """What a client wants: an answer to a question, whole or in pieces, with token counts at the end of the pieces."""

    question: str
    stream: bool
    include_usage: bool
    seed: int | None


def read_request(body: bytes, model: str) -> ChatRequest:
    """The request in a body; RequestError for what is not one, and for another model than `model`."""
    try:
        content = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise RequestError(400, f"the body is not JSON ({error})") from error
    if not isinstance(content, dict):
        raise RequestError(400, "the body is not a JSON object")
    asked_model = _field(content, "model", str)
    if asked_model is None:
        raise RequestError(400, f"give the model, which is {model}", param="model")
    if asked_model != model:
        raise RequestError(404, f"there is no model {asked_model} here, only {model}", param="model",
                           code="model_not_found")  # fmt: skip
    if content.get("n") not in (None, 1):
        raise RequestError(400, "one choice is all there is; leave n out", param="n")
    for name in ("tools", "functions"):
        if content.get(name):
            raise RequestError(400, f"the agent has its own tools and takes no others; leave {name} out", param=name)
    options = _field(content, "stream_options", dict) or {}
    return ChatRequest(
        question=_question(content.get("messages")),
        stream=bool(_field(content, "stream", bool)),
        include_usage=bool(options.get("include_usage")),
        seed=_field(content, "seed", int),
    )


def _field(content: Mapping[str, Any], name: str, kind: type) -> Any:
    value = content.get(name)
    if value is not None and (not isinstance(value, kind) or (kind is int and isinstance(value, bool))):
        words = {str: "a text", bool: "true or false", int: "a whole number", dict: "an object"}
        raise RequestError(400, f"{name} must be {words[kind]}", param=name)
    return value


def _question(messages: object) -> str:
    """The text of the last message of the user."""
    if not isinstance(messages, list) or not messages:
        raise RequestError(400, "messages must be a list of at least one message", param="messages")
    if not all(isinstance(message, dict) and isinstance(message.get("role"), str) for message in messages):
        raise RequestError(400, "each message must be an object with a role", param="messages")
    contents = [message.get("content") for message in messages if message["role"] == "user"]
    if not contents:
        raise RequestError(400, "no message is of the role user, so there is no question", param="messages")
    text = _text(contents[-1])
    if not text.strip():
        raise RequestError(400, "the last message of the user is empty, so there is no question", param="messages")
    return text.strip()


def _text(content: object) -> str:
    """A message's content, which may come in parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [content]
    texts = [part.get("text") if isinstance(part, dict) and part.get("type") == "text" else None for part in parts]
    if not all(isinstance(text, str) for text in texts):
        raise RequestError(400, "the content of a message must be text", param="messages")
    return "\n".join(texts)


@dataclass(frozen=True)
class Reply:
    """The names that all pieces of one reply share; `created` is in seconds since 1970."""

    id: str
    created: int
    model: str

    def whole(self, text: str, answer: Answer, counts: RolloutCounts) -> dict[str, Any]:
        """The reply in one piece; `sqldojo` has the answer as data."""
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
        return {**self._names("chat.completion"), "choices": [choice], "usage": usage(counts),
                "sqldojo": answer.as_json()}  # fmt: skip

    def piece(self, delta: Mapping[str, str], finish_reason: str | None = None, **more: Any) -> dict[str, Any]:
        """A piece of the reply's message."""
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        return {**self._names("chat.completion.chunk"), "choices": [choice], **more}

    def last_usage(self, counts: RolloutCounts) -> dict[str, Any]:
        """The piece without a message that ends a stream where its client wants to know what it took."""
        return {**self._names("chat.completion.chunk"), "choices": [], "usage": usage(counts)}

    def _names(self, kind: str) -> dict[str, Any]:
        return {"id": self.id, "object": kind, "created": self.created, "model": self.model}


def usage(counts: RolloutCounts) -> dict[str, int]:
    """The tokens that were read and written, those of all attempts together; a shared prompt is read once."""
    read = counts.prefix_tokens + counts.question_tokens + counts.tool_tokens
    return {"prompt_tokens": read, "completion_tokens": counts.sampled_tokens,
            "total_tokens": read + counts.sampled_tokens}  # fmt: skip


def query_text(sql: str, shown: str) -> str:
    """A query that the agent tried and what it saw, in Markdown."""
    return f"{_fenced(sql, 'sql')}\n\n{_fenced(shown, 'text')}\n\n"


def answer_text(answer: Answer) -> str:
    """The query that answers and its result as a table, in Markdown; or why there is no answer."""
    if not answer.given or answer.sql is None or answer.result is None:
        return no_answer(answer)
    columns, rows = answer.result.columns, answer.result.rows
    parts = ["**Answer**", _fenced(answer.sql, "sql"), _table(columns, rows[:MOST_ROWS]) if rows else "(no rows)"]
    if len(rows) > MOST_ROWS:
        parts.append(f"The first {MOST_ROWS} of {len(rows):,} rows.")
    if answer.attempts > 1:
        parts.append(f"{answer.agreeing} of {answer.attempts} attempts agree.")
    return "\n\n".join(parts)


def _table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    return "\n".join([_row(columns), "|" + " --- |" * len(columns), *map(_row, rows)])


def _row(values: Sequence[object]) -> str:
    return f"| {' | '.join(_escaped(cell(value)) for value in values)} |"


def _escaped(text: str) -> str:
    return "".join(f"\\{letter}" if letter in _ESCAPED else letter for letter in text)


def _fenced(text: str, language: str) -> str:
    """A code block, whose fence is longer than any that the text holds."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}\n{fence}"

"""How a model writes a tool call as text: an agent needs to render one, to parse one and to know where one ends.

A model with a native format gets it from its tokenizer (`training.native_format`, where mlx-lm's parsers live); every
other model uses the plain tags below, which cost few tokens and survive any chat template.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from sqldojo.records import RUN_SQL, SUBMIT_SQL, ToolCall

TOOL_NAMES = (RUN_SQL, SUBMIT_SQL)
_DESCRIPTIONS = {
    RUN_SQL: "Run one SQLite query and see its first rows.",
    SUBMIT_SQL: "Submit the query whose result answers the question. This ends the task.",
}


@dataclass(frozen=True)
class ToolFormat:
    """One way of writing tool calls.

    `parse` returns None for prose and for anything that is not one well-formed call of a known tool. A reply is
    complete when its text contains one of `call_ends`. `result_role` is the chat role that carries a tool's result.
    `schemas` go to the chat template; where a template cannot present them they are None and `instructions`, part of
    the system prompt, say how to call.
    """

    name: str
    parse: Callable[[str], ToolCall | None]
    render: Callable[[ToolCall], str]
    call_ends: tuple[str, ...]
    result_role: str
    instructions: str = ""
    schemas: tuple[dict, ...] | None = None


def tool_schemas() -> tuple[dict, ...]:
    """The tools as the JSON schemas that chat templates take."""
    parameters = {"type": "object", "properties": {"sql": {"type": "string"}}, "required": ["sql"]}
    return tuple(
        {"type": "function", "function": {"name": name, "description": _DESCRIPTIONS[name], "parameters": parameters}}
        for name in TOOL_NAMES
    )


_THOUGHT = re.compile(r"\s*<think>.*?(</think>|\Z)", re.DOTALL)


def without_thought(text: str) -> str:
    """A reply without the thought that it opens with: what is named or tried out there is not called."""
    thought = _THOUGHT.match(text)
    return text[thought.end() :] if thought else text


_PLAIN_CALL = re.compile(rf"<({'|'.join(TOOL_NAMES)})>(.*?)</\1>", re.DOTALL)


def parse_plain(text: str) -> ToolCall | None:
    """The one call that a reply holds; None for no call, an unclosed one, or more than one."""
    calls = _PLAIN_CALL.findall(text)
    if len(calls) != 1 or not calls[0][1].strip():
        return None
    name, sql = calls[0]
    return ToolCall(name, sql.strip())


def render_plain(call: ToolCall) -> str:
    """`<run_sql>SELECT 1</run_sql>`; the inverse of `parse_plain`."""
    return f"<{call.name}>{call.sql}</{call.name}>"


PLAIN = ToolFormat(
    name="plain",
    parse=parse_plain,
    render=render_plain,
    call_ends=tuple(f"</{name}>" for name in TOOL_NAMES),
    result_role="user",
    instructions="\n".join(
        f"{render_plain(ToolCall(name, 'SELECT ...'))} {text}" for name, text in _DESCRIPTIONS.items()
    ),
)

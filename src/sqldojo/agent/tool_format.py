"""How a model writes a tool call as text: an agent needs to render one, to parse one and to know where one ends.

A model with a native format gets it from its tokenizer (`training.native_format`, where mlx-lm's parsers live); every
other model uses the plain tags below, which cost few tokens and survive any chat template.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial

from sqldojo.records import RUN_SQL, SUBMIT_SQL, ToolCall


@dataclass(frozen=True)
class Tool:
    """A tool with one text as its argument, which `ToolCall.sql` carries whatever `argument` calls it.

    `example` stands for the argument where a prompt shows how to call. `may_be_empty` says that a call may go without.
    """

    name: str
    argument: str
    description: str
    may_be_empty: bool = False
    example: str = "SELECT ..."


RUN = Tool(RUN_SQL, "sql", "Run one SQLite query and see its first rows.")
ANSWER_TOOLS = (
    RUN,
    Tool(SUBMIT_SQL, "sql", "Submit the query whose result answers the question. This ends the task."),
)
TOOL_NAMES = tuple(tool.name for tool in ANSWER_TOOLS)


@dataclass(frozen=True)
class ToolFormat:
    """One way of writing calls of the `tools`.

    `parse` returns None for prose and for anything that is not one well-formed call of a known tool. A call is over
    when the text holds one of `call_ends` and `closed`, if there is one, agrees: in some formats what ends a call can
    also stand within it. `result_role` is the chat role that carries a tool's result. `schemas` go to the chat
    template; where a template cannot present them they are None and `instructions`, part of the system prompt, say how
    to call. `calls_in_content`: the template shows a call only as the text of the assistant's message.
    """

    name: str
    parse: Callable[[str], ToolCall | None]
    render: Callable[[ToolCall], str]
    call_ends: tuple[str, ...]
    result_role: str
    instructions: str = ""
    schemas: tuple[dict, ...] | None = None
    tools: tuple[Tool, ...] = ANSWER_TOOLS
    closed: Callable[[str], bool] | None = None
    calls_in_content: bool = False

    def is_over(self, text: str) -> bool:
        """Whether a call in the text of a reply is complete, so that nothing more of the reply is wanted."""
        return any(end in text for end in self.call_ends) and (self.closed is None or self.closed(text))


def tool_schemas(tools: Sequence[Tool] = ANSWER_TOOLS) -> tuple[dict, ...]:
    """The tools as the JSON schemas that chat templates and providers take."""
    return tuple(
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": {
                    "type": "object",
                    "properties": {tool.argument: {"type": "string"}},
                    "required": [] if tool.may_be_empty else [tool.argument],
                },
            },
        }
        for tool in tools
    )


def arguments_of(call: ToolCall, tools: Sequence[Tool] = ANSWER_TOOLS) -> dict[str, str]:
    """A call's arguments by name: none for an empty one."""
    return {tool.argument: call.sql for tool in tools if tool.name == call.name and call.sql}


def call_with(name: object, arguments: object, tools: Sequence[Tool] = ANSWER_TOOLS) -> ToolCall | None:
    """The call that a name and a JSON value of arguments make; None for an unknown tool or arguments that it lacks."""
    for tool in tools:
        if tool.name == name and isinstance(arguments, dict):
            text = arguments.get(tool.argument)
            text = "" if text is None else text
            if isinstance(text, str) and (text.strip() or tool.may_be_empty):
                return ToolCall(tool.name, text.strip())
    return None


_THOUGHT = re.compile(r"\s*<think>.*?(</think>|\Z)", re.DOTALL)


def without_thought(text: str) -> str:
    """A reply without the thought that it opens with: what is named or tried out there is not called."""
    thought = _THOUGHT.match(text)
    return text[thought.end() :] if thought else text


@cache
def _plain_calls(tools: tuple[Tool, ...]) -> re.Pattern[str]:
    return re.compile(rf"<({'|'.join(tool.name for tool in tools)})>(.*?)</\1>", re.DOTALL)


def parse_plain(text: str, tools: tuple[Tool, ...] = ANSWER_TOOLS) -> ToolCall | None:
    """The one call that a reply holds; None for no call, an unclosed one, or more than one."""
    calls = _plain_calls(tools).findall(text)
    if len(calls) != 1:
        return None
    name, argument = calls[0]
    (tool,) = (tool for tool in tools if tool.name == name)
    return call_with(name, {tool.argument: argument}, tools)


def render_plain(call: ToolCall) -> str:
    """`<run_sql>SELECT 1</run_sql>`; the inverse of `parse_plain`."""
    return f"<{call.name}>{call.sql}</{call.name}>"


@cache
def plain_format(tools: tuple[Tool, ...]) -> ToolFormat:
    """The plain tags for these tools; the same object whenever they are the same."""
    return ToolFormat(
        name="plain",
        parse=partial(parse_plain, tools=tools),
        render=render_plain,
        call_ends=tuple(f"</{tool.name}>" for tool in tools),
        result_role="user",
        instructions="\n".join(
            f"{render_plain(ToolCall(tool.name, tool.example))} {tool.description}" for tool in tools
        ),
        tools=tools,
    )


PLAIN = plain_format(ANSWER_TOOLS)

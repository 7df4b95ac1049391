"""A model's own way of writing tool calls, taken from its tokenizer where mlx-lm can parse it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jinja2 import TemplateError

from sqldojo.agent.tool_format import (
    ANSWER_TOOLS,
    Tool,
    ToolFormat,
    arguments_of,
    call_with,
    plain_format,
    tool_schemas,
)
from sqldojo.records import ToolCall

# What mlx-lm's parsers raise on text that is no call; a parser's other errors would be faults of its own.
_UNPARSABLE = (ValueError, KeyError, IndexError, TypeError, AttributeError, SyntaxError, RecursionError)


def tool_format_of(tokenizer: Any, tools: tuple[Tool, ...] = ANSWER_TOOLS) -> ToolFormat:
    """The tokenizer's native tool format if mlx-lm parses it and its chat template renders it, else the plain tags."""
    plain = plain_format(tools)
    if not tokenizer.has_tool_calling or not tokenizer.tool_call_end:
        return plain
    native = _native(tokenizer, tools)
    probes = [ToolCall(tool.name, "SELECT 1\nFROM t WHERE a < 'b'") for tool in tools]
    probes += [ToolCall(tool.name, "") for tool in tools if tool.may_be_empty]
    try:
        renders = all(native.parse(native.render(probe)) == probe for probe in probes)
    except (*_UNPARSABLE, TemplateError):  # a template that cannot show a tool call, or refuses to
        renders = False
    return native if renders else plain


def _native(tokenizer: Any, tools: tuple[Tool, ...]) -> ToolFormat:
    start, end, schemas = tokenizer.tool_call_start, tokenizer.tool_call_end, tool_schemas(tools)

    def parse(text: str) -> ToolCall | None:
        if text.count(start) != 1 or text.count(end) != 1 or text.index(end) < text.index(start):
            return None
        inner = text[text.index(start) + len(start) : text.index(end)]
        # mlx-lm's parsers merge two calls that share one pair of markers; whatever the format, each names its tool.
        if sum(inner.count(tool.name) for tool in tools) != 1:
            return None
        try:
            call = tokenizer.tool_parser(inner, list(schemas))
            call = call[0] if isinstance(call, list) and len(call) == 1 else call
            return call_with(call["name"], call["arguments"], tools)
        except _UNPARSABLE:
            return None

    def render(call: ToolCall) -> str:
        text = tokenizer.apply_chat_template(
            [{"role": "user", "content": "?"}, assistant_message(call, tools)], tools=list(schemas), tokenize=False
        )
        return text[text.rindex(start) : text.rindex(end) + len(end)]

    return ToolFormat("native", parse, render, (end,), "tool", schemas=schemas, tools=tools)


def assistant_message(call: ToolCall, tools: Sequence[Tool] = ANSWER_TOOLS) -> dict[str, Any]:
    """A tool call as the message that chat templates take."""
    function = {"name": call.name, "arguments": arguments_of(call, tools)}
    return {"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": function}]}

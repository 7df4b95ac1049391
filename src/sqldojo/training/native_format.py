"""A model's own way of writing tool calls, taken from its tokenizer where mlx-lm can parse it."""

from __future__ import annotations

from typing import Any

from jinja2 import TemplateError

from sqldojo.agent.tool_format import PLAIN, TOOL_NAMES, ToolFormat, tool_schemas
from sqldojo.records import RUN_SQL, ToolCall

# What mlx-lm's parsers raise on text that is no call; a parser's other errors would be faults of its own.
_UNPARSABLE = (ValueError, KeyError, IndexError, TypeError, AttributeError, SyntaxError, RecursionError)


def tool_format_of(tokenizer: Any) -> ToolFormat:
    """The tokenizer's native tool format if mlx-lm parses it and its chat template renders it, else the plain tags."""
    if not tokenizer.has_tool_calling or not tokenizer.tool_call_end:
        return PLAIN
    native = _native(tokenizer)
    probe = ToolCall(RUN_SQL, "SELECT 1\nFROM t WHERE a < 'b'")
    try:
        renders = native.parse(native.render(probe)) == probe
    except (*_UNPARSABLE, TemplateError):  # a template that cannot show a tool call, or refuses to
        renders = False
    return native if renders else PLAIN


def _native(tokenizer: Any) -> ToolFormat:
    start, end, schemas = tokenizer.tool_call_start, tokenizer.tool_call_end, tool_schemas()

    def parse(text: str) -> ToolCall | None:
        if text.count(start) != 1 or text.count(end) != 1 or text.index(end) < text.index(start):
            return None
        inner = text[text.index(start) + len(start) : text.index(end)]
        # mlx-lm's parsers merge two calls that share one pair of markers; whatever the format, each names its tool.
        if sum(inner.count(name) for name in TOOL_NAMES) != 1:
            return None
        try:
            call = tokenizer.tool_parser(inner, list(schemas))
            call = call[0] if isinstance(call, list) and len(call) == 1 else call
            name, sql = call["name"], call["arguments"]["sql"]
        except _UNPARSABLE:
            return None
        known = name in TOOL_NAMES and isinstance(sql, str) and sql.strip()
        return ToolCall(name, sql.strip()) if known else None

    def render(call: ToolCall) -> str:
        text = tokenizer.apply_chat_template(
            [{"role": "user", "content": "?"}, assistant_message(call)], tools=list(schemas), tokenize=False
        )
        return text[text.rindex(start) : text.rindex(end) + len(end)]

    return ToolFormat("native", parse, render, (end,), "tool", schemas=schemas)


def assistant_message(call: ToolCall) -> dict[str, Any]:
    """A tool call as the message that chat templates take."""
    function = {"name": call.name, "arguments": {"sql": call.sql}}
    return {"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": function}]}

"""Chat templates, rendered so that the same messages give the same text on every machine and day."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from typing import Any

from sqldojo.agent.tool_format import ANSWER_TOOLS, Tool, arguments_of
from sqldojo.records import ToolCall

# Llama 3 and SmolLM3 tell the model what day it is. This is the day that Llama's template falls back to.
TODAY = date(2024, 7, 26)
_TODAYS_DATE = re.compile(r"""\bstrftime_now\(\s*(?:"([^"\\]*)"|'([^'\\]*)')\s*\)""")


def render(
    tokenizer: Any,
    messages: Sequence[dict[str, Any]],
    schemas: Sequence[dict] | None,
    *,
    add_generation_prompt: bool = False,
) -> str:
    """The messages as the tokenizer's chat template shows them, with thinking switched off where it has the switch.

    A template that asks for today's date gets `TODAY`. jinja2's TemplateError when the template refuses the messages,
    ValueError when there is no template.
    """
    options: dict[str, Any] = {}
    template = getattr(tokenizer, "chat_template", None)
    if isinstance(template, str):
        if "strftime_now" in template:
            options["chat_template"] = on_a_fixed_day(template)
        if "thinking" in template:  # Granite's and DeepSeek's name for the switch
            options["thinking"] = False
    return tokenizer.apply_chat_template(
        list(messages),
        tools=list(schemas) if schemas else None,
        add_generation_prompt=add_generation_prompt,
        enable_thinking=False,
        tokenize=False,
        **options,
    )


def on_a_fixed_day(template: str) -> str:
    """The template with its calls for today's date, whose format it names, replaced by the texts for `TODAY`."""

    def text(call: re.Match[str]) -> str:
        return repr(TODAY.strftime(call[1] if call[1] is not None else call[2]))

    return _TODAYS_DATE.sub(text, template)


def assistant_message(call: ToolCall, tools: Sequence[Tool] = ANSWER_TOOLS) -> dict[str, Any]:
    """A tool call as the message that chat templates take."""
    function = {"name": call.name, "arguments": arguments_of(call, tools)}
    return {"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": function}]}

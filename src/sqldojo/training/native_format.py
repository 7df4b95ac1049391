"""A model's own way of writing tool calls, found out from its chat template.

Names of models say little: conversions are renamed, and versions of one model have other templates. So the template is
asked. It is shown a call, and what it makes of it is read back: between markers (`call_syntax`), or as bare JSON. If it
shows nothing but declares the tools, a call is the text of the assistant's message. If no way gives every call back,
the plain tags are used, which any template can carry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, partial
from typing import Any

from jinja2 import TemplateError

from sqldojo.agent.tool_format import ANSWER_TOOLS, Tool, ToolFormat, arguments_of, plain_format, tool_schemas
from sqldojo.records import ToolCall
from sqldojo.training.call_syntax import (
    PYTHON_TAG,
    PYTHONIC,
    UNPARSABLE,
    CallSyntax,
    declared_syntax,
    json_calls,
    parse_json_call,
    syntax_of,
)
from sqldojo.training.chat_template import assistant_message, render

_QUESTION = {"role": "user", "content": "?"}


def tool_format_of(tokenizer: Any, tools: tuple[Tool, ...] = ANSWER_TOOLS) -> ToolFormat:
    """The tool format of the tokenizer's chat template if what it shows can be read back, else the plain tags."""
    probes = [ToolCall(tool.name, "SELECT 1\nFROM t WHERE a < 'b'") for tool in tools]
    probes += [ToolCall(tool.name, "") for tool in tools if tool.may_be_empty]
    try:
        for native in _candidates(_Template(tokenizer, tools)):
            if all(_gives_back(native, probe) for probe in probes):
                return native
    except (TemplateError, *UNPARSABLE):  # a template that refuses tools or calls; no template at all
        pass
    return plain_format(tools)


def _gives_back(native: ToolFormat, call: ToolCall) -> bool:
    try:
        return native.parse(native.render(call)) == call
    except UNPARSABLE:  # a template that does not show the call, or in another way
        return False


class _Template:
    """A chat template with some tools: what it declares, and what it makes of calls."""

    def __init__(self, tokenizer: Any, tools: tuple[Tool, ...]) -> None:
        self.tokenizer, self.tools, self.schemas = tokenizer, tools, tool_schemas(tools)

    def shows(self, call: ToolCall) -> str:
        """A question and a call in answer to it."""
        return render(self.tokenizer, [_QUESTION, assistant_message(call, self.tools)], self.schemas)

    @cached_property
    def declaration(self) -> str:
        """What it puts before a reply that the tools are offered for; empty when it leaves out one of them."""
        text = render(self.tokenizer, [_QUESTION], self.schemas, add_generation_prompt=True)
        return text if all(tool.name in text for tool in self.tools) else ""

    def format(self, **parts: Any) -> ToolFormat:
        return ToolFormat("native", result_role="tool", schemas=self.schemas, tools=self.tools, **parts)


def _candidates(template: _Template) -> Iterator[ToolFormat]:
    syntax = syntax_of(template.tokenizer)
    if syntax is not None:
        yield _marked(template, syntax, partial(_rendered_between, template, syntax))
    yield template.format(
        parse=partial(parse_json_call, tools=template.tools),
        render=partial(_rendered_json, template),
        call_ends=("}",),
        closed=lambda text: bool(json_calls(text)),
    )
    asked = declared_syntax(template.declaration) or (syntax if syntax is PYTHONIC and template.declaration else None)
    if asked is not None:
        template.shows(ToolCall(template.tools[0].name, "SELECT 1"))  # TemplateError from one that refuses calls
        yield _marked(
            template, asked, lambda call: asked.render(call.name, arguments_of(call, template.tools)),
            calls_in_content=True,
        )  # fmt: skip


def _marked(
    template: _Template, syntax: CallSyntax, show: Callable[[ToolCall], str], **more: Any
) -> ToolFormat:
    return template.format(
        parse=partial(syntax.parse, tools=template.tools, schemas=template.schemas),
        render=show,
        call_ends=(syntax.end,),
        closed=syntax.closes if syntax.quotation is not None else None,
        **more,
    )


def _rendered_between(template: _Template, syntax: CallSyntax, call: ToolCall) -> str:
    """A call as the template shows it, from marker to marker; ValueError when it shows none."""
    # What stands before a call does not hang on it, while its SQL may hold a marker.
    before = template.shows(ToolCall(call.name, "x")).rindex(syntax.start)
    text = template.shows(call)
    return text[text.index(syntax.start, before) : text.rindex(syntax.end) + len(syntax.end)]


def _rendered_json(template: _Template, call: ToolCall) -> str:
    """A call as the template shows it, if that is a JSON object right where a reply begins; else ValueError."""
    text, before = template.shows(call), template.declaration
    if not text.startswith(before):
        raise ValueError("the call does not stand where a reply does")
    reply = text[len(before) :]
    calls = json_calls(reply)
    start = len(PYTHON_TAG) if reply.startswith(PYTHON_TAG) else 0
    if len(calls) != 1 or not reply.startswith("{", start):
        raise ValueError("the call is no JSON object")
    return reply[: calls[0][1]]


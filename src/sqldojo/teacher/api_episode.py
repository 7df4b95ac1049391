"""A model behind an API plays the agent's own loop with its provider's native tool calling.

The model's replies go through the same `Attempt` as everybody's, so its episode has the messages of any other: what
the environment answered, and the calls as text. Under `privacy: schema_only` the model saw less of the results than
the episode holds; the episode keeps the true ones, because that is what the agent who learns from it will see.
A failure of the provider is none of the model: whatever `ask` raises goes through.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sqldojo.agent.episode import AgentLoop, AgentParams
from sqldojo.agent.tool_format import Tool, ToolFormat, arguments_of, call_with, tool_schemas
from sqldojo.records import Message, ProviderCall, ProviderReply, ProviderRequest, ToolCall
from sqldojo.teacher.private_view import NOTE, PrivateView, private_view
from sqldojo.teacher.provider import Ask

_MAX_TOKENS = 2048  # of one reply; models that think first need many, and what is not written is not paid
_ONE_CALL = "Error: only one call at a time; none of these was run"


def play(
    attempt: AgentLoop, ask: Ask, model: str, agent: AgentParams, *, schema_only: bool = False, number: int = 0
) -> None:
    """Let `model` drive `attempt`, whose tool format is a plain one, for as many replies as there are turns.

    An attempt that somebody has begun is gone on with, in the turns that are left. A reply with one well-formed call
    is played. With several calls, an unknown tool or arguments without a query none is run: the model is told, and a
    turn is gone; an attempt whose last turn went like this has no outcome. A reply without calls ends the attempt,
    unless its text holds a call in the plain format. `number` tells attempts apart that are asked the same, as in
    `ProviderRequest`. `schema_only` is for attempts at questions.
    """
    tool_format = attempt.tool_format
    view = private_view(attempt.question.parameters if schema_only else {})
    messages = [*_opening(attempt, view, schema_only), *_played(attempt.messages[2:], tool_format.tools)]
    schemas = tool_schemas(tool_format.tools)
    for _ in range(attempt.turns_left):
        reply = ask(ProviderRequest(model, tuple(messages), schemas, max_tokens=_MAX_TOKENS, number=number))
        messages.append(_said(reply))
        call = _call_of(reply, tool_format)
        if call is None and reply.calls:
            shown = _ONE_CALL if len(reply.calls) > 1 else _no_call(tool_format.tools)
        else:
            text = tool_format.render(ToolCall(call.name, view.sql(call.sql))) if call else reply.text
            shown = attempt.reply(text, cut_off=reply.finish == "length")
            if shown is None:
                return
            # What a look at the schema gave holds no value, unless the query brought one that was put back into it.
            if schema_only and not (attempt.looked and view.sql(call.sql) == call.sql):
                shown = view.result(shown, agent.preview_rows)
        messages += _answers(reply.calls, shown)


def _no_call(tools: Sequence[Tool]) -> str:
    arguments = list(dict.fromkeys(tool.argument for tool in tools))
    what = "the query" if len(arguments) == 1 else "the argument"
    under = " or ".join(f"`{argument}`" for argument in arguments)
    names = " or ".join(tool.name for tool in tools)
    return f"Error: call {names} with a JSON object that holds {what} as text under {under}"


def _opening(attempt: AgentLoop, view: PrivateView, schema_only: bool) -> list[dict[str, Any]]:
    """The attempt's own opening without the plain format's instructions, since the tools are sent beside it."""
    system, user = attempt.messages[0].content, attempt.messages[1].content
    system = system.replace(f"{attempt.tool_format.instructions}\n", f"{NOTE}\n" if schema_only else "")
    return [{"role": "system", "content": system}, {"role": "user", "content": view.question(user)}]


def _played(messages: Sequence[Message], tools: Sequence[Tool]) -> list[dict[str, Any]]:
    """Turns that somebody played before, as if the model had called the tools itself."""
    written: list[dict[str, Any]] = []
    for place, message in enumerate(messages):
        if message.tool_call is not None:
            arguments = json.dumps(arguments_of(message.tool_call, tools))
            call = ProviderCall(f"turn-{place}", message.tool_call.name, arguments)
            written.append(_said(ProviderReply("", (call,), "", "", 0, 0, 0.0)))
        else:
            written += _answers((call,), message.content)
    return written


def _said(reply: ProviderReply) -> dict[str, Any]:
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in reply.calls
    ]
    return {"role": "assistant", "content": reply.text, **({"tool_calls": calls} if calls else {})}


def _answers(calls: Sequence[ProviderCall], text: str) -> list[dict[str, Any]]:
    """The result for every call, as providers insist on; one from the user where the call was in the text."""
    if not calls:
        return [{"role": "user", "content": text}]
    return [{"role": "tool", "tool_call_id": call.id, "content": text} for call in calls]


def _call_of(reply: ProviderReply, tool_format: ToolFormat) -> ToolCall | None:
    """The one well-formed call of a known tool, or None."""
    if not reply.calls:
        return tool_format.parse(reply.text)
    if len(reply.calls) > 1:
        return None
    try:
        arguments = json.loads(reply.calls[0].arguments)
    except (ValueError, RecursionError):
        return None
    call = call_with(reply.calls[0].name, arguments, tool_format.tools)
    # half a character could not be kept in a file
    return call and ToolCall(call.name, call.sql.encode("utf-8", "replace").decode())

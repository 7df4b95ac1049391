"""A dialogue as token ids: what the model is given, what it writes, and what joins the two.

Rollouts and training build their tokens from the same three pieces (prompt, action, bridge), so a demonstration looks
to the model exactly like the dialogue that it will play. Text that a model sampled is never tokenised again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from jinja2 import TemplateError

from sqldojo.agent.tool_format import ToolFormat, plain_format
from sqldojo.errors import UserError
from sqldojo.records import RUN_SQL, Message, ToolCall
from sqldojo.training.chat_template import assistant_message, render

_MARK = "\u2402result\u2403"
# What templates do with a tool's result, the least first, and a result that shows which of them it is.
_TREATMENTS: tuple[Callable[[str], str], ...] = (
    lambda text: text,
    str.strip,
    lambda text: json.dumps(text, ensure_ascii=False)[1:-1],
    lambda text: json.dumps(text.strip(), ensure_ascii=False)[1:-1],
)
_TELLTALE = "\n 'a' \"b\" \\ \u00e9\n|\n "


@dataclass(frozen=True)
class TokenSequence:
    """Token ids with a mask of the same length: 1 where the token is the model's own action and may be learnt."""

    tokens: tuple[int, ...]
    action_mask: tuple[int, ...]


class Dialogue:
    """Turns messages into tokens for one tokenizer and tool format."""

    def __init__(self, tokenizer: Any, tool_format: ToolFormat) -> None:
        self.tokenizer, self.tool_format = tokenizer, tool_format
        self._before_result, self._after_result = self._bridge_texts()
        self._treat_result = self._treatment()

    def prompt(self, messages: Sequence[Message]) -> list[int]:
        """The tokens of the opening messages and of what the template puts before the model's first reply."""
        plain = [{"role": message.role, "content": message.content} for message in messages]
        return self._encode(self._render(plain))

    @cached_property
    def turn_end(self) -> frozenset[int]:
        """The special token with which the template ends a turn that called a tool; empty where it uses none.

        Some conversions of models do not list it among the tokens that end an answer.
        """
        first = self._encode(self._before_result)[:1]
        added = self.tokenizer.added_tokens_decoder
        return frozenset(token for token in first if token in added and added[token].special)

    def action(self, call: ToolCall) -> list[int]:
        """The tokens of a demonstrated call, up to the marker that ends it."""
        return self._encode(self.tool_format.render(call))

    def bridge(self, result: str) -> list[int]:
        """The tokens from the end of a call to the model's next reply: turn end, the tool's result, turn start.

        A cell that holds the text of a special token, such as `<|im_end|>`, stays text: data cannot forge a turn.
        """
        result = self._treat_result(result)
        data = self.tokenizer.encode(result, add_special_tokens=False, split_special_tokens=True)
        return self._encode(self._before_result) + data + self._encode(self._after_result)

    def demonstration(self, messages: Sequence[Message]) -> TokenSequence:
        """A demonstrated episode; its deliberate mistakes are context, not targets."""
        opening = [message for message in messages if message.role in ("system", "user")]
        prompt = self.prompt([replace(message, content=self._in_own_format(message.content)) for message in opening])
        return self.continued(prompt, messages[len(opening) :])

    def continued(self, prefix: Sequence[int], messages: Sequence[Message]) -> TokenSequence:
        """These tokens, of which nothing is learnt, and what a teacher did from there: its calls and their results."""
        tokens, mask = list(prefix), [0] * len(prefix)
        for message in messages:
            if message.role == "tool":
                piece, learnt = self.bridge(message.content), 0
            elif message.tool_call is None:
                raise ValueError("a demonstration holds prose where a tool call belongs")
            else:
                piece, learnt = self.action(message.tool_call), int(message.target)
            tokens += piece
            mask += [learnt] * len(piece)
        return TokenSequence(tuple(tokens), tuple(mask))

    def _in_own_format(self, text: str) -> str:
        """The teacher's system prompt, which explains the plain format, as a rollout in this format would have it."""
        own, plain = self.tool_format.instructions, plain_format(self.tool_format.tools).instructions
        return text.replace(f"{plain}\n", f"{own}\n" if own else "")

    def _encode(self, text: str) -> list[int]:
        return self.tokenizer.encode(text, add_special_tokens=False)

    def _render(self, messages: list[dict[str, Any]]) -> str:
        return render(self.tokenizer, messages, self.tool_format.schemas, add_generation_prompt=True)

    def _render_result(self, result: str) -> tuple[str, str]:
        """A dialogue with a call and this result as the template shows it, and the call as it stands there."""
        probe = ToolCall(RUN_SQL, "SELECT 1")
        call = self.tool_format.render(probe)
        said: dict[str, Any] = {"role": "assistant", "content": call}
        if self.tool_format.schemas and not self.tool_format.calls_in_content:
            said = assistant_message(probe, self.tool_format.tools)
        messages = [
            {"role": "system", "content": "?"},
            {"role": "user", "content": "?"},
            said,
            {"role": self.tool_format.result_role, "content": result},
        ]
        return self._render(messages), call

    def _bridge_texts(self) -> tuple[str, str]:
        """The template's own text around a tool's result, read off a dialogue rendered with a mark in its place."""
        try:
            text, call = self._render_result(_MARK)
        except (TemplateError, ValueError) as error:  # a role that the template refuses; no template at all
            raise UserError(
                f"params.yaml: sources: this model's chat template cannot show a dialogue with a system prompt "
                f"and tools ({error}); choose a model whose template can"
            ) from error
        called, marked = text.rfind(call), text.find(_MARK)
        if called < 0 or marked < called:
            raise UserError(
                "params.yaml: sources: this model's chat template cannot show a tool call and its result; "
                "choose a model whose template can"
            )
        return text[called + len(call) : marked], text[marked + len(_MARK) :]

    def _treatment(self) -> Callable[[str], str]:
        """What the template does with a result: nothing, trimming it, writing it as a JSON string."""
        shown, _ = self._render_result(_TELLTALE)
        marked, _ = self._render_result(_MARK)
        fitting = (treat for treat in _TREATMENTS if marked.replace(_MARK, treat(_TELLTALE)) == shown)
        return next(fitting, _TREATMENTS[0])


def shared_prefix_length(sequences: Iterable[Sequence[int]]) -> int:
    """How many leading tokens all sequences have in common."""
    length = 0
    for column in zip(*sequences, strict=False):
        if len(set(column)) > 1:
            break
        length += 1
    return length

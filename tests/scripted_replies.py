"""Lets the tiny model write given replies, token by token, where it would choose its own."""

from __future__ import annotations

from collections.abc import Sequence

import cpu_first  # noqa: F401

# isort: split
import mlx.core as mx
import pytest

from sqldojo.agent.tool_format import PLAIN
from sqldojo.records import RUN_SQL, SUBMIT_SQL, ToolCall
from sqldojo.training.decoding import Decoder, Row
from sqldojo.training.policy_model import PolicyModel


def look(sql: str) -> str:
    """The reply that runs a query."""
    return PLAIN.render(ToolCall(RUN_SQL, sql))


def submit(sql: str) -> str:
    """The reply that submits a query."""
    return PLAIN.render(ToolCall(SUBMIT_SQL, sql))


def let_it_write(monkeypatch: pytest.MonkeyPatch, policy: PolicyModel, *attempts: Sequence[str]) -> None:
    """In each attempt at a question these replies, one a turn; the last one is repeated by further attempts."""
    draw, encode = Decoder._draw, policy.dialogue.tokenizer.encode

    def forced(row: Row | None) -> int:
        """The token that comes next; any when there is nothing more to write, since one too many is drawn."""
        if row is None:
            return 0
        *_, number, turn = row.name.split("/")
        turns = attempts[min(int(number), len(attempts) - 1)]
        tokens = encode(turns[int(turn)], add_special_tokens=False) if int(turn) < len(turns) else []
        return tokens[row.position] if row.position < len(tokens) else 0

    def scripted(self: Decoder, logits: mx.array, rows: Sequence[Row | None]) -> mx.array:
        wanted = mx.array([forced(row) for row in rows])
        far_above = mx.where(mx.arange(logits.shape[-1])[None] == wanted[:, None], 1e4, 0.0)
        return draw(self, logits + far_above, rows)

    monkeypatch.setattr(Decoder, "_draw", scripted)

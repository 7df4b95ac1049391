"""Requests and replies in OpenAI's shapes: what is taken, what is refused, and that values stay text in Markdown."""

from __future__ import annotations

import json
from typing import Any

import cpu_first  # noqa: F401
import pytest

# isort: split
from sqldojo.asking import Answer
from sqldojo.chat_messages import ChatRequest, RequestError, answer_text, query_text, read_request
from sqldojo.databases.execution import OK, QueryResult

ASKED = {"model": "tiny", "messages": [{"role": "user", "content": "Who?"}]}


def read(**changes: Any) -> ChatRequest:
    return read_request(json.dumps({**ASKED, **changes}).encode(), "tiny")


def test_the_last_message_of_the_user_is_the_question() -> None:
    messages = [{"role": "system", "content": "Be kind"}, {"role": "user", "content": "Where?"},
                {"role": "user", "content": [{"type": "text", "text": " How"}, {"type": "text", "text": "many? "}]},
                {"role": "assistant", "content": None}]  # fmt: skip
    assert read(messages=messages) == ChatRequest("How\nmany?", stream=False, include_usage=False, seed=None)
    options = {"include_usage": True}
    assert read(stream=True, stream_options=options, seed=7, temperature=0.1, n=1, tools=[]) == ChatRequest(
        "Who?", stream=True, include_usage=True, seed=7
    )


@pytest.mark.parametrize(
    ("changes", "status", "param"),
    [
        ({"model": None}, 400, "model"),
        ({"model": "gpt-4"}, 404, "model"),
        ({"model": 7}, 400, "model"),
        ({"messages": None}, 400, "messages"),
        ({"messages": []}, 400, "messages"),
        ({"messages": "Who?"}, 400, "messages"),
        ({"messages": ["Who?"]}, 400, "messages"),
        ({"messages": [{"content": "Who?"}]}, 400, "messages"),
        ({"messages": [{"role": "system", "content": "Who?"}]}, 400, "messages"),
        ({"messages": [{"role": "user", "content": " "}]}, 400, "messages"),
        ({"messages": [{"role": "user"}]}, 400, "messages"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}]}, 400, "messages"),
        ({"messages": [{"role": "user", "content": [{"type": "text", "text": 3}]}]}, 400, "messages"),
        ({"stream": "yes"}, 400, "stream"),
        ({"stream_options": True}, 400, "stream_options"),
        ({"seed": True}, 400, "seed"),
        ({"seed": 1.5}, 400, "seed"),
        ({"n": 2}, 400, "n"),
        ({"tools": [{"type": "function"}]}, 400, "tools"),
    ],
)
def test_what_cannot_be_honoured_is_refused(changes: dict[str, Any], status: int, param: str) -> None:
    with pytest.raises(RequestError) as caught:
        read(**changes)
    assert (caught.value.status, caught.value.param) == (status, param)
    error = caught.value.as_json()["error"]
    assert error["type"] == "invalid_request_error" and error["message"]
    assert error["code"] == ("model_not_found" if status == 404 else None)


BODIES = [b"", b"{", b"\xff\xfe", b"[" * 100_000, b'["Who?"]', b"7", b'{"seed": ' + b"9" * 9_999]


@pytest.mark.parametrize("body", BODIES)
def test_bodies_that_are_no_request_are_refused(body: bytes) -> None:
    with pytest.raises(RequestError, match="the body is not") as caught:
        read_request(body, "tiny")
    assert caught.value.status == 400


def answer(rows: tuple[tuple[object, ...], ...], columns: tuple[str, ...] = ("a", "b"), **more: Any) -> Answer:
    return Answer(**{"question": "Who?", "sql": "SELECT 1", "result": QueryResult(OK, columns, rows), "agreeing": 1,
                     "attempts": 1, "given": True, **more})  # fmt: skip


def test_an_answer_is_a_query_and_a_table() -> None:
    assert answer_text(answer(((1, "x"), (None, b"\xff")))) == (
        "**Answer**\n\n```sql\nSELECT 1\n```\n\n| a | b |\n| --- | --- |\n| 1 | x |\n| NULL | x'ff' |"
    )
    assert answer_text(answer(())).endswith("```\n\n(no rows)")
    long = answer_text(answer(tuple((each, 0) for each in range(60)), agreeing=2, attempts=3))
    assert "| 49 | 0 |" in long and "| 50 | 0 |" not in long
    assert long.endswith("\n\nThe first 50 of 60 rows.\n\n2 of 3 attempts agree.")


def test_values_make_no_markup() -> None:
    rows = (("a|b", "![x](http://example.org)"), ("<script>", "back`tick\nline \\"))
    table = answer_text(answer(rows, ("a|", "<b>"))).splitlines()[-4:]
    assert table == [
        "| a\\| | \\<b> |", "| --- | --- |", "| a\\|b | !\\[x](http://example.org) |",
        "| \\<script> | back\\`tick\\\\nline \\\\ |",
    ]  # fmt: skip
    fenced = query_text("SELECT '```'", "a\n```\n````")
    assert fenced == "````sql\nSELECT '```'\n````\n\n`````text\na\n```\n````\n`````\n\n"


def test_no_answer_says_why() -> None:
    assert answer_text(answer((), given=False, agreeing=1, attempts=2)).startswith("no answer: only 1 of 2 attempts")
    nothing = answer((), given=False, sql=None, result=None, agreeing=0, reasons=("no such column: b",))
    assert answer_text(nothing) == "no answer: no such column: b"

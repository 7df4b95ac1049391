"""A provider that gives canned replies and remembers what it was asked."""

from __future__ import annotations

import json
from collections.abc import Iterable

from sqldojo.records import ProviderCall, ProviderReply, ProviderRequest


def said(text: str = "", *calls: tuple[str, str], finish: str = "stop") -> ProviderReply:
    """A reply with the text and the calls, each a tool's name and the text of its arguments."""
    made = tuple(ProviderCall(f"call-{place}", name, arguments) for place, (name, arguments) in enumerate(calls))
    return ProviderReply(text, made, finish, "m", 10, 5, 0.001)


def called(name: str, sql: str) -> ProviderReply:
    """A reply with one well-formed call."""
    return said("", (name, json.dumps({"sql": sql})))


class Canned:
    """An `Ask` that gives the replies in turn, raising those that are errors."""

    def __init__(self, replies: Iterable[ProviderReply | Exception]) -> None:
        self.requests: list[ProviderRequest] = []
        self._replies = iter(replies)

    def __call__(self, request: ProviderRequest) -> ProviderReply:
        self.requests.append(request)
        reply = next(self._replies)
        if isinstance(reply, Exception):
            raise reply
        return reply

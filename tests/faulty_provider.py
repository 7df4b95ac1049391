"""A provider on loopback that speaks the OpenAI protocol over real HTTP and fails in the ways that providers do."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

# What the provider does with one call; whatever is no fault is a reply.
ANSWER, WRONG_ARGUMENTS = "answer", "wrong arguments"
BUSY, BUSY_FOR_2_SECONDS, BROKEN, SLOW, CUT, NO_JSON = "429", "429 retry-after", "500", "slow", "cut", "no json"
NO_CHOICE, NO_CONTENT, OTHER_MODEL, BAD_KEY, BAD_REQUEST = "no choice", "no content", "other model", "401", "400"

KEY = "sk-a-very-secret-key-0123456789"  # what the tests put into the environment
OTHER_NAME = "somebody-else"  # who replies in place of the model that was asked
CALL_ID = "call_1"
USAGE = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}
_STATUS = {BUSY: 429, BUSY_FOR_2_SECONDS: 429, BROKEN: 500, BAD_KEY: 401, BAD_REQUEST: 400}


@dataclass
class FaultyProvider:
    """What it will do, call by call (then answer), and the bodies and headers of all calls so far."""

    script: list[str] = field(default_factory=list)
    calls: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    under_way: int = 0
    most_at_once: int = 0
    url: str = ""
    delay: float = 0.0
    lock: threading.Lock = field(default_factory=threading.Lock)
    released: threading.Event = field(default_factory=threading.Event)


@contextmanager
def faulty_provider(script: Sequence[str] = (), delay: float = 0.0) -> Iterator[FaultyProvider]:
    """Serve on a free port of loopback until the block ends; `delay` is how long an answer takes, in seconds."""
    provider = FaultyProvider(list(script), delay=delay)

    class Handler(_Handler):
        faults = provider

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    provider.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        provider.released.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    faults: FaultyProvider

    def do_POST(self) -> None:
        faults = self.faults
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with faults.lock:
            act = faults.script.pop(0) if faults.script else ANSWER
            faults.calls.append(body)
            faults.headers.append({name.lower(): value for name, value in self.headers.items()})
            faults.under_way += 1
            faults.most_at_once = max(faults.most_at_once, faults.under_way)
        faults.released.wait(30.0 if act == SLOW else faults.delay)
        with faults.lock:
            faults.under_way -= 1
        self._send(act, body)

    def _send(self, act: str, body: dict[str, Any]) -> None:
        if act in _STATUS:  # some providers repeat the key in their complaint
            content = json.dumps({"error": {"message": f"no: {self.headers['Authorization']}", "type": act}})
        elif act == NO_JSON:
            content = "<html>busy</html>"
        else:
            content = json.dumps(_reply(act, body))
        self.send_response(_STATUS.get(act, 200))
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Connection", "close")
        if act == BUSY_FOR_2_SECONDS:
            self.send_header("Retry-After", "2")
        with suppress(BrokenPipeError):  # whoever asked has given up
            self.end_headers()
            self.wfile.write(content.encode()[: 40 if act == CUT else None])

    def log_message(self, *_: object) -> None:
        """Nothing: the tests' output is not for requests."""


def _reply(act: str, body: dict[str, Any]) -> dict[str, Any]:
    """The completion of a call: the last message's text again, or a call of the first tool."""
    message: dict[str, Any] = {"role": "assistant", "content": f"You said: {body['messages'][-1]['content']}"}
    finish = "stop"
    if act == NO_CONTENT:
        message["content"] = None
    elif body.get("tools"):
        arguments = '{"query": 7' if act == WRONG_ARGUMENTS else '{"sql": "SELECT 1"}'
        function = {"name": body["tools"][0]["function"]["name"], "arguments": arguments}
        message |= {"content": None, "tool_calls": [{"id": CALL_ID, "type": "function", "function": function}]}
        finish = "tool_calls"
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": OTHER_NAME if act == OTHER_MODEL else body["model"],
        "choices": [] if act == NO_CHOICE else [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": USAGE,
    }

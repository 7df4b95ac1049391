"""`sqldojo serve`: the agent behind OpenAI's chat completions, for programs on this machine.

mlx-lm has such a server, but a reply of its model is one completion: there is no place in it for an agent that runs
queries between replies, a request may name any model or adapter on the disk, and any web site may ask it. So this one
is the standard library's, as that of `sqldojo watch`.

HTTP runs in threads; the model runs in the thread that calls `work`, one question at a time in the order of their
arrival, so that Ctrl-C ends it at once. A client that hangs up gives its place away. A page of another site cannot ask:
it would have to send JSON, for which browsers want a permission that is never given, or come under a name of its own
(DNS rebinding), which is refused.
"""

from __future__ import annotations

import errno
import json
import queue
import select
import socket
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol
from urllib.parse import unquote

from sqldojo.asking import Answer, QuestionError, Tell
from sqldojo.chat_messages import ChatRequest, Reply, RequestError, answer_text, query_text, read_request
from sqldojo.errors import UserError
from sqldojo.training.decoding import RolloutCounts

LOCAL_HOST = "127.0.0.1"
_OWN_NAMES = {"127.0.0.1", "localhost", "[::1]"}
_ADDRESS_ERRORS = (errno.EADDRINUSE, errno.EACCES, errno.EADDRNOTAVAIL)
_MOST_BYTES = 1_000_000  # of a request's body
_MOST_DISCARDED = 50_000_000
_MOST_WAITING = 32  # questions; who comes later is told to try again
_READ_SECONDS = 30.0  # for a client to send its request
_HEARTBEAT_SECONDS = 2.0  # between two looks whether a waiting client is still there
_IDLE_SECONDS = 0.2  # between two looks whether `work` is to end


class Answering(Protocol):
    """What answers questions, such as a Session, and how it is called."""

    name: str

    def ask(self, question: str, tell: Tell, *, seed: int | None = None, counts: RolloutCounts | None = None) -> Answer:
        """The answer; UserError where there can be none."""


@dataclass(frozen=True)
class Query:
    """A query that the agent tried, and what it saw."""

    sql: str
    shown: str


@dataclass(frozen=True)
class Question:
    """A request that waits for the model, and what has happened to it so far."""

    request: ChatRequest
    events: queue.SimpleQueue[Query | Answer | UserError] = field(default_factory=queue.SimpleQueue)
    counts: RolloutCounts = field(default_factory=RolloutCounts)
    given_up: threading.Event = field(default_factory=threading.Event)


class _GivenUp(Exception):
    """Nobody waits for the answer any more."""


class AnswerServer(ThreadingHTTPServer):
    """Serves one agent; port 0 takes any free one. UserError when the address cannot be had."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, agent: Answering, port: int, host: str = LOCAL_HOST, *, attempts: int = 1) -> None:
        self.agent, self.created, self.tells_queries = agent, int(time.time()), attempts == 1
        self.only_local = host in _OWN_NAMES
        self.waiting: queue.Queue[Question] = queue.Queue(_MOST_WAITING)
        try:
            super().__init__((host, port), _ChatHandler)
        except OSError as error:
            if error.errno not in _ADDRESS_ERRORS and not isinstance(error, socket.gaierror):
                raise
            remedy = "give others with --port (0 for any free one) and --host"
            raise UserError(f"port {port} of {host}: {error.strerror or error}; {remedy}") from error

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Quiet where a client is gone; a traceback for anything else, which would be a fault of ours."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)

    @property
    def address(self) -> str:
        """What clients take for the base of the API."""
        return f"http://{self.server_address[0]}:{self.server_port}/v1"

    def work(self, stop: threading.Event) -> None:
        """Answer questions, one after the other, until `stop` is set."""
        while not stop.is_set():
            with suppress(queue.Empty):
                self._answer(self.waiting.get(timeout=_IDLE_SECONDS))

    def _answer(self, question: Question) -> None:
        def tell(sql: str, shown: str) -> None:
            if question.given_up.is_set():
                raise _GivenUp
            question.events.put(Query(sql, shown))

        if question.given_up.is_set():
            return
        try:
            asked = question.request
            question.events.put(self.agent.ask(asked.question, tell, seed=asked.seed, counts=question.counts))
        except UserError as error:
            question.events.put(error)
        except _GivenUp:
            pass


def serve_until_interrupted(server: AnswerServer) -> None:
    """Answer requests until Ctrl-C, which ends it quietly, also in the middle of a question."""
    listening = threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True)
    with server:
        try:
            listening.start()
            server.work(threading.Event())
        except KeyboardInterrupt:
            pass
        finally:
            if listening.ident is not None:
                server.shutdown()


class _ChatHandler(BaseHTTPRequestHandler):
    server: AnswerServer
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "sqldojo", ""
    timeout = _READ_SECONDS

    def do_GET(self) -> None:
        """The list of models, the one model, or `/health`."""
        try:
            self._check_host()
            path = self._path()
            if path == "/health":
                self._send(200, {"status": "ok"})
            elif path == "/v1/models":
                self._send(200, {"object": "list", "data": [self._model()]})
            elif path == f"/v1/models/{self.server.agent.name}":
                self._send(200, self._model())
            elif path.startswith("/v1/models/"):
                raise RequestError(404, f"there is only the model {self.server.agent.name}", code="model_not_found")
            else:
                self._refuse_path(path, "/v1/chat/completions", "POST")
        except RequestError as error:
            self._send(error.status, error.as_json())

    def do_POST(self) -> None:
        """An answer to the last question of a chat."""
        try:
            self._check_host()
            path = self._path()
            if path != "/v1/chat/completions":
                self._refuse_path(path, "/v1/models", "GET")
            question = Question(read_request(self._body(), self.server.agent.name))
            try:
                self.server.waiting.put_nowait(question)
            except queue.Full as error:
                raise RequestError(503, f"{_MOST_WAITING} questions are waiting already; try again later",
                                   kind="server_error", code="overloaded") from error  # fmt: skip
            reply = Reply(f"chatcmpl-{uuid.uuid4().hex}", int(time.time()), self.server.agent.name)
            try:
                (self._stream if question.request.stream else self._reply)(question, reply)
            finally:
                question.given_up.set()
        except RequestError as error:
            self._send(error.status, error.as_json())

    def _reply(self, question: Question, reply: Reply) -> None:
        """Send the whole answer in one piece."""
        text = ""
        for event in self._events(question):
            if isinstance(event, UserError):
                raise _as_request_error(event)
            if isinstance(event, Query) and self.server.tells_queries:
                text += query_text(event.sql, event.shown)
            if isinstance(event, Answer):
                self._send(200, reply.whole(text + answer_text(event), event, question.counts))

    def _stream(self, question: Question, reply: Reply) -> None:
        """Send server-sent events: each query as it comes, then the answer."""
        self.send_response(200)
        for name, value in (("Content-Type", "text/event-stream"), ("Cache-Control", "no-cache"),
                            ("Connection", "close")):  # fmt: skip
            self.send_header(name, value)
        self.end_headers()
        self.close_connection = True
        self._event(reply.piece({"role": "assistant", "content": ""}))
        for event in self._events(question):
            if isinstance(event, UserError):
                self._event(_as_request_error(event).as_json())
            elif isinstance(event, Answer):
                self._event(reply.piece({"content": answer_text(event)}))
                self._event(reply.piece({}, "stop", sqldojo=event.as_json()))
                if question.request.include_usage:
                    self._event(reply.last_usage(question.counts))
            elif event is None:
                self._write(b": at work\n\n")  # a comment, which keeps what lies between from closing the connection
            elif self.server.tells_queries:
                self._event(reply.piece({"content": query_text(event.sql, event.shown)}))
        self._write(b"data: [DONE]\n\n")

    def _events(self, question: Question) -> Iterator[Query | Answer | UserError | None]:
        """What happens to a question, up to its answer or error; None now and then while nothing does.

        ConnectionAbortedError when the client has hung up.
        """
        event = None
        while event is None or isinstance(event, Query):
            event = None
            with suppress(queue.Empty):
                event = question.events.get(timeout=_HEARTBEAT_SECONDS)
            if self._hung_up():
                raise ConnectionAbortedError
            yield event

    def _hung_up(self) -> bool:
        readable, _, _ = select.select([self.connection], [], [], 0)
        return bool(readable) and self.connection.recv(1, socket.MSG_PEEK) == b""

    def _check_host(self) -> None:
        """RequestError for a request that was addressed to another name than this machine's own."""
        host = self.headers.get("Host", "")
        name = host.rpartition(":")[0] if ":" in host.rpartition("]")[2] else host
        if self.server.only_local and name.lower() not in _OWN_NAMES:
            raise RequestError(421, f"this is {self.server.address}, and nothing else")

    def _path(self) -> str:
        return unquote(self.path.partition("?")[0]).rstrip("/")

    def _refuse_path(self, path: str, other: str, method: str) -> None:
        self.close_connection = True  # a body that was not read is not the next request
        if path == other:
            raise RequestError(405, f"{other} takes {method} alone")
        raise RequestError(404, "there are /v1/chat/completions and /v1/models here", code="unknown_url")

    def _body(self) -> bytes:
        """The body of the request; RequestError, after which the connection ends, for one that may not be sent."""
        close_anyway, self.close_connection = self.close_connection, True
        if self.headers.get_content_type() != "application/json":
            raise RequestError(415, "send the header Content-Type: application/json")
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()) or self.headers.get("Transfer-Encoding"):
            raise RequestError(411, "send the header Content-Length")
        if len(length) > 12 or int(length) > _MOST_BYTES:
            self._discard(int(length[:12]))
            raise RequestError(413, f"a request may have {_MOST_BYTES:,} bytes", code="request_too_large")
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            raise ConnectionAbortedError
        self.close_connection = close_anyway
        return body

    def _discard(self, length: int) -> None:
        """Read what is too much: a client that is still sending would not see the answer."""
        left = min(length, _MOST_DISCARDED)
        while left > 0 and (piece := self.rfile.read(min(left, 65536))):
            left -= len(piece)

    def _model(self) -> dict[str, Any]:
        return {"id": self.server.agent.name, "object": "model", "created": self.server.created, "owned_by": "sqldojo"}

    def _event(self, value: dict[str, Any]) -> None:
        self._write(b"data: " + _encoded(value) + b"\n\n")

    def _write(self, content: bytes) -> None:
        self.wfile.write(content)
        self.wfile.flush()

    def _send(self, status: int, value: dict[str, Any]) -> None:
        content = _encoded(value)
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        if status == 503:
            self.send_header("Retry-After", "5")
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self._write(content)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What the standard library refuses (bad request lines, other methods), in the same shape as the rest."""
        self.close_connection = True
        self._send(code, RequestError(code, message or explain or "this cannot be answered").as_json())

    def log_message(self, format: str, *arguments: Any) -> None:
        """Nothing: questions are nobody else's business."""


def _encoded(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")  # a request may hold half a character


def _as_request_error(error: UserError) -> RequestError:
    """A question's own fault is the client's; a database that cannot be read is this side's."""
    if isinstance(error, QuestionError):
        return RequestError(400, str(error), param="messages")
    return RequestError(500, str(error), kind="server_error")

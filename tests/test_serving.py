"""The server of chat completions over real loopback HTTP: with the tiny model, and with an agent that does as told."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import cpu_first  # noqa: F401
import pytest

# isort: split
from click.testing import CliRunner
from scripted_replies import let_it_write, look, submit
from source_tree import ROOT
from tiny_policy import write_databases, write_model

from sqldojo import serving
from sqldojo.agent.episode import AgentParams
from sqldojo.asking import Answer, AskParams, QuestionError
from sqldojo.asking_session import Session
from sqldojo.cli import main
from sqldojo.databases.execution import OK, Limits, QueryResult
from sqldojo.errors import UserError
from sqldojo.serving import AnswerServer
from sqldojo.training.policy_model import load_policy_model

COUNT, OLDEST = "SELECT count(*) FROM people", "SELECT name FROM people ORDER BY age DESC LIMIT 1"
ROOMY = AgentParams(turns=3, tokens_per_turn=200, tokens_per_episode=400, preview_rows=2)


class Obedient:
    """An agent that answers each question with the question itself, and does what it is told at first."""

    name = "tiny"

    def __init__(self, before: Callable[[str, Any], None] = lambda _question, _tell: None) -> None:
        self.before, self.asked, self.at_once, self._running = before, [], 0, 0

    def ask(self, question: str, tell: Any, *, seed: int | None = None, counts: Any = None) -> Answer:
        self._running += 1
        self.at_once = max(self.at_once, self._running)
        self.asked.append((question, seed))
        counts.prefix_tokens, counts.question_tokens, counts.sampled_tokens = 5, 2, 3
        try:
            self.before(question, tell)
        finally:
            self._running -= 1
        return Answer(question, "SELECT 1", QueryResult(OK, ("q",), ((question,),)), 1, 1, given=True)


@contextmanager
def served(agent: Any, **options: Any) -> Iterator[AnswerServer]:
    server, stop = AnswerServer(agent, 0, **options), threading.Event()
    threads = [threading.Thread(target=server.serve_forever, args=(0.01,)),
               threading.Thread(target=server.work, args=(stop,))]  # fmt: skip
    for thread in threads:
        thread.start()
    try:
        yield server
    finally:
        stop.set()
        server.shutdown()
        for thread in threads:
            thread.join()
        server.server_close()


def request(
    server: AnswerServer, method: str, path: str, body: bytes | None = None, **headers: str
) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    given = {"Content-Type": "application/json"} if body is not None else {}
    connection.request(method, path, body, {**given, **headers})
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, content


def chat(server: AnswerServer, question: str = "Who?", **more: Any) -> tuple[int, Any]:
    asked = {"model": server.agent.name, "messages": [{"role": "user", "content": question}], **more}
    status, content = request(server, "POST", "/v1/chat/completions", json.dumps(asked).encode())
    return status, content.decode() if more.get("stream") else json.loads(content)


def events(stream: str) -> list[Any]:
    """The pieces of a stream, which must end as OpenAI's do."""
    *pieces, done, rest = re.sub(r"^: .*\n\n", "", stream, flags=re.MULTILINE).split("\n\n")
    assert (done, rest) == ("data: [DONE]", "")
    return [json.loads(piece.removeprefix("data: ")) for piece in pieces]


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    folder = tmp_path_factory.mktemp("model")
    write_model(folder)
    database = write_databases(tmp_path_factory.mktemp("people"))[0]
    return Session("tiny", load_policy_model(folder), database, AskParams(), ROOMY, Limits())


def test_a_question_is_answered_by_the_model(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    let_it_write(monkeypatch, session.policy, [look(COUNT), submit(OLDEST)])
    before = session.database.read_bytes()
    with served(session) as server:
        assert server.server_address[0] == "127.0.0.1" and server.address.endswith(f":{server.server_port}/v1")
        status, whole = chat(server)
        streamed = events(chat(server, stream=True, stream_options={"include_usage": True})[1])
    text = (
        f"```sql\n{COUNT}\n```\n\n```text\ncount(*)\n3\n```\n\n"
        f"**Answer**\n\n```sql\n{OLDEST}\n```\n\n| name |\n| --- |\n| Zoë |"
    )
    assert status == 200 and whole["object"] == "chat.completion" and whole["model"] == "tiny"
    assert whole["choices"] == [
        {"index": 0, "message": {"role": "assistant", "content": text}, "logprobs": None, "finish_reason": "stop"}
    ]
    assert whole["sqldojo"]["rows"] == [["Zoë"]] and whole["sqldojo"]["queries"] == [COUNT]
    assert whole["usage"]["completion_tokens"] == len(look(COUNT) + submit(OLDEST))
    *pieces, last = streamed
    assert {piece["object"] for piece in streamed} == {"chat.completion.chunk"}
    assert len({piece["id"] for piece in streamed}) == 1 and whole["id"] != last["id"]
    deltas = [piece["choices"][0]["delta"] for piece in pieces]
    assert deltas[0] == {"role": "assistant", "content": ""} and len(deltas) == 4
    assert "".join(delta.get("content", "") for delta in deltas) == text
    assert [piece["choices"][0]["finish_reason"] for piece in pieces] == [None, None, None, "stop"]
    assert pieces[-1]["sqldojo"] == whole["sqldojo"]
    assert last["choices"] == [] and last["usage"] == whole["usage"]
    assert session.database.read_bytes() == before


def test_the_models_are_listed() -> None:
    with served(Obedient()) as server:
        status, content = request(server, "GET", "/v1/models")
        (model,) = json.loads(content)["data"]
        assert status == 200 and (model["id"], model["object"], model["owned_by"]) == ("tiny", "model", "sqldojo")
        assert json.loads(request(server, "GET", "/v1/models/tiny")[1]) == model
        assert request(server, "GET", "/v1/models/gpt-4")[0] == 404
        assert request(server, "GET", "/health") == (200, b'{"status": "ok"}')


def test_tokens_and_seed_go_through() -> None:
    agent = Obedient()
    with served(agent) as server:
        assert chat(server, seed=7)[1]["usage"] == {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    assert agent.asked == [("Who?", 7)]


@pytest.mark.parametrize(
    ("method", "path", "body", "headers", "status"),
    [
        ("POST", "/v1/chat/completions", b"{", {}, 400),
        ("POST", "/v1/chat/completions", b"{}", {}, 400),
        ("POST", "/v1/chat/completions", b'{"model": "a\\ud800"}', {}, 404),
        ("POST", "/v1/chat/completions", b"{}", {"Content-Type": "text/plain"}, 415),
        ("POST", "/v1/chat/completions", b"{}", {"Content-Length": "x"}, 411),
        ("POST", "/v1/chat/completions", b" " * 1_000_001, {}, 413),
        ("POST", "/v1/chat/completions", b"{}", {"Host": "example.org"}, 421),
        ("GET", "/v1/models", None, {"Host": "example.org:80"}, 421),
        ("GET", "/v1/models", None, {"Host": "localhost:1"}, 200),
        ("GET", "/v1/models", None, {"Host": "[::1]:1"}, 200),
        ("POST", "/v1/models", b"{}", {}, 405),
        ("GET", "/v1/chat/completions", None, {}, 405),
        ("POST", "/v1/embeddings", b"{}", {}, 404),
        ("GET", "/", None, {}, 404),
        ("DELETE", "/v1/models/tiny", None, {}, 501),
        ("OPTIONS", "/v1/chat/completions", None, {}, 501),
    ],
)
def test_other_requests_are_refused_in_the_same_shape(
    method: str, path: str, body: bytes | None, headers: dict[str, str], status: int
) -> None:
    agent = Obedient()
    with served(agent) as server:
        found, content = request(server, method, path, body, **headers)
        assert found == status
        if status != 200:
            assert set(json.loads(content)["error"]) == {"message", "type", "param", "code"}
        assert chat(server)[0] == 200  # the server is none the worse
    assert len(agent.asked) == 1


def test_what_is_no_http_is_refused() -> None:
    with served(Obedient()) as server, socket.create_connection(("127.0.0.1", server.server_port), 30) as client:
        client.sendall(b"nonsense\r\n\r\n")
        assert b"invalid_request_error" in client.makefile("rb").read()


def test_one_question_at_a_time_in_the_order_of_arrival() -> None:
    agent = Obedient(lambda _question, _tell: time.sleep(0.05))
    with served(agent) as server:
        threads = []
        for number in range(5):
            threads.append(threading.Thread(target=chat, args=(server, f"q{number}")))
            threads[-1].start()
            while number >= server.waiting.qsize() + len(agent.asked):
                time.sleep(0.001)  # until it waits, or its turn has come
        for thread in threads:
            thread.join()
    assert [question for question, _ in agent.asked] == [f"q{number}" for number in range(5)] and agent.at_once == 1


def test_who_comes_when_too_many_wait_is_told_to_come_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "_MOST_WAITING", 1)
    go = threading.Event()
    with served(Obedient(lambda _question, _tell: go.wait(30))) as server:
        threads = [threading.Thread(target=chat, args=(server,)) for _ in range(2)]
        threads[0].start()
        while not server.agent.asked:
            time.sleep(0.001)
        threads[1].start()
        while not server.waiting.full():
            time.sleep(0.001)
        status, error = chat(server)
        assert (status, error["error"]["code"], error["error"]["type"]) == (503, "overloaded", "server_error")
        go.set()
        for thread in threads:
            thread.join()


def raising(error: UserError) -> Callable[[str, Any], None]:
    def before(_question: str, _tell: Any) -> None:
        raise error

    return before


@pytest.mark.parametrize(
    ("error", "status", "kind"),
    [(QuestionError("too long"), 400, "invalid_request_error"), (UserError("a.sqlite: locked"), 500, "server_error")],
)
def test_questions_and_databases_that_are_unfit_are_told(error: UserError, status: int, kind: str) -> None:
    with served(Obedient(raising(error))) as server:
        found, content = chat(server)
        assert (found, content["error"]["type"], content["error"]["message"]) == (status, kind, str(error))
        (_, told) = events(chat(server, stream=True)[1])
        assert told == content


def test_a_client_that_hangs_up_gives_its_place_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "_HEARTBEAT_SECONDS", 0.01)
    ended = []

    def before(question: str, tell: Any) -> None:
        try:
            while question == "endless":
                tell("SELECT 1", "1")
                time.sleep(0.005)
        finally:
            ended.append(question)

    body = json.dumps({"model": "tiny", "messages": [{"role": "user", "content": "endless"}]}).encode()
    for stream in (b"", b', "stream": true'):
        with served(Obedient(before)) as server:
            client = socket.create_connection(("127.0.0.1", server.server_port), 30)
            asked = body[:-1] + stream + b"}"
            client.sendall(
                b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                b"Content-Length: %d\r\n\r\n%s" % (len(asked), asked)
            )
            while not server.agent.asked:
                time.sleep(0.001)
            client.close()
            assert chat(server)[0] == 200
    assert ended == ["endless", "Who?"] * 2


def test_a_stream_shows_life_while_the_model_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "_HEARTBEAT_SECONDS", 0.01)
    with served(Obedient(lambda _question, _tell: time.sleep(0.1))) as server:
        stream = chat(server, stream=True)[1]
    assert stream.count(": at work\n\n") >= 2 and events(stream)[-1]["choices"][0]["finish_reason"] == "stop"


def test_of_several_attempts_only_the_answer_is_told() -> None:
    with served(Obedient(lambda _question, tell: tell("SELECT 2", "2")), attempts=3) as server:
        assert "SELECT 2" not in chat(server)[1]["choices"][0]["message"]["content"]


def test_an_address_that_cannot_be_had_is_told() -> None:
    with served(Obedient()) as server, pytest.raises(UserError, match=f"port {server.server_port} of .*--port"):
        AnswerServer(Obedient(), server.server_port)
    with pytest.raises(UserError, match="--host"):
        AnswerServer(Obedient(), 0, "192.0.2.1")  # an address for documentation, which no machine has


def test_another_host_is_served_only_when_asked_for() -> None:
    with served(Obedient(), host="0.0.0.0") as server:
        assert request(server, "GET", "/v1/models", Host="example.org")[0] == 200 and not server.only_local


def test_unfit_input_is_told_in_a_line(tmp_path: Path) -> None:
    params = str(ROOT / "params.yaml")
    for arguments, said in [([str(tmp_path / "none")], "there is no such file"), (["--port", "70000"], "--port")]:
        result = CliRunner().invoke(main, ["serve", *arguments, "--params", params])
        assert result.exit_code == (2 if "--port" in arguments else 1) and said in result.stderr


def test_ctrl_c_ends_it_at_once(tmp_path: Path) -> None:
    write_model(tmp_path / "model")
    database = write_databases(tmp_path)[0]
    code = "from sqldojo import cli, serving; serving._HEARTBEAT_SECONDS = 0.01; cli.main()"
    command = [sys.executable, "-c", code, "serve", database, "--port", "0",
               "--model", tmp_path / "model", "--params", ROOT / "params.yaml", "--attempts", "200"]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "MKL_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, env=environment, text=True, **pipes) as process:
        try:
            line = process.stdout.readline()
            port = int(re.fullmatch(r"http://127\.0\.0\.1:(\d+)/v1 \(model model; Ctrl-C ends it\)\n", line)[1])
            client = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            asked = json.dumps({"model": "model", "stream": True, "messages": [{"role": "user", "content": "Who?"}]})
            client.request("POST", "/v1/chat/completions", asked, {"Content-Type": "application/json"})
            assert any(line == b": at work\n" for line in client.getresponse())  # the 200 attempts are under way
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=30)
        finally:
            process.kill()
    assert (process.returncode, errors) == (0, "")

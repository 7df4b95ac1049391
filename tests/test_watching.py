"""The server that a reader watches a run with, over real loopback HTTP; and the page that is written once."""

import http.client
import json
import threading
from contextlib import contextmanager

import pytest
from example_chain import CHAIN, LOOKS, PARAMS, losses

from sqldojo.chains import Chain
from sqldojo.errors import UserError
from sqldojo.evaluation.page.page import build_page
from sqldojo.evaluation.page.run_files import read_run
from sqldojo.evaluation.tables import write_table
from sqldojo.files import write_json, write_text
from sqldojo.watching import PageServer, WatchedPage, chosen_chain, serve_until_interrupted, write_page


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setenv("DVC_ROOT", str(tmp_path))
    write_text(tmp_path / "params.yaml", PARAMS)
    write_table(tmp_path / CHAIN.curve("distill"), losses(3))
    return tmp_path


@contextmanager
def served(root):
    server = PageServer(WatchedPage(root, CHAIN), 0)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def ask(server, path, method="GET", host=None, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=30)
    connection.request(method, path, headers={"Host": host or f"127.0.0.1:{server.server_port}", **headers})
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer, content


def test_it_serves_the_page_and_notices_changes(root):
    with served(root) as server:
        assert server.server_address[0] == "127.0.0.1" and server.address == f"http://127.0.0.1:{server.server_port}/"
        answer, content = ask(server, "/")
        assert answer.status == 200 and answer.headers["Content-Type"] == "text/html; charset=utf-8"
        assert content.decode() == build_page(read_run(root, CHAIN, live=True), live=True)
        first = json.loads(ask(server, "/version")[1])["version"]
        assert json.loads(ask(server, "/version")[1])["version"] == first
        tag = answer.headers["ETag"]
        assert tag == f'"{first}"' and ask(server, "/", **{"If-None-Match": tag})[0].status == 304
        write_table(root / ".scratch/live/tiny/17/grpo_looks.csv", LOOKS[:1])
        assert json.loads(ask(server, "/version")[1])["version"] != first
        answer, content = ask(server, "/", **{"If-None-Match": tag})
        assert answer.status == 200 and b"grpo is at work" in content
        (root / ".scratch/live/tiny/17/grpo_looks.csv").unlink()
        assert json.loads(ask(server, "/version")[1])["version"] == first


def test_the_page_is_built_only_when_something_changed(root, monkeypatch):
    built = []
    monkeypatch.setattr("sqldojo.watching.build_page", lambda run, live: built.append(run) or f"{len(built)}")
    page = WatchedPage(root, CHAIN)
    assert page.now()[0] == page.now()[0] == b"1"
    write_json(root / CHAIN.metrics("keep"), {"kept_redistilled": 1, "grpo": 0.1, "redistilled": 0.2})
    assert page.now()[0] == page.now()[0] == b"2"


def test_a_file_that_cannot_be_read_is_told_and_got_over(root):
    with served(root) as server:
        write_text(root / CHAIN.scores("grpo"), "{")
        answer, content = ask(server, "/version")
        assert answer.status == 503 and "grpo.json" in json.loads(content)["error"]
        assert ask(server, "/")[0].status == 503
        (root / CHAIN.scores("grpo")).unlink()
        assert ask(server, "/version")[0].status == 200


def test_only_its_own_name_is_answered(root):
    with served(root) as server:
        port = server.server_port
        assert ask(server, "/version", host=f"localhost:{port}")[0].status == 200
        for host in ("attacker.example", f"attacker.example:{port}", "127.0.0.1", f"127.0.0.1.attacker.example:{port}"):
            answer, content = ask(server, "/", host=host)
            assert answer.status == 421 and len(content) < 200


@pytest.mark.parametrize("path", ["/params.yaml", "/../params.yaml", "//params.yaml", "/?x", "/src", "/version/"])
def test_nothing_else_is_served(root, path):
    with served(root) as server:
        answer, content = ask(server, path)
        assert answer.status == 404 and b"seeds" not in content


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_nothing_else_is_done(root, method):
    with served(root) as server:
        assert ask(server, "/", method)[0].status == 501


def test_what_a_browser_is_told(root):
    with served(root) as server:
        headers = ask(server, "/version")[0].headers
    assert headers["X-Content-Type-Options"] == "nosniff" and headers["X-Frame-Options"] == "DENY"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin" and headers["Cache-Control"] == "no-cache"
    assert "Access-Control-Allow-Origin" not in headers and headers["Server"].strip() == "sqldojo"


def test_a_port_that_is_taken(root):
    with (
        served(root) as server,
        pytest.raises(UserError, match=rf"port {server.server_port} of 127.0.0.1: .* --port"),
    ):
        PageServer(WatchedPage(root, CHAIN), server.server_port)


def test_interruption_ends_it_quietly(root, monkeypatch):
    server = PageServer(WatchedPage(root, CHAIN), 0)

    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr(server, "serve_forever", interrupted)
    serve_until_interrupted(server)
    assert server.socket.fileno() == -1  # closed


def test_the_chain_that_is_meant(root):
    settings = root / "params.yaml"
    assert chosen_chain(settings, None, None) == Chain("tiny", 17)
    assert chosen_chain(settings, "tiny", 18) == Chain("tiny", 18)
    with pytest.raises(UserError, match=r"--model large: .*params.yaml: models \(tiny\)"):
        chosen_chain(settings, "large", None)
    with pytest.raises(UserError, match=r"--seed 3: .*seeds \(17, 18\)"):
        chosen_chain(settings, None, 3)


def test_a_page_of_what_is_there(root, tmp_path):
    write_page(root, CHAIN, tmp_path / "out/page.html")
    assert (tmp_path / "out/page.html").read_text(encoding="utf-8") == build_page(read_run(root, CHAIN, live=True))
    with pytest.raises(UserError, match=r"tiny-18: nothing .* `dvc repro distill@tiny-18`"):
        write_page(root, Chain("tiny", 18), tmp_path / "other.html")

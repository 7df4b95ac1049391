"""The page of a chain as it is now, outside the graph: written once, or served while a stage trains.

The server is for the reader's own browser. It listens on 127.0.0.1 alone, knows two addresses, reads nothing that a
request names, and answers only requests that were addressed to it by that name: a foreign site whose own name was
made to point here (DNS rebinding) is refused.
"""

from __future__ import annotations

import errno
import hashlib
import json
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from sqldojo import params
from sqldojo.chains import Chain
from sqldojo.errors import UserError, system_refusal
from sqldojo.evaluation.page.page import build_page
from sqldojo.evaluation.page.run_files import input_paths, live_paths, read_run
from sqldojo.files import write_text

HOST = "127.0.0.1"


def chosen_chain(settings: Path, model: str | None, seed: int | None) -> Chain:
    """The chain of the given model and seed, of the first ones in params.yaml where None is given.

    UserError when params.yaml has no such model or seed.
    """
    models, seeds = params.load_list(settings, "models", str), params.load_list(settings, "seeds", int)
    for option, key, value, known in (("--model", "models", model, models), ("--seed", "seeds", seed, seeds)):
        if value is not None and value not in known:
            listed = ", ".join(map(str, known))
            raise UserError(f"{option} {value}: not among {settings}: {key} ({listed}); choose one of these or add it")
    return Chain(models[0] if model is None else model, seeds[0] if seed is None else seed)


def write_page(root: Path, chain: Chain, out: Path) -> None:
    """Write the page of what is there of the chain now, growing curves too; UserError when nothing is there."""
    run = read_run(root, chain, live=True)
    if not run.begun:
        raise UserError(f"{chain.name}: nothing of this run is there; make it with `dvc repro distill@{chain.name}`")
    write_text(out, build_page(run))


class WatchedPage:
    """The page of a chain as it is now; built again only when one of its files has changed."""

    def __init__(self, root: Path, chain: Chain) -> None:
        self._root, self._chain = root, chain
        self._paths = [root / path for path in (*input_paths(chain), *live_paths(chain))]
        self._lock = threading.Lock()
        self._seen: list[tuple[int, int] | None] | None = None
        self._page: tuple[bytes, str] = b"", ""

    def now(self) -> tuple[bytes, str]:
        """The page's bytes and their version. UserError when a file cannot be read."""
        with self._lock:  # one request builds, the others wait for it
            seen = [_stamp(path) for path in self._paths]
            if seen != self._seen:
                content = build_page(read_run(self._root, self._chain, live=True), live=True).encode()
                self._page = content, hashlib.sha256(content).hexdigest()[:16]
                self._seen = seen  # of before the reading: what changes meanwhile is read at the next request
            return self._page


def _stamp(path: Path) -> tuple[int, int] | None:
    """What tells a replaced file from the one before, None without one."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_mtime_ns, found.st_size


class PageServer(ThreadingHTTPServer):
    """Serves a watched page on 127.0.0.1; port 0 takes any free one. UserError when the port cannot be had."""

    daemon_threads = True

    def __init__(self, page: WatchedPage, port: int) -> None:
        self.page = page
        try:
            super().__init__((HOST, port), _PageRequest)
        except OSError as error:
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise
            remedy = "give another with --port, 0 for any free one"
            raise UserError(f"port {port} of {HOST}: {error.strerror}; {remedy}") from error

    @property
    def address(self) -> str:
        """Where a browser finds the page."""
        return f"http://{HOST}:{self.server_port}/"


class _PageRequest(BaseHTTPRequestHandler):
    server: PageServer
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "sqldojo", ""

    def do_GET(self) -> None:
        """The page at `/`; at `/version` a JSON object with its version, or with the error that keeps it back."""
        if self.headers.get("Host") not in (f"{name}:{self.server.server_port}" for name in (HOST, "localhost")):
            self._answer(HTTPStatus.MISDIRECTED_REQUEST, {"error": f"this is {self.server.address}"})
            return
        if self.path not in ("/", "/version"):
            self._answer(HTTPStatus.NOT_FOUND, {"error": "there are / and /version here"})
            return
        try:
            content, version = self.server.page.now()
        except UserError as error:
            self._answer(HTTPStatus.SERVICE_UNAVAILABLE, {"error": str(error)})
        except OSError as error:
            self._answer(HTTPStatus.SERVICE_UNAVAILABLE, {"error": system_refusal(error)})
        else:
            if self.path == "/version":
                self._answer(HTTPStatus.OK, {"version": version})
            elif self.headers.get("If-None-Match") == f'"{version}"':
                self._send(HTTPStatus.NOT_MODIFIED, b"", "text/html; charset=utf-8", version)
            else:
                self._send(HTTPStatus.OK, content, "text/html; charset=utf-8", version)

    def _answer(self, status: HTTPStatus, value: dict[str, Any]) -> None:
        self._send(status, json.dumps(value).encode(), "application/json")

    def _send(self, status: HTTPStatus, content: bytes, kind: str, version: str = "") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-cache")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("X-Frame-Options", "DENY")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        if version:
            self.send_header("ETag", f'"{version}"')
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Nothing: a page that asks every two seconds would fill the terminal."""


def serve_until_interrupted(server: PageServer) -> None:
    """Answer requests until Ctrl-C, which ends it quietly."""
    try:
        with server:
            server.serve_forever()
    except KeyboardInterrupt:
        pass

"""Cassettes: what providers replied, in files that Git keeps, so that the graph replays it without a key or a network.

A line holds the hash of a request and what came of it; never the request, a key, a header or an address.
"""

from __future__ import annotations

import dataclasses
import fcntl
import hashlib
import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from sqldojo.errors import UserError, system_refusal
from sqldojo.files import from_json, to_line, write_records
from sqldojo.records import ProviderReply, ProviderRequest


@dataclass(frozen=True)
class Recorded:
    """One line: what came of the request with this `key`, asked of `model`.

    Either a `reply` or, when the provider gave none, the kind of `failure`. `wasted_usd` is what replies before it cost
    that were of no use.
    """

    key: str
    model: str
    reply: ProviderReply | None = None
    failure: str = ""
    wasted_usd: float = 0.0


def request_key(request: ProviderRequest) -> str:
    """The SHA-256 of everything that a request says: equal requests, equal keys."""
    text = json.dumps(dataclasses.asdict(request), sort_keys=True, ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def read_cassette(path: Path) -> dict[str, Recorded]:
    """The lines of a cassette by their key, none for an absent file; a reply wins over a failure.

    A last line without its end, which a killed recording leaves, is not there. UserError for any other that is none.
    """
    lines: dict[str, Recorded] = {}
    content = path.read_bytes() if path.exists() else b""
    for number, text in enumerate(content.split(b"\n")[:-1], start=1):
        try:
            line = from_json(Recorded, json.loads(text))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise UserError(
                f"{path}, line {number}: no recorded reply ({error}); delete the line, or restore the file with "
                f"`git checkout {path}`"
            ) from error
        if line.reply is not None or line.key not in lines:
            lines[line.key] = line
    return lines


class Cassette:
    """An open cassette: its `lines` by key, and `add`, after which a line survives whatever happens to the process."""

    def __init__(self, path: Path, file: BinaryIO, lines: dict[str, Recorded]) -> None:
        self.lines = lines
        self._path = path
        self._file = file
        self._lock = threading.Lock()

    def add(self, line: Recorded) -> None:
        """Write a line and wait until the disk has it; UserError when the disk does not take it."""
        with self._lock:
            self.lines[line.key] = line  # first, as there may be room again when the file is sorted
            try:
                self._file.write(to_line(line).encode() + b"\n")
                self._file.flush()
                os.fsync(self._file.fileno())
            except OSError as error:
                raise UserError(system_refusal(OSError(error.errno, error.strerror, str(self._path)))) from error


@contextmanager
def open_cassette(path: Path) -> Iterator[Cassette]:
    """Yield the cassette to add lines to; when the block ends, the file is sorted, so that its diffs are stable.

    UserError when another process records in it: both would pay for the same calls.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            replaced = not os.path.samestat(os.fstat(file.fileno()), path.stat())
        except OSError:
            replaced = True
        if replaced:  # locked by another recording, or sorted by one that has just ended
            raise UserError(f"{path}: another recording is under way; wait for its end and run this again")
        lines = read_cassette(path)
        file.truncate(path.read_bytes().rfind(b"\n") + 1)
        try:
            yield Cassette(path, file, lines)
        finally:
            write_records(path, [lines[key] for key in sorted(lines)])

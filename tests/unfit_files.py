"""Files that people hand in as a database and that are none, or none that can be read; each with what is said of it."""

from __future__ import annotations

import gzip
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlite_files import write_database

_ROWS = (
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 3000) INSERT INTO t SELECT i, 'a' || i FROM n"
)


def whole(path: Path) -> bytes:
    """The bytes of a sound database t(a, b) of more than ten pages."""
    write_database(path, f"CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT); {_ROWS}")
    content = path.read_bytes()
    path.unlink()
    assert len(content) > 10 * 4096
    return content


def noise(size: int) -> bytes:
    """The same bytes each time, like those of an encrypted file."""
    return random.Random("noise").randbytes(size)


# name -> the file's bytes, made of those of a sound database; what the error says
UNFIT: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "empty": (lambda _: b"", "is empty"),
    "encrypted": (lambda _: noise(8192), "encrypted or something else"),
    "encrypted_body": (lambda sound: sound[:100] + noise(len(sound) - 100), "is damaged, or encrypted in part"),
    "picture": (lambda _: b"\x89PNG\r\n\x1a\n" + noise(500), "is a PNG picture"),
    "table_of_text": (lambda _: "name,age\nZoë,41\n".encode() * 500, "is a text file, such as CSV"),
    "archive": (lambda sound: b"PK\x03\x04" + sound, "is a ZIP archive"),
    "noise": (lambda _: noise(777), "is not a SQLite database"),
    "cut_off": (lambda sound: sound[:6000], "cut off in the middle of a page"),
    "half": (lambda sound: sound[:16384], "is damaged, or encrypted in part"),
    "corrupt_page": (lambda sound: sound[:8192] + b"\xff" * 4096 + sound[12288:], "malformed"),
    "corrupt_schema": (lambda sound: sound[:100] + b"\xff" * 3996 + sound[4096:], "malformed"),
    "header": (lambda sound: sound[:16] + b"\0\0" + sound[18:], "its header is damaged"),
}


def write_unfit(name: str, path: Path) -> str:
    """Write the file, and return what must be said of it."""
    content, said = UNFIT[name]
    path.write_bytes(content(whole(path)))
    return said


def gzipped(script: str) -> bytes:
    """A compressed script."""
    return gzip.compress(script.encode(), mtime=0)


_HOLD = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
for statement in sys.argv[2:]:
    connection.execute(statement)
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def held_by_another(path: Path, *statements: str) -> Iterator[None]:
    """Another process has the database open, and has executed these statements."""
    command = [sys.executable, "-c", _HOLD, str(path), *statements]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout.readline() == b"held\n"
            yield
        finally:
            process.stdin.close()


@contextmanager
def without_privileges() -> Iterator[None]:
    """As somebody who may not read everything, also where tests run as root."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)

"""Tiny SQLite files for tests."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import apsw


def write_database(path: Path, script: str) -> Path:
    """The file `path`, made by a script of SQL statements."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute(script)
    return path

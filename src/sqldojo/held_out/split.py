"""The test split as params and as files: what it is made and played with, and what it is by content."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sqldojo.databases.schema_model import read_rows, read_schema
from sqldojo.files import file_sha256


@dataclass(frozen=True)
class SplitParams:
    """The section `test`: how many questions each type gives at most, and how they are played.

    A type that has fewer values than questions asks again in other words.
    """

    seed: int
    questions_per_type: int
    attempts: int
    width: int

    def __post_init__(self) -> None:
        for name in ("questions_per_type", "attempts", "width"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}: must be at least 1, found {getattr(self, name)}")


def split_digest(questions: Path, databases: Sequence[Path]) -> str:
    """The SHA-256 of a split: its questions, and the tables and rows of its databases.

    The databases' own bytes do not count, since SQLite stamps its version into them.
    """
    digest = hashlib.sha256(file_sha256(questions).encode())
    for path in databases:
        schema = read_schema(path)
        digest.update(repr((schema.statements, sorted(read_rows(path, schema).items()))).encode())
    return digest.hexdigest()

"""Whether databases are the shop's, which has question types, words and starting rows written by hand."""

from __future__ import annotations

from pathlib import Path

from sqldojo.databases.schema_model import read_schema
from sqldojo.databases.shop import SCHEMA


def is_shop(database: Path) -> bool:
    """Whether a database has exactly the shop's tables; UserError when it cannot be read."""
    return read_schema(database).statements == tuple(SCHEMA.values())

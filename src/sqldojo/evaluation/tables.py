"""Tables for plots: CSV with a header, since DVC draws no JSONL."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars

from sqldojo.files import replacing_file


def write_table(path: Path, rows: Sequence[Any]) -> None:
    """Replace `path` by the rows, mappings or dataclasses of one kind, in their order."""
    with replacing_file(path) as temporary:
        polars.DataFrame(rows, infer_schema_length=None).write_csv(temporary)


def read_table(path: Path) -> list[dict[str, Any]]:
    """The rows of a table that `write_table` wrote."""
    return polars.read_csv(path).to_dicts()

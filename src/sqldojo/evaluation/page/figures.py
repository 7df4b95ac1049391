"""Numbers as the page writes them, and the tables that hold them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqldojo.evaluation.score_tables import change_cell, percent, points, sizes

NOTHING = "–"  # in a cell without a number


@dataclass(frozen=True)
class Table:
    """A table with a caption; the first `texts` columns hold texts, the others numbers, and the first names the row."""

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    texts: int = 1


def signed(change: float) -> str:
    """A difference of shares in points, with its sign: +52.8, −3.1."""
    return points(change).replace("-", "−")


def changed(row: Mapping[str, float]) -> str:
    """A change with its 95 % interval, in points: +12.5 [−1.9, +26.9]."""
    return change_cell(row).replace("-", "−")


def interval(row: Mapping[str, Any], name: str = "accuracy") -> str:
    """The 95 % interval of a share, in percent: [37.5, 69.4]."""
    return f"[{percent(row[f'{name}_low'])}, {percent(row[f'{name}_high'])}]"


def asked(row: Mapping[str, Any]) -> str:
    """Questions and attempts at each: 72 × 1."""
    return sizes(row).replace("x", "×")


def number(value: Any) -> str:
    """Any number: whole ones with commas, others with four digits, a dash for none."""
    if value is None:
        return NOTHING
    text = f"{value:,}" if isinstance(value, int) else f"{value:.4g}"
    return text.replace("-", "−")


def words(name: str) -> str:
    """A name in a file as people read it: `never_submitted` -> never submitted, `wrong_sql` -> wrong SQL."""
    return " ".join("SQL" if word == "sql" else word for word in name.split("_"))


def flattened(values: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    """Nested values as dotted keys with their JSON text, in their order; texts stand as they are."""
    found: list[tuple[str, str]] = []
    for key, value in values.items():
        if isinstance(value, Mapping) and value:
            found += flattened(value, f"{prefix}{key}.")
        else:
            text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)
            found.append((f"{prefix}{key}", text))
    return found

"""How many of the groups that GRPO played could teach anything, as the run went on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sqldojo.evaluation.summary import DIGITS

STEPS = 50  # that are counted together


def signal_per_50_steps(curve_rows: Iterable[Mapping[str, Any]]) -> list[dict[str, float | int]]:
    """One row for steps 1 to 50, 51 to 100, ...: `from`, `to`, `informative`, `groups` and `share`.

    `curve_rows` are those of grpo_steps.csv, in any order, with numbers or texts. A group is informative when its
    attempts differ in reward. `to` is the last step played, where that comes sooner. `share` is 0 without any group.
    """
    blocks: dict[int, list[tuple[int, int, int]]] = {}
    for row in curve_rows:
        step, informative, groups = (int(row[name]) for name in ("step", "informative", "groups"))
        blocks.setdefault((step - 1) // STEPS, []).append((step, informative, groups))
    return [_summed(block * STEPS + 1, rows) for block, rows in sorted(blocks.items())]


def _summed(first: int, rows: list[tuple[int, int, int]]) -> dict[str, float | int]:
    informative, groups = sum(row[1] for row in rows), sum(row[2] for row in rows)
    share = round(informative / groups, DIGITS) if groups else 0.0
    return {"from": first, "to": max(rows)[0], "informative": informative, "groups": groups, "share": share}

"""Training curves while they grow: `sqldojo watch` draws them before the stage has written its results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqldojo.chains import Chain
from sqldojo.evaluation.tables import write_table
from sqldojo.stage import scratch_folder


def live_path(chain: Chain, name: str) -> Path:
    """Where the curve `name` of a chain lies while its stage runs: outside the outs, which DVC deletes first."""
    return scratch_folder() / "live" / chain.model / str(chain.seed) / f"{name}.csv"


@contextmanager
def live_curve(chain: Chain, name: str) -> Iterator[Callable[[Sequence[Any]], None]]:
    """Yield a function that replaces the table by the rows so far; the table goes when the block ends."""
    path = live_path(chain, name)
    try:
        yield lambda rows: write_table(path, rows)
    finally:
        path.unlink(missing_ok=True)

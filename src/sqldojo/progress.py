"""Progress of long work: a bar for people at a terminal, a line now and then for logs."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

_SECONDS_BETWEEN_LINES = 30.0


def unobserved(_so_far: object) -> None:
    """Takes what long work shows of itself, where nobody watches."""


@contextmanager
def progress(label: str, total: int, done: int = 0) -> Iterator[Callable[[int, str], None]]:
    """Yield `report(done, note)`, to be called as often as one likes; shows on standard error."""
    if sys.stderr.isatty():
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(),
                   TextColumn("{task.fields[note]}"))
        with Progress(*columns, console=Console(stderr=True)) as bar:
            task = bar.add_task(label, total=total, completed=done, note="")
            yield lambda finished, note: bar.update(task, completed=finished, note=note)
        return
    started = last = time.monotonic()

    def report(finished: int, note: str) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _SECONDS_BETWEEN_LINES or finished == total:
            last = now
            left = (now - started) / max(1, finished - done) * (total - finished)
            print(f"{label} {finished}/{total}  {left:.0f} s left  {note}", file=sys.stderr, flush=True)

    yield report

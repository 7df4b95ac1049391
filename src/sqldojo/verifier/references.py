"""Results of reference queries: computed once for all workers, and before any submission runs.

A result belongs to the bytes of a database, the reference, the engine and the limits. A small one travels with the
question. A large one lies in a file of this process's temporary folder, in which no query can write, and whoever
compares with it checks the file's hash. So what is expected never depends on what a submission did, and ten thousand
rows pass through no pipe.
"""

from __future__ import annotations

import hashlib
import marshal
import os
import threading
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from sqldojo.databases.execution import ENGINE, ERROR, OK, Limits
from sqldojo.databases.private_copies import Copy, temporary_folder
from sqldojo.databases.sandbox import explain, kill_after, run_on_copy
from sqldojo.databases.workers import Died, Killed, shared_workers
from sqldojo.files import replacing_file

_MOST_REFERENCES = 4_096
_MOST_BYTES_IN_MESSAGES = 4_000
_MOST_IN_MEMORY, _MOST_BYTES_IN_MEMORY = 64, 500_000

Result = tuple[tuple[str, ...], tuple[tuple[object, ...], ...]]  # columns, rows


class ReferenceFailed(Exception):
    """A reference query that does not run: our fault, so it stops the stage and is never scored as a wrong answer."""


@dataclass(frozen=True)
class Reference:
    """The result of a reference on one database: itself, or the file that it lies in and the hash of that file."""

    content: bytes | None
    path: str = ""
    sha256: str = ""
    size: int = 0


_known: OrderedDict[str, Future[Reference]] = OrderedDict()
_lock = threading.Lock()


def reference_results(reference: str, copies: Sequence[Copy], limits: Limits) -> list[Reference]:
    """The reference's result on each database; ReferenceFailed naming the first on which it gives none."""
    keys = [_key(copy, reference, limits) for copy in copies]
    while True:
        mine: dict[str, tuple[Copy, Future[Reference]]] = {}
        with _lock:
            for key, copy in zip(keys, copies, strict=True):
                if key not in _known:
                    _known[key] = Future()
                    mine[key] = copy, _known[key]
                _known.move_to_end(key)
            wanted = [_known[key] for key in keys]
        if mine:
            _compute(reference, mine, limits)
        try:
            return [future.result() for future in wanted]
        except CancelledError:  # another thread was about to compute it, and was interrupted
            continue


def load(reference: Reference) -> Result:
    """A stored result; ValueError when the file is not the one that was written."""
    if reference.content is not None:
        return _parse(reference.content)
    return _load_small(reference) if reference.size <= _MOST_BYTES_IN_MEMORY else _load(reference)


def store_result(copy: Copy, reference: str, limits: Limits, path: str) -> Reference | tuple[str, str]:
    """What a worker does for `reference_results`: the result, or its status and what is wrong."""
    result = run_on_copy(copy, reference, limits)
    if result.status != OK:
        return result.status, result.message
    content = marshal.dumps((result.columns, result.rows))
    if len(content) <= _MOST_BYTES_IN_MESSAGES:
        return Reference(content)
    with replacing_file(Path(path)) as temporary:
        temporary.write_bytes(content)
    return Reference(None, path, hashlib.sha256(content).hexdigest(), len(content))


def _compute(reference: str, mine: dict[str, tuple[Copy, Future[Reference]]], limits: Limits) -> None:
    """Complete all futures in `mine`; those that fail are forgotten and cancelled, so that nobody waits for them."""
    calls = [
        (copy, reference, limits, str(temporary_folder() / f"{key}.result")) for key, (copy, _) in mine.items()
    ]
    try:
        outcomes = shared_workers().map(store_result, calls, seconds=kill_after(limits))
        for (copy, future), outcome in zip(mine.values(), outcomes, strict=True):
            if isinstance(outcome, Killed | Died):
                outcome = ERROR, explain(outcome, limits)
            if isinstance(outcome, tuple):
                raise ReferenceFailed(f"{copy.source}: the reference {outcome[0]}: {outcome[1]}: {reference}")
            future.set_result(outcome)
    finally:
        with _lock:
            for key, (_, future) in mine.items():
                if not future.done():
                    _known.pop(key, None)
                    future.cancel()
            while len(_known) > _MOST_REFERENCES:
                _, oldest = _known.popitem(last=False)
                if oldest.done() and not oldest.cancelled() and oldest.result().path:
                    Path(oldest.result().path).unlink(missing_ok=True)


def _key(copy: Copy, reference: str, limits: Limits) -> str:
    return hashlib.sha256(repr((copy.sha256, reference, ENGINE, limits)).encode()).hexdigest()


def _load(reference: Reference) -> Result:
    content = Path(reference.path).read_bytes()
    if hashlib.sha256(content).hexdigest() != reference.sha256:
        raise ValueError(f"{reference.path}: not the result that was stored")
    return marshal.loads(content)


_load_small = lru_cache(maxsize=_MOST_IN_MEMORY)(_load)
_parse = lru_cache(maxsize=_MOST_IN_MEMORY)(marshal.loads)


def _forget() -> None:
    """A forked copy of the process has another temporary folder."""
    global _lock
    _known.clear()
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_forget)

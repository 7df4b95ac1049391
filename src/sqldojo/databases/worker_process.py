"""What a worker process does: call functions for its parent, and vanish when the parent does.

Run by workers.py in an interpreter of its own. Small on purpose: a killed worker is replaced while somebody waits.
"""

from __future__ import annotations

import mmap
import os
import resource
import signal
import struct
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any

# What a process may occupy in all. SQLite's own heap has a smaller limit; rows as Python objects have none.
ADDRESS_SPACE = 2_000_000_000
OUT_OF_MEMORY = 77  # the exit code of a worker whose call took more than that
# When the present step began, on the clock that all processes share; how many calls came before this one; the step.
NOTE = struct.Struct("dqq")

_note: mmap.mmap | None = None
_answered = 0


def begin_step(number: int) -> None:
    """Say that step `number` of the present call begins: its time starts now. Without effect outside a worker."""
    if _note is not None:
        NOTE.pack_into(_note, 0, time.monotonic(), _answered, number)


def serve(channel: int, note: int, life_line: int) -> None:
    """Answer (function, list of arguments) messages, a reply an item, until the parent closes `life_line`.

    A reply is (True, what the function returned) or (False, the exception it raised).
    """
    global _note, _answered
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to decide on
    with suppress(ValueError, OSError):  # some systems have no such limit, or allow less already
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, resource.getrlimit(resource.RLIMIT_AS)[1]))
    threading.Thread(target=_end_with_parent, args=(life_line,), daemon=True).start()
    connection, _note = Connection(channel), mmap.mmap(note, NOTE.size)
    with suppress(EOFError, OSError):  # the parent is gone or does not want this process any more
        while True:
            function, batch = connection.recv()
            for arguments in batch:
                begin_step(0)
                connection.send(_reply(function, arguments))
                _answered += 1


def _end_with_parent(life_line: int) -> None:
    """Waits beside the work, so that a query that runs for hours ends with the parent too."""
    os.read(life_line, 1)
    os._exit(1)


class _Carrying:
    """Keeps what a block raises, to hand it over to the process that asked."""

    error: Exception | None = None

    def __enter__(self) -> _Carrying:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> bool:
        if isinstance(error, MemoryError):
            os._exit(OUT_OF_MEMORY)  # what is left of this process may be too little for the next call
        if isinstance(error, Exception):
            error.add_note("In the worker process:\n" + "".join(traceback.format_exception(error)))
            self.error = error
        return self.error is not None


def _reply(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[bool, Any]:
    with _Carrying() as carrying:
        return True, function(*arguments)
    return False, carrying.error

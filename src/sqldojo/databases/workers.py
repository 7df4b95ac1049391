"""Processes that the parent can kill: the only thing that stops a query inside one long SQLite instruction.

The pools of the standard library break when one of their processes is killed, and start them by a fork, which threads
of mlx do not survive, or by running the main script again, which would load a model in each. Here a worker is a fresh
interpreter with a pipe. It is told what to call by name, so functions and their arguments must be picklable.
"""

from __future__ import annotations

import atexit
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import Any

from sqldojo.databases import worker_process

_PIPE_BYTES = 200_000
_SMALL_MESSAGE = 30_000  # surely fits into the pipe
_START_SECONDS = 60.0  # for a new interpreter on a busy machine, beside the seconds of its first call
_COMMAND = f"import sys; from {worker_process.__name__} import serve; serve(*map(int, sys.argv[1:]), 0)"


class Killed(Exception):
    """A call went over its time and its process was killed; `step` is where it was then, for so many `seconds`."""

    def __init__(self, step: int, seconds: float) -> None:
        super().__init__(step, seconds)
        self.step, self.seconds = step, seconds


class Died(Exception):
    """A call took its process down with it, by a crash or for want of memory.

    `step` is where it was then, for so many `seconds`.
    """

    def __init__(self, step: int, seconds: float, exit_code: int) -> None:
        super().__init__(step, seconds, exit_code)
        self.step, self.seconds, self.exit_code = step, seconds, exit_code

    def __str__(self) -> str:
        if self.exit_code in (worker_process.OUT_OF_MEMORY, -signal.SIGKILL):
            return "its process ran out of memory"
        return f"its process ended with exit code {self.exit_code}"


@dataclass(eq=False)
class _Worker:
    """One process. Its standard input is the line at whose end it exits; its note says what it is doing since when."""

    process: subprocess.Popen[bytes]
    connection: Connection
    note: int
    tasks: deque[int] = field(default_factory=deque)  # which it was given and has not answered yet
    given_at: float = 0.0  # when it can have begun with the first of them
    answered: int = 0
    deadline: float = 0.0
    exit_code: int | None = None

    def doing(self) -> tuple[float, int]:
        """When the present step of its first task began, at the latest for one that it has not begun; its number."""
        began, call, step = worker_process.NOTE.unpack(os.pread(self.note, worker_process.NOTE.size, 0))
        if not began:  # it is still starting
            return self.given_at + _START_SECONDS, 0
        return (began, step) if call == self.answered else (self.given_at, 0)

    def close(self) -> None:
        self.connection.close()
        self.process.stdin.close()
        os.close(self.note)

    def kill(self) -> int:
        """End the process, whatever it is doing, and return its exit code."""
        if self.exit_code is None:
            self.process.kill()
            self.exit_code = self.process.wait()
            self.close()
        return self.exit_code


def _start_worker() -> _Worker:
    ours, theirs = socket.socketpair()
    for end in (ours, theirs):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _PIPE_BYTES)
    note, name = tempfile.mkstemp(prefix="sqldojo-")
    os.unlink(name)
    os.truncate(note, worker_process.NOTE.size)
    source = str(Path(worker_process.__file__).resolve().parents[2])
    path = os.pathsep.join(filter(None, (source, os.environ.get("PYTHONPATH"))))
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", _COMMAND, str(theirs.fileno()), str(note)],
            pass_fds=(theirs.fileno(), note),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path, "TZ": "UTC"},
            process_group=0,  # out of the reach of the terminal's Ctrl-C
        )
    return _Worker(process, Connection(ours.detach()), note)


class Workers:
    """Up to `count` processes, started when they are needed, for calls from any number of threads."""

    def __init__(self, count: int | None = None) -> None:
        self.count = count or os.cpu_count() or 1
        self._forget()
        _pools.add(self)

    def call(self, function: Callable[..., Any], *arguments: Any, seconds: float) -> Any:
        """What `function(*arguments)` returns or raises in a worker; Killed or Died when the worker did not survive it.

        `seconds` are for the call, or for each of its steps where it tells of several (worker_process.begin_step).
        """
        (outcome,) = self.map(function, [arguments], seconds=seconds)
        if isinstance(outcome, Killed | Died):
            raise outcome
        return outcome

    def map(self, function: Callable[..., Any], calls: Iterable[tuple[Any, ...]], *, seconds: float) -> list[Any]:
        """What `function` returns for each tuple of arguments, in their order; Killed or Died in place of a result.

        Calls run in as many workers as are free. The first exception of another kind that a call raises is raised here.
        """
        work = _Work(function, list(calls), seconds)
        try:
            while work.waiting or work.busy:
                while work.waiting and self._take(work.busy):
                    work.begin_with_newest(self.count)
                if not self._queue:
                    work.top_up(self.count)
                work.collect()
                for worker in work.finished():
                    self._give_back(worker)
        finally:
            for worker in work.busy.values():
                self._give_back(worker)
        return work.outcomes

    def interrupt(self) -> None:
        """Kill the processes that are at work; their calls end as Died, in the threads that made them."""
        with self._changed:
            for worker in self._all.difference(self._free):
                worker.process.kill()

    def close(self) -> None:
        """End all processes; later calls start new ones."""
        with self._changed:
            for worker in self._all:
                worker.kill()
            self._all.clear()
            self._free.clear()

    def _take(self, busy: dict[int, _Worker]) -> bool:
        """Add a worker to `busy`: at once or not at all when there are some, else as soon as it is this thread's turn.

        So a thread with many calls shares the workers with those that wait for their first.
        """
        with self._changed:
            if busy and (self._queue or not self._available()):
                return False
            ticket = object()
            self._queue.append(ticket)
            try:
                self._changed.wait_for(lambda: self._queue[0] is ticket and self._available())
                if self._free:
                    worker = self._free.pop()
                else:
                    self._all.add(worker := _start_worker())
                busy[worker.connection.fileno()] = worker
            finally:
                self._queue.remove(ticket)
                self._changed.notify_all()
        return True

    def _available(self) -> bool:
        return bool(self._free) or len(self._all) < self.count

    def _give_back(self, worker: _Worker) -> None:
        """Make a worker free for others, or end it when it owes a reply, which must not be taken for a later one."""
        with self._changed:
            if worker.tasks or worker.exit_code is not None or worker not in self._all:
                worker.kill()
                self._all.discard(worker)
            else:
                self._free.append(worker)
            self._changed.notify_all()

    def _forget(self) -> None:
        """Begin without workers: at first, and in a forked copy of the process, which must leave its parent's alone."""
        for worker in getattr(self, "_all", ()):
            worker.close()
            worker.process.returncode = 0
        self._all: set[_Worker] = set()
        self._free: list[_Worker] = []
        self._queue: deque[object] = deque()  # the threads that wait, first come first served
        self._changed = threading.Condition()


class _Work:
    """The calls of one `map`: which still wait, which worker has which, and what came back."""

    def __init__(self, function: Callable[..., Any], calls: list[tuple[Any, ...]], seconds: float) -> None:
        self.function, self.calls, self.seconds = function, calls, seconds
        self.outcomes: list[Any] = [None] * len(calls)
        self.waiting = deque(range(len(calls)))
        self.busy: dict[int, _Worker] = {}  # by the file descriptor of their connection
        self._replies = select.poll()

    def begin_with_newest(self, workers: int) -> None:
        """Give the worker that was taken last its first calls."""
        descriptor, worker = next(reversed(self.busy.items()))
        self._replies.register(descriptor, select.POLLIN)
        worker.given_at = time.monotonic()
        worker.deadline = worker.given_at + self.seconds
        self._hand_out(worker, workers)

    def top_up(self, workers: int) -> None:
        """Give those that are about to run out of calls more, so that they need not wait for this process."""
        for worker in self.busy.values():
            if self.waiting and len(worker.tasks) == 1:
                self._hand_out(worker, workers)

    def _hand_out(self, worker: _Worker, workers: int) -> None:
        """Send some of the waiting calls: many at first, to save messages, one by one in the end."""
        batch = [self.waiting[place] for place in range(max(1, len(self.waiting) // (2 * workers)))]
        message = ForkingPickler.dumps((self.function, [self.calls[task] for task in batch]))
        if worker.tasks and len(message) > _SMALL_MESSAGE:
            return  # a worker that is busy does not read, and this process must not wait for it
        for task in batch:
            self.waiting.popleft()
            worker.tasks.append(task)
        with suppress(OSError):  # ended while it was free, which `collect` will see
            worker.connection.send_bytes(message)

    def collect(self) -> None:
        """Wait for a reply or a deadline, and take what there is."""
        left = min(worker.deadline for worker in self.busy.values()) - time.monotonic()
        for descriptor, _ in self._replies.poll(max(0.0, min(left, 3600.0)) * 1000):
            self._receive(self.busy[descriptor])
        now = time.monotonic()
        for worker in self.busy.values():
            if worker.tasks and now >= worker.deadline:
                began, step = worker.doing()
                if now >= began + self.seconds:
                    worker.kill()
                    self._failed(worker, Killed(step, now - began))
                # Looked at again in time even if it begins this moment, as one does that was still starting.
                worker.deadline = min(began, now) + self.seconds

    def _receive(self, worker: _Worker) -> None:
        try:
            fine, value = worker.connection.recv()
        except (EOFError, OSError):
            began, step = worker.doing()
            # One that died while starting has not begun: its time is then in the future.
            self._failed(worker, Died(step, max(0.0, time.monotonic() - began), worker.kill()))
            return
        task = worker.tasks.popleft()
        worker.answered += 1
        if not fine:
            raise value
        self.outcomes[task] = value
        worker.given_at = time.monotonic()
        worker.deadline = worker.given_at + self.seconds

    def _failed(self, worker: _Worker, outcome: Killed | Died) -> None:
        """The call that a worker ended with is to blame; those behind it go to another worker."""
        self.outcomes[worker.tasks.popleft()] = outcome
        self.waiting.extendleft(reversed(worker.tasks))
        worker.tasks.clear()

    def finished(self) -> list[_Worker]:
        """Let go of the workers that have nothing left to do."""
        done = [descriptor for descriptor, worker in self.busy.items() if not worker.tasks]
        for descriptor in done:
            self._replies.unregister(descriptor)
        return [self.busy.pop(descriptor) for descriptor in done]


def _forget_all() -> None:
    for pool in _pools:
        pool._forget()


def shared_workers() -> Workers:
    """The workers of this process, ended with it."""
    return _shared


_pools: weakref.WeakSet[Workers] = weakref.WeakSet()
_shared = Workers()
atexit.register(_shared.close)
os.register_at_fork(after_in_child=_forget_all)

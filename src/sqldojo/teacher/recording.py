"""Asking models behind an API: from a cassette inside the graph, from the providers themselves outside it.

What a provider replied is paid for, so it is on the disk before anyone sees it and is never asked for again.
"""

from __future__ import annotations

import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from sqldojo.errors import UserError
from sqldojo.records import ProviderReply, ProviderRequest
from sqldojo.teacher.budget import Budget
from sqldojo.teacher.cassette import Cassette, Recorded, open_cassette, read_cassette, request_key
from sqldojo.teacher.client import Failed, complete, highest_price
from sqldojo.teacher.provider import ProviderError, ProviderParams

_FIRST_WAIT, _LONGEST_WAIT, _LONGEST_ASKED_FOR = 1.0, 60.0, 600.0  # seconds
_FAILURES_IN_A_ROW = 10
_SECONDS_BETWEEN_NOTES = 10.0


def cassette_path(folder: Path, purpose: str) -> Path:
    """Where the replies of a purpose are kept."""
    return folder / purpose / "replies.jsonl"


class Replaying:
    """An `Ask` that answers from the cassette of a purpose; `used` holds the lines it answered from, by their key.

    UserError with the command to run for a request that was never recorded, ProviderError for one that failed then.
    """

    def __init__(self, cassettes: Path, purpose: str) -> None:
        self.used: dict[str, Recorded] = {}
        self._path, self._purpose = cassette_path(cassettes, purpose), purpose
        self._lines = read_cassette(self._path)

    def __call__(self, request: ProviderRequest) -> ProviderReply:
        key = request_key(request)
        if key not in self._lines:
            raise UserError(
                f"{self._path}: no recorded reply of {request.model} to one of the requests; record it with "
                f"`sqldojo record {self._purpose}`, or take the model out of params.yaml"
            )
        self.used[key] = self._lines[key]
        return _answer(self.used[key])


class Recording:
    """An `Ask` that answers from the cassette where it can, and else asks the provider and records what comes of it.

    May be called by several threads. The first UserError ends it: all that is asked later ends with the same one.
    `sleep` and `tell` are for waiting between tries, and for notes on how it goes.
    """

    def __init__(
        self,
        cassette: Cassette,
        params: ProviderParams,
        *,
        sleep: Callable[[float], object] | None = None,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        self.used: dict[str, Recorded] = {}
        self._cassette, self._params = cassette, params
        self._budget = Budget(params.budget_usd)
        self._stopped = threading.Event()
        self._sleep = sleep or self._stopped.wait  # so that an end also ends the waiting
        self.tell = tell or (lambda _: None)
        self._lock = threading.Lock()
        self._locks: dict[str, threading.Lock] = {}
        self._end = ""
        self._new: list[Recorded] = []
        self._failed_in_a_row = 0
        self._told = time.monotonic()

    def __call__(self, request: ProviderRequest) -> ProviderReply:
        key = request_key(request)
        with self._lock:
            lock = self._locks.setdefault(key, threading.Lock())
        with lock:  # so that equal requests at the same time are paid for once
            if key not in self.used:
                line = self._cassette.lines.get(key)
                if line is None or line.reply is None:
                    line = self._record(key, request, line.wasted_usd if line else 0.0)
                self.used[key] = line
        return _answer(self.used[key])

    def stop(self, why: str) -> None:
        """Begin no more calls, nor tries; whoever asks gets a UserError that says why. What is under way may end."""
        with self._lock:
            self._end = self._end or why
        self._stopped.set()

    def summary(self) -> str:
        """What this recording asked, got and paid, in one line."""
        with self._lock:
            new, used = list(self._new), len(self.used)
        replies = [line.reply for line in new if line.reply is not None]
        failures = Counter(line.failure for line in new if line.reply is None)
        parts = [
            f"{len(replies)} calls recorded, {used - len(new)} found in the cassette",
            f"{sum(reply.input_tokens for reply in replies)} tokens in, "
            f"{sum(reply.output_tokens for reply in replies)} out",
            f"${self._budget.spent:.4f} of ${self._params.budget_usd:.2f} spent",
        ]
        if failures:
            kinds = ", ".join(f"{kind} {failures[kind]}" for kind in sorted(failures))
            parts.append(f"{failures.total()} failed: {kinds}")
        return "; ".join(parts)

    def _record(self, key: str, request: ProviderRequest, wasted: float) -> Recorded:
        """The line that comes of asking, on the disk; `wasted` is what earlier recordings paid in vain for it."""
        try:
            line = self._ask(key, request, wasted)
            self._cassette.add(line)
        except UserError as error:
            self.stop(str(error))
            raise
        with self._lock:
            self._new.append(line)
            due = time.monotonic() - self._told >= _SECONDS_BETWEEN_NOTES
            if due:
                self._told = time.monotonic()
        if due:
            self.tell(self.summary())
        return line

    def _ask(self, key: str, request: ProviderRequest, wasted: float) -> Recorded:
        """Ask up to 1 + `retries` times, waiting twice as long each time, or as long as the provider says."""
        for number in range(self._params.retries + 1):
            try:
                reply = self._try(request)
                self._count_failure(0)
                return Recorded(key, request.model, reply, wasted_usd=wasted)
            except Failed as error:
                failure = error
            wasted += failure.paid or 0.0
            if not failure.again:
                break
            if number < self._params.retries:
                wait = min(_FIRST_WAIT * 2**number, _LONGEST_WAIT)
                wait *= random.Random(f"{key}/{number}").uniform(0.5, 1.0)  # so that threads do not all come at once
                self._sleep(max(wait, min(failure.wait, _LONGEST_ASKED_FOR)))
        if self._count_failure(1) >= _FAILURES_IN_A_ROW:
            self.stop(
                f"{request.model}: {_FAILURES_IN_A_ROW} requests in a row failed, the last with {failure.kind}: "
                f"{failure.detail}; what is recorded stays: run the same command again later"
            )
        self.tell(f"{request.model}: {failure.kind}: {failure.detail}")
        return Recorded(key, request.model, failure=failure.kind, wasted_usd=wasted)

    def _try(self, request: ProviderRequest) -> ProviderReply:
        most = highest_price(request, self._params)
        self._budget.reserve(most)
        paid: float | None = None
        try:
            if self._stopped.is_set():
                raise UserError(self._end)
            reply = complete(request, self._params)
            paid = reply.usd
            return reply
        except Failed as error:
            paid = error.paid
            raise
        except UserError:
            paid = 0.0
            raise
        finally:
            self._budget.settle(most, most if paid is None else paid)

    def _count_failure(self, failures: int) -> int:
        """How many requests in a row have failed, after one more of them, or none."""
        with self._lock:
            self._failed_in_a_row = (self._failed_in_a_row + failures) * failures
            return self._failed_in_a_row


@contextmanager
def recording(
    cassettes: Path,
    purpose: str,
    params: ProviderParams,
    *,
    sleep: Callable[[float], object] | None = None,
    tell: Callable[[str], None] | None = None,
) -> Iterator[Recording]:
    """Yield a Recording in the cassette of a purpose, which nothing else may write to meanwhile."""
    with open_cassette(cassette_path(cassettes, purpose)) as cassette:
        yield Recording(cassette, params, sleep=sleep, tell=tell)


def run_until_interrupted(recorder: Recording, work: Callable[[], None]) -> None:
    """Do the work in another thread, since Ctrl-C reaches this one, and end it in good order when that comes.

    A second one changes nothing: the calls under way are paid for, so they are waited for.
    """
    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(work)
        try:
            done.result()
        except KeyboardInterrupt:
            before = signal.signal(signal.SIGINT, signal.SIG_IGN)
            try:
                recorder.stop("interrupted; what is recorded stays: run the same command again to go on")
                recorder.tell("interrupted: no more calls; waiting for those under way, whose replies are kept")
                done.result()
            finally:
                signal.signal(signal.SIGINT, before)


def _answer(line: Recorded) -> ProviderReply:
    if line.reply is None:
        raise ProviderError(line.failure)
    return line.reply

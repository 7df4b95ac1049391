"""What the callers of models behind an API see: a function that asks, its settings, and the one error to expect.

Whoever asks gets the function as an argument. Inside the graph it replays a cassette, outside it records one
(`teacher.recording`), so the same code runs in both and the graph needs neither a key nor a network.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import TypeVar

from sqldojo.records import ProviderReply, ProviderRequest

Ask = Callable[[ProviderRequest], ProviderReply]

PROPOSE, REVIEW, TEACH, REPAIR = "propose", "review", "teach", "repair"
PURPOSES = (PROPOSE, REVIEW, TEACH, REPAIR)

SCHEMA_ONLY, ROWS = "schema_only", "rows"

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class ProviderParams:
    """The section `providers`: how models behind an API are called when their replies are recorded.

    `budget_usd` is what one run of `sqldojo record` may spend, `concurrency` how many calls are under way at once,
    `retries` how often a failed call is tried again and `seconds` how long one may take. `privacy` is `schema_only`,
    when no value of a database may be sent, or `rows`. `prices` gives US dollars for a million tokens, input and
    output, of models whose price litellm does not know or knows wrongly; a model of unknown price is not asked.
    """

    budget_usd: float
    concurrency: int
    retries: int
    seconds: float
    privacy: str
    prices: dict[str, tuple[float, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, least in (("budget_usd", 0), ("concurrency", 1), ("retries", 0), ("seconds", 1)):
            if getattr(self, name) < least:
                raise ValueError(f"{name}: must be at least {least}, found {getattr(self, name)}")
        if self.privacy not in (SCHEMA_ONLY, ROWS):
            raise ValueError(f"privacy: must be `{SCHEMA_ONLY}` or `{ROWS}`, found {self.privacy!r}")
        for model, price in self.prices.items():
            if len(price) != 2 or min(price) < 0:
                raise ValueError(
                    f"prices.{model}: expected [input, output] in US dollars for a million tokens, found {list(price)}"
                )


class ProviderError(Exception):
    """A provider gave no usable reply to a request, however often it was asked; `kind` says why.

    Neither the model's fault nor a wrong answer: whatever needed the reply is left out and counted apart.
    """

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


def in_parallel(work: Callable[[Item], Result], items: Iterable[Item], threads: int) -> list[Result]:
    """`work` done for every item by so many threads; the results in the order of the items.

    The first error, a spent budget say, is raised when what is under way has ended; the rest is not begun.
    """
    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(work, item) for item in items]
        try:
            wait(futures, return_when=FIRST_EXCEPTION)
        finally:  # after Ctrl-C too
            for future in futures:
                future.cancel()
        return [future.result() for future in futures]  # those cancelled come after the one that failed

"""A limit in US dollars on what calls to providers may cost, kept however many are under way."""

from __future__ import annotations

import threading

from sqldojo.errors import UserError


class Budget:
    """What may be spent, what is `spent` and what the calls under way may cost at most, all in US dollars."""

    def __init__(self, limit: float) -> None:
        self.spent = 0.0
        self._limit = limit
        self._reserved = 0.0
        self._under_way = 0
        self._settled = threading.Condition()

    def reserve(self, most: float) -> None:
        """Take `most` for a call, waiting for calls under way to return what they did not need.

        UserError when the call could cost more than is left; one that costs nothing is never refused.
        """
        with self._settled:
            while self._under_way and self.spent + self._reserved + most > self._limit:
                self._settled.wait()
            if most and self.spent + most > self._limit:
                raise UserError(
                    f"params.yaml: providers.budget_usd: ${self.spent:.4f} of ${self._limit:.4f} are spent and the "
                    f"next call may take up to ${most:.4f}; what is recorded stays: run the same command again to go "
                    "on with a fresh budget, or raise it"
                )
            self._reserved += most
            self._under_way += 1

    def settle(self, most: float, paid: float) -> None:
        """Give back what a call took with `reserve(most)`, but for what it cost."""
        with self._settled:
            self._reserved -= most
            self._under_way -= 1
            self.spent += paid
            self._settled.notify_all()

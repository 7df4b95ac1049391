"""The budget: never more than the limit, and no stop while calls under way may still leave enough."""

import threading

import pytest

from sqldojo.errors import UserError
from sqldojo.teacher.budget import Budget


def test_stops_before_the_call_that_could_cost_too_much():
    budget = Budget(1.0)
    for _ in range(2):
        budget.reserve(0.5)
        budget.settle(0.5, 0.3)
    assert budget.spent == pytest.approx(0.6)
    with pytest.raises(UserError, match=r"providers.budget_usd: \$0.6000 of \$1.0000 are spent"):
        budget.reserve(0.5)
    budget.reserve(0.4)


def test_waits_for_what_calls_under_way_give_back():
    budget = Budget(1.0)
    budget.reserve(0.9)
    waiting = threading.Thread(target=budget.reserve, args=(0.5,))
    waiting.start()
    waiting.join(0.05)
    assert waiting.is_alive()
    budget.settle(0.9, 0.1)
    waiting.join(5)
    assert not waiting.is_alive()


def test_free_calls_are_never_refused():
    budget = Budget(0.0)
    budget.reserve(0.0)
    budget.settle(0.0, 0.0)
    with pytest.raises(UserError):
        budget.reserve(0.001)

"""Paired differences: their mean by hand, and sharper than what two separate intervals would say."""

import pytest

from sqldojo.evaluation.paired import chain_changes, changes
from sqldojo.evaluation.statistics import paired_interval
from sqldojo.records import CORRECT, WRONG_SQL, Episode


def played(right, split="check", types=4, attempts=2):
    """Episodes of questions numbered over types, right where `right(number, attempt)` says so."""
    return [
        Episode(f"{split}-{n}/{a}", f"{split}-{n}", f"t{n % types}", split, a, (),
                CORRECT if right(n, a) else WRONG_SQL, 0.0, "")
        for n in range(12) for a in range(attempts)
    ]  # fmt: skip


def test_the_change_is_the_mean_difference_of_questions():
    before, after = played(lambda n, a: n < 3), played(lambda n, a: n < 3 or (n == 5 and a == 0))
    found = changes(before, after)["check"]
    assert found["change"] == round(1 / 24, 4)
    by_hand = [{f"t{t}": {f"q{n}": [float(n < 3), float(n < 3)] for n in range(t, 12, 4)} for t in range(4)}
               for _ in range(2)]  # fmt: skip
    by_hand[1]["t1"]["q5"] = [1.0, 0.0]
    interval = paired_interval(*by_hand)
    assert (found["change_low"], found["change_high"]) == (round(interval.low, 4), round(interval.high, 4))
    assert found["change_low"] < 0 < found["change_high"]


def test_splits_stand_side_by_side_whatever_the_order():
    before = [*played(lambda n, a: False), *played(lambda n, a: False, "reserved")]
    after = [*played(lambda n, a: True, "reserved"), *played(lambda n, a: False)[::-1]]
    found = changes(before, after)
    assert found["reserved"]["change"] == 1.0 and found["reserved"]["change_low"] > 0
    assert found["check"]["change"] == 0.0 and found["check"]["change_low"] < 0 < found["check"]["change_high"]


def test_other_questions_are_not_compared():
    with pytest.raises(ValueError, match="same splits"):
        changes(played(lambda n, a: True), played(lambda n, a: True, "reserved"))
    with pytest.raises(ValueError, match="same questions"):
        changes(played(lambda n, a: True), played(lambda n, a: True, attempts=1))


def test_a_chain_compares_each_checkpoint_with_where_its_training_began():
    chain = {
        "released": played(lambda n, a: False),
        "distilled": played(lambda n, a: n < 4),
        "grpo": played(lambda n, a: n < 6),
        "redistilled": played(lambda n, a: n < 7),
        "kept": played(lambda n, a: n < 7),
    }
    found = chain_changes(chain)
    assert list(found) == ["distilled", "grpo", "redistilled", "kept"]
    changed = [found[name]["check"]["change"] for name in found]
    assert changed == [round(share, 4) for share in (4 / 12, 2 / 12, 1 / 12, 3 / 12)]
    assert found["kept"] == changes(chain["distilled"], chain["kept"])
    without = {name: chain[name] for name in ("released", "distilled", "redistilled")}
    assert list(chain_changes(without)) == ["distilled"]

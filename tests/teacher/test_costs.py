"""Figures of calls to providers."""

from sqldojo.records import ProviderReply
from sqldojo.teacher.cassette import Recorded
from sqldojo.teacher.costs import spending


def line(key, model, usd, **more):
    return Recorded(key, model, ProviderReply("", (), "stop", model, 100, 10, usd), **more)


def test_sums_by_model_and_for_each_thing_kept():
    calls = [
        line("a", "x", 0.1, wasted_usd=0.2),
        line("b", "x", 0.3),
        line("c", "y", 0.0),
        Recorded("d", "y", failure="Timeout"),
        Recorded("e", "y", failure="OtherModel", wasted_usd=0.1),
    ]
    found = spending(calls, {"x": 3, "z": 0})
    assert found["models"]["x"] == {
        "calls": 2, "failures": {}, "input_tokens": 200, "output_tokens": 20, "usd": 0.6, "kept": 3,
        "usd_per_kept": 0.2,
    }  # fmt: skip
    assert found["models"]["y"]["failures"] == {"OtherModel": 1, "Timeout": 1}
    assert found["models"]["y"]["usd"] == 0.1
    assert "usd_per_kept" not in found["models"]["z"]
    assert (found["all"]["calls"], found["all"]["usd"], found["all"]["kept"]) == (3, 0.7, 3)


def test_no_calls_cost_nothing():
    assert spending([], {})["all"]["usd"] == 0 and spending([], {})["models"] == {}

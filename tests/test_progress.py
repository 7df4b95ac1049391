"""Progress for logs: rare lines on standard error, and always the last one."""

import sys

import pytest

from sqldojo import progress as module
from sqldojo.progress import progress


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands at the first item of a list."""
    now = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    return now


def test_a_line_comes_every_half_minute_and_at_the_end(clock, capsys):
    with progress("distill", 10, done=2) as report:
        for finished in range(3, 11):
            clock[0] += 12
            report(finished, f"loss {finished}")
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        "distill 5/10  60 s left  loss 5",
        "distill 8/10  24 s left  loss 8",
        "distill 10/10  0 s left  loss 10",
    ]


def test_a_report_without_advance_divides_by_nothing(clock, capsys):
    with progress("teach", 5) as report:
        clock[0] += 60
        report(0, "waiting")
    assert capsys.readouterr().err == "teach 0/5  300 s left  waiting\n"


def test_a_terminal_gets_a_bar_and_faults_pass_through(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with pytest.raises(ZeroDivisionError), progress("teach", 5) as report:
        report(3, "note")
        raise ZeroDivisionError
    out, err = capsys.readouterr()
    assert out == "" and "teach" in err

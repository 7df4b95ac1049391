"""The pool: whatever happens to one call, the others and the next ones get their own results."""

import ctypes
import math
import operator
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from source_tree import ROOT

from sqldojo.databases.execution import check_file
from sqldojo.databases.workers import Died, Killed, Workers
from sqldojo.errors import UserError

PLENTY = 60.0
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="other systems do not limit the address space")


@pytest.fixture
def workers():
    pool = Workers(2)
    yield pool
    pool.close()


def gone(pid, seconds=10.0):
    """Whether a process ends within a bounded time; one that is dead and that nobody has waited for counts too."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True).stdout.strip()
        if not state or state.startswith("Z"):
            return True
        time.sleep(0.02)
    return False


def start_script(text):
    """A Python process that runs a script with this project's sources; its standard output is read line by line."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-c", textwrap.dedent(text)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def test_a_call_returns_what_the_function_does_in_another_process(workers):
    assert workers.call(divmod, 17, 5, seconds=PLENTY) == (3, 2)
    assert workers.call(os.getpid, seconds=PLENTY) not in (os.getpid(), os.getppid())


def test_what_the_function_raises_is_raised_here_with_the_place_where_it_happened(workers):
    with pytest.raises(ValueError, match="math domain error") as caught:
        workers.call(math.sqrt, -1.0, seconds=PLENTY)
    assert "worker_process.py" in caught.value.__notes__[0]
    with pytest.raises(UserError) as caught:
        workers.call(check_file, Path("nowhere"), seconds=PLENTY)
    assert str(caught.value) == "nowhere: no such database file; build it with `dvc repro build_adversarial`"
    with pytest.raises(ValueError, match="math domain error"):
        workers.map(math.sqrt, [(4.0,), (-1.0,), (9.0,)] * 10, seconds=PLENTY)
    assert workers.call(math.sqrt, 4.0, seconds=PLENTY) == 2.0


def test_a_map_keeps_the_order(workers):
    assert workers.map(operator.neg, [(number,) for number in range(500)], seconds=PLENTY) == list(range(0, -500, -1))
    assert workers.map(operator.neg, [], seconds=PLENTY) == []


def test_large_arguments_and_results_pass(workers):
    assert workers.call(len, b"x" * 5_000_000, seconds=PLENTY) == 5_000_000
    assert workers.call(bytes, 5_000_000, seconds=PLENTY) == bytes(5_000_000)


def test_a_call_over_its_time_is_killed_and_the_next_has_a_fresh_process(workers):
    before = workers.call(os.getpid, seconds=PLENTY)
    started = time.monotonic()
    with pytest.raises(Killed) as killed:
        workers.call(time.sleep, 600, seconds=0.2)
    assert 0.2 <= killed.value.seconds <= time.monotonic() - started < 30
    assert gone(before)
    assert workers.call(os.getpid, seconds=PLENTY) != before


def test_a_process_that_crashes_fails_its_call_alone(workers):
    for function, arguments, says in (
        (ctypes.string_at, (0,), r"exit code -\d+"),
        (os.abort, (), "exit code -6"),
        (os._exit, (3,), "exit code 3"),
        (os._exit, (0,), "exit code 0"),
        (os.kill, (0, signal.SIGKILL), "out of memory"),  # how Linux ends the process that took too much
    ):
        with pytest.raises(Died, match=says):
            workers.call(function, *arguments, seconds=PLENTY)
        assert workers.call(math.sqrt, 4.0, seconds=PLENTY) == 2.0


@on_linux
def test_a_call_that_takes_all_memory_fails_alone(workers):
    for _ in range(3):
        with pytest.raises(Died, match="out of memory"):
            workers.call(bytearray, 10**11, seconds=PLENTY)
        assert len(workers.call(bytearray, 10**6, seconds=PLENTY)) == 10**6


def test_a_map_goes_on_behind_calls_that_were_killed(workers):
    naps = [0.0, 600.0, 0.0, 0.0, 600.0, 0.0, 0.0, 0.0, 0.0, 600.0]
    outcomes = workers.map(time.sleep, [(nap,) for nap in naps], seconds=0.2)
    assert [isinstance(outcome, Killed) for outcome in outcomes] == [nap > 0 for nap in naps]
    assert [outcome for outcome, nap in zip(outcomes, naps, strict=True) if not nap] == [None] * 7


def test_the_time_of_a_call_begins_when_it_does():
    """Not when it is sent with others, and not while its process starts."""
    workers = Workers(1)
    try:
        assert workers.map(time.sleep, [(0.15,)] * 8, seconds=0.5) == [None] * 8
    finally:
        workers.close()


def test_each_step_has_the_seconds_for_itself(workers):
    with pytest.raises(Killed) as killed:
        workers.call(eval, _STEPS.format(0.2, 0.2, 0.2, 600), seconds=0.5)
    assert killed.value.step == 4
    assert workers.call(eval, _STEPS.format(0.2, 0.2, 0.2, 0.2), seconds=0.5) == [None] * 4


_STEPS = (
    "[(__import__('sqldojo.databases.worker_process', fromlist=['x']).begin_step(step), __import__('time').sleep(nap))"
    "[1] for step, nap in enumerate(({}, {}, {}, {}), 1)]"
)


def test_processes_start_on_demand_and_no_more_than_allowed():
    workers = Workers(3)
    try:
        assert not workers._all
        for _ in range(20):
            workers.call(math.sqrt, 4.0, seconds=PLENTY)
        assert len(workers._all) == 1
        with ThreadPoolExecutor(8) as threads:
            pids = set(threads.map(lambda _: workers.call(os.getpid, seconds=PLENTY), range(100)))
        assert len(pids) <= len(workers._all) <= 3
    finally:
        workers.close()


def test_a_process_that_ended_while_it_was_free_is_replaced(workers):
    pid = workers.call(os.getpid, seconds=PLENTY)
    os.kill(pid, signal.SIGKILL)
    assert gone(pid)
    with pytest.raises(Died):  # the call that finds out; whether it had begun cannot be known
        workers.call(math.sqrt, 4.0, seconds=PLENTY)
    assert workers.call(math.sqrt, 4.0, seconds=PLENTY) == 2.0


def test_eight_threads_get_their_own_results_among_kills_and_crashes(workers):
    def work(number):
        results = []
        for turn in range(30):
            results.append(workers.call(operator.mul, number, turn, seconds=PLENTY) == number * turn)
            if turn % 10 == number:
                with pytest.raises((Killed, Died)):
                    workers.call(*((time.sleep, 600) if number % 2 else (os._exit, 1)), seconds=0.1)
        return results

    with ThreadPoolExecutor(8) as threads:
        results = list(threads.map(work, range(8)))
    assert results == [[True] * 30] * 8


def test_a_long_map_lets_others_in():
    workers = Workers(1)
    order = []

    def long():
        workers.map(time.sleep, [(0.002,)] * 300, seconds=PLENTY)
        order.append("long")

    thread = threading.Thread(target=long)
    try:
        thread.start()
        while not workers._all or workers._free:
            time.sleep(0.001)
        workers.call(math.sqrt, 4.0, seconds=PLENTY)
        order.append("short")
        thread.join()
    finally:
        workers.close()
    assert order == ["short", "long"]


def test_a_call_that_the_user_interrupts_leaves_no_reply_behind(workers):
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    pid = workers.call(os.getpid, seconds=PLENTY)
    try:
        for number in range(5):
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            with pytest.raises(KeyboardInterrupt):
                workers.call(eval, f"__import__('time').sleep(0.2) or {number}", seconds=PLENTY)
            assert workers.call(operator.neg, number, seconds=PLENTY) == -number
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert gone(pid)
    assert len(workers._all) <= 2


def test_control_c_in_the_terminal_does_not_reach_the_workers(workers):
    pid = workers.call(os.getpid, seconds=PLENTY)
    assert os.getpgid(pid) != os.getpgid(0)
    os.kill(pid, signal.SIGINT)
    assert workers.call(os.getpid, seconds=PLENTY) == pid


def test_a_worker_lives_in_utc_wherever_the_parent_does(monkeypatch):
    monkeypatch.setenv("TZ", "Asia/Kathmandu")
    workers = Workers(1)
    try:
        assert workers.call(time.strftime, "%Z", seconds=PLENTY) == "UTC"
    finally:
        workers.close()


def test_closing_ends_all_processes_and_the_next_call_starts_one(workers):
    pids = {workers.call(os.getpid, seconds=PLENTY) for _ in range(5)}
    workers.close()
    assert all(map(gone, pids))
    assert workers.call(os.getpid, seconds=PLENTY) not in pids


def test_processes_end_when_the_parent_exits():
    with start_script("""
        import os
        from sqldojo.databases.workers import shared_workers
        print(*shared_workers().map(os.getpid, [()] * 50, seconds=60))
    """) as parent:
        pids = {int(word) for word in parent.stdout.read().split()}
    assert pids and all(map(gone, pids))


def test_processes_end_when_the_parent_is_killed_whatever_they_are_doing():
    """One is free, one asleep, one inside a single SQLite instruction."""
    with start_script("""
        import os, threading, time
        from sqldojo.databases.workers import Workers
        workers = Workers(3)
        stuck = "[__import__('os').write(2, b''), __import__('apsw').Connection('').execute(" \\
                "\\"SELECT instr(printf('%.*c', 4000000, 'a'), printf('%.*c', 2000000, 'a') || 'b')\\").fetchall()]"
        for task in ("__import__('time').sleep(600)", stuck):
            threading.Thread(target=workers.call, args=(eval, task), kwargs={"seconds": 600}, daemon=True).start()
        while len(workers._all) < 2:
            time.sleep(0.01)
        workers.call(os.getpid, seconds=60)
        time.sleep(0.3)
        print(*(worker.process.pid for worker in workers._all), flush=True)
        time.sleep(600)
    """) as parent:
        pids = [int(word) for word in parent.stdout.readline().split()]
        assert len(pids) == 3
        assert not any(gone(pid, 0.1) for pid in pids)
        parent.send_signal(signal.SIGKILL)
        assert all(map(gone, pids))


def test_a_forked_copy_of_the_parent_has_workers_of_its_own():
    with start_script("""
        import os
        from sqldojo.databases.workers import shared_workers
        ours = {shared_workers().call(os.getpid, seconds=60)}
        child = os.fork()
        theirs = shared_workers().call(os.getpid, seconds=60)
        if not child:
            raise SystemExit(theirs in ours)  # exits as any program does, its clean-up included
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), theirs in ours)
        print(shared_workers().call(os.getpid, seconds=60) in ours)
    """) as parent:
        assert parent.stdout.read().split() == ["0", "True", "True"]

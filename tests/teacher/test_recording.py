"""Recording over real HTTP and replaying: nothing lost, nothing paid twice, no more spent than allowed."""

import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest
from faulty_provider import (
    BAD_KEY,
    BAD_REQUEST,
    BROKEN,
    BUSY,
    BUSY_FOR_2_SECONDS,
    CUT,
    KEY,
    NO_CHOICE,
    NO_JSON,
    OTHER_MODEL,
)

from sqldojo.errors import UserError
from sqldojo.records import ProviderRequest
from sqldojo.teacher.cassette import read_cassette
from sqldojo.teacher.provider import ProviderError, ProviderParams, in_parallel
from sqldojo.teacher.recording import Replaying, recording, run_until_interrupted

MODEL = "openai/tiny"
PARAMS = ProviderParams(1.0, 4, 3, 5.0, "rows", {MODEL: (1.0, 10.0)})  # a call costs $0.002, at most $0.0052


def request(number):
    return ProviderRequest(MODEL, ({"role": "user", "content": f"Question {number}"},))


def asked(provider):
    return Counter(call["messages"][0]["content"] for call in provider.calls)


def test_what_is_recorded_is_replayed_and_not_asked_again(provider, tmp_path):
    provider.delay = 0.05
    with recording(tmp_path, "teach", PARAMS) as ask:
        replies = in_parallel(ask, map(request, range(8)), 4)
    assert 1 < provider.most_at_once <= 4
    replay = Replaying(tmp_path, "teach")
    assert [replay(request(number)) for number in range(8)] == replies
    assert replay.used == ask.used == read_cassette(tmp_path / "teach/replies.jsonl")
    before = (tmp_path / "teach/replies.jsonl").read_bytes()
    with recording(tmp_path, "teach", PARAMS) as ask:
        assert in_parallel(ask, map(request, range(8)), 4) == replies
        assert ask.summary() == "0 calls recorded, 8 found in the cassette; 0 tokens in, 0 out; $0.0000 of $1.00 spent"
    assert len(provider.calls) == 8 and (tmp_path / "teach/replies.jsonl").read_bytes() == before


def test_a_missing_line_names_model_cassette_and_command(tmp_path):
    said = r"teach/replies.jsonl: no recorded reply of openai/tiny .* `sqldojo record teach`"
    with pytest.raises(UserError, match=said):
        Replaying(tmp_path, "teach")(request(1))


def test_equal_requests_at_the_same_time_are_paid_for_once(provider, tmp_path):
    provider.delay = 0.05
    with recording(tmp_path, "teach", PARAMS) as ask:
        in_parallel(ask, [request(1)] * 4, 4)
    assert len(provider.calls) == 1


def test_tries_again_after_a_while_and_as_late_as_the_provider_asks(provider, tmp_path):
    waits = []
    params = ProviderParams(1.0, 1, 8, 5.0, "rows", PARAMS.prices)
    provider.script = [BROKEN, BUSY, BUSY_FOR_2_SECONDS, CUT, NO_JSON, NO_CHOICE, OTHER_MODEL]
    with recording(tmp_path, "teach", params, sleep=waits.append) as ask:
        assert ask(request(1)).text == "You said: Question 1"
    assert len(waits) == 7 and all(2**n / 2 <= wait <= 2**n for n, wait in enumerate(waits))
    waits.clear()
    provider.script = [BUSY_FOR_2_SECONDS]
    with recording(tmp_path, "teach", params, sleep=waits.append) as ask:
        ask(request(2))
    assert waits == [2.0]
    (line,) = ask.used.values()
    assert line.wasted_usd == 0
    wasted = read_cassette(tmp_path / "teach/replies.jsonl")
    assert sorted(each.wasted_usd for each in wasted.values()) == [0, pytest.approx(0.004)]


def test_a_failure_is_replayed_as_one_and_asked_again_by_the_next_recording(provider, tmp_path):
    provider.script = [BAD_REQUEST, BROKEN, BROKEN, BROKEN, BROKEN]
    with recording(tmp_path, "teach", PARAMS, sleep=lambda _: None) as ask:
        for kind in ("BadRequestError", "InternalServerError"):
            with pytest.raises(ProviderError, match=kind):
                ask(request(kind))
        assert ask.summary().endswith("2 failed: BadRequestError 1, InternalServerError 1")
    assert len(provider.calls) == 5, "a request that is refused is not tried again"
    with pytest.raises(ProviderError, match="BadRequestError"):
        Replaying(tmp_path, "teach")(request("BadRequestError"))
    with recording(tmp_path, "teach", PARAMS) as ask:
        reply = ask(request("BadRequestError"))
    assert Replaying(tmp_path, "teach")(request("BadRequestError")) == reply


def test_a_provider_that_is_down_ends_the_recording(provider, tmp_path):
    provider.script = [BROKEN] * 1000
    params, told = ProviderParams(1.0, 1, 0, 5.0, "rows", PARAMS.prices), []
    with recording(tmp_path, "teach", params, tell=told.append) as ask:
        for number in range(10):
            with pytest.raises(ProviderError):
                ask(request(number))
        with pytest.raises(UserError, match="10 requests in a row failed, the last with InternalServerError") as caught:
            ask(request(11))
    assert KEY not in str(caught.value) and len(provider.calls) == 10
    assert len(told) == 10 and "InternalServerError" in told[0] and told[0].endswith("no: Bearer <OPENAI_API_KEY>")


def test_what_was_paid_in_vain_is_still_counted_when_the_next_recording_gets_a_reply(provider, tmp_path):
    provider.script = [NO_CHOICE] * 4 + [NO_CHOICE]
    for _ in range(2):
        with recording(tmp_path, "teach", PARAMS, sleep=lambda _: None) as ask, suppress(ProviderError):
            ask(request(1))
    (line,) = read_cassette(tmp_path / "teach/replies.jsonl").values()
    assert line.reply is not None and line.wasted_usd == pytest.approx(5 * 0.002)


def test_a_full_disk_ends_the_recording_before_more_is_paid(provider, tmp_path):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    with recording(tmp_path, "teach", PARAMS) as ask:
        ask(request(0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (400, limits[1]))
        try:
            for number in (1, 2):
                with pytest.raises(UserError, match=r"teach/replies.jsonl: File too large; mend that"):
                    ask(request(number))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert len(provider.calls) == 2
    assert len(read_cassette(tmp_path / "teach/replies.jsonl")) == 2, "there was room again when it was sorted"


def test_the_budget_is_kept_and_the_next_recording_goes_on(provider, tmp_path):
    provider.delay = 0.01
    params = ProviderParams(0.02, 4, 3, 5.0, "rows", PARAMS.prices)
    for _ in range(4):
        before = len(provider.calls)
        with recording(tmp_path, "teach", params) as ask:
            try:
                in_parallel(ask, map(request, range(20)), 4)
            except UserError as error:
                assert "providers.budget_usd" in str(error)
                assert 5 <= len(provider.calls) - before <= 10  # $0.002 each, of $0.02
    assert set(asked(provider).values()) == {1} and len(provider.calls) == 20
    assert len(read_cassette(tmp_path / "teach/replies.jsonl")) == 20


def test_a_refused_key_ends_the_recording_and_leaves_no_trace_of_it(provider, tmp_path):
    with recording(tmp_path, "teach", PARAMS) as ask:
        ask(request(KEY))  # the model repeats what it was told
        provider.script = [BAD_KEY] * 100
        for number in range(3):
            with pytest.raises(UserError, match="OPENAI_API_KEY") as caught:
                ask(request(number))
            assert KEY not in str(caught.value)
        assert "$0.0020 of $1.00 spent" in ask.summary(), "a refused call costs nothing"
    content = (tmp_path / "teach/replies.jsonl").read_text()
    assert len(provider.calls) == 2 and KEY not in content and "127.0.0.1" not in content
    assert json.loads(content)["reply"]["text"] == "You said: Question <OPENAI_API_KEY>"


@pytest.fixture
def heeding_interrupts():
    """Ctrl-C is heard, also where the tests run in the background of a shell, which makes it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_interrupting_keeps_what_is_paid(provider, tmp_path, heeding_interrupts):
    provider.delay = 0.1

    def interrupt():
        while len(provider.calls) < 5:
            time.sleep(0.005)
        os.kill(os.getpid(), signal.SIGINT)
        while not told:
            time.sleep(0.005)
        os.kill(os.getpid(), signal.SIGINT)

    told = []
    threading.Thread(target=interrupt, daemon=True).start()
    with (
        pytest.raises(UserError, match="interrupted; what is recorded stays"),
        recording(tmp_path, "teach", PARAMS, tell=told.append) as ask,
    ):
        run_until_interrupted(ask, lambda: in_parallel(ask, map(request, range(1000)), 4))
    assert told == ["interrupted: no more calls; waiting for those under way, whose replies are kept"]
    assert len(read_cassette(tmp_path / "teach/replies.jsonl")) == len(provider.calls) < 20


RECORD = """
from pathlib import Path
from test_recording import PARAMS, request
from sqldojo.teacher.provider import in_parallel
from sqldojo.teacher.recording import recording
import sys
with recording(Path(sys.argv[1]), "teach", PARAMS) as ask:
    in_parallel(ask, map(request, range(40)), 4)
"""


def test_after_a_kill_nothing_is_lost_or_paid_twice(provider, tmp_path):
    provider.delay = 0.02
    folder = Path(__file__).parent
    paths = os.pathsep.join(map(str, (folder, folder.parent, folder.parents[1] / "src")))
    process = subprocess.Popen([sys.executable, "-c", RECORD, tmp_path], env=os.environ | {"PYTHONPATH": paths})
    while len(provider.calls) < 20 and process.poll() is None:
        time.sleep(0.005)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    under_way = provider.under_way
    assert under_way <= 4
    kept = set(read_cassette(tmp_path / "teach/replies.jsonl"))
    assert len(kept) >= len(provider.calls) - 4
    with (tmp_path / "teach/replies.jsonl").open("ab") as file:
        file.write(b'{"key": "torn')
    with recording(tmp_path, "teach", PARAMS) as ask:
        in_parallel(ask, map(request, range(40)), 4)
    counts = asked(provider)
    assert len(counts) == 40 and max(counts.values()) <= 2 and counts.total() <= 44
    assert kept < set(read_cassette(tmp_path / "teach/replies.jsonl")) == set(ask.used)

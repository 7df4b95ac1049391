"""Cassettes on the disk: what a killed, a merged, a parallel recording leaves."""

from dataclasses import replace

import pytest

from sqldojo.errors import UserError
from sqldojo.files import read_records, write_records
from sqldojo.records import ProviderCall, ProviderReply, ProviderRequest
from sqldojo.teacher.cassette import Recorded, open_cassette, read_cassette, request_key

REQUEST = ProviderRequest("openai/x", ({"role": "user", "content": "Größe?"},))
REPLY = ProviderReply("gut", (ProviderCall("1", "run_sql", '{"sql": "SELECT 1"}'),), "tool_calls", "x", 10, 2, 0.25)


def test_key_depends_on_all_that_is_asked_and_on_nothing_else():
    assert request_key(REQUEST).startswith("d9004400dbec")  # another key would lose what was paid for
    reordered = ProviderRequest("openai/x", ({"content": "Größe?", "role": "user"},))
    assert request_key(reordered) == request_key(REQUEST)
    changes = {"model": "y", "messages": (), "tools": ({},), "temperature": 0.5, "max_tokens": 1, "number": 1}
    keys = {request_key(replace(REQUEST, **{name: value})) for name, value in changes.items()} | {request_key(REQUEST)}
    assert len(keys) == 7


def test_lines_are_on_the_disk_at_once_and_sorted_at_the_end(tmp_path):
    path = tmp_path / "cassettes" / "teach.jsonl"
    with open_cassette(path) as cassette:
        for key in ("b", "c", "a"):
            cassette.add(Recorded(key, "openai/x", REPLY))
            assert read_cassette(path)[key].reply == REPLY
    assert [line.key for line in read_records(path, Recorded)] == ["a", "b", "c"]


def test_a_torn_last_line_is_not_there_and_written_over(tmp_path):
    path = tmp_path / "teach.jsonl"
    write_records(path, [Recorded("a", "openai/x", REPLY)])
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:70])
    assert set(read_cassette(path)) == {"a"}
    with open_cassette(path) as cassette:
        assert path.read_bytes() == whole
        cassette.add(Recorded("b", "openai/x", REPLY))
        assert set(read_cassette(path)) == {"a", "b"}


def test_a_broken_line_is_named(tmp_path):
    path = tmp_path / "teach.jsonl"
    path.write_bytes(b"<<<<<<< HEAD\n")
    with pytest.raises(UserError, match=r"teach.jsonl, line 1: no recorded reply .*`git checkout"):
        read_cassette(path)


def test_a_reply_wins_over_a_failure_in_any_order(tmp_path):
    failed, replied = Recorded("a", "openai/x", failure="Timeout"), Recorded("a", "openai/x", REPLY)
    for lines in ([failed, replied], [replied, failed]):
        write_records(tmp_path / "teach.jsonl", lines)
        assert read_cassette(tmp_path / "teach.jsonl") == {"a": replied}


def test_two_recordings_at_once_are_refused(tmp_path):
    path = tmp_path / "teach.jsonl"
    with open_cassette(path), pytest.raises(UserError, match="another recording is under way"), open_cassette(path):
        pass
    with open_cassette(path):
        pass
    assert path.read_bytes() == b""  # DVC depends on the file


def test_an_absent_cassette_is_empty(tmp_path):
    assert read_cassette(tmp_path / "none.jsonl") == {}

"""References: one computation for each key, whoever asks, and a result that nothing can change afterwards."""

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlite_files import write_database

from sqldojo.databases.execution import Limits
from sqldojo.databases.private_copies import private_copy, temporary_folder
from sqldojo.databases.workers import Workers
from sqldojo.verifier import references
from sqldojo.verifier.references import ReferenceFailed, load, reference_results

LIMITS = Limits(vm_steps=2_000_000)
VALUES = "SELECT 1, -9223372036854775808, 0.1 + 0.2, 9e999, -9e999, NULL, 'é' || char(0), x'00ff', ''"
MANY = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 5000) SELECT i, 'row ' || i FROM n"


@pytest.fixture
def copies(tmp_path):
    script = "CREATE TABLE t(a); INSERT INTO t VALUES ({})"
    return [private_copy(write_database(tmp_path / f"{number}.sqlite", script.format(number))) for number in range(3)]


@pytest.fixture
def computed(monkeypatch):
    """The (hash of the database, reference) pairs that workers were asked to compute."""
    pairs = []
    whole = Workers.map

    def recording(self, function, calls, *, seconds):
        pairs.extend((call[0].sha256, call[1]) for call in calls)
        return whole(self, function, calls, seconds=seconds)

    monkeypatch.setattr(Workers, "map", recording)
    return pairs


def test_results_come_back_exactly(copies):
    (columns, (row,)), *_ = [load(each) for each in reference_results(VALUES, copies, LIMITS)]
    assert row == (1, -(2**63), 0.1 + 0.2, float("inf"), float("-inf"), None, "é\0", b"\x00\xff", "")
    assert list(map(type, row[:3])) == [int, int, float]
    assert len(columns) == len(row)
    (_, rows), *_ = [load(each) for each in reference_results(MANY, copies, LIMITS)]
    assert len(rows) == 5000 and rows[-1] == (5000, "row 5000")
    numbers = [load(each)[1] for each in reference_results("SELECT a FROM t", copies, LIMITS)]
    assert numbers == [((0,),), ((1,),), ((2,),)]


def test_small_results_travel_and_large_ones_lie_in_the_temporary_folder(copies):
    small, large = (reference_results(sql, copies[:1], LIMITS)[0] for sql in (VALUES, MANY))
    assert small.content is not None and not small.path
    assert large.content is None and Path(large.path).parent == temporary_folder()


def test_a_result_is_computed_once_for_its_database_text_and_limits(copies, computed, tmp_path):
    sql = "SELECT a + 100 FROM t"
    for _ in range(3):
        reference_results(sql, copies, LIMITS)
    twin = write_database(tmp_path / "twin.sqlite", "CREATE TABLE t(a); INSERT INTO t VALUES (1)")
    reference_results(sql, [private_copy(twin)], LIMITS)  # the same bytes under another name
    assert computed == [(copy.sha256, sql) for copy in copies]
    reference_results(f"{sql} ", copies[:1], LIMITS)
    reference_results(sql, copies[:1], Limits(vm_steps=1_000_000))
    assert computed[3:] == [(copies[0].sha256, f"{sql} "), (copies[0].sha256, sql)]


def test_eight_threads_share_one_computation(copies, computed):
    start = threading.Barrier(8)

    def work(_):
        start.wait()
        return [load(each) for each in reference_results("SELECT a * 7 FROM t", copies, LIMITS)]

    with ThreadPoolExecutor(8) as threads:
        results = list(threads.map(work, range(8)))
    assert results == [[(("a * 7",), ((number * 7,),)) for number in range(3)]] * 8
    assert len(computed) == 3


def test_a_failure_names_the_users_file_and_is_not_remembered(copies, computed):
    for _ in range(2):
        with pytest.raises(ReferenceFailed, match=r"0\.sqlite: the reference error: no such column: b"):
            reference_results("SELECT b FROM t", copies, LIMITS)
        with pytest.raises(ReferenceFailed, match=r"2\.sqlite: the reference error: integer overflow"):
            reference_results("SELECT abs(CASE a WHEN 2 THEN -9223372036854775808 END) FROM t", copies, LIMITS)
    assert len(computed) == 4 * 3 - 2  # those of the second that did not fail are kept


def test_limits_belong_to_the_result(copies):
    reference_results(MANY, copies[:1], LIMITS)
    with pytest.raises(ReferenceFailed, match="more than 10 rows"):
        reference_results(MANY, copies[:1], Limits(rows=10))


def test_a_stored_result_that_was_changed_is_not_believed(copies):
    (reference,) = reference_results(f"{MANY} LIMIT 4999", copies[:1], LIMITS)  # which nobody has loaded yet
    path = Path(reference.path)
    content = path.read_bytes()
    path.write_bytes(content.replace(b"row 7", b"row 8"))
    with pytest.raises(ValueError, match="not the result that was stored"):
        load(reference)
    path.write_bytes(content)
    assert len(load(reference)[1]) == 4999


def test_a_thread_whose_neighbour_was_interrupted_computes_the_result_itself(copies):
    sql = "SELECT a - 1 FROM t"
    key = references._key(copies[0], sql, LIMITS)
    abandoned = references._known[key] = Future()
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(reference_results, sql, copies[:1], LIMITS)
        with pytest.raises(TimeoutError):
            waiting.result(timeout=0.1)
        with references._lock:
            del references._known[key]
        abandoned.cancel()
        assert load(waiting.result(timeout=60)[0])[1] == ((-1,),)


def test_the_oldest_results_go_first_with_their_files(copies, monkeypatch):
    monkeypatch.setattr(references, "_known", type(references._known)())
    monkeypatch.setattr(references, "_MOST_REFERENCES", 2)
    results = [reference_results(f"{MANY} -- {number}", copies[:1], LIMITS)[0] for number in range(4)]
    assert [Path(result.path).exists() for result in results] == [False, False, True, True]
    (again,) = reference_results(f"{MANY} -- 0", copies[:1], LIMITS)
    assert len(load(again)[1]) == 5000

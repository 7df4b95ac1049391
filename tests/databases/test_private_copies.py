"""Private copies: one consistent state each, always of today's content, and the user's folder stays as it was."""

import os
import shutil
import subprocess
import sys
import textwrap
import time
from contextlib import closing

import apsw
import pytest
from source_tree import ROOT
from sqlite_files import write_database

from sqldojo.databases import private_copies as module
from sqldojo.databases.private_copies import open_copy, private_copy, temporary_folder
from sqldojo.errors import UserError
from sqldojo.files import file_sha256

SCRIPT = "CREATE TABLE t(a); INSERT INTO t VALUES (1), (2);"


@pytest.fixture
def path(tmp_path):
    return write_database(tmp_path / "user" / "a ?#%41.sqlite", SCRIPT)


def rows(copy):
    with closing(open_copy(copy)) as connection:
        return [value for (value,) in connection.execute("SELECT a FROM t ORDER BY rowid")]


def state_of(folder):
    """Names, contents and time stamps of all files in a folder."""
    return {file.name: (file.read_bytes(), file.stat().st_mtime_ns) for file in sorted(folder.iterdir())}


def rest():
    """Until files count as unchanged for longer than their time stamps can tell."""
    time.sleep(2 * module._TICK_NS / 1e9)


def test_a_copy_has_the_content_and_its_hash_and_lies_elsewhere(path):
    before = state_of(path.parent)
    copy = private_copy(path)
    assert copy.source == path
    assert copy.path.parent == temporary_folder() != path.parent
    assert copy.sha256 == file_sha256(copy.path)
    assert rows(copy) == [1, 2]
    assert state_of(path.parent) == before


def test_the_same_content_is_copied_once(path, tmp_path):
    rest()
    first = private_copy(path)
    stamp = first.path.stat()
    again = private_copy(path)
    shutil.copy(path, tmp_path / "twin.sqlite")
    twin = private_copy(tmp_path / "twin.sqlite")
    assert again == first and again.path.stat().st_ino == stamp.st_ino
    assert (twin.path, twin.sha256, twin.source.name) == (first.path, first.sha256, "twin.sqlite")


def test_every_change_is_seen_at_once(path):
    """Also one that follows so fast that size and time stamps are as before."""
    connection = apsw.Connection(str(path))
    copies = []
    for number in range(30):
        connection.execute("UPDATE t SET a = ?", (number,))
        if number % 10 == 5:
            rest()
        copies.append(private_copy(path))
        assert rows(copies[-1]) == [number, number]
    connection.close()
    assert rows(copies[0]) == [0, 0]  # what a copy holds never changes


def test_a_replaced_file_is_seen(path):
    rest()
    assert rows(private_copy(path)) == [1, 2]
    other = write_database(path.with_name("b.sqlite"), SCRIPT.replace("(1)", "(3)"))
    os.utime(other, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))
    os.replace(other, path)
    assert rows(private_copy(path)) == [3, 2]


@pytest.mark.parametrize("size", [0, 5_000_000], ids=["in memory", "in a file"])
def test_a_connection_to_a_copy_cannot_write(tmp_path, size):
    fill = f"CREATE TABLE fill(x); INSERT INTO fill VALUES(zeroblob({size}))"
    path = write_database(tmp_path / "a.sqlite", SCRIPT + fill)
    copy = private_copy(path)
    before = copy.path.read_bytes()
    with closing(open_copy(copy)) as connection:
        for sql in ("INSERT INTO t VALUES (3)", "CREATE TABLE u(a)", "PRAGMA user_version = 7", "DROP TABLE t"):
            with pytest.raises((apsw.ReadOnlyError, apsw.SQLError)):
                connection.execute(sql)
    assert rows(copy) == [1, 2]
    assert copy.path.read_bytes() == before


def test_what_is_still_in_the_log_is_in_the_copy(path):
    writer = apsw.Connection(str(path))
    assert writer.execute("PRAGMA journal_mode = WAL").fetchall() == [("wal",)]
    writer.execute("INSERT INTO t VALUES (3)")
    rest()
    before = state_of(path.parent)
    assert len(before) == 3
    assert rows(private_copy(path)) == [1, 2, 3]
    assert state_of(path.parent) == before
    writer.execute("BEGIN; INSERT INTO t VALUES (4)")
    assert rows(private_copy(path)) == [1, 2, 3]
    writer.execute("COMMIT")
    assert rows(private_copy(path)) == [1, 2, 3, 4]
    writer.close()
    rest()
    before = state_of(path.parent)
    assert list(before) == [path.name]
    assert rows(private_copy(path)) == [1, 2, 3, 4]
    assert state_of(path.parent) == before


def test_a_log_that_its_writer_left_behind_counts(path, tmp_path):
    """As after a crash, or when both files were copied from elsewhere; through a link, too."""
    writer = apsw.Connection(str(path))
    writer.execute("PRAGMA journal_mode = WAL").fetchall()
    writer.execute("INSERT INTO t VALUES (3)")
    left = tmp_path / "left"
    left.mkdir()
    for end in ("", "-wal"):
        shutil.copy(f"{path}{end}", left / f"b.sqlite{end}")
    writer.close()
    rest()
    before = state_of(left)
    link = tmp_path / "link.sqlite"
    link.symlink_to(left / "b.sqlite")
    for name in (left / "b.sqlite", link):
        assert rows(private_copy(name)) == [1, 2, 3]
    (left / "b.sqlite-wal").unlink()
    assert rows(private_copy(left / "b.sqlite")) == rows(private_copy(link)) == [1, 2]
    del before["b.sqlite-wal"]
    assert state_of(left) == before


def test_a_folder_that_cannot_be_written_to_is_enough(path):
    writer = apsw.Connection(str(path))
    writer.execute("PRAGMA journal_mode = WAL").fetchall()
    writer.close()
    path.chmod(0o400)
    path.parent.chmod(0o500)
    try:
        assert rows(private_copy(path)) == [1, 2]
        assert os.listdir(path.parent) == [path.name]
    finally:
        path.parent.chmod(0o700)


@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
def test_a_copy_made_while_somebody_writes_is_one_consistent_state(path, mode):
    """A writer moves amounts between rows on many pages without a pause: the sum is the same in every state."""
    writer = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent("""
            import sys, apsw
            connection = apsw.Connection(sys.argv[1])
            connection.set_busy_timeout(60_000)
            connection.execute(f"PRAGMA journal_mode = {sys.argv[2]}; PRAGMA synchronous = OFF").fetchall()
            connection.execute("CREATE TABLE account(id INTEGER PRIMARY KEY, amount, fill)")
            connection.execute("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 200) "
                               "INSERT INTO account SELECT i, 0, hex(zeroblob(1000)) FROM n")
            turn = 0
            while True:
                turn += 1
                with connection:
                    for row in range(1 + turn % 7, 200, 9):
                        connection.execute("UPDATE account SET amount = amount + ? WHERE id = ?", (turn, row))
                        connection.execute("UPDATE account SET amount = amount - ? WHERE id = ?", (turn, 201 - row))
                if turn == 1:
                    print("ready", flush=True)
        """), str(path), mode],
        stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )  # fmt: skip
    try:
        assert writer.stdout.readline() == b"ready\n"
        hashes = set()
        for _ in range(8):
            copy = private_copy(path)
            hashes.add(copy.sha256)
            with closing(open_copy(copy)) as connection:
                assert connection.execute("SELECT COUNT(*), SUM(amount) FROM account").fetchall() == [(200, 0)]
                assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert len(hashes) > 1  # it did write meanwhile
    finally:
        writer.kill()
        writer.communicate()


def test_a_locked_file_is_the_users_fault_until_it_is_free(path):
    connection = apsw.Connection(str(path))
    connection.execute("BEGIN EXCLUSIVE")
    with pytest.raises(UserError, match="locked"):
        private_copy(path)
    connection.execute("COMMIT")
    connection.close()
    assert rows(private_copy(path)) == [1, 2]


@pytest.mark.parametrize(
    "content", [b"", b"x", b"x" * 600, b"id,name\n1,Ada\n" * 500, b"SQLite format 3\0" + b"\xff" * 5000]
)
def test_a_file_of_another_kind_is_the_users_fault(tmp_path, content):
    (tmp_path / "a.sqlite").write_bytes(content)
    with pytest.raises(UserError, match=r"a\.sqlite: cannot be read as a SQLite database"):
        private_copy(tmp_path / "a.sqlite")
    assert os.listdir(tmp_path) == ["a.sqlite"]


@pytest.mark.parametrize("kept", [50, 600, 4096, 4097, -4096, -1])
@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
def test_a_truncated_file_is_the_users_fault(path, kept, mode):
    connection = apsw.Connection(str(path))
    connection.execute(f"PRAGMA journal_mode = {mode}; CREATE TABLE u(a); CREATE TABLE v(a)").fetchall()
    connection.close()
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(UserError, match="cannot be read as a SQLite database"):
        private_copy(path)


def test_a_missing_file_and_a_folder_are_the_users_fault(tmp_path):
    for path in (tmp_path, tmp_path / "missing.sqlite"):
        with pytest.raises(UserError, match="no such database file"):
            private_copy(path)


def test_the_oldest_copies_go_first_and_come_back_when_needed(path, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_copies", type(module._copies)())
    monkeypatch.setattr(module, "_MOST_COPIES", 3)
    script = "CREATE TABLE t(a); INSERT INTO t VALUES ({})"
    others = [write_database(tmp_path / f"{number}.sqlite", script.format(number)) for number in range(5)]
    rest()
    first = private_copy(path)
    copies = [private_copy(other) for other in others]
    assert [copy.path.exists() for copy in (first, *copies)] == [False] * 3 + [True] * 3
    assert rows(private_copy(path)) == [1, 2]


def test_the_temporary_folder_goes_with_the_process(path):
    script = """
        import sys
        from pathlib import Path
        from sqldojo.databases.private_copies import private_copy
        copy = private_copy(Path(sys.argv[1]))
        assert copy.path.exists()
        print(copy.path.parent)
    """
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-c", textwrap.dedent(script), str(path)]
    folder = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.strip()
    assert folder and not os.path.exists(folder)


def test_a_locked_database_is_said_to_be_locked(tmp_path):
    path = write_database(tmp_path / "held.sqlite", "CREATE TABLE t (a); INSERT INTO t VALUES (1);")
    with closing(apsw.Connection(str(path))) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        with pytest.raises(UserError, match=r"held\.sqlite: cannot be read .*\(database is locked\)"):
            private_copy(path)


def test_a_database_that_was_left_in_the_middle_of_a_change_is_named_with_the_reason(tmp_path):
    path = write_database(tmp_path / "left.sqlite", "CREATE TABLE t (a); INSERT INTO t VALUES (1);")
    path.with_name("left.sqlite-journal").write_bytes(bytes.fromhex("d9d505f920a163d7") + bytes(600))
    with pytest.raises(UserError, match=r"left\.sqlite: cannot be read .*unfinished change"):
        private_copy(path)

"""Users' files: one clear error for each that is unfit, and nothing changes in or beside those that are read."""

import os
import shutil
from contextlib import closing

import apsw
import pytest
from sqlite_files import write_database
from unfit_files import UNFIT, held_by_another, without_privileges, write_unfit

from sqldojo.databases import private_copies, user_database
from sqldojo.databases.user_database import open_user_database
from sqldojo.errors import UserError

SCRIPT = "CREATE TABLE t(a); INSERT INTO t VALUES (1), (2)"
COUNT = "SELECT count(*) FROM t"


@pytest.fixture(params=[True, False], ids=["copied", "in_place"])
def copied(request, monkeypatch):
    """Whether files are small enough for a copy."""
    if not request.param:
        monkeypatch.setattr(user_database, "MOST_BYTES_TO_COPY", 0)
    return request.param


def counted(path):
    with closing(open_user_database(path)) as connection:
        return connection.execute(COUNT).get


def error_of(path):
    with pytest.raises(UserError) as caught:
        open_user_database(path)
    (line,) = str(caught.value).splitlines()
    assert line.startswith(f"{path}: ")
    return line


def state_of(folder):
    """Names, contents and time stamps of all files in a folder; the index of a log is nobody's content."""
    return {file.name: (file.read_bytes(), file.stat().st_mtime_ns) for file in sorted(folder.iterdir())
            if not file.name.endswith("-shm")}  # fmt: skip


@pytest.mark.parametrize("name", UNFIT)
def test_each_unfit_file_has_its_own_sentence(tmp_path, name, copied):
    path = tmp_path / "user.sqlite"
    said = write_unfit(name, path)
    before = state_of(tmp_path)
    assert said in error_of(path)
    assert state_of(tmp_path) == before


def test_what_is_no_file_is_told(tmp_path):
    assert "is a directory" in error_of(tmp_path)
    assert "there is no such file" in error_of(tmp_path / "none.sqlite")
    os.mkfifo(tmp_path / "pipe")
    assert "is no plain file" in error_of(tmp_path / "pipe")


def test_a_file_that_may_not_be_read_is_told(tmp_path):
    path = write_database(tmp_path / "user.sqlite", SCRIPT)
    path.chmod(0)
    with without_privileges():
        assert "permission denied" in error_of(path)


def test_a_database_without_tables_is_told(tmp_path, copied):
    path = write_database(tmp_path / "user.sqlite", "CREATE TABLE t(a); DROP TABLE t")
    assert "there is no table in it" in error_of(path)


def test_rows_that_break_a_constraint_are_no_damage(tmp_path):
    path = write_database(
        tmp_path / "user.sqlite",
        f"{SCRIPT}, (NULL); PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'CREATE TABLE t(a NOT NULL)'",
    )
    assert counted(path) == 3


def test_a_lock_of_another_program_is_told(tmp_path, copied, monkeypatch):
    for module in (user_database, private_copies):
        monkeypatch.setattr(module, "_LOCK_MILLISECONDS", 10)
    path = write_database(tmp_path / "user.sqlite", SCRIPT)
    with held_by_another(path, "BEGIN EXCLUSIVE"):
        assert "is locked by another program" in error_of(path)
    assert counted(path) == 2


def test_a_change_that_was_never_finished_is_told(tmp_path, copied):
    path = tmp_path / "user.sqlite"
    write_database(tmp_path / "other.sqlite", SCRIPT)
    spilled = ("PRAGMA cache_size = 1", "BEGIN", "CREATE TABLE u AS SELECT hex(zeroblob(9000)) FROM t",
               "UPDATE t SET a = hex(zeroblob(9000))")  # fmt: skip
    with held_by_another(tmp_path / "other.sqlite", *spilled):
        for ending in ("", "-journal"):
            shutil.copy(tmp_path / f"other.sqlite{ending}", f"{path}{ending}")
    before = state_of(tmp_path)
    assert "in the middle of a change" in error_of(path)
    assert state_of(tmp_path) == before


def test_a_log_that_nobody_has_open_is_read_or_told_and_stays(tmp_path, copied):
    write_database(tmp_path / "other.sqlite", f"PRAGMA journal_mode = WAL; {SCRIPT}")
    (tmp_path / "user").mkdir()
    path = tmp_path / "user" / "user.sqlite"
    with held_by_another(tmp_path / "other.sqlite", "INSERT INTO t VALUES (3)"):
        for ending in ("", "-wal"):
            shutil.copy(tmp_path / f"other.sqlite{ending}", f"{path}{ending}")
    before = state_of(path.parent)
    if copied:
        assert counted(path) == 3
    else:
        assert "its last changes are in user.sqlite-wal only" in error_of(path)
    assert state_of(path.parent) == before and not (path.parent / "user.sqlite-shm").exists()


def test_a_database_in_wal_mode_at_rest_gets_no_files_beside_it(tmp_path, copied):
    path = write_database(tmp_path / "user.sqlite", f"PRAGMA journal_mode = WAL; {SCRIPT}")
    before = state_of(tmp_path)
    assert counted(path) == 2
    assert state_of(tmp_path) == before and [file.name for file in tmp_path.iterdir()] == ["user.sqlite"]


def test_what_another_program_wrote_to_the_log_is_read(tmp_path, copied):
    path = write_database(tmp_path / "user.sqlite", f"PRAGMA journal_mode = WAL; {SCRIPT}")
    with held_by_another(path, "INSERT INTO t VALUES (3)", "BEGIN IMMEDIATE", "INSERT INTO t VALUES (4)"):
        before = state_of(tmp_path)
        assert counted(path) == 3  # not what was not committed
        assert state_of(tmp_path) == before
    assert counted(path) == 3


def test_it_cannot_be_written_to(tmp_path, copied):
    path = write_database(tmp_path / "user.sqlite", SCRIPT)
    with closing(open_user_database(path)) as connection, pytest.raises(apsw.ReadOnlyError):
        connection.execute("DELETE FROM t")
    assert counted(path) == 2


def test_a_large_file_is_not_copied(tmp_path, monkeypatch):
    path = write_database(tmp_path / "user.sqlite", SCRIPT)
    os.truncate(path, 5_000_000_000 // 4096 * 4096)  # SQLite ignores what is behind its pages
    monkeypatch.setattr(user_database, "private_copy", lambda _: pytest.fail("it was copied"))
    assert counted(path) == 2

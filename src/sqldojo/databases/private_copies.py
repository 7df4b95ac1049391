"""Private copies of database files: what queries read instead of the user's own file.

A copy is one consistent state, also of a database that somebody is writing to. It is made once for each content, is
never written to again and belongs to this process, so it is opened without locks and nothing ever appears beside the
user's file. Worker processes keep small ones in memory.
"""

from __future__ import annotations

import atexit
import errno
import os
import shutil
import tempfile
import threading
import time
from collections import OrderedDict
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from pathlib import Path

import apsw

from sqldojo.databases.execution import (
    check_file,
    connect_read_only,
    connect_virtual_tables,
    open_read_only,
    unreadable,
    virtual_tables,
)
from sqldojo.files import file_sha256

_MOST_COPIES = 1_000
_MOST_IN_MEMORY, _MOST_BYTES_IN_MEMORY = 32, 4_000_000
_LOCK_MILLISECONDS = 1_000  # how long to wait for somebody else's commit
_TRIES = 5
# A file may change twice within one tick of the clock that stamps it; one that has rested for longer has not.
_TICK_NS = 50_000_000
_WAL_MODE = 2

Stamp = tuple[int, ...]


@dataclass(frozen=True)
class Copy:
    """A private copy: the file, the hash of its bytes, and the user's file that messages name."""

    path: Path
    sha256: str
    source: Path


_copies: OrderedDict[tuple[Path, Stamp], tuple[Copy, bool]] = OrderedDict()
_lock = threading.Lock()
_numbers = count(1)


def private_copy(path: Path) -> Copy:
    """The copy of a database file as it is now; UserError when it cannot be read as one.

    Made anew when size, time stamp or inode of the file or of its write-ahead log are others than before.
    """
    with _lock:
        now = time.time_ns()
        key = (path, _stamp(path))
        copy, trusted = _copies.get(key, (None, False))
        if copy is None or not trusted:
            copy = _make(path)
            _copies[key] = copy, _rested(key[1], now)
        _copies.move_to_end(key)
        while len(_copies) > _MOST_COPIES:
            _, (oldest, _) = _copies.popitem(last=False)
            if all(other.path != oldest.path for other, _ in _copies.values()):
                oldest.path.unlink(missing_ok=True)
        return copy


def open_copy(copy: Copy) -> apsw.Connection:
    """A connection to a copy, which takes no locks: nobody writes to it."""
    prepared = _prepared(str(copy.path), copy.sha256)
    connection = connect_read_only(prepared.address, in_memory=prepared.keeper is not None)
    connect_virtual_tables(connection, prepared.virtual_tables)
    return connection


@dataclass(frozen=True)
class _Prepared:
    """Where to open a copy; for one in memory, the connection that keeps it there."""

    address: str
    keeper: apsw.Connection | None
    virtual_tables: tuple[str, ...]


@lru_cache(maxsize=_MOST_IN_MEMORY)
def _prepared(path: str, sha256: str) -> _Prepared:
    address, keeper = f"{Path(path).as_uri()}?immutable=1", None
    with closing(connect_read_only(address)) as source:
        names = virtual_tables(source)
        if os.path.getsize(path) <= _MOST_BYTES_IN_MEMORY:
            address = f"file:/{sha256}"
            flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_URI
            keeper = apsw.Connection(address, flags=flags, vfs="memdb")
            _copy_pages(source, keeper)
    return _Prepared(address, keeper, names)


def temporary_folder() -> Path:
    """A folder of this process alone, removed when it exits."""
    return _temporary_folder(os.getpid())


@lru_cache(maxsize=1)
def _temporary_folder(process: int) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="sqldojo-"))
    atexit.register(_remove, folder, process)
    return folder


def _remove(folder: Path, process: int) -> None:
    if os.getpid() == process:  # not in a forked copy of it
        shutil.rmtree(folder, ignore_errors=True)


def _log_of(path: Path) -> Path:
    """The write-ahead log of a database, which SQLite keeps beside the file itself, not beside a link to it."""
    return Path(f"{os.path.realpath(path) if path.is_symlink() else path}-wal")


def _stamp(path: Path) -> Stamp:
    """What changes when the content does; shorter for a file that is not there."""
    stamp: Stamp = ()
    for file in (path, _log_of(path)):
        try:
            status = os.stat(file)
        except OSError:
            continue
        stamp += (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
    return stamp


def _rested(stamp: Stamp, now: int) -> bool:
    return all(now - changed > _TICK_NS for changed in stamp[3::4])


def _make(path: Path) -> Copy:
    check_file(path)
    partial = temporary_folder() / f"{next(_numbers)}.partial"
    try:
        if not (_is_in_wal_mode(path) and _copy_at_rest(path, partial)):
            with closing(open_read_only(path)) as source, closing(apsw.Connection(str(partial))) as target:
                source.set_busy_timeout(_LOCK_MILLISECONDS)
                target.execute("PRAGMA synchronous = OFF")
                _copy_pages(source, target)
        with closing(apsw.Connection(str(partial))) as target:  # what its log holds comes into the file itself
            target.execute("PRAGMA journal_mode = DELETE").fetchall()
    except apsw.FullError as error:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(partial)) from error
    except apsw.BusyError as error:  # while copying it says "not an error"
        raise unreadable(path, apsw.BusyError("database is locked")) from error
    except apsw.ReadOnlyError as error:
        raise unreadable(path, apsw.ReadOnlyError("its journal holds an unfinished change to be undone")) from error
    except apsw.Error as error:
        raise unreadable(path, error) from error
    sha256 = file_sha256(partial)
    final = partial.with_name(f"{sha256}.sqlite")
    if final.exists():  # of another file with the same content, or of this one before it was touched
        partial.unlink()
    else:
        os.replace(partial, final)
    return Copy(final, sha256, path)


def _copy_pages(source: apsw.Connection, target: apsw.Connection) -> None:
    """All pages of a database, as they are in one transaction."""
    with target.backup("main", source, "main") as backup:
        while not backup.done:
            backup.step(-1)


def _is_in_wal_mode(path: Path) -> bool:
    with path.open("rb") as file:
        return _WAL_MODE in file.read(20)[18:]


def _copy_at_rest(path: Path, target: Path) -> bool:
    """Copy a database and its log while nobody changes them; False when that does not happen.

    SQLite itself would write to its index of the log beside the user's file, even on a read-only connection.
    """
    log, target_log = _log_of(path), Path(f"{target}-wal")
    for _ in range(_TRIES):
        stamp, now = _stamp(path), time.time_ns()
        if _rested(stamp, now):
            shutil.copyfile(path, target)
            if log.exists():
                shutil.copyfile(log, target_log)
            if _stamp(path) == stamp:
                return True
            target_log.unlink(missing_ok=True)
        time.sleep(_TICK_NS / 1e9)
    target.unlink(missing_ok=True)
    return False


def _forget() -> None:
    """A forked copy of the process makes its own copies, since those of its parent vanish with it."""
    global _lock
    _copies.clear()
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_forget)

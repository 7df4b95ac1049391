"""Opening a database file that somebody else made: read-only, and with one clear error for each way it can be unfit.

A small file is read from a private copy, so that nobody ever waits for its readers. A large one is read where it lies,
whatever its size, and never changed. In WAL mode a reader normally leaves a shared index beside the file; one that
nobody has open is read as it stands instead (SQLite's `immutable`), so nothing appears there. Where somebody has it
open their index is used, as SQLite's own rules of locking want it.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

import apsw

from sqldojo.databases.execution import connect_read_only, say
from sqldojo.databases.private_copies import private_copy
from sqldojo.databases.schema import schema_of
from sqldojo.errors import UserError

MOST_BYTES_TO_COPY = 100_000_000  # on disk; larger files are read where they lie
MOST_BYTES_TO_CHECK = 50_000_000  # a page-by-page check of so many takes a fraction of a second
_LOCK_MILLISECONDS = 1_000  # how long to wait for somebody else's commit

_HEADER = b"SQLite format 3\0"
_WAL_MODE = 2
_KINDS = (  # how files begin that people have instead of a database
    (b"\x89PNG\r\n", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"%PDF", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive (or an office document)"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ\0", "an xz archive"),
    (b"PAR1", "a Parquet table"),
    (b"** This file contains an SQLite 2", "a database of SQLite 2"),
    (b"\0\1\0\0Standard ", "a database of Microsoft Access"),
    (b"version https://git-lfs", "a pointer of Git LFS and not the file itself (`git lfs pull` fetches it)"),
)


def open_user_database(path: Path) -> apsw.Connection:
    """A read-only connection to a user's SQLite file, after it was checked; the caller closes it.

    UserError, each with its own sentence, for a path that is missing, a directory, no plain file, not permitted, empty,
    of another kind, encrypted, cut off, damaged, locked, left in the middle of a change, or without a table or view.
    A large file may change between two reads, unless the caller begins a transaction; one in WAL mode that is opened
    by others meanwhile may even be misread, which `change_stamp` tells.
    """
    try:
        with ExitStack() as opened:
            connection = opened.enter_context(closing(connect_user_database(path)))
            _check_content(connection, path)
            opened.pop_all()
    except apsw.Error as error:
        raise cannot_read(path, error) from error
    return connection


def connect_user_database(path: Path) -> apsw.Connection:
    """As `open_user_database`, but the content is not looked at yet. May raise apsw.Error."""
    check_user_file(path)
    return connect_to(readable(path))


@dataclass(frozen=True)
class Readable:
    """Where a user's database can be read: a `file:` address.

    `changing` says that others may change it and `locked` that they then keep to its locks.
    """

    address: str
    changing: bool
    locked: bool


def readable(path: Path) -> Readable:
    """Where to read a user's database without leaving anything beside it; UserError where that is not possible."""
    if path.stat().st_size <= MOST_BYTES_TO_COPY:
        try:
            return Readable(f"{private_copy(path).path.as_uri()}?immutable=1", changing=False, locked=False)
        except UserError as error:  # which speaks of the files that the graph makes
            if isinstance(error.__cause__, apsw.Error):
                raise cannot_read(path, error.__cause__) from error.__cause__
            raise
    address = f"{path.resolve().as_uri()}?mode=ro"
    if not _is_in_wal_mode(path) or _beside(path, "-shm").exists():
        return Readable(address, changing=True, locked=True)
    log = _beside(path, "-wal")
    if log.exists() and log.stat().st_size:  # SQLite would have to make an index of it beside the file
        raise UserError(
            f"{path}: its last changes are in {log.name} only, and no program has it open; merge them with "
            f"`sqlite3 {path.name} 'PRAGMA wal_checkpoint(TRUNCATE)'`"
        )
    return Readable(f"{address}&immutable=1", changing=True, locked=False)


def connect_to(source: Readable) -> apsw.Connection:
    """A read-only connection. May raise apsw.Error."""
    connection = connect_read_only(source.address)
    connection.set_busy_timeout(_LOCK_MILLISECONDS)
    return connection


def check_user_file(path: Path) -> None:
    """UserError unless the path is a plain readable file that begins as a SQLite database and ends with a whole page.

    Looks at the first bytes alone; the rest is SQLite's to judge.
    """
    head, size = first_bytes(path)
    if not head.startswith(_HEADER):
        raise UserError(f"{path}: {_other_kind(head, size)}")
    page_bytes = int.from_bytes(head[16:18], "big")
    page_bytes = 65536 if page_bytes == 1 else page_bytes
    if len(head) < 100 or page_bytes < 512 or page_bytes & (page_bytes - 1):
        raise UserError(f"{path}: its header is damaged; put back a whole copy")
    if size % page_bytes:
        raise UserError(f"{path}: is cut off in the middle of a page of {page_bytes:,} bytes; put back a whole copy")


def first_bytes(path: Path) -> tuple[bytes, int]:
    """The first 4,096 bytes of a user's file and its size; UserError when there is no plain file that can be read."""
    try:
        status = os.stat(path)
        if stat.S_ISDIR(status.st_mode):
            raise UserError(f"{path}: is a directory; give a file in it")
        if not stat.S_ISREG(status.st_mode):
            raise UserError(f"{path}: is no plain file; give a SQLite database file")
        with path.open("rb") as file:
            head = file.read(4096)
    except OSError as error:
        raise _refused(path, error) from error
    if not head:
        raise UserError(f"{path}: is empty (0 bytes), so there is no database in it; give another file")
    return head, status.st_size


def is_sqlite_file(path: Path) -> bool:
    """Whether it begins as a SQLite database does; UserError when it cannot be read or is empty."""
    return first_bytes(path)[0].startswith(_HEADER)


def change_stamp(path: Path) -> tuple[int, ...]:
    """What is another when a database file or its write-ahead log was written to; shorter where one is not there."""
    stamp: tuple[int, ...] = ()
    for file in (path, _beside(path, "-wal")):
        try:
            status = os.stat(file)
        except OSError:
            continue
        stamp += (status.st_ino, status.st_size, status.st_mtime_ns)
    return stamp


def cannot_read(path: Path, error: apsw.Error) -> UserError:
    """The error for a user's file that SQLite cannot read, with the reason and what to do about it."""
    if isinstance(error, apsw.BusyError | apsw.LockedError):
        why = "is locked by another program; close that program, or wait until it has done its change"
    elif isinstance(error, apsw.NotADBError):
        why = "is damaged or encrypted, so it cannot be read as a SQLite database; decrypt it, or put back a whole copy"
    elif isinstance(error, apsw.CorruptError):
        said = "a part of it is missing" if say(error) == "not an error" else say(error)
        remedy = "put back a whole copy, or save what is left with `sqlite3 FILE .recover`"
        why = f"is damaged, or encrypted in part ({said}); {remedy}"
    elif isinstance(error, apsw.ReadOnlyError):
        why = (
            "was left in the middle of a change, which only its owner can undo; open it once with "
            "`sqlite3 FILE .tables` and try again"
        )
    elif isinstance(error, apsw.CantOpenError):
        why = f"cannot be opened ({say(error)}); look at the permissions of it, its folder and the files beside it"
    else:
        why = f"cannot be read as a SQLite database ({say(error)}); give another file"
    return UserError(f"{path}: {why}")


def _check_content(connection: apsw.Connection, path: Path) -> None:
    """UserError where there is no table or view, and for a damaged page of a file small enough to look at them all."""
    if not schema_of(connection):
        raise UserError(f"{path}: there is no table in it; give a database with at least one")
    if path.stat().st_size <= MOST_BYTES_TO_CHECK:
        try:
            damages = [text for (text,) in connection.execute("PRAGMA quick_check(100)") if text.startswith("***")]
        except apsw.SQLError:  # a CHECK or a virtual table needs what this build lacks; that is no damage
            return
        if damages:  # what does not begin so breaks a NOT NULL or a CHECK, and can be read
            first = damages[0].splitlines()[-1]
            raise cannot_read(path, apsw.CorruptError(first))


def _is_in_wal_mode(path: Path) -> bool:
    with path.open("rb") as file:
        return _WAL_MODE in file.read(20)[18:]


def _beside(path: Path, ending: str) -> Path:
    """A file that SQLite keeps beside the database itself, not beside a link to it."""
    return Path(f"{os.path.realpath(path)}{ending}")


def _refused(path: Path, error: OSError) -> UserError:
    if error.errno == errno.ENOENT:
        return UserError(f"{path}: there is no such file; look at the path")
    if error.errno in (errno.EACCES, errno.EPERM):
        return UserError(f"{path}: may not be read (permission denied); change its permissions, as with `chmod u+r`")
    return UserError(f"{path}: cannot be read ({error.strerror or error}); look at the path")


def _other_kind(head: bytes, size: int) -> str:
    """What a file is that does not begin as a SQLite database does."""
    for beginning, kind in _KINDS:
        if head.startswith(beginning):
            return f"is {kind}; give a SQLite database"
    if head[8:12] == b"DUCK":
        return "is a database of DuckDB; give one of SQLite"
    if _is_text(head):
        return "is a text file, such as CSV; give a SQLite database, or a SQL script that makes tables"
    if size % 512 == 0:
        return "begins as no SQLite database does, so it is encrypted or something else; decrypt it, or give another"
    return "is not a SQLite database; give another file"


def _is_text(head: bytes) -> bool:
    """Whether it is UTF-8 without control characters; its last character may be cut off."""
    if b"\0" in head:
        return False
    for end in range(len(head), max(0, len(head) - 4), -1):
        try:
            return all(letter.isprintable() or letter.isspace() for letter in head[:end].decode("utf-8-sig"))
        except UnicodeDecodeError:
            continue
    return False

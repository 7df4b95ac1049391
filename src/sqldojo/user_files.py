"""What users hand in and where they want the results: databases in several forms, folders that may be replaced."""

from __future__ import annotations

import gzip
import tempfile
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from sqldojo.databases.private_copies import private_copy
from sqldojo.databases.scripts import build_from_script
from sqldojo.errors import UserError

_SQLITE_HEADER, _GZIP_HEADER = b"SQLite format 3\0", b"\x1f\x8b"


@contextmanager
def as_database(path: Path) -> Iterator[Path]:
    """Yield a database file to read from: a copy of the SQLite file, or what the SQL script (perhaps gzipped) builds.

    UserError naming `path` when it is neither.
    """
    with path.open("rb") as file:
        header = file.read(len(_SQLITE_HEADER))
    if header == _SQLITE_HEADER:
        copy = private_copy(path)  # SQLite itself would write files beside one in WAL mode
        with _named(copy.path, path):
            yield copy.path
        return
    try:
        content = path.read_bytes()
        script = (gzip.decompress(content) if header.startswith(_GZIP_HEADER) else content).decode("utf-8-sig")
    except (UnicodeDecodeError, gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise UserError(f"{path}: neither a SQLite database nor a SQL script in UTF-8; give one of these") from error
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "source.sqlite"
        with _named(database, path):
            try:
                build_from_script(database, script)
            except UserError as error:
                raise UserError(f"{path}: {error}") from error
            yield database


@contextmanager
def _named(database: Path, path: Path) -> Iterator[None]:
    """Errors about a temporary database name the user's own file instead."""
    try:
        yield
    except UserError as error:
        raise UserError(str(error).replace(str(database), str(path))) from error


def check_replaceable(out: Path, parts: Collection[str], kind: str) -> None:
    """UserError unless `out` is new, empty, or a folder of nothing but `parts`, as an earlier `kind` is."""
    if out.is_dir():
        strange = sorted({path.name for path in out.iterdir()} - set(parts))
        if strange:
            raise UserError(f"{out}: holds {strange[0]}, which is no part of a {kind}; give a new folder with --out")
    elif out.exists():
        raise UserError(f"{out}: is a file; give a folder with --out")
    if out.name in ("", "..") or out.is_symlink():  # what is renamed to a folder's place takes its own name and no link
        raise UserError(f"{out}: cannot be replaced under that name; give the folder's own name with --out")
    above = next((parent for parent in out.parents if parent.exists()), None)
    if above is not None and not above.is_dir():
        raise UserError(f"{above}: is a file, so {out} cannot be in it; give a folder with --out")

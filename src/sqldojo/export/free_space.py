"""Whether the disk has room for a large file, asked before minutes are spent on it."""

from __future__ import annotations

import shutil
from pathlib import Path

from sqldojo.errors import UserError

_SPARE = 50_000_000  # bytes for everything small


def check_free_space(path: Path, size: int) -> None:
    """UserError when the disk that `path` will lie on has not `size` bytes and a little more left."""
    folder = next(parent for parent in (path.absolute(), *path.absolute().parents) if parent.is_dir())
    free = shutil.disk_usage(folder).free
    if free < size + _SPARE:
        raise UserError(
            f"{path}: needs {(size + _SPARE) / 1e6:,.0f} MB, and its disk has {free / 1e6:,.0f} MB left; make room, or "
            "export to another disk"
        )

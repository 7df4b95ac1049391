"""Reading and writing of artefacts: nothing half-written, the same bytes for the same content.

Files and folders are written beside their place under a temporary name and renamed when complete, so a crash or
a full disk leaves either the old artefact or none.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import shutil
import types
import typing
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from sqldojo.errors import UserError

Record = TypeVar("Record")


@contextmanager
def replacing_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; rename it to `path` when the block ends well, remove it otherwise."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.partial")
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def replacing_folder(path: Path) -> Iterator[Path]:
    """Yield an empty temporary folder beside `path`; put it in `path`'s place when the block ends well."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.partial")
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir()
    try:
        yield temporary
        shutil.rmtree(path, ignore_errors=True)
        os.replace(temporary, path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def write_text(path: Path, text: str) -> None:
    """Replace `path` by `text`, UTF-8 with LF line ends on every system."""
    with replacing_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Replace `path` by `content`: sorted keys, two spaces, ValueError for NaN and infinity."""
    write_text(path, json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n")


def to_line(record: Any) -> str:
    """The JSON line of a dataclass record: sorted keys, so equal records give equal bytes."""
    return json.dumps(dataclasses.asdict(record), sort_keys=True, ensure_ascii=False, allow_nan=False)


def write_records(path: Path, records: Iterable[Any]) -> None:
    """Replace `path` by one JSON line a record."""
    write_text(path, "".join(to_line(record) + "\n" for record in records))


def read_records(path: Path, record_type: type[Record]) -> list[Record]:
    """The records of a JSONL file; UserError naming file and line where one does not fit `record_type`."""
    records = []
    with path.open("rb") as lines:  # bytes, so that a line that is no text is named too
        for number, line in enumerate(lines, start=1):
            try:
                records.append(from_json(record_type, json.loads(line)))
            except (ValueError, TypeError, KeyError, AttributeError) as error:
                reason = f"unknown key {error}" if isinstance(error, KeyError) else error
                raise UserError(
                    f"{path}, line {number}: not a record of the kind {record_type.__name__} ({reason}); "
                    "rebuild it with `dvc repro` or restore it with `dvc checkout`"
                ) from error
    return records


def from_json(hint: Any, value: Any) -> Any:
    """`value` as decoded from JSON, turned into what the type hint says: dataclasses and tuples are rebuilt."""
    if dataclasses.is_dataclass(hint):
        hints = typing.get_type_hints(hint)
        return hint(**{name: from_json(hints[name], item) for name, item in value.items()})
    origin = typing.get_origin(hint)
    if origin is tuple:
        return tuple(from_json(typing.get_args(hint)[0], item) for item in value)
    if origin in (typing.Union, types.UnionType):
        if value is None:
            return None
        member = next(arm for arm in typing.get_args(hint) if arm is not type(None))
        return from_json(member, value) if dataclasses.is_dataclass(member) else value
    return value


def file_sha256(path: Path) -> str:
    """The SHA-256 of a file's bytes in hexadecimal, read in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

"""What every invented world must be: the same for a seed, sound, and full of what queries stumble over."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from instance_checks import assert_sound

from sqldojo.databases.execution import run_query
from sqldojo.databases.schema_model import Rows, read_schema
from sqldojo.files import file_sha256


def assert_bytes_follow_the_seed(write: Callable[[Path, int], None], folder: Path) -> None:
    """The same seed gives the same file, another one another."""
    hashes = []
    for number, seed in enumerate((17, 17, 18)):
        write(folder / f"{number}.sqlite", seed)
        hashes.append(file_sha256(folder / f"{number}.sqlite"))
    assert hashes[0] == hashes[1] != hashes[2]


def assert_keys_and_traps(
    write: Callable[[Path, int], None], rows: Callable[[int], Rows], traps: Mapping[str, str], seed: int, folder: Path
) -> None:
    """Every constraint holds, and each trap's query, which finds it, gives a row."""
    path = folder / "world.sqlite"
    write(path, seed)
    assert_sound(read_schema(path), rows(seed))
    assert [trap for trap, sql in traps.items() if not run_query(path, sql).rows] == []

"""The build of both families: the same bytes for the same params, other rows for another seed, nothing half-made."""

from __future__ import annotations

import dataclasses
import errno
import hashlib
import random
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import apsw
import pytest

from sqldojo import params as params_file
from sqldojo.databases import writing
from sqldojo.databases.adversarial import adversarial_rows
from sqldojo.databases.building import DatabaseParams, build_families, hand_made_rows
from sqldojo.databases.families import ADVERSARIAL, EVALUATION, FAMILIES, INSTANCES, ORDINARY, TRAIN, family_paths
from sqldojo.databases.ordinary import SHAPES, ordinary_rows
from sqldojo.databases.rows import ShopRows
from sqldojo.databases.schema_model import read_rows, read_schema
from sqldojo.databases.shop import SCHEMA, VOCABULARIES
from sqldojo.databases.writing import write_database
from sqldojo.errors import UserError
from sqldojo.files import file_sha256

from .conftest import PARAMS


def hashes(root: Path) -> dict[str, str]:
    return {path.relative_to(root).as_posix(): file_sha256(path) for path in sorted(root.rglob("*")) if path.is_file()}


def fingerprint(rows: ShopRows) -> str:
    return hashlib.sha256(repr(sorted(rows.tables.items())).encode()).hexdigest()[:16]


def test_the_folder_holds_four_instances_of_each_family_and_nothing_else(databases: Path) -> None:
    expected = {f"{family}/{instance}.sqlite" for family in FAMILIES for instance in INSTANCES}
    assert set(hashes(databases)) == expected
    assert [path.name for path in family_paths(databases, TRAIN)] == [f"{instance}.sqlite" for instance in INSTANCES]


def test_building_twice_gives_the_same_bytes(databases: Path, tmp_path: Path) -> None:
    build_families(tmp_path / "again", PARAMS)
    assert hashes(tmp_path / "again") == hashes(databases)


def test_rows_are_those_of_every_machine() -> None:
    """Known answers: whoever changes them changes every artefact after this stage, and should mean to."""
    vocabulary = VOCABULARIES[EVALUATION]
    ordinary = ordinary_rows(
        random.Random("17/a"), vocabulary, SHAPES["ordinary_3"], customers=60, products=60, orders=250
    )
    assert fingerprint(ordinary) == "ebfbf8e79937272b"
    assert fingerprint(adversarial_rows(random.Random("17/b"), vocabulary)) == "400080e78baec16c"


def test_the_ordinary_instances_alone_are_the_same_and_the_fourth_starts_from_the_hand_made_rows(
    databases: Path, tmp_path: Path
) -> None:
    build_families(tmp_path / "ordinary", PARAMS, ORDINARY)
    everything = hashes(databases)
    assert hashes(tmp_path / "ordinary") == {name: each for name, each in everything.items() if ADVERSARIAL not in name}
    (path,) = family_paths(databases, TRAIN, [ADVERSARIAL])
    rows = hand_made_rows(TRAIN, PARAMS.seed).tables
    assert read_rows(path, read_schema(path)) == rows


def test_another_seed_gives_other_data_everywhere(databases: Path, tmp_path: Path) -> None:
    build_families(tmp_path / "other", dataclasses.replace(PARAMS, seed=18))
    other = hashes(tmp_path / "other")
    assert [name for name, value in hashes(databases).items() if other[name] == value] == []


def test_no_two_files_are_equal(databases: Path) -> None:
    assert len(set(hashes(databases).values())) == len(FAMILIES) * len(INSTANCES)


def test_sizes_follow_the_params(databases: Path) -> None:
    counts = []
    for path in family_paths(databases, EVALUATION)[:3]:
        with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
            tables = ("customers", "products", "orders")
            counts.append(tuple(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables))
        assert path.stat().st_size < 300_000
    assert counts == [(36, 36, 150), (60, 60, 250 + 3), (96, 96, 400 + 3)]  # and a sale in each new country


@pytest.mark.parametrize("least", [True, False])
def test_the_limits_of_the_params_can_be_built(tmp_path: Path, least: bool) -> None:
    sizes = (30, 30, 50) if least else (1_000, 200, 5_000)
    build_families(tmp_path / "limits", DatabaseParams(1, *sizes))
    assert len(hashes(tmp_path / "limits")) == 8


@pytest.mark.parametrize(("key", "value"), [("customers", 1), ("products", 10_000), ("orders", 0)])
def test_a_size_out_of_range_is_an_error_that_names_the_key(tmp_path: Path, key: str, value: int) -> None:
    with pytest.raises(ValueError, match=f"^{key}: {value} is out of range; use "):
        dataclasses.replace(PARAMS, **{key: value})
    lines = [f"  {name}: {each}" for name, each in {**dataclasses.asdict(PARAMS), key: value}.items()]
    file = tmp_path / "params.yaml"
    file.write_text("\n".join(["databases:", *lines, ""]))
    with pytest.raises(UserError, match=rf"params.yaml: databases.{key}: {value} is out of range"):
        params_file.load(file, "databases", DatabaseParams)


def test_an_unknown_family_is_an_error() -> None:
    with pytest.raises(ValueError, match="unknown family 'test'"):
        family_paths(Path("data"), "test")


def test_rows_that_refer_to_nothing_are_refused(tmp_path: Path) -> None:
    tables = {"customers": [], "products": [], "orders": [(1, 99, "2020-01-01", "pending")], "order_items": []}
    with pytest.raises(ValueError, match="rows that refer to nothing"):
        write_database(tmp_path / "broken.sqlite", SCHEMA, tables)


def test_an_existing_file_is_not_written_into(tmp_path: Path) -> None:
    path = tmp_path / "there.sqlite"
    path.touch()
    with pytest.raises(ValueError, match="exists already"):
        write_database(path, SCHEMA, {})


def test_a_full_disk_is_the_systems_refusal(tmp_path, monkeypatch):
    def is_full(*_arguments):
        raise apsw.FullError("database or disk is full")

    monkeypatch.setattr(writing.apsw, "Connection", lambda _path: SimpleNamespace(execute=is_full, close=lambda: None))
    with pytest.raises(OSError, match=r"No space left on device: .*shop\.sqlite") as raised:
        writing.write_database(tmp_path / "shop.sqlite", {}, {})
    assert raised.value.errno == errno.ENOSPC

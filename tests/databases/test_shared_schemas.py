"""The schemas and rows of others, where the folder shared with other projects is at hand: 100 of Spider, two stores."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest
from instance_checks import SHARED, assert_sound, build_shared, stored_rows

from sqldojo.databases.generating import Shape, generate_rows
from sqldojo.databases.resampling import perturb, resample
from sqldojo.databases.schema_model import Rows, Schema, read_rows, read_schema

pytestmark = pytest.mark.skipif(not SHARED.is_dir(), reason="no ../shared beside this repository")
MESSY = Shape(rows=12, nulls=0.3, repeats=0.6, childless=0.4, skew=0.7, dangling=0.3, twins=0.4)


@pytest.fixture(scope="module")
def spider(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Schema, Rows]]:
    folder = tmp_path_factory.mktemp("spider")
    scripts = sorted((SHARED / "spider" / "databases").glob("*.sql.gz"))
    paths = [build_shared(folder, f"spider/databases/{script.name.removesuffix('.sql.gz')}") for script in scripts]
    schemas = {path.stem: read_schema(path) for path in paths}
    return {path.stem: (schemas[path.stem], read_rows(path, schemas[path.stem])) for path in paths}


@pytest.fixture(scope="module", params=["chinook/chinook", "sakila/sakila"])
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Schema, Rows]:
    path: Path = build_shared(tmp_path_factory.mktemp("store"), request.param)
    schema = read_schema(path)
    return schema, read_rows(path, schema)


def test_every_row_is_read(spider: dict[str, tuple[Schema, Rows]]) -> None:
    assert len(spider) == 100
    for schema, rows in spider.values():
        assert_sound(schema, rows)


def test_generated_rows_hold_every_constraint(spider: dict[str, tuple[Schema, Rows]]) -> None:
    for name, (schema, _) in spider.items():
        rows = generate_rows(schema, random.Random(name), MESSY, {})
        assert_sound(schema, rows)
        assert all(rows.values()), name


def test_resampled_rows_hold_every_constraint_and_differ(spider: dict[str, tuple[Schema, Rows]]) -> None:
    for name, (schema, rows) in spider.items():
        rng = random.Random(name)
        instances = [perturb(schema, resample(schema, rows, rng, 40, {}), rng, 0.3) for _ in range(2)]
        for instance in instances:
            assert_sound(schema, instance)
            assert all(instance.values()), name
        assert instances[0] != instances[1], name
        assert instances[0] != rows, name


def test_a_store_is_resampled_quickly_and_stays_joined(store: tuple[Schema, Rows]) -> None:
    schema, rows = store
    assert sum(map(len, rows.values())) > 15_000
    started = time.process_time()
    sample = resample(schema, rows, random.Random(3), 100, {})
    seconds = time.process_time() - started
    assert seconds < 3
    assert stored_rows(schema, sample)[1] == []
    assert all(len(found) <= 2 * 100 for found in sample.values())
    for table in schema.tables:
        assert set(sample[table.name]) <= set(rows[table.name])


def test_generating_for_a_store_takes_milliseconds(store: tuple[Schema, Rows]) -> None:
    schema, _ = store
    started = time.process_time()
    instances = [generate_rows(schema, random.Random(seed), MESSY, {}) for seed in range(20)]
    assert (time.process_time() - started) / len(instances) < 0.05
    for instance in instances:
        assert_sound(schema, instance)

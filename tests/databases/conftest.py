"""Both families of databases, built once for all tests of this folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from sqldojo.databases.building import DatabaseParams, build_families

PARAMS = DatabaseParams(seed=17, customers=60, products=60, orders=250)


@pytest.fixture(scope="session")
def databases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that build_families makes of PARAMS."""
    root = tmp_path_factory.mktemp("data") / "databases"
    build_families(root, PARAMS)
    return root

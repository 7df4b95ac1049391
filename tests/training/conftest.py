"""Runs before the test modules here, which import mlx: sqldojo.training comes first, to put a fast BLAS under it."""

from pathlib import Path

import pytest
from tiny_policy import write_databases, write_model

import sqldojo.training  # noqa: F401
from sqldojo.training.policy_model import PolicyModel, load_policy_model


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tiny_model")
    write_model(folder)
    return folder


@pytest.fixture(scope="session")
def policy(tiny_folder: Path) -> PolicyModel:
    """The tiny model without an adapter; not to be changed by a test."""
    return load_policy_model(tiny_folder)


@pytest.fixture(scope="session")
def databases(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ...]:
    return write_databases(tmp_path_factory.mktemp("people"))

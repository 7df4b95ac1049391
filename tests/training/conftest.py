"""Runs before the test modules here, which import mlx, so that it is imported as tests need it."""

from pathlib import Path

import cpu_first  # noqa: F401

# isort: split
import pytest
from tiny_policy import write_databases, write_model

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

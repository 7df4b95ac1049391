"""The tiny model with an adapter, fused, and written as GGUF; tests of llama.cpp are skipped without the extra."""

import importlib.util
from pathlib import Path

import cpu_first  # noqa: F401

# isort: split
import pytest
from tiny_policy import with_adapter, write_databases, write_model

from sqldojo.export.fuse import write_fused_folder
from sqldojo.export.gguf_file import write_gguf
from sqldojo.training.policy_model import LoraParams, PolicyModel, load_policy_model, save_adapter

EXTRA = ("gguf", "llama_cpp_py_sync")


@pytest.fixture(scope="session")
def extra() -> None:
    missing = [name for name in EXTRA if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"needs the extra `export` ({', '.join(missing)})")


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tiny") / "base"
    write_model(folder)
    return folder


@pytest.fixture(scope="session")
def adapted(base: Path) -> PolicyModel:
    """The tiny model with a random adapter; not to be changed by a test."""
    return with_adapter(base)


@pytest.fixture(scope="session")
def adapter(adapted: PolicyModel, base: Path) -> Path:
    folder = base.parent / "adapter"
    save_adapter(folder, adapted.model, LoraParams(4, 2.0), {"seed": 3})
    return folder


@pytest.fixture(scope="session")
def fused(base: Path, adapter: Path) -> Path:
    folder = base.parent / "fused"
    write_fused_folder(base, adapter, folder)
    return folder


@pytest.fixture(scope="session")
def policy(fused: Path) -> PolicyModel:
    """The fused model under MLX; not to be changed by a test."""
    return load_policy_model(fused)


@pytest.fixture(scope="session")
def bf16(extra: None, fused: Path) -> Path:
    path = fused.parent / "tiny-BF16.gguf"
    write_gguf(fused, path, "tiny")
    return path


@pytest.fixture(scope="session")
def databases(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ...]:
    return write_databases(tmp_path_factory.mktemp("people"))

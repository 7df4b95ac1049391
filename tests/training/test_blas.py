"""The fast BLAS is really the one that mlx calls, and its absence is told."""

import importlib.metadata
import platform
import subprocess
import sys

import pytest

from sqldojo.training import blas

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only Linux needs another BLAS")


def has_mkl() -> bool:
    try:
        return bool(importlib.metadata.version("mkl"))
    except importlib.metadata.PackageNotFoundError:
        return False


def run_python(code: str) -> subprocess.CompletedProcess[str]:
    """`code` in a fresh interpreter with this one's import path."""
    start = f"import sys; sys.path[:] = {sys.path!r}\n"
    return subprocess.run([sys.executable, "-c", start + code], capture_output=True, text=True, timeout=60)


@LINUX
@pytest.mark.skipif(not has_mkl(), reason="needs the package mkl")
def test_mlx_multiplies_with_mkl() -> None:
    # MKL loads its core library at the first call of one of its functions, so the product below must have reached it
    code = """
import sqldojo.training.blas
import mlx.core as mx
maps = lambda: "libmkl_core" in open("/proc/self/maps").read()
before = maps()
a = mx.ones((64, 64))
total = mx.sum(a @ a).item()
print(before, maps(), total)
"""
    done = run_python(code)
    assert done.stdout.split() == ["False", "True", str(64.0**3)], done.stderr


@LINUX
def test_importing_mlx_first_is_our_fault() -> None:
    done = run_python("import mlx.core\nimport sqldojo.training")
    assert done.returncode == 1
    assert "RuntimeError: mlx was imported before sqldojo.training" in done.stderr


@LINUX
def test_the_reference_blas_alone_gives_a_warning_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "mlx.core", raising=False)
    monkeypatch.setattr(blas, "candidates", lambda: iter(()))
    with pytest.warns(RuntimeWarning) as warned:
        assert blas.use_fast_blas.__wrapped__() is None
    assert [str(warning.message).count(blas.remedy(platform.machine())) for warning in warned] == [1]


def test_the_remedy_fits_the_processor() -> None:
    assert blas.remedy("x86_64") == "run `pip install mkl`"
    assert "libopenblas" in blas.remedy("aarch64")


@LINUX
def test_a_library_without_blas_is_passed_over() -> None:
    assert not blas.offers_blas("libc.so.6")
    assert not blas.offers_blas("libno_such_library.so.1")


@LINUX
def test_the_system_library_is_the_last_resort() -> None:
    assert list(blas.candidates())[-1] == "libopenblas.so.0"


def test_other_systems_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert blas.use_fast_blas.__wrapped__() is None

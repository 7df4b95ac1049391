"""A fast BLAS under mlx on Linux, loaded before mlx is.

The Linux wheel of mlx links a reference BLAS (8 GFLOP/s on two cores). The dynamic linker takes the first library that
offers `cblas_sgemm`, so one loaded with RTLD_GLOBAL before mlx replaces it, and nothing else changes (220 GFLOP/s with
MKL). On a Mac mlx uses Accelerate and Metal: nothing to do there.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.metadata
import platform
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

# Distributions and the library to look for in each. scipy-openblas and NumPy's own copy are of no use: they prefix
# their symbols.
DISTRIBUTIONS = (("mkl", "libmkl_rt.so"), ("cmeel-openblas", "libopenblas.so.0"))
SYSTEM_LIBRARY = "libopenblas.so.0"


@functools.cache
def use_fast_blas() -> str | None:
    """Load a fast BLAS for mlx; the name of its library, or None where mlx keeps its own (macOS, or none is installed).

    The work is done once a process. Warns with the remedy when Linux has only the reference BLAS.
    RuntimeError when mlx is imported already: it is linked by then, and everything would run some twenty times slower.
    """
    if sys.platform != "linux":
        return None
    if "mlx.core" in sys.modules:
        raise RuntimeError("mlx was imported before sqldojo.training, too late for a fast BLAS; swap the two imports")
    for library in candidates():
        if offers_blas(library):
            return Path(library).name
    message = f"mlx has only a slow reference BLAS here; {remedy(platform.machine())}"
    warnings.warn(message, RuntimeWarning, stacklevel=2)
    return None


def candidates() -> Iterator[str]:
    """Libraries to try, best first: those of installed distributions (found inside a venv too), then the system's."""
    for distribution, prefix in DISTRIBUTIONS:
        try:
            files = importlib.metadata.files(distribution) or []
        except importlib.metadata.PackageNotFoundError:
            continue
        yield from sorted(str(Path(file.locate()).resolve()) for file in files if file.name.startswith(prefix))
    yield SYSTEM_LIBRARY


def offers_blas(library: str) -> bool:
    """Load `library` for every later one to use; False when it cannot be loaded or has no plain `cblas_sgemm`."""
    try:
        return hasattr(ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL), "cblas_sgemm")
    except OSError:  # absent, or itself lacking a library (cmeel-openblas wants the system's libgfortran)
        return False


def remedy(machine: str) -> str:
    """What to install for a fast BLAS on this kind of processor; Intel publishes MKL for x86-64 only."""
    if machine in ("x86_64", "AMD64"):
        return "run `pip install mkl`"
    return "install OpenBLAS with the system's package manager (Debian, Ubuntu: `apt install libopenblas0`)"

"""Smaller files from the one in BF16, by llama.cpp itself: through its library, or through its program on the PATH."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from sqldojo.errors import UserError
from sqldojo.export.free_space import check_free_space
from sqldojo.export.gguf_file import EXTRA_REMEDY
from sqldojo.export.llama_library import is_installed, llama_library
from sqldojo.files import replacing_file

PROGRAM = "llama-quantize"
BF16 = "bf16"
# llama.cpp's types that need no measured importance of weights, most bits first.
KINDS = ("q8_0", "q6_k", "q5_k_m", "q5_k_s", "q5_1", "q5_0", "q4_k_m", "q4_k_s", "q4_1", "q4_0", "q3_k_m")


def check_kind(kind: str, where: str) -> None:
    """UserError, starting with `where`, for a type that llama.cpp does not make, or not well without data."""
    if kind not in KINDS:
        raise UserError(f"{where}: no such type of weights: {kind!r}; choose of {', '.join(KINDS)}")


def quantise(source: Path, path: Path, kind: str) -> None:
    """Write `source`, a GGUF file in BF16, to `path` with weights of this kind, one of KINDS.

    A row whose length is no multiple of 256 cannot be stored as a k-type; llama.cpp gives it a type of 32-blocks with
    more bits. UserError when llama.cpp is not there or refuses, or when the disk has no room.
    """
    check_kind(kind, "--quantise")
    check_free_space(path, source.stat().st_size)  # of the source, which bounds the result
    with replacing_file(path) as temporary:
        if is_installed():
            _by_library(source, temporary, kind)
        elif program := shutil.which(PROGRAM):
            _by_program(program, source, temporary, kind)
        else:
            raise UserError(f"neither llama.cpp's library nor {PROGRAM} is here; {EXTRA_REMEDY}, or llama.cpp itself")


def _by_library(source: Path, path: Path, kind: str) -> None:
    library = llama_library()
    library.complaints.clear()
    params = library.lib.llama_model_quantize_default_params()
    params.nthread = os.cpu_count() or 1
    params.ftype = getattr(library.lib, f"LLAMA_FTYPE_MOSTLY_{kind.upper()}")
    pointer = library.ffi.new("llama_model_quantize_params *", params)
    status = library.lib.llama_model_quantize(os.fsencode(source), os.fsencode(path), pointer)
    if status != 0 or not path.is_file():
        raise UserError(f"{source}: llama.cpp cannot make {kind} of it ({library.last_complaint()}); {_REMEDY}")


def _by_program(program: str, source: Path, path: Path, kind: str) -> None:
    command = [program, str(source), str(path), kind.upper(), str(os.cpu_count() or 1)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    if done.returncode != 0 or not path.is_file():
        lines = (done.stderr or done.stdout).strip().splitlines() or ["it says no more"]
        raise UserError(f"{source}: {program} cannot make {kind} of it ({lines[-1]}); {_REMEDY}")


_REMEDY = "make room on the disk, or export again"

"""A library for a newer glibc is given the old names of what C23 renamed, and nothing else of it changes."""

from __future__ import annotations

import ctypes
import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sqldojo.export.older_glibc import NotPortable, portable, system_glibc, write_portable_copies

GLIBC = system_glibc()
ON_LINUX = pytest.mark.skipif(GLIBC is None, reason="needs a Linux with glibc")


@pytest.fixture
def llama(extra: None) -> Path:
    folder = Path(importlib.util.find_spec("llama_cpp_py_sync").origin).parent
    if not (folder / "libllama.so").is_file():
        pytest.skip("needs the Linux wheel of llama-cpp-py-sync")
    return folder


def test_the_version_is_that_of_the_system() -> None:
    if sys.platform == "linux" and GLIBC is not None:
        assert GLIBC >= (2, 17)
        shown = subprocess.run(["ldd", "--version"], capture_output=True, text=True).stdout
        assert ".".join(map(str, GLIBC)) in shown.splitlines()[0]
    else:
        assert GLIBC is None


def test_few_bytes_change_and_only_in_the_tables(llama: Path) -> None:
    before = (llama / "libllama.so").read_bytes()
    after = portable(before, (2, 36))
    assert len(after) == len(before)
    changed = sum(one != other for one, other in zip(before, after, strict=True))
    assert 0 < changed < 100
    assert portable(after, (2, 36)) == after == portable(before, (2, 37))  # once more changes nothing
    assert portable(before, (99, 0)) == before


def test_what_an_older_one_has_not_is_refused(llama: Path) -> None:
    with pytest.raises(NotPortable, match=r"it needs .* of a newer glibc"):
        portable((llama / "libllama.so").read_bytes(), (2, 17))


@pytest.mark.parametrize("content", [b"", b"\x7fELF", b"#!/bin/sh\n" * 20, b"\x7fELF\x02\x01" + b"\xff" * 200])
def test_what_is_no_library_is_refused(content: bytes) -> None:
    with pytest.raises(NotPortable, match="not a shared library of this kind"):
        portable(content, (2, 36))


@ON_LINUX
def test_a_copy_still_computes(tmp_path: Path) -> None:
    """A library that calls strtol by its new name, made here: its copy finds the old one and reads numbers with it."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("needs a C compiler")
    (tmp_path / "built").mkdir()
    (tmp_path / "copied").mkdir()
    # As a newer header declares it; a stand-in for a newer glibc gives it the version that such a one would.
    (tmp_path / "libc.c").write_text("long __isoc23_strtol(const char *t, char **e, int b) { return -1; }")
    (tmp_path / "versions").write_text("GLIBC_2.98 { global: __isoc23_strtol; local: *; };")
    (tmp_path / "reads.c").write_text(
        "long __isoc23_strtol(const char *, char **, int);\n"
        "long read_number(const char *text) { return __isoc23_strtol(text, 0, 10); }\n"
    )
    stub = tmp_path / "libstub.so"
    options = [compiler, "-shared", "-fPIC"]
    subprocess.run([*options, "-o", stub, tmp_path / "libc.c", f"-Wl,--version-script={tmp_path / 'versions'}",
                    "-Wl,-soname,libc.so.6"], check=True)  # fmt: skip
    built = tmp_path / "built/libreads.so"
    subprocess.run([*options, "-nostdlib", "-o", built, tmp_path / "reads.c", stub], check=True)
    with pytest.raises(OSError, match=r"GLIBC_2\.98"):
        ctypes.CDLL(str(built))
    write_portable_copies(tmp_path / "built", tmp_path / "copied", GLIBC)
    copy = ctypes.CDLL(str(tmp_path / "copied/libreads.so"))
    copy.read_number.restype = ctypes.c_long
    assert copy.read_number(b"1984") == 1984

"""libllama, the library of llama.cpp, from the optional package llama-cpp-py-sync.

The package's own cffi declarations come from the headers of the very build that it ships, so structures have the right
layout whatever version is installed. Only what llama.h declares is used.
"""

from __future__ import annotations

import functools
import importlib.util
import tempfile
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqldojo.errors import UserError
from sqldojo.export.gguf_file import EXTRA_REMEDY
from sqldojo.export.older_glibc import NotPortable, system_glibc, write_portable_copies

_KEPT_LINES = 20
_PROGRAM_REMEDY = "on this system use llama.cpp's own programs: convert the fused folder with convert_hf_to_gguf.py"


@dataclass(frozen=True)
class Library:
    """The loaded library `lib` with its cffi interface; `complaints` holds its latest warnings and errors."""

    ffi: Any
    lib: Any
    complaints: deque[str] = field(default_factory=lambda: deque(maxlen=_KEPT_LINES))

    def last_complaint(self) -> str:
        """The latest warning or error in one line, for messages."""
        return self.complaints[-1] if self.complaints else "it says no more"


@functools.cache
def llama_library() -> Library:
    """The library, loaded once a process and silent from then on; UserError when it is absent or does not load."""
    try:
        from llama_cpp_py_sync._cffi_bindings import get_ffi, get_lib
    except ModuleNotFoundError as error:
        raise UserError(f"llama.cpp's library is not installed; {EXTRA_REMEDY}") from error
    try:
        library = Library(get_ffi(), get_lib())
    except RuntimeError as error:  # how the package says that the system cannot load its library
        library = Library(get_ffi(), _on_an_older_system(get_ffi(), error))
    library.lib.llama_log_set(_listener(library), library.ffi.NULL)
    library.lib.llama_backend_init()
    return library


def _on_an_older_system(ffi: Any, error: RuntimeError) -> Any:
    """The library from a copy for this system's glibc; UserError with the first error where that does not help."""
    spec, glibc = importlib.util.find_spec("llama_cpp_py_sync"), system_glibc()
    complaint = f"llama.cpp's library cannot be loaded ({error}); {_PROGRAM_REMEDY}"
    if glibc is None or spec is None or spec.origin is None:
        raise UserError(complaint) from error
    with tempfile.TemporaryDirectory() as folder:  # what is loaded stays so when its files are gone
        try:
            write_portable_copies(Path(spec.origin).parent, Path(folder), glibc)
            return ffi.dlopen(str(Path(folder) / "libllama.so"))
        except (NotPortable, OSError) as second:
            raise UserError(complaint) from second


def is_installed() -> bool:
    """Whether libllama can be used here."""
    try:
        llama_library()
    except UserError:
        return False
    return True


def _listener(library: Library) -> Any:
    ffi, worth_keeping = library.ffi, (library.lib.GGML_LOG_LEVEL_WARN, library.lib.GGML_LOG_LEVEL_ERROR)

    def listen(level: int, text: Any, _: Any) -> None:
        if level in worth_keeping and text != ffi.NULL:
            library.complaints.append(ffi.string(text).decode("utf-8", errors="replace").strip())

    listener = ffi.callback("void(enum ggml_log_level, const char *, void *)", listen)
    _LISTENERS.append(listener)  # the library goes on calling it, so it must not be collected
    return listener


_LISTENERS: list[Any] = []

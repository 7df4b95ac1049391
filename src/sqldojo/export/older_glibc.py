"""Shared libraries on a Linux that is older than the one they were built on.

The Linux wheel of llama-cpp-py-sync asks for glibc 2.38, though of all that this version brought it needs nothing but
strtol and its kin, which newer headers call by the names of C23: `__isoc23_strtol` for `strtol`. The new ones also read
binary numbers (0b1), of which llama.cpp has none to read; otherwise they are the same. Debian 12 and Ubuntu 22.04 have
them under the old names. So there a copy is loaded whose symbol tables say `strtol`; the code stays as it was built.

The format is that of the System V ABI, with the GNU version sections of the Linux Standard Base (chapter "Symbol
Versioning"); 64 bits, little-endian.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from pathlib import Path

_NEW_NAME = b"__isoc23_"
_DYNAMIC_SYMBOLS, _VERSIONS_NEEDED, _VERSIONS_OF_SYMBOLS = 11, 0x6FFFFFFE, 0x6FFFFFFF  # types of sections
_WEAK = 2  # a version that may be missing
_UNVERSIONED = 1
_HEADER, _SECTION, _SYMBOL = struct.Struct("<16sHHIQQQIHHHHHH"), struct.Struct("<IIQQQQIIQQ"), struct.Struct("<IBBHQQ")
_NEED, _AUXILIARY = struct.Struct("<HHIII"), struct.Struct("<IHHII")


class NotPortable(ValueError):
    """A library that needs more of a newer glibc than the names of C23."""


def system_glibc() -> tuple[int, int] | None:
    """The version of this system's glibc; None where there is another C library."""
    try:
        name, _, version = (os.confstr("CS_GNU_LIBC_VERSION") or "").partition(" ")
    except (AttributeError, ValueError, OSError):
        return None
    return _version(version) if name == "glibc" else None


def write_portable_copies(libraries: Path, folder: Path, glibc: tuple[int, int]) -> None:
    """Write the shared libraries of one folder into another so that a glibc of this version loads them.

    NotPortable when one of them needs more than that.
    """
    for path in sorted(libraries.iterdir()):
        if ".so" in path.suffixes and path.is_file():
            (folder / path.name).write_bytes(portable(path.read_bytes(), glibc))


def portable(content: bytes, glibc: tuple[int, int]) -> bytes:
    """A shared library's content with the old names for what C23 renamed in a newer glibc than this; or NotPortable."""
    data = bytearray(content)
    try:
        newer = dict(_newer_versions(data, glibc))
        if newer:
            _rename(data, set(newer))
    except NotPortable:
        raise
    except (struct.error, IndexError, ValueError, OverflowError) as error:
        raise NotPortable(f"not a shared library of this kind ({error})") from error
    for place, flags in newer.values():
        struct.pack_into("<H", data, place, flags | _WEAK)
    return bytes(data)


def _newer_versions(data: bytearray, glibc: tuple[int, int]) -> Iterator[tuple[int, tuple[int, int]]]:
    """For each version of glibc that is needed and newer: its index, with the place of its flags and these."""
    for _, _, _, _, offset, _, link, count, _, _ in _sections(data, _VERSIONS_NEEDED):
        texts = _section(data, link)[4]
        for _ in range(count):
            _, entries, _, first, next_need = _NEED.unpack_from(data, offset)
            place = offset + first
            for _ in range(entries):
                _, flags, index, name, next_entry = _AUXILIARY.unpack_from(data, place)
                version = _text(data, texts + name)
                if version.startswith(b"GLIBC_2.") and _version(version[len("GLIBC_") :].decode()) > glibc:
                    yield index, (place + 4, flags)
                place += next_entry
            offset += next_need


def _rename(data: bytearray, versions: set[int]) -> None:
    """Let every symbol that is needed in one of these versions go by its old name, in any version."""
    (symbols,), (of_symbols,) = _sections(data, _DYNAMIC_SYMBOLS), _sections(data, _VERSIONS_OF_SYMBOLS)
    texts = _section(data, symbols[6])[4]
    for number in range(symbols[5] // _SYMBOL.size):
        own_version = of_symbols[4] + 2 * number
        (version,) = struct.unpack_from("<H", data, own_version)
        if version & 0x7FFF not in versions:
            continue
        place = symbols[4] + number * _SYMBOL.size
        name, *rest = _SYMBOL.unpack_from(data, place)
        text = _text(data, texts + name)
        if not text.startswith(_NEW_NAME):
            raise NotPortable(f"it needs {text.decode(errors='replace')} of a newer glibc")
        _SYMBOL.pack_into(data, place, name + len(_NEW_NAME), *rest)  # the old name is the new one's end
        struct.pack_into("<H", data, own_version, _UNVERSIONED)


def _sections(data: bytearray, kind: int) -> list[tuple[int, ...]]:
    header = _HEADER.unpack_from(data, 0)
    if header[0][:6] != b"\x7fELF\x02\x01":
        raise ValueError("no 64-bit little-endian ELF file")
    return [found for number in range(header[12]) if (found := _section(data, number))[1] == kind]


def _section(data: bytearray, number: int) -> tuple[int, ...]:
    header = _HEADER.unpack_from(data, 0)
    return _SECTION.unpack_from(data, header[6] + number * header[11])


def _text(data: bytearray, place: int) -> bytes:
    return bytes(data[place : data.index(0, place)])


def _version(text: str) -> tuple[int, int]:
    major, minor, *_ = (int(part) for part in text.split("."))
    return major, minor

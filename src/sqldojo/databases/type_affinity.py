"""What SQLite makes of a declared type and of a value that goes into a column of that type.

Rows that are made outside SQLite must be the rows that SQLite would hold: a 5 in a REAL column is 5.0, the text '5' in
an INTEGER column is 5 (https://www.sqlite.org/datatype3.html, section 3).
"""

from __future__ import annotations

import re
import string

Value = None | int | float | str | bytes

INTEGER, REAL, TEXT, NUMERIC, BLOB = "INTEGER", "REAL", "TEXT", "NUMERIC", "BLOB"

_ASCII_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
_NUMBER = re.compile(r"[ \t\n\v\f\r]*[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?[ \t\n\v\f\r]*", re.ASCII | re.IGNORECASE)
_LARGEST = 2**63 - 1


def fold(name: str) -> str:
    """The name as SQLite compares names: without regard to the case of ASCII letters, and only of these."""
    return name.translate(_ASCII_LOWER)


def affinity(declared: str, *, strict: bool = False) -> str:
    """The affinity of a declared type. ANY converts nothing in a STRICT table, which is what BLOB means here."""
    kind = fold(declared)
    if "int" in kind:
        return INTEGER
    if any(word in kind for word in ("char", "clob", "text")):
        return TEXT
    if "blob" in kind or not kind or (strict and kind == "any"):
        return BLOB
    return REAL if any(word in kind for word in ("real", "floa", "doub")) else NUMERIC


def stored(value: Value, kind: str) -> Value:
    """The value as a column of affinity `kind` holds it; unchanged where SQLite converts nothing."""
    if value is None or isinstance(value, bytes) or kind == BLOB:
        return value
    if kind == TEXT:
        return value if isinstance(value, str) else _as_text(value)
    number = _number(value) if isinstance(value, str) else value
    if number is None:
        return value
    if kind == REAL:
        return float(number)
    if isinstance(number, float) and number.is_integer() and abs(number) < _LARGEST:
        return int(number)
    return number


def _number(text: str) -> int | float | None:
    if not _NUMBER.fullmatch(text):
        return None
    number = float(text)
    if text.strip().lstrip("+-").isdecimal() and -_LARGEST - 1 <= int(text) <= _LARGEST:
        return int(text)
    return number


def _as_text(number: int | float) -> str:
    """A number as text, with a point in every REAL. The 17th digit, if there is one, depends on SQLite's version."""
    if isinstance(number, int):
        return str(number)
    text = f"{number:.1f}" if 1e16 <= abs(number) < 1e17 else repr(number)
    if "inf" in text:
        return text.title()
    digits, _, exponent = text.partition("e")
    digits = digits if "." in digits else f"{digits}.0"
    return f"{digits}e{exponent}" if exponent else digits

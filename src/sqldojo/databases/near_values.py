"""Texts that look like a value that a question names and are other values.

`=` tells them apart; LIKE, LOWER, a search for part of the text or a range of texts do not.
"""

from __future__ import annotations


def spelt_otherwise(value: str) -> tuple[str, str, str]:
    """The value in capitals, which sort before it, in small letters, which sort after it, and with a word more.

    One that is in small letters itself comes with a capital in front instead: only the word more sorts after it.
    """
    return value.upper(), value.capitalize() if value == value.lower() else value.lower(), f"{value} (old)"

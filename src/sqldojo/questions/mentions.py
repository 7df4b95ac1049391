"""Where a question says a value of its query: the word itself in any letter case, a number also in words."""

from __future__ import annotations

import re

Span = tuple[int, int]  # the first letter and the one after the last

_WORDS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
)  # fmt: skip
LARGEST_WORD = len(_WORDS) - 1
# Not the parts of a date, a time, a decimal number or a name such as 3rd or B-52.
_NUMBER = re.compile(rf"(?<![\w.,:/-])(?:\d+(?:,\d{{3}})*(?:\.\d+)?|{'|'.join(_WORDS)})(?!\w|[.,:/-]\w)", re.IGNORECASE)


def mentions(text: str, value: str | int | float) -> list[Span]:
    """Every place of `text` that says `value`, in order.

    A single letter counts where it is a capital or in quotes, since "a" is an article.
    """
    if not isinstance(value, str):
        return [match.span() for match in _NUMBER.finditer(text) if _number(match[0]) == value]
    if not value.strip():
        return []
    letter = len(value) == 1 and value.isalpha()
    found = re.finditer(rf"(?<!\w){re.escape(value)}(?!\w)", text, re.IGNORECASE)
    return [match.span() for match in found if not letter or match[0].isupper() or _in_quotes(text, match.span())]


def _number(word: str) -> float:
    return float(_WORDS.index(word.lower()) if word.isalpha() else word.replace(",", ""))


def _in_quotes(text: str, span: Span) -> bool:
    before, after = text[: span[0]][-1:], text[span[1] :][:1]
    return bool(before and after) and before in "'\"`‘“" and after in "'\"`’”"

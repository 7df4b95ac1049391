"""A bug as changes of a text: what they do not touch stays as the user wrote it, and two bugs go into one query."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from sqldojo.repair.sql_tokens import Token, tokens


@dataclass(frozen=True, order=True)
class TextEdit:
    """Put `text` in the place of `sql[start:end]`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Bug:
    """One bug for one query: the kind that is balanced, the mistake's own name, and the edits that make it."""

    kind: str
    name: str
    edits: tuple[TextEdit, ...]


def bug(kind: str, name: str, *edits: TextEdit) -> Bug:
    """A bug of these edits, in the order of the text."""
    return Bug(kind, name, tuple(sorted(edits)))


def replace(token: Token, text: str) -> TextEdit:
    """Put a text in the place of a token."""
    return TextEdit(token.start, token.end, text)


def insert(place: int, text: str) -> TextEdit:
    """Put a text at a place."""
    return TextEdit(place, place, text)


def apply(sql: str, edits: Iterable[TextEdit]) -> str:
    """The text after edits that do not overlap."""
    for edit in sorted(edits, reverse=True):
        sql = sql[: edit.start] + edit.text + sql[edit.end :]
    return sql


def apart(one: Bug, other: Bug) -> bool:
    """Whether two bugs change different places, with something unchanged between them."""
    return all(a.end < b.start or b.end < a.start for a in one.edits for b in other.edits)


def carried_over(reference: str, before: str, after: str) -> tuple[TextEdit, ...] | None:
    """The edits that do to `reference` what leads from `before` to `after`, or None where they cannot be placed.

    `before` is `reference` as sqlglot writes it: capitals and some signs differ, which the edits must not bring along.
    """
    own, base, new = tokens(reference), tokens(before), tokens(after)
    place_of = _places(reference, before)
    edits: list[TextEdit] = []
    for operation, first, end, new_first, new_end in _matcher(base, new).get_opcodes():
        if operation == "equal":
            continue
        own_first, own_end = place_of.get((first, "begin")), place_of.get((end, "end"))
        if own_first is None or own_end is None or own_end < own_first:
            return None
        edits.append(_edit(reference, own, own_first, own_end, after, new, slice(new_first, new_end)))
    return tuple(edits)


def _edit(
    reference: str, own: tuple[Token, ...], first: int, end: int, after: str, new: tuple[Token, ...], at: slice
) -> TextEdit:
    """Put the new tokens in the place of the reference's, with the blanks around them as they are written."""
    start = own[first - 1].end if first else 0
    stop = own[end].start if end < len(own) else len(reference)
    new_start = new[at.start - 1].end if at.start else 0
    new_stop = new[at.stop].start if at.stop < len(new) else len(after)
    text = after[new_start:new_stop]
    for token in dict.fromkeys(new[at]):
        if token.is_word:
            text = _as_the_user_writes(text, token, own)
    # Where both have a blank, the user's stays: it may be a line's end.
    gap = reference[start:stop]
    if text[:1] == " " and gap[:1].isspace():
        start, text = start + len(gap) - len(gap.lstrip()), text[1:]
    gap = reference[start:stop]
    if text[-1:] == " " and gap[-1:].isspace():
        stop, text = stop - len(gap) + len(gap.rstrip()), text[:-1]
    return TextEdit(start, stop, text)


def _as_the_user_writes(text: str, token: Token, own: tuple[Token, ...]) -> str:
    """`strftime` in small letters where the reference has it so."""
    spelt = next((mine.text for mine in own if mine.upper == token.upper), None)
    if spelt is None or spelt == token.text:
        return text
    parts = [(t.start, t.end) for t in tokens(text) if t.text == token.text]
    for start, end in reversed(parts):
        text = text[:start] + spelt + text[end:]
    return text


@lru_cache(maxsize=64)
def _places(reference: str, before: str) -> dict[tuple[int, str], int]:
    """For the borders between tokens of `before`, the same border in `reference`, where the tokens at it agree."""
    own, base = tokens(reference), tokens(before)
    places: dict[tuple[int, str], int] = {}
    for a, b, size in _matcher(base, own).get_matching_blocks():
        for offset in range(size + 1):
            # A border begins what follows it and ends what comes before it: either side may be the one that agrees.
            if offset < size or a + offset == len(base):
                places[a + offset, "begin"] = b + offset
            if offset or a == 0:
                places[a + offset, "end"] = b + offset
    return places


def _matcher(one: tuple[Token, ...], other: tuple[Token, ...]) -> SequenceMatcher[str]:
    def key(each: Token) -> str:
        return each.upper if each.is_word else each.text

    return SequenceMatcher(None, [key(t) for t in one], [key(t) for t in other], autojunk=False)

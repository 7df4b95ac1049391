"""A query in the layout of another one, so that a repair changes what has to change and nothing else."""

from __future__ import annotations

from difflib import SequenceMatcher

from sqldojo.repair.sql_tokens import tokens

_COMMENTS = ("--", "/*")


def in_layout_of(shown: str, sql: str) -> str:
    """`sql` with the letter case and the white space of `shown` wherever the two have the same words.

    As it stands where either holds a comment. That the result means the same is for the caller to find out.
    """
    if any(mark in text for mark in _COMMENTS for text in (shown, sql)):
        return sql.strip()
    theirs, own = tokens(shown), tokens(sql)
    matcher = SequenceMatcher(
        a=[_word(each.text) for each in theirs], b=[_word(each.text) for each in own], autojunk=False
    )
    same = {block.b + step: block.a + step for block in matcher.get_matching_blocks() for step in range(block.size)}
    written = ""
    for place, token in enumerate(own):
        if place:
            before = own[place - 1]
            gap = " " if sql[before.end : token.start] else ""
            if place in same and same.get(place - 1) == same[place] - 1:
                gap = shown[theirs[same[place] - 1].end : theirs[same[place]].start]
            written += gap
        written += theirs[same[place]].text if place in same else token.text
    return written


def _word(text: str) -> str:
    """A word in one letter case; texts and quoted names as they are."""
    return text.upper() if text[0].isalpha() or text[0] == "_" else text

"""The words and signs of an SQL text with their places, also of a text that no parser would accept.

A bug is put into a text as a user would type it, and what an issue gives away is looked for in plain words; neither
can go through a syntax tree.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

_TOKEN = re.compile(
    r"""'(?:[^']|'')*' | "(?:[^"]|"")*" | `[^`]*` | \[\w[\w ]*\]
    | \d+(?:\.\d+)?(?!\w) | \w+ | <=|>=|<>|!=|==|\|\| | \S""",
    re.VERBOSE,
)
CLAUSES = ("SELECT", "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT")
_SET_OPERATIONS = ("UNION", "INTERSECT", "EXCEPT")


@dataclass(frozen=True)
class Token:
    """One word or sign: `sql[start:end]`, and how many parentheses are open around it."""

    text: str
    start: int
    end: int
    depth: int

    @property
    def upper(self) -> str:
        """The text in capitals, to compare keywords."""
        return self.text.upper()

    @property
    def is_word(self) -> bool:
        """Whether it is a keyword or a bare name."""
        return self.text[0].isalpha() or self.text[0] == "_"

    @property
    def is_text(self) -> bool:
        """Whether it is a text in single quotes."""
        return len(self.text) > 1 and self.text[0] == "'"


@dataclass(frozen=True)
class Clause:
    """A clause of one SELECT: its keyword, and the numbers of its first token and of the one behind its last."""

    keyword: str
    first: int
    end: int


@lru_cache(maxsize=4096)
def tokens(sql: str) -> tuple[Token, ...]:
    """The tokens of a text in their order; a parenthesis has the depth that is outside it."""
    found: list[Token] = []
    depth = 0
    for match in _TOKEN.finditer(sql):
        text = match[0]
        if text == ")":
            depth -= 1
        found.append(Token(text, match.start(), match.end(), depth))
        if text == "(":
            depth += 1
    return tuple(found)


@lru_cache(maxsize=4096)
def selects(sql: str) -> tuple[dict[str, Clause], ...]:
    """The clauses of every SELECT in the text by keyword, outer ones before those inside them."""
    all_tokens = tokens(sql)
    found: list[dict[str, Clause]] = []
    open_: dict[int, tuple[dict[str, Clause], str, int]] = {}  # by depth: the SELECT, its present clause, its place

    def close(depth: int, end: int) -> None:
        if depth in open_:
            clauses, keyword, first = open_.pop(depth)
            clauses[keyword] = Clause(keyword, first, end)

    for place, token in enumerate(all_tokens):
        if token.text == ")" or token.upper in _SET_OPERATIONS:
            close(token.depth + (token.text == ")"), place)
        elif token.upper == "SELECT":
            close(token.depth, place)
            clauses: dict[str, Clause] = {}
            found.append(clauses)
            open_[token.depth] = clauses, "SELECT", place
        elif token.upper in CLAUSES and token.depth in open_ and all_tokens[place - 1].upper != "DISTINCT":
            clauses = open_[token.depth][0]
            close(token.depth, place)
            open_[token.depth] = clauses, token.upper, place
    for depth in list(open_):
        close(depth, len(all_tokens))
    return tuple(found)

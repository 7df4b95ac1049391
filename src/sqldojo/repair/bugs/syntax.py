"""Bugs that SQLite's parser stumbles over: what is lost, doubled or mistyped while typing."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from sqldojo.repair.bugs.edits import Bug, TextEdit, bug, insert, replace
from sqldojo.repair.bugs.kinds import SYNTAX
from sqldojo.repair.bugs.subject import Subject

_MISSPELT = {
    "SELECT": ("SELCT", "SELET"), "FROM": ("FORM", "FRM"), "WHERE": ("WEHRE", "WERE"), "GROUP": ("GRUOP", "GROPU"),
    "HAVING": ("HAVNG", "HAVIGN"), "ORDER": ("ODER", "ORDR"), "JOIN": ("JION", "JOINN"), "LIMIT": ("LIMT", "LIMITS"),
    "DISTINCT": ("DISTINT", "DISTICT"), "BETWEEN": ("BETWEN", "BETWEENN"), "UNION": ("UNOIN",), "EXCEPT": ("EXECPT",),
    "COUNT": ("COUTN", "CONUT"), "AVG": ("AVERAGE",), "OVER": ("OVR",), "INTERSECT": ("INTERSET",), "AND": ("ADN",),
    "EXISTS": ("EXIST",),
}  # fmt: skip


def syntax_bugs(subject: Subject) -> Iterator[Bug]:
    """Every bug of this kind at every place."""
    for name, make in _MAKERS.items():
        for edits in make(subject):
            yield bug(SYNTAX, name, *edits)


Edits = Iterator[tuple[TextEdit, ...]]


def _comma_missing(subject: Subject) -> Edits:
    """SELECT name price: in a list of columns, of an IN or of arguments."""
    for token in subject.tokens:
        if token.text == ",":
            yield (replace(token, ""),)


def _comma_before_from(subject: Subject) -> Edits:
    for clauses in subject.selects:
        if "FROM" in clauses and "SELECT" in clauses:
            yield (insert(subject.tokens[clauses["SELECT"].end - 1].end, ","),)


def _parenthesis_missing(subject: Subject) -> Edits:
    for token in subject.tokens:
        if token.text == ")":
            yield (replace(token, ""),)


def _parenthesis_doubled(subject: Subject) -> Edits:
    for token in subject.tokens:
        if token.text == ")":
            yield (insert(token.end, ")"),)


def _quote_missing(subject: Subject) -> Edits:
    for token in subject.tokens:
        if token.is_text:
            yield (replace(token, token.text[:-1]),)


def _text_unquoted(subject: Subject) -> Edits:
    """city = Dresden: taken for a column."""
    for token in subject.tokens:
        if token.is_text and token.text[1:-1].isalpha():
            yield (replace(token, token.text[1:-1]),)


def _keyword_misspelt(subject: Subject) -> Edits:
    for token in subject.tokens:
        for wrong in _MISSPELT.get(token.upper, ()):
            yield (replace(token, wrong if token.text.isupper() else wrong.lower()),)


def _by_missing(subject: Subject) -> Edits:
    for before, token in pairwise(subject.tokens):
        if token.upper == "BY":
            yield (TextEdit(before.end, token.end, ""),)


def _sign_reversed(subject: Subject) -> Edits:
    """=> for >=."""
    for token in subject.tokens:
        if token.text in (">=", "<="):
            yield (replace(token, token.text[::-1]),)


def _and_missing(subject: Subject) -> Edits:
    for before, token in pairwise(subject.tokens):
        if token.upper == "AND":
            yield (TextEdit(before.end, token.end, ""),)


def _where_twice(subject: Subject) -> Edits:
    """WHERE a WHERE b for WHERE a AND b."""
    for clauses in subject.selects:
        if "WHERE" not in clauses:
            continue
        between = False
        for _, token in subject.inside(clauses["WHERE"]):
            between = between or token.upper == "BETWEEN"
            if token.upper == "AND" and not between:
                yield (replace(token, "WHERE"),)
            between = between and token.upper != "AND"


def _on_lost(subject: Subject) -> Edits:
    for before, token in pairwise(subject.tokens):
        if token.upper == "ON":
            yield (TextEdit(before.end, token.end, ""),)


def _from_lost(subject: Subject) -> Edits:
    for clauses in subject.selects:
        if "FROM" in clauses:
            place = clauses["FROM"].first
            yield (TextEdit(subject.tokens[place - 1].end, subject.tokens[place].end, ""),)


def _list_without_parentheses(subject: Subject) -> Edits:
    """IN SELECT ...: neither parenthesis."""
    for place, token in enumerate(subject.tokens[:-1]):
        if token.upper in ("IN", "EXISTS") and subject.tokens[place + 1].text == "(":
            end = subject.closing(place + 1)
            if end is not None:
                yield replace(subject.tokens[place + 1], ""), replace(subject.tokens[end], "")


def _end_missing(subject: Subject) -> Edits:
    for before, token in pairwise(subject.tokens):
        if token.upper == "END":
            yield (TextEdit(before.end, token.end, ""),)


def _and_dangling(subject: Subject) -> Edits:
    """WHERE a AND, with nothing after it: a condition that was deleted in part."""
    for clauses in subject.selects:
        if "WHERE" in clauses:
            yield (insert(subject.tokens[clauses["WHERE"].end - 1].end, " AND"),)


_MAKERS = {
    "comma-missing": _comma_missing,
    "comma-before-from": _comma_before_from,
    "parenthesis-missing": _parenthesis_missing,
    "parenthesis-doubled": _parenthesis_doubled,
    "quote-missing": _quote_missing,
    "text-unquoted": _text_unquoted,
    "keyword-misspelt": _keyword_misspelt,
    "by-missing": _by_missing,
    "sign-reversed": _sign_reversed,
    "and-missing": _and_missing,
    "and-dangling": _and_dangling,
    "where-twice": _where_twice,
    "on-lost": _on_lost,
    "from-lost": _from_lost,
    "list-without-parentheses": _list_without_parentheses,
    "end-missing": _end_missing,
}

"""What can be wrong with the words of a question type, and how alike the words of two are."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from string import Formatter

from sqldojo.questions.rules import Fault
from sqldojo.records import QuestionType

# In capitals these are SQL and not English. NULL is missing: a question may say what stands for a missing value.
_KEYWORDS = re.compile(
    r"\b(SELECT|FROM|WHERE|JOIN|GROUP BY|HAVING|ORDER BY|LIMIT|DISTINCT|UNION|INTERSECT|EXCEPT|EXISTS|BETWEEN|LIKE|CASE"
    r"|COUNT|SUM|AVG|MIN|MAX|STRFTIME|COALESCE|PARTITION BY)\b"
)
_CODE = re.compile(r"`|<>|!=|<=|>=|==|\b(?:count|sum|avg|min|max|total|strftime|substr|coalesce|round)\(", re.I)
_INSIDE_A_WORD = re.compile(r"\w\{\w+\}|\{\w+\}[\w{]")


def wording_fault(question_type: QuestionType) -> Fault | None:
    """A phrasing that cannot be filled in, omits a value, or is there twice; None when all are well."""
    phrasings = question_type.phrasings
    if not phrasings or len(set(phrasings)) < len(phrasings):
        return Fault("broken-wording", "no phrasing, or the same one twice")
    for phrasing in phrasings:
        try:
            fields = [field for field in Formatter().parse(phrasing) if field[1] is not None]
        except ValueError as error:
            return Fault("broken-wording", f"stray braces ({error}): {phrasing}")
        if any(form or conversion for _, _, form, conversion in fields):
            return Fault("broken-wording", f"a value is not written as it is: {phrasing}")
        used = {name for _, name, _, _ in fields}
        omitted = sorted(set(question_type.parameters) - used)
        if omitted:
            return Fault("omits-parameter", f"{{{omitted[0]}}} is not in: {phrasing}")
        unknown = sorted(used - set(question_type.parameters))
        if unknown:
            return Fault("broken-wording", f"the unknown {{{unknown[0]}}} is in: {phrasing}")
        inside = _INSIDE_A_WORD.search(phrasing)
        if inside:
            return Fault("omits-parameter", f"{inside[0]} is no word of its own in: {phrasing}")
    return None


def leak(question_type: QuestionType, columns: Mapping[str, Sequence[str]]) -> Fault | None:
    """A phrasing that gives SQL away, or None. `columns` maps each table of the schema to its columns."""
    names = {name for table, own in columns.items() for name in (table, *own)}
    code = [f"{table}.{name}" for table, own in columns.items() for name in own]
    code += [name for name in names if "_" in name or re.search("[a-z][A-Z]", name)]
    identifier = re.compile(rf"\b({'|'.join(map(re.escape, sorted(code, key=len, reverse=True)))})\b", re.I)
    reference = normalise(question_type.sql)
    for phrasing in question_type.phrasings:
        bare = re.sub(r"\{\w*\}", " ", _as_read(phrasing))
        for pattern in (_KEYWORDS, _CODE, identifier):
            found = pattern.search(bare)
            if found:
                return Fault("leaks-sql", f"`{found[0]}` is in: {phrasing}")
        if reference in normalise(phrasing):
            return Fault("leaks-sql", f"the reference is in: {phrasing}")
    return None


def likeness(one: QuestionType, other: QuestionType) -> float:
    """The share of words that the two most alike phrasings have in common (Jaccard's index), from 0 to 1."""
    ours, theirs = _word_sets(one.phrasings), _word_sets(other.phrasings)
    return max((len(a & b) / len(a | b) for a in ours for b in theirs), default=0.0)


def _word_sets(phrasings: Iterable[str]) -> list[set[str]]:
    return [set(normalise(phrasing).split()) for phrasing in phrasings]


def normalise(text: str) -> str:
    """The words of a text in lower case, without punctuation: what makes two questions the same to a reader."""
    return " ".join("".join(letter if letter.isalnum() else " " for letter in _as_read(text).casefold()).split())


def _as_read(text: str) -> str:
    """The text with one spelling for letters that look alike, such as wide ones, and without invisible signs."""
    return "".join(each for each in unicodedata.normalize("NFKC", text) if unicodedata.category(each) != "Cf")

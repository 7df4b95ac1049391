"""Whether the words of an issue give away what mends the query: a piece of the reference that the user does not have.

Words of everyday English are none, even where SQL or a column has the same ones: a question may ask for the name, the
sum or different cities. They are when they are written as code.
"""

from __future__ import annotations

import re
from collections import Counter

from sqldojo.repair.sql_tokens import Token, tokens

_RUN = 3  # tokens of the reference, one behind the other, that are more than chance
# Not English: a leak however they are written.
_CODE_WORDS = (
    "LEFT JOIN", "LEFT OUTER JOIN", "INNER JOIN", "CROSS JOIN", "FULL JOIN", "RIGHT JOIN", "GROUP BY", "ORDER BY",
    "PARTITION BY", "IS NULL", "IS NOT NULL", "NOT EXISTS", "NOT IN", "UNION ALL", "COALESCE", "IFNULL", "NULLIF",
    "STRFTIME", "JULIANDAY", "SUBSTR", "GROUP_CONCAT", "ROW_NUMBER", "DENSE_RANK", "NOCASE", "DATETIME", "GLOB",
)  # fmt: skip
# English too: a leak in capitals, in backticks or as a call.
_ENGLISH_WORDS = (
    "SELECT", "DISTINCT", "FROM", "JOIN", "ON", "WHERE", "HAVING", "LIMIT", "OFFSET", "UNION", "INTERSECT", "EXCEPT",
    "EXISTS", "BETWEEN", "LIKE", "IN", "AND", "OR", "NOT", "CASE", "WHEN", "THEN", "ELSE", "END", "CAST", "COUNT",
    "SUM", "AVG", "MIN", "MAX", "TOTAL", "ROUND", "ABS", "LOWER", "UPPER", "LENGTH", "TRIM", "RANK", "OVER", "LAG",
    "LEAD", "DESC", "ASC", "WITH", "FILTER", "DATE", "IIF", "REAL", "NULLS FIRST", "NULLS LAST", "COLLATE",
)  # fmt: skip
_CODE_SIGNS = frozenset("=<>()*.+-/|")
_QUOTED = re.compile(r"`([^`]+)`")


def leak(issue: str, issue_sql: str, sol_sql: str) -> str | None:
    """The piece of `sol_sql` in the words of an issue that `issue_sql` lacks, or None.

    Such a piece is the reference, three of its tokens in a row of which one looks like code, a keyword or function that
    the mended query has more of, or the right spelling of a name where it is written as code.
    """
    wanted, given = tokens(sol_sql), tokens(issue_sql)
    if _folded(sol_sql) in _folded(issue):
        return sol_sql
    return _run(issue, wanted, given) or _keyword(issue, wanted, given) or _name(issue, wanted, given)


def _run(issue: str, wanted: tuple[Token, ...], given: tuple[Token, ...]) -> str | None:
    own, said = [t.upper for t in given], [t.upper for t in tokens(issue)]
    known = _runs(own)
    in_issue = _runs(said)
    for place in range(len(wanted) - _RUN + 1):
        run = wanted[place : place + _RUN]
        key = tuple(t.upper for t in run)
        if key in in_issue and key not in known and any(_looks_like_code(t.text) for t in run):
            return " ".join(t.text for t in run)
    return None


def _runs(words: list[str]) -> set[tuple[str, ...]]:
    return {tuple(words[place : place + _RUN]) for place in range(len(words) - _RUN + 1)}


def _looks_like_code(text: str) -> bool:
    """Whether a token is not a word, a number or a punctuation mark of a text."""
    signs = set(text) <= _CODE_SIGNS and text not in (".", "(", ")", "-")
    return signs or (text[0].isalpha() and _is_code_name(text)) or text.startswith("'")


def _keyword(issue: str, wanted: tuple[Token, ...], given: tuple[Token, ...]) -> str | None:
    needed, present = _spaced(wanted), _spaced(given)
    for word in (*_CODE_WORDS, *_ENGLISH_WORDS):
        pattern = rf"\b{re.escape(word)}\b"
        if len(re.findall(pattern, needed)) <= len(re.findall(pattern, present)):
            continue
        if word in _CODE_WORDS and re.search(pattern, issue, re.IGNORECASE):
            return word
        if re.search(pattern, _without_quotations(issue)):
            return word
        if re.search(rf"\b{re.escape(word)}\(|`[^`]*\b{re.escape(word)}\b[^`]*`", issue, re.IGNORECASE):
            return word
    return None


def _spaced(sql: tuple[Token, ...]) -> str:
    return " ".join(token.upper for token in sql if not token.is_text)


def _without_quotations(issue: str) -> str:
    """The issue without what SQLite says is near a mistake: those are the user's own words."""
    return re.sub(r'near "[^"]*"', " ", issue)


def _name(issue: str, wanted: tuple[Token, ...], given: tuple[Token, ...]) -> str | None:
    """A name that the query needs more often than it has it, written as code."""
    needed = Counter(t.text.lower() for t in wanted if t.is_word)
    present = Counter(t.text.lower() for t in given if t.is_word)
    for name in needed:
        if needed[name] <= present[name]:
            continue
        as_code = next((t.text for t in wanted if t.text.lower() == name and _is_code_name(t.text)), None)
        word = rf"\b{re.escape(name)}\b"
        if as_code and re.search(word, issue, re.IGNORECASE):
            return as_code
        if re.search(rf"\w\.{word}|{word}\.\w", issue, re.IGNORECASE) and not re.search(
            rf"\w\.{word}|{word}\.\w", _joined(given), re.IGNORECASE
        ):
            return name
        if any(re.search(word, quoted, re.IGNORECASE) for quoted in _QUOTED.findall(issue)):
            return name
    return None


def _joined(sql: tuple[Token, ...]) -> str:
    return " ".join(token.text for token in sql).replace(" . ", ".")


def _is_code_name(name: str) -> bool:
    """Whether a name is spelt as no English word is: with an underscore, or with a capital inside."""
    return "_" in name or bool(re.search("[a-z][A-Z]", name))


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())

"""Bugs of people who come from another database engine: its functions and clauses, which SQLite does not have.

Left out is what SQLite takes too (CONCAT, STRING_AGG, IIF, brackets and backticks around names) and what reads the
clock, which no task may.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqldojo.repair.bugs.edits import Bug, TextEdit, bug, insert, replace
from sqldojo.repair.bugs.kinds import DIALECT
from sqldojo.repair.bugs.subject import Subject

_DAY = re.compile(r"'\d{4}-\d\d-\d\d'")
# strftime's format, and the calls that other engines have for it: name, text before the value, text after it.
_PARTS = {
    "'%Y'": (("year-function", "YEAR(", ")"), ("extract", "EXTRACT(YEAR FROM ", ")"),
             ("datepart", "DATEPART(year, ", ")")),
    "'%m'": (("month-function", "MONTH(", ")"), ("extract", "EXTRACT(MONTH FROM ", ")"),
             ("datepart", "DATEPART(month, ", ")")),
    "'%d'": (("day-function", "DAY(", ")"), ("extract", "EXTRACT(DAY FROM ", ")")),
    "'%Y-%m'": (("date-format", "DATE_FORMAT(", ", '%Y-%m')"), ("to-char", "TO_CHAR(", ", 'YYYY-MM')"),
                ("format", "FORMAT_DATE(", ", 'yyyy-MM')")),
    "'%Y-%m-%d'": (("date-format", "DATE_FORMAT(", ", '%Y-%m-%d')"), ("to-char", "TO_CHAR(", ", 'YYYY-MM-DD')")),
    "'%H'": (("hour-function", "HOUR(", ")"), ("extract", "EXTRACT(HOUR FROM ", ")")),
}  # fmt: skip
# A function of SQLite's, and what it is called elsewhere.
_RENAMED = {"COALESCE": ("NVL", "ISNULL"), "IFNULL": ("NVL", "ISNULL"), "LENGTH": ("LEN", "CHAR_LENGTH"),
            "GROUP_CONCAT": ("LISTAGG",), "JULIANDAY": ("TO_DAYS",), "UPPER": ("UCASE",), "LOWER": ("LCASE",),
            "INSTR": ("CHARINDEX",), "SUBSTR": ("SUBSTRING_INDEX", "MID")}  # fmt: skip


def dialect_bugs(subject: Subject) -> Iterator[Bug]:
    """Every bug of this kind at every place."""
    for name, make in _MAKERS.items():
        for label, *edits in make(subject):
            yield bug(DIALECT, label or name, *edits)


Edits = Iterator[tuple[str | TextEdit, ...]]


def _date_part(subject: Subject) -> Edits:
    """YEAR(x) = 2023 for strftime('%Y', x) = '2023'."""
    tokens = subject.tokens
    for place, token in enumerate(tokens[:-4]):
        if token.upper != "STRFTIME" or tokens[place + 3].text != ",":
            continue
        end = subject.closing(place + 1)
        if end is None or end + 1 < place + 5:
            continue
        value = subject.text(place + 4, end)
        for label, before, after in _PARTS.get(tokens[place + 2].text, ()):
            edits = [TextEdit(token.start, tokens[end].end, f"{before}{value}{after}")]
            if "-" not in tokens[place + 2].text:  # these give numbers
                edits += _numbers_after(subject, end)
            yield (label, *edits)


def _numbers_after(subject: Subject, end: int) -> list[TextEdit]:
    """The texts of digits that a date part is compared with, as numbers."""
    tokens = subject.tokens
    compared = [end + 2]
    if end + 4 < len(tokens) and tokens[end + 1].upper == "BETWEEN":
        compared.append(end + 4)
    return [replace(tokens[place], str(int(tokens[place].text[1:-1]))) for place in compared
            if place < len(tokens) and tokens[place].is_text and tokens[place].text[1:-1].isdigit()]  # fmt: skip


def _function_renamed(subject: Subject) -> Edits:
    for place, token in enumerate(subject.tokens[:-1]):
        if subject.tokens[place + 1].text == "(":
            for other in _RENAMED.get(token.upper, ()):
                yield f"{other.lower().replace('_', '-')}-function", replace(token, other)


def _limit(subject: Subject) -> Edits:
    """TOP n, FETCH FIRST n ROWS ONLY, ROWNUM <= n."""
    for clauses in subject.selects:
        if "LIMIT" not in clauses or "SELECT" not in clauses:
            continue
        limit = clauses["LIMIT"]
        if limit.end - limit.first != 2:
            continue
        number, start = subject.tokens[limit.first + 1].text, subject.tokens[limit.first]
        whole = TextEdit(subject.tokens[limit.first - 1].end, subject.tokens[limit.end - 1].end, "")
        yield "top", insert(subject.tokens[clauses["SELECT"].first].end, f" TOP {number}"), whole
        yield "fetch-first", TextEdit(start.start, whole.end, f"FETCH FIRST {number} ROWS ONLY")
        if "WHERE" in clauses:
            last = subject.tokens[clauses["WHERE"].end - 1]
            if last.end < whole.start:
                yield "rownum", insert(last.end, f" AND ROWNUM <= {number}"), whole


def _null_function(subject: Subject) -> Edits:
    """ISNULL(x) for x IS NULL."""
    tokens = subject.tokens
    for place, end, negated in subject.null_tests():
        first = _operand_before(subject, place)
        if first is not None:
            text = f"{'NOT ' if negated else ''}ISNULL({subject.text(first, place)})"
            yield "", TextEdit(tokens[first].start, tokens[end].end, text)


def _operand_before(subject: Subject, place: int) -> int | None:
    """The number of the first token of the column name that ends before `place`."""
    tokens = subject.tokens
    if place >= 3 and tokens[place - 2].text == "." and tokens[place - 1].is_word:
        return place - 3
    return place - 1 if place and tokens[place - 1].is_word else None


def _like(subject: Subject) -> Edits:
    for token in subject.tokens:
        if token.upper == "LIKE":
            yield "ilike", replace(token, "ILIKE")


def _day_literal(subject: Subject) -> Edits:
    """A date as Oracle, the standard and PostgreSQL write it."""
    for token in subject.tokens:
        if _DAY.fullmatch(token.text):
            yield "to-date", replace(token, f"TO_DATE({token.text}, 'YYYY-MM-DD')")
            yield "date-literal", insert(token.start, "DATE ")
            yield "double-colon", insert(token.end, "::date")
            yield "str-to-date", replace(token, f"STR_TO_DATE({token.text}, '%Y-%m-%d')")


def _schema_prefix(subject: Subject) -> Edits:
    """dbo.customers."""
    for table in subject.table_uses[:1]:
        for prefix in ("dbo", "public"):
            yield f"{prefix}-prefix", insert(table.name.start, f"{prefix}.")


def _number_cast(subject: Subject) -> Edits:
    """x::numeric for a cast or for the factor 1.0 that makes a quotient of integers real."""
    tokens = subject.tokens
    for place, token in enumerate(tokens[:-1]):
        if token.text == "1.0" and tokens[place + 1].text == "*" and tokens[place + 2].upper in ("COUNT", "SUM"):
            end = subject.closing(place + 3)
            if end is not None:
                yield "double-colon", TextEdit(token.start, tokens[place + 2].start, ""), insert(tokens[end].end,
                                                                                               "::numeric")  # fmt: skip


def _set_operation(subject: Subject) -> Edits:
    for token in subject.tokens:
        if token.upper == "EXCEPT":
            yield "minus", replace(token, "MINUS")


def _any_of(subject: Subject) -> Edits:
    """x = ANY (SELECT ...) for x IN (SELECT ...)."""
    tokens = subject.tokens
    for place in range(1, len(tokens) - 2):
        if tokens[place].upper == "IN" and tokens[place + 2].upper == "SELECT" and tokens[place - 1].upper != "NOT":
            yield "", replace(tokens[place], "= ANY")


def _aggregate_function(subject: Subject) -> Edits:
    """AVG by other names, and COUNT_BIG: what a spreadsheet or SQL Server has."""
    for place, token in enumerate(subject.tokens[:-1]):
        if subject.tokens[place + 1].text == "(":
            if token.upper == "AVG":
                yield "mean", replace(token, "MEAN")
            elif token.upper == "COUNT" and subject.tokens[place + 2].text == "*":
                yield "count-big", replace(token, "COUNT_BIG")


def _and_sign(subject: Subject) -> Edits:
    """&& for AND."""
    between = False
    for token in subject.tokens:
        between = between or token.upper == "BETWEEN"
        if token.upper == "AND":
            if not between:
                yield "and-sign", replace(token, "&&")
            between = False


def _distinct_on(subject: Subject) -> Edits:
    """DISTINCT ON (x) x, as PostgreSQL has it."""
    for clauses in subject.selects:
        if "SELECT" not in clauses:
            continue
        first = clauses["SELECT"].first
        if subject.tokens[first + 1].upper == "DISTINCT":
            start, end = subject.items(clauses["SELECT"])[0]
            yield "distinct-on", insert(subject.tokens[first + 1].end, f" ON ({subject.text(start, end)})")


_MAKERS = {
    "date-part": _date_part,
    "function-renamed": _function_renamed,
    "limit": _limit,
    "isnull-function": _null_function,
    "ilike": _like,
    "day-literal": _day_literal,
    "schema-prefix": _schema_prefix,
    "number-cast": _number_cast,
    "minus": _set_operation,
    "any-of": _any_of,
    "aggregate-function": _aggregate_function,
    "and-sign": _and_sign,
    "distinct-on": _distinct_on,
}

"""Bugs in which a clause stands in the wrong place, or an aggregate in a clause that cannot hold one."""

from __future__ import annotations

from collections.abc import Iterator

from sqldojo.repair.bugs.edits import Bug, TextEdit, bug, insert, replace
from sqldojo.repair.bugs.kinds import CLAUSE
from sqldojo.repair.bugs.subject import Subject
from sqldojo.repair.sql_tokens import Clause

_AGGREGATES = ("COUNT", "SUM", "AVG", "MIN", "MAX", "TOTAL", "GROUP_CONCAT")
# A clause, and one further on that users write it behind.
_MOVED = (("WHERE", "GROUP"), ("WHERE", "ORDER"), ("GROUP", "HAVING"), ("GROUP", "ORDER"), ("HAVING", "ORDER"),
          ("ORDER", "LIMIT"), ("WHERE", "LIMIT"))  # fmt: skip


def clause_bugs(subject: Subject) -> Iterator[Bug]:
    """Every bug of this kind at every place."""
    for clauses in subject.selects:
        yield from _moved(subject, clauses)
        yield from _where_as_having(subject, clauses)
        yield from _having_as_where(subject, clauses)
        yield from _grouped_by_aggregate(subject, clauses)
        yield from _grouped_too_early(subject, clauses)
    yield from _extreme_without_query(subject)
    yield from _over_lost(subject)


def _moved(subject: Subject, clauses: dict[str, Clause]) -> Iterator[Bug]:
    for keyword, other in _MOVED:
        if keyword in clauses and other in clauses:
            clause, behind = clauses[keyword], clauses[other]
            text = subject.text(clause.first, clause.end)
            yield bug(CLAUSE, f"{keyword.lower()}-after-{other.lower()}", _taken_out(subject, clause),
                      insert(subject.tokens[behind.end - 1].end, " " + text))  # fmt: skip


def _where_as_having(subject: Subject, clauses: dict[str, Clause]) -> Iterator[Bug]:
    if "WHERE" in clauses and "GROUP" not in clauses:
        yield bug(CLAUSE, "having-for-where", replace(subject.tokens[clauses["WHERE"].first], "HAVING"))


def _having_as_where(subject: Subject, clauses: dict[str, Clause]) -> Iterator[Bug]:
    """The condition on a group among those on rows."""
    if "HAVING" not in clauses or "FROM" not in clauses:
        return
    having = clauses["HAVING"]
    condition = subject.text(having.first + 1, having.end)
    before = clauses.get("WHERE", clauses["FROM"])
    joint = " AND " if "WHERE" in clauses else " WHERE "
    yield bug(CLAUSE, "aggregate-in-where", insert(subject.tokens[before.end - 1].end, joint + condition),
              _taken_out(subject, having))  # fmt: skip
    yield bug(CLAUSE, "where-for-having", replace(subject.tokens[having.first], "WHERE"))


def _grouped_by_aggregate(subject: Subject, clauses: dict[str, Clause]) -> Iterator[Bug]:
    """Everything that is listed put into GROUP BY too."""
    if "GROUP" not in clauses or "SELECT" not in clauses:
        return
    for first, end in subject.items(clauses["SELECT"]):
        if subject.tokens[first].upper in _AGGREGATES and subject.tokens[end - 1].text == ")":
            text = subject.text(first, end)
            yield bug(CLAUSE, "aggregate-in-group-by",
                      insert(subject.tokens[clauses["GROUP"].end - 1].end, f", {text}"))  # fmt: skip


def _grouped_too_early(subject: Subject, clauses: dict[str, Clause]) -> Iterator[Bug]:
    """HAVING without its GROUP BY."""
    if "GROUP" in clauses and "HAVING" in clauses:
        yield bug(CLAUSE, "having-without-group", _taken_out(subject, clauses["GROUP"]))


def _extreme_without_query(subject: Subject) -> Iterator[Bug]:
    """price = MAX(price) for price = (SELECT MAX(price) FROM ...)."""
    for place, token in enumerate(subject.tokens[:-3]):
        following = subject.tokens[place + 1 : place + 4]
        if not (token.text == "(" and following[0].upper == "SELECT" and following[1].upper in ("MAX", "MIN", "AVG")):
            continue
        if place == 0 or subject.tokens[place - 1].text not in ("=", "<", ">", "<=", ">="):
            continue
        end, inner = subject.closing(place), subject.closing(place + 3)
        if end is not None and inner is not None and subject.tokens[inner + 1].upper == "FROM":
            text = subject.text(place + 2, inner + 1)
            yield bug(CLAUSE, "extreme-in-where", TextEdit(token.start, subject.tokens[end].end, text))


def _over_lost(subject: Subject) -> Iterator[Bug]:
    for place, token in enumerate(subject.tokens[:-1]):
        if token.upper == "OVER" and subject.tokens[place + 1].text == "(":
            end = subject.closing(place + 1)
            if end is not None:
                yield bug(CLAUSE, "over-lost", TextEdit(subject.tokens[place - 1].end, subject.tokens[end].end, ""))


def _taken_out(subject: Subject, clause: Clause) -> TextEdit:
    start = subject.tokens[clause.first - 1].end if clause.first else 0
    return TextEdit(start, subject.tokens[clause.end - 1].end, "")

"""Every bug that can be put into a reference, by kind."""

from __future__ import annotations

from sqldojo.databases.schema_model import Schema
from sqldojo.repair.bugs.aliases import alias_bugs
from sqldojo.repair.bugs.clauses import clause_bugs
from sqldojo.repair.bugs.dialects import dialect_bugs
from sqldojo.repair.bugs.edits import Bug, apply
from sqldojo.repair.bugs.names import name_bugs
from sqldojo.repair.bugs.subject import Subject
from sqldojo.repair.bugs.syntax import syntax_bugs
from sqldojo.repair.bugs.typed_wrong import typed_wrong
from sqldojo.repair.bugs.wrong_answers import wrong_answers


def bugs_of(sql: str, schema: Schema, *, ordered: bool) -> list[Bug]:
    """The bugs of one reference in a fixed order, each giving another text; `ordered` says that its order counts.

    Whether a text fails, or answers otherwise on a given database, is for the caller to find out by running it.
    """
    subject = Subject(sql, schema)
    found: list[Bug] = []
    for make in (syntax_bugs, clause_bugs, name_bugs, alias_bugs, dialect_bugs, typed_wrong):
        found += make(subject)
    found += wrong_answers(sql, schema, ordered=ordered)
    by_text: dict[str, Bug] = {}
    for bug in found:
        by_text.setdefault(apply(sql, bug.edits), bug)
    by_text.pop(sql, None)
    return list(by_text.values())

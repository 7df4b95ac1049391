"""Bugs in which a column is looked for in the wrong table, under an alias that is not there, or in two tables."""

from __future__ import annotations

from collections.abc import Iterator

from sqldojo.repair.bugs.edits import Bug, TextEdit, bug, insert, replace
from sqldojo.repair.bugs.kinds import ALIAS
from sqldojo.repair.bugs.subject import ColumnUse, Subject, TableUse


def alias_bugs(subject: Subject) -> Iterator[Bug]:
    """Every bug of this kind at every place."""
    yield from _qualifiers(subject)
    for table in subject.table_uses:
        yield from _alias_not_used(subject, table)
        yield from _alias_lost(subject, table)


def _qualifiers(subject: Subject) -> Iterator[Bug]:
    for use in subject.column_uses:
        if use.qualifier is None:
            yield bug(ALIAS, "undeclared-alias", insert(use.name.start, f"{_short(subject, use)}."))
            continue
        for other in use.scope.sources:
            if other is not use.source and other.alias.isidentifier():
                yield bug(ALIAS, "wrong-alias", replace(use.qualifier, other.alias))
        if any(other.has(use.name.text) for other in use.scope.sources if other is not use.source):
            yield bug(ALIAS, "ambiguous-column", TextEdit(use.qualifier.start, use.name.start, ""))
        if use.source.table and use.qualifier.text.lower() == use.source.table.lower():
            yield bug(ALIAS, "undeclared-alias", replace(use.qualifier, _short(subject, use)))
        elif use.source.table:
            yield bug(ALIAS, "table-for-alias", replace(use.qualifier, use.source.table))


def _alias_not_used(subject: Subject, table: TableUse) -> Iterator[Bug]:
    """FROM customers c, and customers.name all the same: SQLite knows the table by its alias alone."""
    if table.alias is not None:
        return
    uses = [use for use in subject.column_uses if use.qualifier and use.qualifier.text == table.name.text]
    here = [use for use in uses if use.scope is table.scope]
    if here:
        yield bug(ALIAS, "alias-not-used", insert(table.name.end, f" {table.name.text[0].lower()}"))
        # As if the alias came later, and one place was forgotten.
        short = _short(subject, here[-1])
        for forgotten in here:
            edits = [replace(use.qualifier, short) for use in uses if use is not forgotten and use.qualifier]
            yield bug(ALIAS, "alias-forgotten-once", insert(table.name.end, f" {short}"), *edits)


def _alias_lost(subject: Subject, table: TableUse) -> Iterator[Bug]:
    """The alias is used and was never given."""
    if table.alias is not None and table.alias.text.lower() != table.name.text.lower():
        yield bug(ALIAS, "alias-lost", TextEdit(table.name.end, table.alias.end, ""))


def _short(subject: Subject, use: ColumnUse) -> str:
    """What people shorten a table's name to, and is no alias here."""
    name = use.source.table or use.source.alias
    taken = {source.alias.lower() for source in use.scope.sources}
    parts = [part for part in name.lower().split("_") if part]
    for short in ("".join(part[0] for part in parts), name[:2].lower(), name[:3].lower()):
        if short not in taken and short.upper() not in ("AS", "BY", "IN", "IS", "NO", "ON", "OR", "TO", "IF", "DO"):
            return short
    return name.lower() + "1"

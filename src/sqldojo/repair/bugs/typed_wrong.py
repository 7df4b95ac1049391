"""Bugs that run and answer wrongly, and that the verifier's mutants do not have: as people type them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from sqldojo.databases.schema_model import ForeignKey
from sqldojo.repair.bugs.edits import Bug, TextEdit, bug, insert, replace
from sqldojo.repair.bugs.kinds import COLUMNS, DUPLICATES, GROUPING, JOIN_KEY, NULLS, RANKING
from sqldojo.repair.bugs.subject import Subject, TableUse


def typed_wrong(subject: Subject) -> Iterator[Bug]:
    """Every bug of this module at every place."""
    yield from _null_as_value(subject)
    yield from _conditions_of_joins(subject)
    yield from _fan_out(subject)
    for clauses in subject.selects[:1]:
        if "SELECT" in clauses:
            yield from _column_lost(subject, subject.items(clauses["SELECT"]))
            yield from _column_added(subject, subject.items(clauses["SELECT"])[0][0])
    for clauses in subject.selects:
        if "GROUP" in clauses:
            group = clauses["GROUP"]
            out = TextEdit(subject.tokens[group.first - 1].end, subject.tokens[group.end - 1].end, "")
            yield bug(GROUPING, "group-by-forgotten", out)
    yield from _direction(subject)


def _null_as_value(subject: Subject) -> Iterator[Bug]:
    """= NULL for IS NULL, which is never true; the empty text for it."""
    tokens = subject.tokens
    for place, end, negated in subject.null_tests():
        for name, text in (("equals-null", "<> NULL" if negated else "= NULL"),
                           ("equals-null", "!= NULL" if negated else "== NULL"),
                           ("equals-text-null", "<> 'NULL'" if negated else "= 'NULL'"),
                           ("equals-empty", "<> ''" if negated else "= ''")):  # fmt: skip
            yield bug(NULLS, name, TextEdit(tokens[place].start, tokens[end].end, text))


def _conditions_of_joins(subject: Subject) -> Iterator[Bug]:
    """A join without its condition: every row with every row."""
    tokens = subject.tokens
    for clauses in subject.selects:
        if "FROM" not in clauses:
            continue
        places = list(subject.inside(clauses["FROM"]))
        starts = [place for place, token in places if token.upper == "ON"]
        for start in starts:
            ends = [place for place, token in places
                    if place > start and token.upper in ("JOIN", "LEFT", "INNER", "CROSS", "OUTER")]  # fmt: skip
            end = min(ends, default=clauses["FROM"].end)
            condition = TextEdit(tokens[start - 1].end, tokens[end - 1].end, "")
            yield bug(JOIN_KEY, "condition-forgotten", condition)
            join = max((place for place, token in places if place < start and token.upper == "JOIN"), default=None)
            if join is not None and tokens[join - 1].upper not in ("LEFT", "INNER", "OUTER", "CROSS", "RIGHT", "FULL"):
                yield bug(JOIN_KEY, "comma-join", TextEdit(tokens[join - 1].end, tokens[join].end, ","), condition)


def _fan_out(subject: Subject) -> Iterator[Bug]:
    """A table of details joined that the question does not need: rows repeat, and sums count them again."""
    for table in subject.table_uses:
        scope = table.scope
        if scope is None or not (table.alias or table.name).is_word:
            continue
        present = {source.table for source in scope.sources}
        for child in subject.schema.tables:
            for key in child.foreign_keys:
                if key.table.lower() == table.name.text.lower() and child.name not in present:
                    yield from _joined(subject, table, child.name, key)


def _joined(subject: Subject, table: TableUse, child: str, key: ForeignKey) -> Iterator[Bug]:
    columns = {name.lower() for name in subject.columns[child]}
    alias = (table.alias or table.name).text
    qualified = []
    for use in subject.column_uses:
        if use.scope is table.scope and use.qualifier is None and use.name.text.lower() in columns:
            qualified.append(insert(use.name.start, f"{use.source.alias}."))
    on = " AND ".join(f"{child}.{ours} = {alias}.{theirs}"
                      for ours, theirs in zip(key.columns, key.parent_columns, strict=True))  # fmt: skip
    place = _end_of_from(subject, table)
    if place is not None and all(name.isidentifier() for name in (child, *key.columns, *key.parent_columns)):
        for join in ("JOIN", "LEFT JOIN"):
            yield bug(DUPLICATES, "fan-out", insert(place, f" {join} {child} ON {on}"), *qualified)


def _end_of_from(subject: Subject, table: TableUse) -> int | None:
    for clauses in subject.selects:
        clause = clauses.get("FROM")
        if clause and any(subject.tokens[place] == table.name for place in range(clause.first, clause.end)):
            depth = subject.tokens[clause.first].depth
            if table.name.depth == depth:
                return subject.tokens[clause.end - 1].end
    return None


def _column_lost(subject: Subject, items: list[tuple[int, int]]) -> Iterator[Bug]:
    tokens = subject.tokens
    for number, (first, end) in enumerate(items):
        if len(items) > 1:
            if number:
                edit = TextEdit(tokens[first - 2].end, tokens[end - 1].end, "")
            else:
                edit = TextEdit(tokens[first].start, tokens[items[1][0]].start, "")
            yield bug(COLUMNS, "column-lost", edit)


def _column_added(subject: Subject, first: int) -> Iterator[Bug]:
    """The key listed too, though nobody asked for it."""
    for table in subject.table_uses[:1]:
        key = next((each.primary_key for each in subject.schema.tables
                    if each.name.lower() == table.name.text.lower()), ())  # fmt: skip
        aggregate = subject.tokens[first].upper in ("COUNT", "SUM", "AVG", "MIN", "MAX")
        if len(key) == 1 and key[0].isidentifier() and not aggregate:
            alias = (table.alias or table.name).text
            name = key[0] if table.scope and len(table.scope.sources) == 1 else f"{alias}.{key[0]}"
            yield bug(COLUMNS, "key-listed-too", insert(subject.tokens[first].start, f"{name}, "))


def _direction(subject: Subject) -> Iterator[Bug]:
    """DESC lost or put where it does not belong, in the order of the whole result or of a window."""
    tokens = subject.tokens
    for before, token in pairwise(tokens):
        if token.upper == "DESC":
            yield bug(RANKING, "desc-lost", TextEdit(before.end, token.end, ""))
        elif token.upper == "ASC":
            yield bug(RANKING, "desc-for-asc", replace(token, "DESC"))
    for clauses in subject.selects:
        if "ORDER" in clauses:
            for _, end in subject.items(clauses["ORDER"]):
                if tokens[end - 1].upper not in ("DESC", "ASC", "LAST", "FIRST"):
                    yield bug(RANKING, "desc-added", insert(tokens[end - 1].end, " DESC"))

"""Bugs that run and answer wrongly: the verifier's mutants, as a user would have written them.

The verifier tries every fault that a family of databases must tell apart. A user's bug is one that somebody writes
without noticing: conditions that no question speaks of, or a value spelt in another way on purpose, are left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from sqldojo.databases.schema_model import Schema
from sqldojo.repair.bugs.edits import Bug, TextEdit, apply, carried_over
from sqldojo.repair.bugs.kinds import (
    BOUNDARY,
    CALCULATION,
    COLUMNS,
    CONDITION,
    DATES,
    DUPLICATES,
    GROUPING,
    JOIN_KEY,
    JOIN_KIND,
    NULLS,
    RANKING,
)
from sqldojo.repair.sql_tokens import tokens
from sqldojo.verifier.mutants import Mutant, Unparsable, mutants
from sqldojo.verifier.mutation.sqlite_text import read, write

_OPERATORS_OF = {
    BOUNDARY: ("comparison-boundary", "comparison-mirrored", "between-opened", "range-closed", "number-off-by-one",
               "pair-order"),
    CONDITION: ("where-term-dropped", "having-term-dropped", "case-condition-dropped", "correlation-dropped",
                "disjunct-dropped", "and-for-or", "or-for-and", "parentheses-lost", "negation-dropped",
                "text-case", "item-dropped", "like-anchor", "like-as-equality", "set-operation",
                "side-dropped", "outer-filter-copied", "filtered-column", "folding-dropped",
                "filter-dropped", "operation-as-condition"),
    CALCULATION: ("aggregate-exchanged", "product-split", "operand-dropped", "arithmetic-exchanged", "operands-swapped",
                  "real-made-integer", "real-truncated", "conditional-counted", "counted-column", "function-dropped",
                  "branches-swapped", "branch-dropped", "filter-moved-out", "aggregate-distinct-added"),
    GROUPING: ("group-by-name", "group-by-key", "group-term-added", "group-term-dropped", "grouping-added",
               "having-as-where", "distinct-added", "grouped-column", "partition-dropped",
               "frame-changed", "where-as-filter"),
    JOIN_KIND: ("outer-as-inner", "inner-as-outer", "on-as-where", "where-as-on", "join-dropped"),
    JOIN_KEY: ("key-exchanged", "on-term-dropped"),
    DUPLICATES: ("in-as-join", "exists-as-join", "distinct-dropped", "count-distinct-dropped",
                 "condition-as-union", "union-exchanged", "count-distinct-added", "rows-as-distinct-values"),
    NULLS: ("rows-as-values", "values-as-rows", "coalesce-dropped", "unequal-with-null",
            "null-as-empty", "not-exists-as-not-in", "repeated-as-not-in", "value-coalesced", "nulls-averaged",
            "null-guard-added"),
    RANKING: ("all-best-as-first", "first-as-all-best", "best-in-any-group", "second-as-next-row", "latest-by-key",
              "limit-off-by-one", "limit-dropped", "order-reversed", "order-terms", "ranks-exchanged", "nulls-moved",
              "neighbours-exchanged", "top-order-reversed", "top-order-dropped", "ordered-column"),
    DATES: ("day-shifted", "range-closed-by-day", "end-of-day", "range-as-part", "date-part", "part-as-pattern",
            "part-as-number", "year-as-range", "whole-day", "date-modifier", "pattern-of-date"),
    COLUMNS: ("columns-swapped", "listed-column", "aggregated-column"),
}  # fmt: skip
_MOST = 400  # mutants of one reference: nearly all, so that the rarer mistakes are among them
KIND_OF = {operator: kind for kind, operators in _OPERATORS_OF.items() for operator in operators}


_OTHER_COLUMN = ("filtered-column", "aggregated-column", "ordered-column")
# sqlglot's way to write a negation, and a person's.
_NEGATED = re.compile(r"\bNOT ([\w.]+) (IN|LIKE|BETWEEN|GLOB)\b")
_NOT_NULL = re.compile(r"\bNOT ([\w.]+) IS NULL\b")
# What only a machine writes, and what nobody would: a column multiplied by itself.
_NO_USER_WRITES = re.compile(r"\b_(?:key|other)\b|RIGHT JOIN|TOTAL\(|\"|\b([\w.]+) \* \1(?![\w.])")
_TEXT_FOLLOWS = re.compile(r" (?:=|<>|IN|LIKE) \(?'\D")


def wrong_answers(reference: str, schema: Schema, *, ordered: bool) -> list[Bug]:
    """The bugs of these kinds in a reference; none for one that sqlglot cannot read.

    Some are none by chance of the rows, which running them tells.
    """
    columns = {table.name: table.names for table in schema.tables}
    numeric = {column.name: column.affinity != "TEXT" for table in schema.tables for column in table.columns}
    try:
        written = _as_people_write(write(read(reference)))
        found = mutants(reference, columns, ordered=ordered, most=_MOST, only=KIND_OF)
    except Unparsable:
        return []
    return [bug for mutant in found for bug in _bug(reference, written, mutant, numeric)]


def _bug(reference: str, written: str, mutant: Mutant, numeric: Mapping[str, bool]) -> list[Bug]:
    edits = carried_over(reference, written, _as_people_write(mutant.sql))
    if not edits or _is_odd(mutant.operator, reference, edits):
        return []
    if mutant.operator in _OTHER_COLUMN and any(_mixes_types(reference, edit, numeric) for edit in edits):
        return []
    return [Bug(KIND_OF[mutant.operator], mutant.operator, edits)]


def _is_odd(operator: str, reference: str, edits: tuple[TextEdit, ...]) -> bool:
    """Whether no user would write this, or not without seeing it."""
    text = apply(reference, edits)
    if len(_NO_USER_WRITES.findall(text)) > len(_NO_USER_WRITES.findall(reference)):
        return True
    if operator == "null-guard-added":  # elsewhere nobody adds it unthinkingly
        return "GROUP BY" not in reference.upper()
    if operator == "number-off-by-one":  # ELSE 1 for ELSE 0
        return any(reference[: edit.start].rstrip().upper().endswith(("ELSE", "THEN")) for edit in edits)
    if operator == "aggregate-distinct-added":
        return "DISTINCT CASE" in text.upper()
    if operator == "all-best-as-first":  # where a condition would get lost on the way
        return {t.text for t in tokens(reference) if t.is_text} != {t.text for t in tokens(text) if t.is_text}
    if operator == "filtered-column":  # a name that equals a city
        return any(_TEXT_FOLLOWS.match(reference, edit.end) for edit in edits)
    if operator == "listed-column":  # a column that the condition makes the same in every row
        return any(f"{edit.text.strip()} = '" in reference for edit in edits)
    return False


def _mixes_types(reference: str, edit: TextEdit, numeric: Mapping[str, bool]) -> bool:
    """Whether a text stands where a number was, or the reverse: nobody compares a device with 100."""
    before, after = reference[edit.start : edit.end], edit.text
    old, new = ([numeric[t.text] for t in tokens(text) if t.text in numeric] for text in (before, after))
    return bool(old and new) and old[-1] != new[-1]


def _as_people_write(sql: str) -> str:
    sql = _NOT_NULL.sub(r"\1 IS NOT NULL", _NEGATED.sub(r"\1 NOT \2", sql))
    return sql.replace("FILTER(", "FILTER (").replace("EXISTS(", "EXISTS (")

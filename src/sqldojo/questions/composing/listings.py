"""Lists of rows and single numbers: what the other patterns build on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqldojo.questions.composing.asking import (
    aggregates,
    columns,
    each_row,
    gap_note,
    only,
    owned,
    pattern_of,
    question_type,
)
from sqldojo.questions.composing.model import CATEGORY, TEXT, Field
from sqldojo.questions.composing.scopes import Scope
from sqldojo.questions.composing.words import listed
from sqldojo.records import QuestionType


def listing(scope: Scope, fields: Sequence[Field]) -> QuestionType:
    """Which rows: these fields of each."""
    many, one_row, meaning = scope.entity.words.many, each_row(scope.entity), scope.meaning(*fields)
    sql = f"SELECT {', '.join(map(scope.ref, fields))} FROM {scope.source}{scope.where()}"
    texts = (
        f"Which {many} {scope.predicate(0)}? Return {only(fields)}, {one_row}. {meaning}",
        f"List the {scope.rows(1)}. Return {only(fields)}, {one_row}. {meaning}",
        f"Find all {scope.rows(0)}. Give {only(fields)}, {one_row}. {meaning}",
        f"I need a list of the {scope.rows(1)}: {only(fields)}, {one_row}. {meaning}",
        f"Show {columns(fields)} of all {scope.rows(0)}, {one_row}. {meaning}",
    )
    name = f"list-{'-and-'.join(field.slug for field in fields)}-{scope.id}"
    return question_type(name, sql, scope.parameters, pattern_of(scope), 1 + scope.steps, texts)


def listing_with_parent(scope: Scope, fields: Sequence[Field]) -> Iterator[QuestionType]:
    """Each row with what it belongs to, for a scope of one branch whose end has names."""
    parent = scope.branches[0].end
    if not parent.names:
        return
    selected = ", ".join(map(scope.ref, (*parent.names, *fields)))
    sql = f"SELECT {selected} FROM {scope.source}{scope.where()}"
    cols = listed([*owned(parent), *owned(scope.entity, fields)])
    many, one_row = scope.entity.words.many, each_row(scope.entity)
    lost = "" if scope.branches[0].conditions else scope.orphans
    texts = (
        f"Which {many} {scope.predicate(0)}? Return {cols}, in this order, {one_row}. {lost}",
        f"List the {scope.rows(1)} together with the {parent.words.one} of each: {cols}, in this order, {one_row}. "
        f"{lost}",
        f"For all {scope.rows(0)}, give {cols}, in this order, {one_row}. {lost}",
        f"Show {cols} for the {scope.rows(1)}. Keep this order of columns and return {one_row}. {lost}",
    )
    yield question_type(
        f"list-with-{parent.slug}-{scope.id}", sql, scope.parameters, "join", 1 + max(1, scope.steps), texts
    )


def different_values(scope: Scope, field: Field) -> QuestionType:
    """The different values of a field."""
    one, many = field.words.one, field.words.many
    sql = f"SELECT DISTINCT {scope.ref(field)} FROM {scope.source}{scope.where()}"
    missing = f"A missing {one} is a value like any other."
    texts = (
        f"Which different {many} are there among the {scope.rows(0)}? Return each {one} once. {missing}",
        f"List the {many} that occur among the {scope.rows(1)}, every {one} only once. {missing}",
        f"Take the {scope.rows(0)}: what {many} occur among them? Return one row per different {one}. {missing}",
        f"Give the {many} found among {scope.rows(1)}, without repeats. {missing}",
    )
    return question_type(
        f"different-{field.slug}-{scope.id}", sql, scope.parameters, "filter", 2 + scope.steps, texts
    )


def count(scope: Scope) -> QuestionType:
    """How many rows."""
    many, note = scope.entity.words.many, scope.note()
    texts = (
        f"How many {many} {scope.predicate(0)}? {note} Return only the number.",
        f"Count the {scope.rows(1)}. {note} Return a single number.",
        f"What is the number of {scope.rows(0)}? {note} Return only the count.",
        f"Tell me how many {many} {scope.predicate(1)}. {note} Return one number.",
        f"Give the count of all {scope.rows(0)}. {note} Return just this number.",
    )
    pattern = "join" if scope.branches else "aggregate"
    sql = f"SELECT COUNT(*) FROM {scope.source}{scope.where()}"
    return question_type(f"count-{scope.id}", sql, scope.parameters, pattern, 1 + scope.steps, texts)


def count_different(scope: Scope, field: Field) -> QuestionType:
    """How many different values of a field; a missing value is none."""
    one, many, note = field.words.one, field.words.many, scope.note()
    missing = f"A missing {one} does not count." if field.role in (CATEGORY, TEXT) else ""
    texts = (
        f"How many different {many} are there among the {scope.rows(0)}? {note} {missing} Return only the number.",
        f"Count the distinct {many} among the {scope.rows(1)}. {note} {missing} Return a single number.",
        f"Over all {scope.rows(0)}, what is the number of different {many}? {note} {missing} Return one number.",
        f"Of the {scope.rows(1)}, take the {many} and count every different one once. {note} {missing} Return only "
        "the count.",
    )
    sql = f"SELECT COUNT(DISTINCT {scope.ref(field)}) FROM {scope.source}{scope.where()}"
    return question_type(
        f"count-different-{field.slug}-{scope.id}", sql, scope.parameters, "aggregate", 2 + scope.steps, texts
    )


def single_values(scope: Scope, field: Field, *, most: int | None = None) -> Iterator[QuestionType]:
    """One type for each of the first aggregates of a field, or for all."""
    pattern = "join" if scope.branches else "aggregate"
    note = f"{scope.note(field)} {gap_note(scope, field)}"
    for function, called in aggregates(field)[:most]:
        texts = (
            f"What is the {called} of the {scope.rows(0)}? {note} Return only this value.",
            f"Give the {called} over all {scope.rows(1)}. {note} Return a single value.",
            f"For the {scope.rows(0)}, what is the {called}? {note} Return one value.",
            f"I need the {called} of all {scope.rows(1)}. {note} Return just this value.",
            f"Find the {called} among the {scope.rows(0)}. {note} Return one value and nothing else.",
        )
        yield question_type(
            f"{called.split(' ')[0]}-{field.slug}-{scope.id}",
            f"SELECT {function}({scope.ref(field)}) FROM {scope.source}{scope.where()}",
            scope.parameters, pattern, 1 + scope.steps, texts,
        )  # fmt: skip

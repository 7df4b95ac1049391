"""The rows with the highest or lowest value, overall and in each group: all of them in case of a tie."""

from __future__ import annotations

from collections.abc import Iterator

from sqldojo.questions.composing.asking import columns, each_row, only, question_type
from sqldojo.questions.composing.identifiers import identifier
from sqldojo.questions.composing.model import DATE, Field
from sqldojo.questions.composing.scopes import Scope
from sqldojo.questions.composing.words import with_article
from sqldojo.records import QuestionType

_IDLE = {"MIN": ("below", "before"), "MAX": ("at-least", "since")}  # the lowest of all is the lowest of those below


def _extremes(scope: Scope, field: Field) -> list[tuple[str, str]]:
    """The functions that a condition on the field itself leaves something to ask, with their words."""
    kinds = {condition.kind for condition in scope.own if condition.field == field}
    words = ("highest", "lowest") if field.role != DATE else ("latest", "earliest")
    return [(name, word) for name, word in zip(("MAX", "MIN"), words, strict=True) if not kinds & set(_IDLE[name])]


def _outside(scope: Scope, field: Field) -> list[str]:
    """The conditions to repeat outside: what equals the highest of the rows that meet one on the field meets it too."""
    return [each.on("") for each in scope.own if each.field != field]


def tops(scope: Scope, field: Field) -> Iterator[QuestionType]:
    """The rows of a scope of one table with the highest and with the lowest value of a field."""
    entity, table, one, ref = scope.entity, identifier(scope.entity.table), field.words.one, field.of("")
    shown, one_row, meaning = only(entity.names), each_row(entity), scope.meaning(field)
    for function, word in _extremes(scope, field):
        best = f"{ref} = (SELECT {function}({ref}) FROM {table}{scope.where()})"
        sql = (
            f"SELECT {', '.join(map(scope.ref, entity.names))} FROM {table} WHERE "
            f"{' AND '.join([*_outside(scope, field), best])}"
        )
        texts = (
            f"Which of the {scope.rows(0)} have the {word} {one}? Return {shown}, all of them in case of a tie, "
            f"{one_row}. {meaning}",
            f"Find the {entity.words.one} with the {word} {one} among the {scope.rows(1)}. If several tie, return "
            f"all: {shown}, {one_row}. {meaning}",
            f"Among the {scope.rows(0)}, what is the {entity.words.one} with the {word} {one}? Ties included, return "
            f"{shown}, {one_row}. {meaning}",
            f"Look at the {scope.rows(1)} and return {columns(entity.names)} of those whose {one} is the {word}, "
            f"{one_row}, with every tie. {meaning}",
        )
        yield question_type(
            f"{word}-{field.slug}-{scope.id}", sql, scope.parameters, "top", 2 + scope.steps, texts
        )


def group_tops(scope: Scope, group: Field, field: Field) -> Iterator[QuestionType]:
    """The same in each group of a category, for a scope of one table."""
    names, table, entity = scope.entity.names, identifier(scope.entity.table), scope.entity
    one, by, one_row = field.words.one, group.words.one, each_row(scope.entity)
    shown = columns((group, *names))
    lost = f"{scope.meaning(field)} {entity.words.many} without {with_article(by)} are left out."
    same = f"other.{group.of('')} = {group.of(table + '.')}"
    inner = " AND ".join([same, *(each.on("") for each in scope.own)])
    for function, word in _extremes(scope, field):
        best = f"{field.of('')} = (SELECT {function}({field.of('')}) FROM {table} AS other WHERE {inner})"
        selected = ", ".join(each.of("") for each in (group, *names))
        sql = f"SELECT {selected} FROM {table} WHERE {' AND '.join([*_outside(scope, field), best])}"
        texts = (
            f"For each {by}, which of the {scope.rows(0)} have the {word} {one}? Return {shown}, all of them in case "
            f"of a tie, {one_row}. {lost}",
            f"In every {by}, find the {entity.words.many} with the {word} {one} among its {scope.rows(1)}. Return "
            f"{shown}, {one_row}, ties included. {lost}",
            f"Take only the {scope.rows(0)}. Of those with the same {by}, give the ones with the {word} {one}: "
            f"{shown}, {one_row}. If several tie, return all. {lost}",
            f"Per {by}, look at the {scope.rows(1)} and keep those whose {one} is the {word} there, with every tie. "
            f"Return {shown}, {one_row}. {lost}",
        )
        yield question_type(
            f"{word}-{field.slug}-per-{group.slug}-{scope.id}", sql, scope.parameters, "group-top",
            3 + scope.steps, texts,
        )  # fmt: skip

"""The part of some rows that also meets a condition, overall and per group."""

from __future__ import annotations

from sqldojo.questions.composing.asking import question_type
from sqldojo.questions.composing.conditions import Condition
from sqldojo.questions.composing.groups import By
from sqldojo.questions.composing.scopes import Scope, say
from sqldojo.records import QuestionType


def share(scope: Scope, condition: Condition) -> QuestionType:
    """The fraction of the rows of a scope that also meet a condition."""
    many, note = scope.entity.words.many, scope.note(condition.field)
    said = [say(condition, turn) for turn in (0, 1)]
    texts = (
        f"What fraction of the {scope.rows(0)} {said[0]}? {note} Return one number between 0 and 1.",
        f"Of all {scope.rows(1)}, what share {said[1]}? {note} Return a single fraction between 0 and 1.",
        f"Take the {scope.rows(0)}. What part of these {many} {said[1]}? {note} Return it as one number from 0 to 1.",
        f"Of all {scope.rows(1)}, count those {scope.entity.pronoun} {said[0]} and divide by the number of all. {note} "
        "Return only the fraction, not as a percentage.",
    )
    sql = f"SELECT {_share(scope, condition)} FROM {scope.source}{scope.where()}"
    parameters = {**condition.parameters, **scope.parameters}
    name = f"share-{condition.id}-{scope.id}"
    return question_type(name, sql, parameters, "ratio", 2 + scope.steps, texts)


def shares(scope: Scope, by: By, condition: Condition) -> QuestionType:
    """The fraction of the rows of each group that meet a condition."""
    many, one = scope.entity.words.many, by.words.one
    note = f"{by.once} {scope.note(condition.field, *by.fields)}"
    said = [say(condition, turn) for turn in (0, 1)]
    texts = (
        f"For each {one}, what fraction of its {scope.rows(0)} {said[0]}? Return {by.shown} and the fraction, a "
        f"number between 0 and 1. {note}",
        f"Per {one}, what part of its {scope.rows(1)} {said[1]}? Return {by.shown}, then that fraction between 0 and "
        f"1, also where it is 0. {note}",
        f"Show for each {one} what share of its {scope.rows(0)} {said[1]}: {by.shown} first, then the share as a "
        f"number from 0 to 1. {note}",
        f"For every {one}, divide the number of its {many} {scope.entity.pronoun} {said[0]} by the number of all its "
        f"{scope.rows(1)}. Return {by.shown} and this fraction. {note}",
    )
    sql = f"SELECT {by.select}, {_share(scope, condition)} FROM {scope.source}{scope.where()} GROUP BY {by.group}"
    parameters = {**condition.parameters, **scope.parameters}
    name = f"share-{condition.id}-by-{by.id}-{scope.id}"
    return question_type(name, sql, parameters, "ratio", 3 + scope.steps, texts)


def _share(scope: Scope, condition: Condition) -> str:
    """Unlike the average of a comparison, it counts a row whose value is missing as one that does not meet it."""
    return f"AVG(CASE WHEN {condition.on(scope.prefix(condition.field.table))} THEN 1.0 ELSE 0 END)"

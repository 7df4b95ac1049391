"""Pieces that all patterns share: how columns and rows are named in a text, and the record that a pattern gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqldojo.questions.composing.model import DATE, NUMBER, Entity, Field
from sqldojo.questions.composing.scopes import Scope
from sqldojo.questions.composing.words import listed, sentence
from sqldojo.records import COMPOSED, TRAIN, QuestionType

MOST_DIFFICULT = 4
COUNTING = "COUNT(*)"
_CALLED = {"SUM": "total", "AVG": "average", "MAX": "highest", "MIN": "lowest"}


def question_type(
    name: str, sql: str, parameters: Mapping[str, str], pattern: str, difficulty: int, texts: Sequence[str]
) -> QuestionType:
    """The record of a composed type; texts that are equal once tidied are one."""
    return QuestionType(
        id=name,
        split=TRAIN,
        phrasings=tuple(dict.fromkeys(sentence(text) for text in texts)),
        sql=sql,
        parameters=dict(parameters),
        pattern=pattern,
        difficulty=min(difficulty, MOST_DIFFICULT),
        proposer=COMPOSED,
    )


def columns(fields: Sequence[Field]) -> str:
    """`the name and the price`."""
    return listed([field.words.one for field in fields])


def only(fields: Sequence[Field]) -> str:
    """What to return: `only the name`, or several columns."""
    return columns(fields) if len(fields) > 1 else f"only {columns(fields)}"


def owned(entity: Entity, fields: Sequence[Field] = ()) -> list[str]:
    """The fields of an entity, its names by default, as what it has: `customer's name`."""
    one = entity.words.one
    return [
        field.words.one if field.words.one.startswith(one) else f"{one}'s {field.words.one}"
        for field in fields or entity.names
    ]


def each_row(entity: Entity) -> str:
    """What a row of the answer stands for."""
    return f"one row per {entity.words.one}"


def aggregates(field: Field) -> list[tuple[str, str]]:
    """The aggregates that make sense of a field, as SQL functions with what the result is called; the sum first."""
    if field.role == NUMBER:
        called = {function: f"{word} {field.words.one}" for function, word in _CALLED.items()}
        if "total" in field.words.one:
            called["SUM"] = f"sum of the {field.words.many}"
        return [(function, words) for function, words in called.items() if function != "SUM" or field.adds_up]
    if field.role == DATE:
        return [("MIN", f"earliest {field.words.one}"), ("MAX", f"latest {field.words.one}")]
    return []


def gap_note(scope: Scope, field: Field) -> str:
    """What happens to rows without a value that is aggregated, where there are any."""
    if not field.gaps or any(condition.field == field for condition in scope.conditions):
        return ""
    owner = next(each for each in scope.entities if each.table == field.table)
    return f"{owner.words.many} without a known {field.words.one} are ignored."


def pattern_of(scope: Scope) -> str:
    """What a plain question about a scope practises."""
    if scope.branches:
        return "join"
    if any(condition.field.role == DATE for condition in scope.own):
        return "date"
    return "range" if any(condition.field.role == NUMBER for condition in scope.own) else "filter"

"""Rows by what belongs to them: with and without such rows, how many each has, and sets of both."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sqldojo.questions.composing.asking import each_row, only, question_type
from sqldojo.questions.composing.identifiers import identifier
from sqldojo.questions.composing.model import Field, Link
from sqldojo.questions.composing.scopes import Scope, modifier
from sqldojo.questions.composing.words import joined, listed
from sqldojo.records import QuestionType


def _children(scope: Scope, link: Link, *more: str) -> str:
    """The rows of a scope that belong to the row of the outer query."""
    outer = f"{identifier(link.parent.table)}.{link.parent_column}"
    own = f"{scope.prefix(link.child.table)}{link.column} = {outer}"
    conditions = [each.on(scope.prefix(each.field.table)) for each in scope.conditions]
    return f"SELECT 1 FROM {scope.source} WHERE {' AND '.join([own, *conditions, *more])}"


def without(parents: Scope, link: Link, children: Scope) -> QuestionType:
    """The rows of `parents` to which no row of `children` belongs."""
    entity, note = parents.entity, children.note()
    sql = (
        f"SELECT {', '.join(map(parents.ref, entity.names))} FROM "
        f"{parents.source}{parents.where(f'NOT EXISTS ({_children(children, link)})')}"
    )
    shown, one_row = only(entity.names), each_row(entity)
    none = [(*parents.sayings(turn), f"have no {children.rows(turn)}") for turn in (0, 1)]
    which = [f"{entity.words.many} {modifier(entity, none[turn])}" for turn in (0, 1)]
    texts = (
        f"Which {entity.words.many} {joined(none[0])}? {note} Return {shown}, {one_row}.",
        f"List the {which[1]}. {note} Return {shown}, {one_row}.",
        f"Find all {parents.rows(0)} for {entity.whom} there are no {children.rows(0)}. {note} Return {shown}, "
        f"{one_row}.",
        f"Of all {parents.rows(1)}, return those without any {children.rows(1)}: {shown}, {one_row}. {note}",
        f"Leave out all {entity.words.many} {entity.pronoun} have {children.rows(0)}. Which {parents.rows(0)} remain? "
        f"{note} Return {shown}, {one_row}.",
    )
    name = f"{parents.id}-without-{children.id}"
    parameters = {**parents.parameters, **children.parameters}
    return question_type(name, sql, parameters, "anti-join", 2 + parents.steps + children.steps, texts)


def having_some(parents: Scope, link: Link, children: Scope) -> QuestionType:
    """The rows of `parents` to which at least one row of `children` belongs."""
    entity, note = parents.entity, children.note()
    inner = f"SELECT {children.prefix(link.child.table)}{link.column} FROM {children.source}{children.where()}"
    sql = (
        f"SELECT {', '.join(map(parents.ref, entity.names))} FROM "
        f"{parents.source}{parents.where(f'{link.parent_column} IN ({inner})')}"
    )
    shown, once = only(entity.names), f"{each_row(entity)} however many {link.child.words.many} there are"
    some = [(*parents.sayings(turn), f"have one or more {children.rows(turn)}") for turn in (0, 1)]
    which = [f"{entity.words.many} {modifier(entity, some[turn])}" for turn in (0, 1)]
    texts = (
        f"Which {entity.words.many} {joined(some[0])}? {note} Return {shown}, {once}.",
        f"List the {which[1]}. {note} Return {shown}, {once}.",
        f"Find all {parents.rows(0)} for {entity.whom} there are {children.rows(0)}. {note} Return {shown}, {once}.",
        f"Of all {parents.rows(1)}, which have any {children.rows(1)}? {note} Return {shown}, {once}.",
    )
    name = f"{parents.id}-having-{children.id}"
    parameters = {**parents.parameters, **children.parameters}
    return question_type(name, sql, parameters, "join", 2 + parents.steps + children.steps, texts)


def counts_with_zero(parents: Scope, link: Link) -> QuestionType:
    """How many rows of a child table belong to each row of `parents`, 0 where there are none."""
    entity, child = parents.entity, link.child
    table, other = identifier(entity.table), identifier(child.table)
    selected = ", ".join(field.of(f"{table}.") for field in entity.names)
    conditions = " AND ".join(each.on(f"{table}.") for each in parents.own)
    sql = (
        f"SELECT {selected}, COUNT({other}.{link.column}) FROM {table} LEFT JOIN {other} ON {other}.{link.column} = "
        f"{table}.{link.parent_column} WHERE {conditions} GROUP BY {table}.{link.parent_column}"
    )
    shown, one_row, note = listed([field.words.one for field in entity.names]), each_row(entity), Scope(child).note()
    many = child.words.many
    texts = (
        f"How many {many} does each of the {parents.rows(0)} have? Return {shown} and the number of {many}, "
        f"{one_row}, with 0 where there are none. {note}",
        f"For all {parents.rows(1)}, give {shown} and the number of {many}, {one_row}; those without {many} have 0. "
        f"{note}",
        f"Count the {many} of each of the {parents.rows(0)}. Return {shown}, then the count, {one_row}, also where it "
        f"is 0. {note}",
        f"List the {parents.rows(1)} with their number of {many}: {shown} first, then the number, {one_row}. Include "
        f"those with 0 {many}. {note}",
    )
    return question_type(
        f"count-{child.slug}-of-each-{parents.id}", sql, parents.parameters, "join", 3 + parents.steps, texts
    )


_BOTH = {
    "INTERSECT": ("have {0} and also have {1}, whether or not they are the same ones", "both-ways"),
    "EXCEPT": ("have {0} but have no {1}", "one-but-not-other"),
    "UNION": ("have {0} or have {1}, or both", "either-way"),
}


def sets_of_parents(link: Link, one: Scope, other: Scope) -> Iterator[QuestionType]:
    """The rows to which rows of both scopes belong, of the first but not the second, or of either."""
    entity = link.parent
    names = ", ".join(field.of("") for field in entity.names)
    note = replace(one, own=one.own + other.own, branches=one.branches + other.branches).note()
    shown, one_row = only(entity.names), each_row(entity)
    for operator, (predicate, kind) in _BOTH.items():
        inner = f"{_listed(link, one)} {operator} {_listed(link, other)}"
        said = [predicate.format(one.rows(turn), other.rows(turn)) for turn in (0, 1)]
        texts = (
            f"Which {entity.words.many} {said[0]}? {note} Return {shown}, {one_row}.",
            f"List all {entity.words.many} {entity.pronoun} {said[1]}. {note} Return {shown}, {one_row}.",
            f"Find the {entity.words.many} {entity.pronoun} {said[0]}. {note} Return {shown}, {one_row}.",
            f"I need a list of the {entity.words.many} {entity.pronoun} {said[1]}. {note} Return {shown}, {one_row}.",
        )
        yield question_type(
            f"{entity.slug}-{kind}-{one.id}-and-{other.id}",
            f"SELECT {names} FROM {identifier(entity.table)} WHERE {link.parent_column} IN ({inner})",
            {**one.parameters, **other.parameters}, "set", 3 + one.steps + other.steps, texts,
        )  # fmt: skip


def _listed(link: Link, scope: Scope) -> str:
    return f"SELECT {scope.prefix(link.child.table)}{link.column} FROM {scope.source}{scope.where()}"


_VALUES = {
    "INTERSECT": "occur among the {0} and also among the {1}",
    "EXCEPT": "occur among the {0} but not among the {1}",
    "UNION": "occur among the {0}, among the {1} or among both",
}


def sets_of_values(one: Scope, other: Scope, field: Field) -> Iterator[QuestionType]:
    """The values of a category that occur in both scopes, in one but not the other, or in either."""
    words, rest = field.words, f"Return each {field.words.one} once; a missing {field.words.one} is treated as a value."
    for operator, predicate in _VALUES.items():
        said = [predicate.format(one.rows(turn), other.rows(turn)) for turn in (0, 1)]
        texts = (
            f"Which {words.many} {said[0]}? {rest}",
            f"List the {words.many} that {said[1]}. {rest}",
            f"I want to see the {words.many} that {said[0]}. {rest}",
            f"Give all {words.many} which {said[1]}. {rest}",
        )
        sql = " ".join(
            (f"SELECT {one.ref(field)} FROM {one.source}{one.where()}", operator,
             f"SELECT {other.ref(field)} FROM {other.source}{other.where()}")
        )  # fmt: skip
        parameters = {**one.parameters, **other.parameters}
        kind = _BOTH[operator][1]
        yield question_type(
            f"{field.slug}-{kind}-{one.id}-and-{other.id}", sql, parameters, "set", 3 + one.steps + other.steps, texts
        )

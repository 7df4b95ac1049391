"""One row per group: counts and other aggregates, groups over a threshold, groups with the most."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqldojo.questions.composing.asking import COUNTING, gap_note, owned, question_type
from sqldojo.questions.composing.identifiers import identifier
from sqldojo.questions.composing.model import Entity, Field
from sqldojo.questions.composing.scopes import Scope, modifier, say
from sqldojo.questions.composing.words import Noun, listed, with_article
from sqldojo.records import QuestionType


@dataclass(frozen=True)
class By:
    """What rows are grouped by, in SQL: the columns that show it and the `key`; its noun; the columns in words.

    `group` stands after GROUP BY, and `alias` is what the columns are called outside the query. `once` says what a
    missing value is. `fields` are those that a group has one value of.
    """

    id: str
    select: str
    key: str
    group: str
    alias: str
    words: Noun
    shown: str
    once: str
    fields: tuple[Field, ...] = ()
    entity: Entity | None = None

    @property
    def per(self) -> str:
        """What a row of the answer stands for."""
        return f"one row per {self.words.one}"


def by_field(scope: Scope, field: Field) -> By:
    """Groups of one value of a category; `scope` must reach it."""
    ref, words, shown, lost = scope.ref(field), field.words, f"the {field.words.one}", ""
    if field.table != scope.entity.table:
        owner = next(each for each in scope.entities if each.table == field.table)
        words, shown, lost = words.of(owner.words), listed(owned(owner, (field,))), scope.orphans
    once = f"A missing {words.one} counts as a value of its own. {lost}"
    return By(field.slug, ref, ref, ref, field.of(""), words, shown, once, (field,))


def by_month(scope: Scope, field: Field) -> By:
    """Groups of one calendar month of a date, which the scope keeps within a year."""
    return _by_time(scope, field, "%m", Noun("month", "months"), "the month as two digits")


def by_year(scope: Scope, field: Field) -> By:
    """Groups of one year of a date."""
    return _by_time(scope, field, "%Y", Noun("year", "years"), "the year as four digits")


def _by_time(scope: Scope, field: Field, form: str, words: Noun, shown: str) -> By:
    sql = f"strftime('{form}', {scope.ref(field)})"
    once = f"{words.many} are those of the {field.words.one}"
    if not any(condition.field == field for condition in scope.conditions):
        once += f"; a missing one counts as a {words.one} of its own"
    taken = {each.column.lower() for entity in scope.entities for each in entity.fields}
    alias = words.one if words.one not in taken else identifier(f"{words.one} of {field.column}")
    return By(words.one, f"{sql} AS {alias}", sql, alias, alias, words, shown, f"{once}.")


def by_entity(scope: Scope, entity: Entity) -> By:
    """Groups of the rows that belong to one row of an entity that the scope reaches; it must have a key."""
    assert entity.key is not None
    return By(
        id=entity.slug,
        select=", ".join(map(scope.ref, entity.names)),
        key=scope.ref(entity.key),
        group=scope.ref(entity.key),
        alias=", ".join(field.of("") for field in entity.names),
        words=entity.words,
        shown=listed(owned(entity)),
        once="",
        entity=entity,
    )


@dataclass(frozen=True)
class Aggregate:
    """An aggregate over the rows of a group: its SQL, what it is called, what happens to missing values, and the
    sentence that says what a computed amount is."""

    id: str
    sql: str
    called: str
    gaps: str = ""
    meaning: str = ""


def counting(scope: Scope) -> Aggregate:
    """The number of rows."""
    return Aggregate("count", COUNTING, f"number of {scope.entity.words.many}")


def aggregate(scope: Scope, function: str, called: str, field: Field) -> Aggregate:
    """A function of a field."""
    name = f"{called.split(' ')[0]}-{field.slug}"
    return Aggregate(name, f"{function}({scope.ref(field)})", called, gap_note(scope, field), field.meaning)


@dataclass(frozen=True)
class _Said:
    """The words of a question about groups: `each` is one group, `some` are several, `of` is the aggregate of each of
    them, `total` that of any; `skip` says what is left out.

    Conditions on an entity that rows are grouped by restrict the groups, all others the rows.
    """

    each: tuple[str, str]
    some: tuple[str, str]
    rows: tuple[str, str]
    of: tuple[str, str]
    total: tuple[str, str]
    skip: str


def _say(scope: Scope, by: By, value: Aggregate) -> _Said:
    each, some, inner = (by.words.one,) * 2, (by.words.many,) * 2, scope
    if by.entity:
        ends = [branch for branch in scope.branches if branch.end == by.entity and branch.conditions]
        inner = replace(scope, branches=tuple(branch for branch in scope.branches if branch not in ends))
        if ends:
            owners = [modifier(by.entity, [say(one, turn) for one in ends[0].conditions]) for turn in (0, 1)]
            some = tuple(f"{by.words.many} {owner}" for owner in owners)
            each = tuple(f"of the {text}" for text in some)
    rows = (inner.rows(0), inner.rows(1))
    whose = "their" if by.entity else ""
    skip = f"Leave out {by.words.many} without {'such' if inner.sayings(0) else 'any'} {inner.entity.words.many}."
    of, total = ([total_of(value, text, which) for text in rows] for which in (whose, ""))
    return _Said(each, some, rows, tuple(of), tuple(total), skip)


def total_of(value: Aggregate, rows: str, whose: str = "") -> str:
    """The aggregate of these rows in words; `whose` says that they are theirs."""
    return f"number of {whose} {rows}" if value.sql == COUNTING else f"{value.called} of {whose or 'the'} {rows}"


def grouped(scope: Scope, by: By, value: Aggregate, pattern: str = "group") -> QuestionType:
    """The aggregate of each group."""
    said, note = _say(scope, by, value), _notes(scope, by, value)
    if value.gaps:
        note += f" The value is empty for {with_article(by.words.one)} without any others."
    texts = (
        f"For each {said.each[0]}, what is the {said.of[0]}? Return {by.shown} and then the {value.called}, {by.per}. "
        f"{said.skip} {note}",
        f"What is the {said.total[1]} for each {said.each[1]}? Return {by.shown}, then the {value.called}, {by.per}. "
        f"{said.skip} {note}",
        f"Group the {said.rows[0]} by {by.words.one} and give the {value.called} for each {said.each[0]}: {by.shown} "
        f"first, then the value, {by.per}. {said.skip} {note}",
        f"Show the {said.total[1]}, separately for each {said.each[1]}. The columns are {by.shown} and the "
        f"{value.called}, with {by.per}. {said.skip} {note}",
        f"Take the {said.rows[0]}. For each {said.each[0]}, return {by.shown} with the {value.called}, {by.per}. "
        f"{said.skip} {note}",
    )
    sql = f"SELECT {by.select}, {value.sql} FROM {scope.source}{scope.where()} GROUP BY {by.group}"
    name = f"{value.id}-by-{by.id}-{scope.id}"
    return question_type(name, sql, scope.parameters, pattern, 2 + scope.steps, texts)


def groups_over(
    scope: Scope, by: By, value: Aggregate, limit: Mapping[str, str], pattern: str = "having"
) -> QuestionType:
    """The groups whose aggregate is above a threshold."""
    (parameter,) = limit
    mark, note, said = "{" + parameter + "}", _notes(scope, by, value), _say(scope, by, value)
    whose, whom = ("their", by.entity.whom) if by.entity else ("the", "which")
    least = [f"more than {mark} {rows}" for rows in said.rows]
    if value.sql != COUNTING:
        least = [f"{with_article(value.called)} of more than {mark}, over {whose} {rows}" for rows in said.rows]
    texts = (
        f"For which {said.some[0]} is the {said.of[0]} greater than {mark}? Return only {by.shown}, {by.per}. {note}",
        f"Which {said.some[1]} have {least[1]}? Return only {by.shown}, {by.per}. {note}",
        f"Of all {said.some[0]}, find those with {least[0]}. Return only {by.shown}, {by.per}. {note}",
        f"List the {said.some[1]} for {whom} the {said.of[1]} exceeds {mark}: only {by.shown}, {by.per}. {note}",
    )
    sql = f"SELECT {by.select} FROM {scope.source}{scope.where()} GROUP BY {by.group} HAVING {value.sql} > :{parameter}"
    name = f"{by.id}-over-{value.id}-{scope.id}"
    return question_type(name, sql, {**scope.parameters, **limit}, pattern, 2 + scope.steps, texts)


def groups_with_most(scope: Scope, by: By, value: Aggregate, pattern: str = "top") -> QuestionType:
    """The groups whose aggregate is the highest, all of them in case of a tie."""
    note, said = _notes(scope, by, value), _say(scope, by, value)
    texts = (
        f"For which {said.some[0]} is the {said.of[0]} the highest? Return only {by.shown}, for all of them in case "
        f"of a tie, {by.per}. {note}",
        f"Find the {by.words.one} with the highest {said.total[1]}{_among(said, by, 1)}, ties included. Return only "
        f"{by.shown}, {by.per}. {note}",
        f"Compare the {said.total[0]} for each {said.each[0]}. Return only {by.shown} where it is highest, {by.per}, "
        f"with all ties. {note}",
        f"Which {by.words.one} comes first by {said.total[1]}{_among(said, by, 1)}? If several tie, return all of "
        f"them: only {by.shown}, {by.per}. {note}",
    )
    sql = (
        f"WITH totals AS (SELECT {by.select}, {value.sql} AS total FROM {scope.source}{scope.where()} "
        f"GROUP BY {by.group}) SELECT {by.alias} FROM totals WHERE total = (SELECT MAX(total) FROM totals)"
    )
    name = f"{by.id}-with-most-{value.id}-{scope.id}"
    return question_type(name, sql, scope.parameters, pattern, 3 + scope.steps, texts)


def _among(said: _Said, by: By, turn: int) -> str:
    return f", among the {said.some[turn]}" if said.some[turn] != by.words.many else ""


def _notes(scope: Scope, by: By, value: Aggregate) -> str:
    return f"{by.once} {scope.note(*by.fields)} {value.meaning} {value.gaps}"

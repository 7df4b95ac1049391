"""Values beside those of other rows: ranks, differences, running totals, shares of a total. No tie decides anything."""

from __future__ import annotations

from sqldojo.questions.composing.asking import columns, each_row, question_type
from sqldojo.questions.composing.groups import Aggregate, By, total_of
from sqldojo.questions.composing.model import DATE, Field
from sqldojo.questions.composing.scopes import Scope
from sqldojo.questions.composing.words import listed, with_article
from sqldojo.records import QuestionType


def ranks(scope: Scope, field: Field, within: Field | None = None) -> QuestionType:
    """The rows with their rank by a field, from the highest on; over all or within each value of a category."""
    names, ref = scope.entity.names, scope.ref(field)
    one, first = field.words.one, "latest" if field.role == DATE else "highest"
    over = f"PARTITION BY {scope.ref(within)} ORDER BY {ref} DESC" if within else f"ORDER BY {ref} DESC"
    selected = ", ".join(map(scope.ref, (*names, field)))
    sql = f"SELECT {selected}, RANK() OVER ({over}) FROM {scope.source}{scope.where()}"
    shown, one_row = columns((*names, field)), each_row(scope.entity)
    ranked = listed([each.words.one for each in (*names, field)] + ["rank"])
    rule = f"Rank 1 is the {first} {one}; equal ones share a rank, and two with rank 1 are followed by rank 3."
    if field.gaps:
        rule += f" A missing {one} comes last."
    where = f" within each {within.words.one}" if within else ""
    if within:
        rule += f" Those without {with_article(within.words.one)} are ranked among themselves."
    texts = (
        f"Rank the {scope.rows(0)} by {one}{where}. Return {ranked}, in this order, {one_row}. {rule}",
        f"For the {scope.rows(1)}, give {shown}, then the rank by {one}{where}, {one_row}. {rule}",
        f"Show all {scope.rows(0)} with their rank by {one}{where}: {shown}, then the rank, {one_row}. {rule}",
        f"What rank does each of the {scope.rows(1)} have by {one}{where}? Return {ranked}, {one_row}. {rule}",
    )
    place = f"-per-{within.slug}" if within else ""
    return question_type(
        f"rank-by-{field.slug}{place}-{scope.id}", sql, scope.parameters, "window", 3 + scope.steps, texts
    )


def differences_to_average(scope: Scope, field: Field) -> QuestionType:
    """The rows with how far a number is above the average of all rows."""
    names, ref, one = scope.entity.names, scope.ref(field), field.words.one
    sql = f"SELECT {', '.join(map(scope.ref, names))}, {ref} - AVG({ref}) OVER () FROM {scope.source}{scope.where()}"
    shown, one_row = columns(names), each_row(scope.entity)
    missing = f"It is empty where the {one} is missing." if field.gaps else ""
    texts = (
        f"By how much is the {one} of each of the {scope.rows(0)} above their average {one}? Return {shown} and the "
        f"difference, negative when below, {one_row}. {missing}",
        f"For the {scope.rows(1)}, give {shown} and the {one} minus the average {one} of all of these, {one_row}. "
        f"{missing}",
        f"Compare the {scope.rows(0)} with their average {one}: return {shown}, then {one} minus average, {one_row}. "
        f"{missing}",
        f"Take the {scope.rows(1)}. Return {shown} of each and how far its {one} lies above their mean {one} (below "
        f"is negative), {one_row}. {missing}",
    )
    name = f"{field.slug}-minus-average-{scope.id}"
    return question_type(name, sql, scope.parameters, "window", 3 + scope.steps, texts)


def group_shares(scope: Scope, by: By, value: Aggregate) -> QuestionType:
    """The part that each group has of the sum over all groups."""
    note = f"{by.once} {scope.note(*by.fields)} {value.gaps}"
    called = [total_of(value, scope.rows(turn)) for turn in (0, 1)]
    sql = (
        f"SELECT {by.select}, 1.0 * {value.sql} / SUM({value.sql}) OVER () FROM {scope.source}{scope.where()} GROUP "
        f"BY {by.key}"
    )
    one = by.words.one
    texts = (
        f"What part of the {called[0]} does each {one} have? Return {by.shown} and the fraction between 0 and 1. "
        f"{note}",
        f"Split the {called[1]} by {one}: return {by.shown}, then its share of the whole as a number from 0 to 1. "
        f"{note}",
        f"Take only the {scope.rows(0)}. For every {one}, divide its {value.called} by that of all {by.words.many} "
        f"together. Return {by.shown} and the result. {note}",
        f"Show how the {called[1]} is spread over the {by.words.many}: {by.shown} and the share, not as a percentage. "
        f"{note}",
    )
    name = f"part-of-{value.id}-by-{by.id}-{scope.id}"
    return question_type(name, sql, scope.parameters, "window", 4, texts)


def running_totals(scope: Scope, by: By, value: Aggregate) -> QuestionType:
    """The sum of an aggregate over all groups up to each one; `by` is a time."""
    note = f"{_skip(scope, by)} {by.once} {scope.note()}"
    called = [total_of(value, scope.rows(turn)) for turn in (0, 1)]
    sql = (
        f"SELECT {by.select}, SUM({value.sql}) OVER (ORDER BY {by.key}) FROM "
        f"{scope.source}{scope.where()} GROUP BY {by.group}"
    )
    one = by.words.one
    texts = (
        f"Give the running total of the {called[0]} by {one}: {by.shown}, then the total from the first {one} up to "
        f"and including this one. {note}",
        f"How does the {called[1]} add up over the {by.words.many}? Return {by.shown} and the cumulative "
        f"{value.called} up to the end of that {one}. {note}",
        f"For each {one}, return {by.shown} and the {called[0]}, in it and all earlier {by.words.many} together. "
        f"{note}",
        f"Show {by.shown} with the cumulative {called[1]}, from the earliest {one} up to that one. {note}",
    )
    return question_type(f"running-{value.id}-by-{by.id}-{scope.id}", sql, scope.parameters, "window", 4, texts)


def changes(scope: Scope, by: By, value: Aggregate) -> QuestionType:
    """How much an aggregate differs from the group before; `by` is a time."""
    note = f"{_skip(scope, by)} {by.once} {scope.note()}"
    called = [total_of(value, scope.rows(turn)) for turn in (0, 1)]
    sql = (
        f"SELECT {by.select}, {value.sql} - LAG({value.sql}) OVER (ORDER BY {by.key}) FROM "
        f"{scope.source}{scope.where()} GROUP BY {by.group}"
    )
    one = by.words.one
    texts = (
        f"How does the {called[0]} change from one {one} to the next? Return {by.shown} and the difference to the "
        f"previous {one} that has any, empty for the first. {note}",
        f"For each {one}, give {by.shown} and the {called[1]} minus that of the {one} before in the list; the first "
        f"has no value. {note}",
        f"Show {by.shown} and by how much the {called[0]} went up (negative: down) since the preceding listed {one}, "
        f"with an empty value for the first. {note}",
        f"Compare the {called[1]} of every {one} with the preceding {one} in the list: return {by.shown}, then the "
        f"difference, empty where there is none before. {note}",
    )
    return question_type(f"change-of-{value.id}-by-{by.id}-{scope.id}", sql, scope.parameters, "window", 4, texts)


def _skip(scope: Scope, by: By) -> str:
    return f"Leave out {by.words.many} without such {scope.entity.words.many}."

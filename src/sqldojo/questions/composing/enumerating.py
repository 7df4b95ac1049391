"""Every question that a pattern can ask of a world: which scopes, columns and groups are put together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations

from sqldojo.questions.composing import groups, listings, pools, ratios, relatives, tops, windows
from sqldojo.questions.composing.asking import aggregates
from sqldojo.questions.composing.conditions import Condition
from sqldojo.questions.composing.groups import By
from sqldojo.questions.composing.known import Known, apart, forks, ways_up
from sqldojo.questions.composing.model import CATEGORY, DATE, NUMBER, TEXT, Entity, Field, Link
from sqldojo.questions.composing.scopes import Branch, Scope
from sqldojo.records import QuestionType


def of_one_table(known: Known, entity: Entity) -> Iterator[QuestionType]:
    """Lists and numbers of rows that meet one condition or two, all in one table."""
    for condition in known.of(entity):
        scope = Scope(entity, (condition,))
        if entity.names:
            yield listings.listing(scope, entity.names)
            for field in _beside(entity, condition):
                yield listings.listing(scope, (*entity.names, field))
        if condition.parameters and condition.kind != "other":
            yield listings.count(scope)
    for condition in known.main(entity, "before", "below"):
        scope = Scope(entity, (condition,))
        for field in entity.of_role(NUMBER, DATE):
            if field != condition.field and not (field.computed and condition.field.role == NUMBER):
                yield from listings.single_values(scope, field)
        for field in known.categories(entity, condition):
            yield listings.different_values(scope, field)
            yield listings.count_different(scope, field)
    for pair in known.pairs(entity, "below", "missing", "since"):
        scope = Scope(entity, pair)
        if entity.names:
            yield listings.listing(scope, entity.names)
        yield listings.count(scope)


def _beside(entity: Entity, condition: Condition) -> list[Field]:
    """Columns to show beside the names: the one that the condition is about, or else all that differ."""
    if condition.field.role in (NUMBER, DATE) and condition.parameters:
        return [condition.field]
    return entity.of_role(NUMBER, DATE, TEXT) if condition.kind == "equal" else []


def of_joined_tables(known: Known, entity: Entity) -> Iterator[QuestionType]:
    """Lists and numbers of rows whose parent, or its parent, meets a condition."""
    for links in ways_up(known, entity):
        end = links[-1].parent
        for condition in known.main(end):
            scope = Scope(entity, branches=(Branch(links, (condition,)),))
            yield listings.count(scope)
            for field in entity.of_role(NUMBER):
                yield from listings.single_values(scope, field, most=1)
            if len(links) == 1 and entity.names:
                shown = [field for field in entity.of_role(DATE, NUMBER) if not field.computed][:1]
                yield from listings.listing_with_parent(scope, (*entity.names, *shown))
        for own in known.main(entity):
            scope = Scope(entity, (own,), (Branch(links),))
            if len(links) == 1 and entity.names and end.names and end.names != (end.key,):
                yield from listings.listing_with_parent(scope, entity.names)
            for condition in known.main(end):
                if apart(own, condition):
                    yield listings.count(Scope(entity, (own,), (Branch(links, (condition,)),)))
    for branches in forks(known, entity):
        scope = Scope(entity, branches=branches)
        yield listings.count(scope)
        for field in entity.of_role(NUMBER):
            yield from listings.single_values(scope, field, most=1)


def of_groups(known: Known, entity: Entity) -> Iterator[QuestionType]:
    """One row per category, year or parent; groups above a threshold, with the most."""
    for condition in known.main(entity):
        scope = Scope(entity, (condition,))
        for field in known.categories(entity, condition):
            yield from _grouped(known, scope, groups.by_field(scope, field), field)
        for field in entity.of_role(DATE):
            if field != condition.field:
                by = groups.by_year(scope, field)
                yield groups.grouped(scope, by, groups.counting(scope))
                yield groups.groups_with_most(scope, by, groups.counting(scope))
    for links in ways_up(known, entity):
        end = links[-1].parent
        for condition in known.few(entity):
            scope = Scope(entity, (condition,), (Branch(links),))
            for field in end.of_role(CATEGORY):
                yield from _grouped(known, scope, groups.by_field(scope, field), field)
        for condition in known.few(end):
            scope = Scope(entity, branches=(Branch(links, (condition,)),))
            for field in entity.of_role(CATEGORY):
                yield from _grouped(known, scope, groups.by_field(scope, field), field)
            if end.key and end.names:
                yield from _grouped(known, scope, groups.by_entity(scope, end), None, links[-1])
        if end.key and end.names:
            for condition in known.few(entity):
                scope = Scope(entity, (condition,), (Branch(links),))
                yield from _grouped(known, scope, groups.by_entity(scope, end), None, links[-1])


def _grouped(
    known: Known, scope: Scope, by: By, field: Field | None, link: Link | None = None
) -> Iterator[QuestionType]:
    table, column = (field.table, field.column) if field else (link.child.table, link.column.strip('"'))
    counted = groups.counting(scope)
    yield groups.grouped(scope, by, counted)
    yield groups.groups_with_most(scope, by, counted)
    yield from _over(scope, by, counted, known.limit(table, column, pools.COUNT))
    numbers = [number for number in scope.entity.of_role(NUMBER) if number not in [each.field for each in scope.own]]
    for number in numbers:
        functions = dict(aggregates(number))
        for function in ("SUM", "AVG", "MAX"):
            # One aggregate of a number is enough where tables are joined.
            if function in functions and (not scope.branches or function == next(iter(functions))):
                value = groups.aggregate(scope, function, functions[function], number)
                yield groups.grouped(scope, by, value)
                if function == "SUM":
                    yield groups.groups_with_most(scope, by, value)
                    yield from _over(scope, by, value, known.limit(number.table, number.column, pools.SUM))
                if function == "AVG":
                    above = [each.parameters for each in known.of(scope.entity, "above") if each.field == number]
                    yield from _over(scope, by, value, above[0] if above else {})


def _over(
    scope: Scope, by: By, value: groups.Aggregate, limit: Mapping[str, str], pattern: str = "having"
) -> Iterator[QuestionType]:
    if limit and not set(limit) & set(scope.parameters):
        yield groups.groups_over(scope, by, value, limit, pattern)


def of_ratios(known: Known, entity: Entity) -> Iterator[QuestionType]:
    """Fractions of rows that meet a condition, over all that meet another or per category."""
    for one, other in known.pairs(entity, "missing", "below"):
        for whole, part in ((one, other), (other, one)):
            if whole.kind != "missing":
                yield ratios.share(Scope(entity, (whole,)), part)
    for condition in known.main(entity):
        for field in known.unrelated(entity, condition):
            scope = Scope(entity)
            yield ratios.shares(scope, groups.by_field(scope, field), condition)
    for link in known.world.parents(entity):
        for far in known.few(link.parent):
            for condition in known.few(entity):
                if apart(far, condition):
                    yield ratios.share(Scope(entity, branches=(Branch((link,), (far,)),)), condition)
        for field in link.parent.of_role(CATEGORY):
            for condition in known.few(entity):
                scope = Scope(entity, branches=(Branch((link,)),))
                yield ratios.shares(scope, groups.by_field(scope, field), condition)


def of_extremes(known: Known, entity: Entity) -> Iterator[QuestionType]:
    """Rows with the highest or lowest value, overall and per category."""
    if not entity.names:
        return
    for condition in known.main(entity, "below", "before"):
        scope = Scope(entity, (condition,))
        for field in entity.of_role(NUMBER, DATE):
            again = condition.kind in ("below", "year") and entity.names != (entity.key,)
            if field != condition.field or again:
                yield from tops.tops(scope, field)
                for group in known.unrelated(entity, condition):
                    yield from tops.group_tops(scope, group, field)


def of_relatives(known: Known, entity: Entity) -> Iterator[QuestionType]:
    """Rows by what belongs to them."""
    if not entity.names:
        return
    for link in known.world.children(entity):
        child = link.child
        for condition in known.main(entity):
            scope = Scope(entity, (condition,))
            yield relatives.without(scope, link, Scope(child))
            yield relatives.counts_with_zero(scope, link)
            for other in known.few(child):
                if apart(condition, other):
                    yield relatives.without(scope, link, Scope(child, (other,)))
                    yield relatives.having_some(scope, link, Scope(child, (other,)))
        for other in known.main(child):
            yield relatives.without(Scope(entity), link, Scope(child, (other,)))
            yield relatives.having_some(Scope(entity), link, Scope(child, (other,)))
        for far in known.world.parents(child):
            if far.parent != entity:
                for other in known.few(far.parent):
                    children = Scope(child, branches=(Branch((far,), (other,)),))
                    yield relatives.without(Scope(entity), link, children)
                    yield relatives.having_some(Scope(entity), link, children)


def of_sets(known: Known, entity: Entity) -> Iterator[QuestionType]:
    """Rows with two kinds of children, and categories with two kinds of rows."""
    if entity.names:
        for link in known.world.children(entity):
            child = link.child
            scopes = [Scope(child, (condition,)) for condition in known.main(child)]
            for far in known.world.parents(child):
                if far.parent != entity:
                    scopes += [Scope(child, branches=(Branch((far,), (each,)),)) for each in known.few(far.parent)]
            for one, other in combinations(scopes, 2):
                if not set(one.parameters) & set(other.parameters):
                    yield from relatives.sets_of_parents(link, one, other)
    for first, second in known.pairs(entity, "below", "missing"):
        for field in known.categories(entity, first, second):
            yield from relatives.sets_of_values(Scope(entity, (first,)), Scope(entity, (second,)), field)


def of_months(known: Known, entity: Entity) -> Iterator[QuestionType]:
    """One row per month of a year, and months with the most or above a threshold."""
    for year in known.of(entity, "year"):
        scopes = [Scope(entity, (year,))]
        scopes += [Scope(entity, (year, other)) for other in known.of(entity, "equal")]
        for link in known.world.parents(entity):
            scopes += [Scope(entity, (year,), (Branch((link,), (far,)),)) for far in known.of(link.parent, "equal")]
        for link in known.world.children(entity):
            if not link.child.of_role(DATE):
                scopes.append(Scope(link.child, branches=(Branch((link,), (year,)),)))
        for scope in scopes:
            by = groups.by_month(scope, year.field)
            counted = groups.counting(scope)
            yield groups.grouped(scope, by, counted, "month")
            yield groups.groups_with_most(scope, by, counted, "month")
            if len(scope.conditions) == 1:
                limit = known.limit(entity.table, year.field.column, pools.COUNT)
                yield from _over(scope, by, counted, limit, "month")
            for number in scope.entity.of_role(NUMBER):
                for function, called in aggregates(number)[:2]:
                    yield groups.grouped(scope, by, groups.aggregate(scope, function, called, number), "month")
            yield windows.running_totals(scope, by, counted)
            yield windows.changes(scope, by, counted)


def of_windows(known: Known, entity: Entity) -> Iterator[QuestionType]:
    """Ranks, distances to the average and parts of the whole."""
    for condition in known.main(entity):
        scope = Scope(entity, (condition,))
        for field in entity.of_role(NUMBER, DATE):
            if not entity.names or field.computed or (field == condition.field and condition.kind != "year"):
                continue
            yield windows.ranks(scope, field)
            for group in known.categories(entity, condition):
                yield windows.ranks(scope, field, group)
            if field.role == NUMBER:
                yield windows.differences_to_average(scope, field)
        for group in known.categories(entity, condition):
            yield windows.group_shares(scope, groups.by_field(scope, group), groups.counting(scope))


ENUMERATIONS = (
    of_one_table, of_joined_tables, of_groups, of_ratios, of_extremes, of_relatives, of_sets, of_months, of_windows,
)  # fmt: skip

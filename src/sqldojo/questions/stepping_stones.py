"""Simpler question types that teach the parts of those that a model keeps failing.

A failing query is taken apart (query_parts.py) and its parts are asked for alone and then together, simplest first:
each condition, all conditions on one table, one join after the other, each aggregate without groups, groups without
HAVING. The wording is that of composed types, so a part that the composer has no words for gives no stone. A stone has
a smaller query than what it leads to. Like every proposal it is reviewed: what equals a held-out question is dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from sqldojo.databases.schema_model import read_schema
from sqldojo.questions.composing import groups, listings
from sqldojo.questions.composing.asking import aggregates
from sqldojo.questions.composing.conditions import Condition, conditions
from sqldojo.questions.composing.model import Entity, Link, read_world
from sqldojo.questions.composing.pools import Pools
from sqldojo.questions.composing.scopes import Branch, Scope
from sqldojo.questions.composing.words import Words
from sqldojo.questions.query_parts import YEAR, PartFinder, Parts, size_of
from sqldojo.records import CORRECT, RESERVED, STEPPING_STONES, TRAIN, Episode, QuestionType
from sqldojo.verifier.mutation.sqlite_text import Unparsable


def failing_types(episodes: Iterable[Episode], below: float) -> dict[str, float]:
    """The trained types with a share of right attempts under `below`, each with that share, by id.

    Only attempts at trained types count (splits `train` and `reserved`): nothing may be written for a held-out one.
    """
    right: dict[str, list[bool]] = {}
    for episode in episodes:
        if episode.split in (TRAIN, RESERVED):
            right.setdefault(episode.type, []).append(episode.outcome == CORRECT)
    shares = {name: round(sum(outcomes) / len(outcomes), 4) for name, outcomes in sorted(right.items())}
    return {name: share for name, share in shares.items() if share < below}


def stepping_stones(
    question_types: Sequence[QuestionType],
    failing: Mapping[str, float],
    databases: Sequence[Path],
    *,
    words: Words | None = None,
    given: Pools | None = None,
) -> list[QuestionType]:
    """The stones to every failing type among `question_types` that is not held out, each query once.

    `failing` has the ids of the types; the lowest shares of right attempts come first. `databases` are instances of
    one family. A type whose query cannot be taken apart gives none.
    """
    words, given = words or Words(), given or {}
    world = read_world(databases, words)
    known = [
        condition
        for entity in world.entities
        for several in conditions(databases, entity, words, given).values()
        for condition in several
    ]
    finder = PartFinder(world, known, {table.name: table.names for table in read_schema(databases[0]).tables})
    chosen = [each for each in question_types if each.id in failing and each.split == TRAIN]
    stones: dict[str, QuestionType] = {}
    for question_type in sorted(chosen, key=lambda each: (failing[each.id], each.id)):
        try:
            parts = finder.parts(question_type.sql)
        except Unparsable:
            continue
        for stone in _stones(parts):
            if size_of(stone.sql) < parts.size:
                stones.setdefault(stone.sql, replace(stone, proposer=STEPPING_STONES))
    return list(stones.values())


def _stones(parts: Parts) -> Iterator[QuestionType]:
    """The stones to one query, simplest first."""
    alone = [(condition,) for some in parts.together for condition in some]
    for some in (*alone, *parts.together):
        for entity in parts.entities:
            own = tuple(each for each in some if each.field.table == entity.table)
            if own:
                yield from _rows(Scope(entity, own))
    for some in alone:
        for entity in parts.entities:
            scope = _scope(parts, entity, some)
            if scope.branches:
                yield listings.count(scope)
    for function, field in parts.aggregates:
        entity = next(each for each in parts.entities if each.table == field.table)
        for some in ((), *alone, *parts.together):
            for stone in listings.single_values(_scope(parts, entity, some), field):
                if stone.sql.startswith(f"SELECT {function}("):
                    yield stone
    for some in parts.together or ((),):
        yield from _groups(parts, some)


def _rows(scope: Scope) -> Iterator[QuestionType]:
    if scope.entity.names:
        yield listings.listing(scope, scope.entity.names)
    yield listings.count(scope)


def _groups(parts: Parts, some: Sequence[Condition]) -> Iterator[QuestionType]:
    """One row a group, of those rows of the table that belongs to all others that meet some conditions."""
    for entity in parts.entities:
        if any(link.parent == entity for link in parts.links):
            continue
        scope = _scope(parts, entity, some, [each.table for each in (*parts.by_entities, *parts.by_fields)])
        bys = [groups.by_entity(scope, each) for each in parts.by_entities if each in scope.entities and each.names]
        bys += [groups.by_field(scope, field) for field in parts.by_fields
                if any(each.table == field.table for each in scope.entities)]  # fmt: skip
        bys += [(groups.by_year if form == YEAR else groups.by_month)(scope, field) for form, field in parts.by_dates
                if field.table == entity.table]  # fmt: skip
        values = [groups.counting(scope)]
        values += [groups.aggregate(scope, function, called, field) for field in entity.fields
                   for function, called in aggregates(field) if (function, field) in parts.aggregates]  # fmt: skip
        for by in bys:
            yield from (groups.grouped(scope, by, value) for value in values)


def _scope(parts: Parts, entity: Entity, some: Sequence[Condition], also: Sequence[str] = ()) -> Scope:
    """The rows of an entity that meet those conditions that it can reach, and the other tables that are wanted."""
    own = tuple(each for each in some if each.field.table == entity.table)
    branches = []
    for table in dict.fromkeys([*(each.field.table for each in some), *also]):
        path = _path(parts.links, entity, table)
        if path:
            branches.append(Branch(path, tuple(each for each in some if each.field.table == table)))
    return Scope(entity, own, tuple(branches))


def _path(links: Sequence[Link], start: Entity, table: str) -> tuple[Link, ...]:
    """The fewest links from an entity up to a table; none for its own, and where no way leads."""
    ways: list[tuple[Link, ...]] = [(link,) for link in links if link.child == start]
    seen = {start.table}
    while ways:
        for way in ways:
            if way[-1].parent.table == table:
                return way
        seen |= {way[-1].parent.table for way in ways}
        ways = [(*way, link) for way in ways for link in links
                if link.child == way[-1].parent and link.parent.table not in seen]  # fmt: skip
    return ()

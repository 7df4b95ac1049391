"""Question types composed from a schema and its data, with no model asked and no network used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random

from sqldojo.questions.composing import pools
from sqldojo.questions.composing.conditions import conditions
from sqldojo.questions.composing.enumerating import ENUMERATIONS
from sqldojo.questions.composing.known import Known
from sqldojo.questions.composing.model import CATEGORY, DATE, NUMBER, World, read_world
from sqldojo.questions.composing.pools import COUNT, SUM, Pools
from sqldojo.questions.composing.words import Words
from sqldojo.records import PATTERNS, QuestionType

_EASY = 2  # the difficulty up to which types are at least half of those drawn, if there are enough


def compose(
    databases: Sequence[Path], *, words: Words | None = None, given: Pools | None = None, most: int = 0, seed: int = 0
) -> list[QuestionType]:
    """Question types over the schema that the databases share, in the order of PATTERNS, easier ones first.

    `databases` are instances of one family: a value is asked for only when each of them has it. `words` and `given`
    pools replace what names and data give. Up to `most` types, drawn by `seed`, half of them easy and of each pattern
    about as many; 0 for all. The same databases give the same list. UserError when they are not of one schema, or one
    cannot be read.
    """
    words, given = words or Words(), given or {}
    world = read_world(databases, words)
    known = Known(
        world=world,
        conditions={entity.table: conditions(databases, entity, words, given) for entity in world.entities},
        limits={**_limits(databases, world, given), **given},
    )
    found: dict[str, QuestionType] = {}
    for enumerate_types in ENUMERATIONS:
        for entity in world.entities:
            for question_type in enumerate_types(known, entity):
                found.setdefault(question_type.id, question_type)
    easy = [each for each in found.values() if each.difficulty <= _EASY]
    hard = [each for each in found.values() if each.difficulty > _EASY]
    if most:
        hard = _some(hard, min(len(hard), most // 2), seed)
        easy = _some(easy, most - len(hard), seed)
    return sorted((*easy, *hard), key=lambda each: (PATTERNS.index(each.pattern), each.difficulty))


def _some(types: Sequence[QuestionType], most: int, seed: int) -> list[QuestionType]:
    """Up to `most` of them, of each pattern about as many."""
    by_pattern = {pattern: [each for each in types if each.pattern == pattern] for pattern in PATTERNS}
    shares = _shares({pattern: len(each) for pattern, each in by_pattern.items()}, most)
    return [
        each
        for pattern, each_of in by_pattern.items()
        for each in Random(f"{seed}/compose/{pattern}").sample(each_of, shares[pattern])
    ]


def _shares(counts: Mapping[str, int], most: int) -> dict[str, int]:
    """How many of each to take so that they are `most` at most: all of the rare ones, of the others as many each."""
    shares: dict[str, int] = {}
    for name, count in sorted(counts.items(), key=lambda item: item[1]):
        shares[name] = min(count, (most - sum(shares.values())) // (len(counts) - len(shares)))
    return shares


def _limits(databases: Sequence[Path], world: World, given: Pools) -> dict[tuple[str, str, str], dict[str, str]]:
    """Thresholds for how many rows share a category or a parent, and for the sum of a number over a parent's rows."""
    limits = {}
    for entity in world.entities:
        keys = [field.column for field in entity.of_role(CATEGORY)]
        keys += [link.column.strip('"') for link in world.parents(entity)]
        for key in keys:
            if (entity.table, key, COUNT) not in given:
                name = pools.parameter("least", entity.table, "per", key)
                limits[entity.table, key, COUNT] = pools.group_pool(databases, name, "COUNT(*)", entity.table, key)
        for field in entity.of_role(NUMBER):
            links = world.parents(entity)
            if links and (entity.table, field.column, SUM) not in given and " " not in field.sql:
                name = pools.parameter("least", entity.table, field.column)
                limits[entity.table, field.column, SUM] = pools.group_pool(
                    databases, name, f"SUM({field.of('')})", entity.table, links[0].column.strip('"')
                )
        for field in entity.of_role(DATE):
            if (entity.table, field.column, COUNT) not in given:
                limits[entity.table, field.column, COUNT] = {}
    return limits

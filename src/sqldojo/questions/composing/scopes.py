"""The rows that a question is about: those of a table that meet conditions, of their own or of what they belong to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from sqldojo.questions.composing.conditions import Condition
from sqldojo.questions.composing.identifiers import identifier
from sqldojo.questions.composing.model import Entity, Field, Link
from sqldojo.questions.composing.words import joined, with_article


@dataclass(frozen=True)
class Branch:
    """Links from an entity up to another, one after the other, and conditions on the last."""

    links: tuple[Link, ...]
    conditions: tuple[Condition, ...] = ()

    @property
    def end(self) -> Entity:
        """What the links lead to."""
        return self.links[-1].parent

    def predicate(self, turn: int) -> str:
        """What is said of the entity, in one of the possible ways."""
        text = f"{self.end.words.many} {modifier(self.end, [say(each, turn) for each in self.conditions])}"
        for link in reversed(self.links):
            text = link.predicates[turn % len(link.predicates)].format(text)
            if link is not self.links[0]:
                text = f"{link.child.words.many} {modifier(link.child, [text])}"
        return text


@dataclass(frozen=True)
class Scope:
    """The rows of an entity that meet all conditions; a branch without conditions only reaches further columns."""

    entity: Entity
    own: tuple[Condition, ...] = ()
    branches: tuple[Branch, ...] = ()

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """All conditions, in the order of the SQL."""
        return (*chain.from_iterable(branch.conditions for branch in self.branches), *self.own)

    @property
    def parameters(self) -> dict[str, str]:
        """The parameters of all conditions."""
        return {name: sql for condition in self.conditions for name, sql in condition.parameters.items()}

    @property
    def entities(self) -> list[Entity]:
        """The entities whose tables are read."""
        return [self.entity, *(link.parent for branch in self.branches for link in branch.links)]

    @property
    def source(self) -> str:
        """What stands after FROM."""
        joins = [
            f"JOIN {identifier(link.parent.table)} ON {identifier(link.parent.table)}.{link.parent_column} = "
            f"{identifier(link.child.table)}.{link.column}"
            for branch in self.branches
            for link in branch.links
        ]
        return " ".join([identifier(self.entity.table), *dict.fromkeys(joins)])

    def prefix(self, table: str) -> str:
        """What stands before a column of a table."""
        return f"{identifier(table)}." if self.branches else ""

    def ref(self, field: Field) -> str:
        """The SQL of a field here."""
        return field.of(self.prefix(field.table))

    def where(self, *more: str) -> str:
        """` WHERE` with every condition, or nothing."""
        parts = [*(each.on(self.prefix(each.field.table)) for each in self.conditions), *more]
        return f" WHERE {' AND '.join(parts)}" if parts else ""

    def predicate(self, turn: int) -> str:
        """What all rows have in common, after their noun and a relative pronoun or the question word."""
        sayings = self.sayings(turn)
        return joined(sayings) if sayings else "are there"

    def rows(self, turn: int) -> str:
        """The noun with all that restricts it: `customers who live in {city}`."""
        return f"{self.entity.words.many} {modifier(self.entity, self.sayings(turn))}".strip()

    def sayings(self, turn: int) -> list[str]:
        """The predicates of all conditions, each in one of the possible ways."""
        own = [say(condition, turn) for condition in self.own]
        return own + [branch.predicate(turn) for branch in self.branches if branch.conditions]

    def note(self, *columns: Field) -> str:
        """The sentence on what counts, for the columns that neither a condition nor one of these names."""
        named = {(field.table, field.column) for field in (*columns, *(each.field for each in self.conditions))}
        notes = [each.counted[1] for each in self.entities if (each.table, each.counted[0]) not in named]
        return " ".join(dict.fromkeys(note for note in (*notes, self.meaning(*columns)) if note))

    def meaning(self, *columns: Field) -> str:
        """What the computed amounts are that a condition or one of these columns names."""
        fields = (*columns, *(each.field for each in self.conditions))
        return " ".join(dict.fromkeys(field.meaning for field in fields if field.meaning))

    @property
    def orphans(self) -> str:
        """The sentence on rows that belong to nothing: joined tables have no place for them."""
        links = dict.fromkeys(link for branch in self.branches for link in branch.links)
        return " ".join(
            f"{link.child.words.many} without {with_article(link.parent.words.one)} are left out." for link in links
        )

    @property
    def id(self) -> str:
        """Its part of a type's id."""
        own = "".join(f"-with-{each.id}" for each in self.own)
        ends = [f"-of-{branch.end.slug}" + "".join(f"-with-{each.id}" for each in branch.conditions)
                for branch in self.branches if branch.conditions]  # fmt: skip
        return self.entity.slug + own + "".join(ends)

    @property
    def steps(self) -> int:
        """How many things a solver must do beyond reading a table: conditions but one, and joins."""
        return max(0, len(self.conditions) - 1) + sum(len(branch.links) for branch in self.branches)


def say(condition: Condition, turn: int) -> str:
    """The condition in one of the possible ways."""
    return condition.predicates[turn % len(condition.predicates)]


def modifier(entity: Entity, predicates: list[str]) -> str:
    """The predicates after a noun: `with a price below 5`, `who live in Rome and signed up in 2020`."""
    if not predicates:
        return ""
    if all(each.startswith("have ") for each in predicates):
        return "with " + joined(predicates).removeprefix("have ")
    return f"{entity.pronoun} {joined(predicates)}"


def pick(items: dict[str, list[Condition]], *kinds: str) -> Iterator[Condition]:
    """The conditions of these kinds, those of one field together."""
    chosen = [condition for kind in kinds for condition in items.get(kind, ())]
    return iter(sorted(chosen, key=lambda each: each.field.column))

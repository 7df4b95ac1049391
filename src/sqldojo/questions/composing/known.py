"""What is known of a world before questions are made: which conditions can be put together, and along which links."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

from sqldojo.questions.composing.conditions import Condition
from sqldojo.questions.composing.model import CATEGORY, NUMBER, Entity, Field, Link, World
from sqldojo.questions.composing.scopes import Branch, pick

_MAIN = ("equal", "year", "at-least")  # the kinds that are combined with other things asked


@dataclass(frozen=True)
class Known:
    """A world with the conditions on each entity, by table and kind, and thresholds for counts and sums of groups.

    `limits` maps (table, column of the group, pools.COUNT) and (table, measure, pools.SUM) to a parameter.
    """

    world: World
    conditions: Mapping[str, Mapping[str, list[Condition]]]
    limits: Mapping[tuple[str, str, str], Mapping[str, str]]

    def of(self, entity: Entity, *kinds: str) -> list[Condition]:
        """The conditions on an entity of these kinds, or of all."""
        mine = self.conditions[entity.table]
        return list(pick(mine, *(kinds or mine)))

    def limit(self, table: str, column: str, kind: str) -> Mapping[str, str]:
        """The parameter to compare with, if there is one."""
        return self.limits.get((table, column, kind), {})

    def main(self, entity: Entity, *more: str) -> list[Condition]:
        """Those that are combined with other things asked, and those of more kinds; none on computed amounts."""
        return [condition for condition in self.of(entity, *_MAIN, *more) if not condition.field.computed]

    def few(self, entity: Entity) -> list[Condition]:
        """The first that says which and the first that says when."""
        return self.of(entity, "equal")[:1] + self.of(entity, "year")[:1]

    def pairs(self, entity: Entity, *more: str) -> Iterator[tuple[Condition, Condition]]:
        """Two conditions on different columns of which neither says anything about the other."""
        for first, second in combinations(self.main(entity, *more), 2):
            same_role = NUMBER == first.field.role == second.field.role
            related = {(first.field, second.field), (second.field, first.field)} & self.world.fixed
            if first.field != second.field and not same_role and not related and apart(first, second):
                yield first, second

    def categories(self, entity: Entity, *known: Condition) -> list[Field]:
        """The categories of an entity that these conditions leave open."""
        fields = [condition.field for condition in known]
        return [
            field for field in entity.of_role(CATEGORY)
            if field not in fields and not any((each, field) in self.world.fixed for each in fields)
        ]  # fmt: skip

    def unrelated(self, entity: Entity, condition: Condition) -> list[Field]:
        """The categories of an entity that neither decide the condition's column nor are decided by it."""
        related = {one for one, other in self.world.fixed if other == condition.field}
        return [field for field in self.categories(entity, condition) if field not in related]


def apart(first: Condition, second: Condition) -> bool:
    """Whether their parameters have different names, so that both can be in one question."""
    return not set(first.parameters) & set(second.parameters)


def ways_up(known: Known, entity: Entity) -> Iterator[tuple[Link, ...]]:
    """The ways from an entity to what it belongs to, of one link or two."""
    for link in known.world.parents(entity):
        yield (link,)
        for further in known.world.parents(link.parent):
            if further.parent != entity:
                yield link, further


def forks(known: Known, entity: Entity) -> Iterator[tuple[Branch, Branch]]:
    """Conditions on two parents."""
    for one, other in combinations(known.world.parents(entity), 2):
        for first in known.few(one.parent):
            for second in known.few(other.parent):
                if apart(first, second):
                    yield Branch((one,), (first,)), Branch((other,), (second,))

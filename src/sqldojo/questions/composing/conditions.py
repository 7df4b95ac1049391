"""What can be asked of one column: a condition in SQL with its parameters, and the ways to say it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqldojo.questions.composing import pools
from sqldojo.questions.composing.model import CATEGORY, DATE, NUMBER, Entity, Field
from sqldojo.questions.composing.pools import Pools
from sqldojo.questions.composing.words import Words, with_article

_SQL = {
    "equal": "{c} = {0}",
    "other": "{c} <> {0}",
    "below": "{c} < {0}",
    "at-most": "{c} <= {0}",
    "above": "{c} > {0}",
    "at-least": "{c} >= {0}",
    "between": "{c} BETWEEN {0} AND {1}",
    "year": "strftime('%Y', {c}) = {0}",
    "years": "strftime('%Y', {c}) BETWEEN {0} AND {1}",
    "before": "{c} < {0}",
    "since": "{c} >= {0}",
    "month": "strftime('%m', {c}) = {0}",
    "year-month": "strftime('%Y-%m', {c}) = {0}",
    "missing": "{c} IS NULL",
}
# Predicates of several things, with the column's name {c}, also with an article {a}, and the values {0} and {1}.
_PREDICATES = {
    "equal": ("have the {c} {0}", "have {0} as {c}"),
    "other": ("have a known {c} other than {0}",),
    "below": ("have {a} below {0}", "have {a} of less than {0}"),
    "at-most": ("have {a} of at most {0}", "have {a} of {0} or less"),
    "above": ("have {a} above {0}", "have {a} of more than {0}"),
    "at-least": ("have {a} of at least {0}", "have {a} of {0} or more"),
    "between": ("have {a} from {0} to {1} inclusive", "have {a} of at least {0} and at most {1}"),
    "year": ("have {a} in {0}", "have {a} in the year {0}"),
    "years": ("have {a} in the years {0} to {1}, both included,", "have {a} from {0} to {1}, both years included,"),
    "before": ("have {a} before {0}", "have {a} earlier than {0}"),
    "since": ("have {a} on or after {0}", "have {a} not before {0}"),
    "month": ("have {a} in month {0} of any year", "have {a} in the calendar month {0}, whatever the year,"),
    "year-month": ("have {a} in the month {0}", "have {a} in {0} (year and month)"),
    "missing": ("have no {c}", "have no known {c}"),
}
_POOLS = {
    CATEGORY: {"equal": pools.EQUAL, "other": pools.EQUAL},
    NUMBER: {
        "below": pools.THRESHOLD, "above": pools.THRESHOLD, "at-most": pools.THRESHOLD, "at-least": pools.THRESHOLD,
        "between": pools.BETWEEN,
    },
    DATE: {
        "year": pools.YEAR, "before": pools.DAY, "since": pools.DAY, "years": pools.YEARS, "month": pools.MONTH,
        "year-month": pools.YEAR_MONTH,
    },
}  # fmt: skip


@dataclass(frozen=True)
class Condition:
    """A condition on a field; `sql` has `{c}` for it. Predicates fit after a noun in the plural."""

    kind: str
    field: Field
    sql: str
    parameters: Mapping[str, str]
    predicates: tuple[str, ...]

    def on(self, prefix: str) -> str:
        """The condition in SQL, with this before the column."""
        return self.sql.replace("{c}", self.field.of(prefix))

    @property
    def id(self) -> str:
        """Its part of a type's id."""
        return f"{self.field.slug}-{self.kind}"


def conditions(
    databases: Sequence[Path], entity: Entity, words: Words, given: Pools
) -> dict[str, list[Condition]]:
    """The conditions on an entity by kind, of those columns whose data give enough values to ask for."""
    found: dict[str, list[Condition]] = {}
    for field in entity.fields:
        available = _pools(databases, field, given)
        kinds = {kind: available[pool] for kind, pool in _POOLS.get(field.role, {}).items() if pool in available}
        if field.gaps and not field.computed:
            kinds["missing"] = {}
        for kind, parameters in kinds.items():
            found.setdefault(kind, []).append(_condition(kind, field, parameters, words))
    return found


def _pools(databases: Sequence[Path], field: Field, given: Pools) -> dict[str, Mapping[str, str]]:
    """The pools of a field by kind: the given ones, and those that the data give if there are none for the field."""
    place = (field.table, field.column)
    mine = {kind: pool for (table, column, kind), pool in given.items() if (table, column) == place}
    if mine or field.computed:
        return mine
    if field.role == CATEGORY:
        pool = pools.category_pool(databases, field.table, field.column)
        return {pools.EQUAL: pool} if pool else {}
    if field.role == NUMBER:
        return dict(pools.number_pools(databases, field.table, field.column))
    return dict(pools.date_pools(databases, field.table, field.column)) if field.role == DATE else {}


def _condition(kind: str, field: Field, parameters: Mapping[str, str], words: Words) -> Condition:
    one = field.words.one
    marks = ["{" + name + "}" for name in parameters]
    own = words.conditions.get((field.table, field.column, kind), ())
    texts = [text.format(*marks) for text in own] or [
        text.format(*marks, c=one, a=with_article(one)) for text in _PREDICATES[kind]
    ]
    sql = _SQL[kind].format(*(f":{name}" for name in parameters), c="{c}")
    return Condition(kind, field, sql, parameters, tuple(texts))

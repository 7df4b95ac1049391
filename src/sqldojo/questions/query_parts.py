"""What a question type's query is made of, in terms of the world that it is about: the parts that can be asked alone.

Tables, conditions, aggregates and groups are collected from the whole query, nested queries and all. What the world has
no words for (a constant, a correlation, a HAVING) is no part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqldojo.questions.composing.conditions import Condition
from sqldojo.questions.composing.identifiers import identifier
from sqldojo.questions.composing.model import Entity, Field, Link, World
from sqldojo.verifier.mutation.edits import terms
from sqldojo.verifier.mutation.scopes import Query
from sqldojo.verifier.mutation.sqlite_text import read, write

YEAR, MONTH = "%Y", "%m"
_AGGREGATES = {"SUM": exp.Sum, "AVG": exp.Avg, "MIN": exp.Min, "MAX": exp.Max}


@dataclass(frozen=True)
class Parts:
    """The parts of one query; `together` has the conditions of each WHERE and of each CASE.

    An aggregate is a function and its field; counts are not among them. Rows are grouped by fields, by whole entities
    (their key) and by a form of a date: YEAR or MONTH. `size` is the number of nodes in the syntax tree.
    """

    entities: tuple[Entity, ...]
    links: tuple[Link, ...]
    together: tuple[tuple[Condition, ...], ...]
    aggregates: tuple[tuple[str, Field], ...]
    by_fields: tuple[Field, ...]
    by_entities: tuple[Entity, ...]
    by_dates: tuple[tuple[str, Field], ...]
    size: int


class PartFinder:
    """Finds the parts of queries over one world; `columns` maps each table of the schema to its columns."""

    def __init__(self, world: World, conditions: Sequence[Condition], columns: Mapping[str, Sequence[str]]) -> None:
        self._world, self._columns = world, columns
        self._conditions = {self._text_of(each.on, each.field.table): each for each in conditions}
        self._fields = {self._text_of(field.of, field.table): field
                        for entity in world.entities for field in entity.fields}  # fmt: skip
        self._keys = {self._text_of(entity.key.of, entity.table): entity
                      for entity in world.entities if entity.key}  # fmt: skip
        self._dates = {f"strftime('{form}', {text})".lower(): (form, field)
                       for text, field in self._fields.items() for form in (YEAR, MONTH)}  # fmt: skip

    def parts(self, sql: str) -> Parts:
        """The parts of a query; Unparsable when it cannot be read."""
        query = Query(read(sql), self._columns)
        tables = {table.name.lower() for table in query.all(exp.Table)}
        entities = tuple(entity for entity in self._world.entities if entity.table.lower() in tables)
        grouped = list(dict.fromkeys(_text(query, key) for key in _group_keys(query)))
        return Parts(
            entities=entities,
            links=tuple(link for link in self._world.links if link.child in entities and link.parent in entities),
            together=tuple(self._asked(query)),
            aggregates=tuple(dict.fromkeys(self._aggregates(query))),
            by_fields=tuple(self._fields[key] for key in grouped if key in self._fields),
            by_entities=tuple(self._keys[key] for key in grouped if key in self._keys),
            by_dates=tuple(self._dates[key] for key in grouped if key in self._dates),
            size=len(query.nodes),
        )

    def _asked(self, query: Query) -> Iterator[tuple[Condition, ...]]:
        for place in query.all(exp.Where, exp.If):
            texts = dict.fromkeys(_text(query, term) for term in terms(place.this))
            found = tuple(self._conditions[text] for text in texts if text in self._conditions)
            if found:
                yield found

    def _aggregates(self, query: Query) -> Iterator[tuple[str, Field]]:
        for name, kind in _AGGREGATES.items():
            for node in query.all(kind):
                field = self._fields.get(_text(query, node.this))
                if field:
                    yield name, field

    def _text_of(self, on: Callable[[str], str], table: str) -> str:
        """An expression of the world as `_text` gives it, from what puts a prefix before its columns."""
        query = Query(read(f"SELECT {on(identifier(table) + '.')} FROM {identifier(table)}"), self._columns)
        return _text(query, query.tree.expressions[0])


def size_of(sql: str) -> int:
    """How many nodes the query's syntax tree has: of two queries, the simpler one has fewer."""
    return sum(1 for _ in read(sql).dfs())


def _group_keys(query: Query) -> Iterator[exp.Expr]:
    """What rows are grouped by, an alias replaced by what it stands for."""
    for group in query.all(exp.Group):
        named = {item.alias.lower(): item.this for item in group.parent.expressions if isinstance(item, exp.Alias)}
        for key in group.expressions:
            alias = isinstance(key, exp.Column) and not key.table and not query.resolve(key)
            yield named.get(key.name.lower(), key) if alias else key


def _text(query: Query, node: exp.Expr) -> str:
    """The SQL of an expression, each column with the name of its table, in lower case."""
    copy = node.copy()
    for column, original in zip(list(copy.find_all(exp.Column)), node.find_all(exp.Column), strict=True):
        found = query.resolve(original)
        if found and found[1].table:
            column.set("table", exp.to_identifier(found[1].table, quoted=False))
    return write(copy).lower()

"""A schema as questions see it: tables of things with a name, columns that play a role, and who belongs to whom."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path

from sqldojo.databases.schema_model import Schema, Table, read_schema
from sqldojo.questions.composing.facts import Facts, determines, read_facts
from sqldojo.questions.composing.identifiers import identifier
from sqldojo.questions.composing.words import PEOPLE, Noun, Words, column_noun, noun, spaced, with_article

CATEGORY, NUMBER, DATE, TEXT = "category", "number", "date", "text"

_LONGEST_NAME = 40  # letters on average: longer texts are descriptions
_MOST_VALUES = 0.7  # of a category: different values for each row that has one
_NOT_ADDED = ("price", "rate", "year", "age", "rank", "percent", "percentage", "score", "rating", "height", "latitude",
              "longitude", "season", "grade", "level", "temperature", "speed")  # fmt: skip
# What ends the name of a column that says which one, and neither how much nor what kind.
_LABELS = ("id", "code", "number", "phone", "fax", "zip", "zipcode", "key", "no", "address", "email", "url")


def slug(name: str) -> str:
    """A name in kebab-case."""
    return spaced(name).replace(" ", "-")


@dataclass(frozen=True)
class Field:
    """A column, or an amount computed of columns; `sql` has `{t}` where the name of the table may stand.

    `gaps` says that rows without a value were seen. `meaning` is the sentence that says what a computed amount is, and
    `column` its name.
    """

    table: str
    column: str
    words: Noun
    role: str
    sql: str
    gaps: bool = False
    meaning: str = ""

    @property
    def slug(self) -> str:
        """Its part of a type's id."""
        return slug(self.column)

    @property
    def computed(self) -> bool:
        """Whether it is no column, but an amount with a meaning of its own."""
        return bool(self.meaning)

    @property
    def adds_up(self) -> bool:
        """Whether the sum of a number means something."""
        return self.words.one.split(" ")[-1] not in _NOT_ADDED

    def of(self, prefix: str) -> str:
        """The SQL of it with this before each column: nothing, or a table's name and a point."""
        return self.sql.replace("{t}", prefix)


@dataclass(frozen=True)
class Entity:
    """A table whose rows are things; `names` are the fields that a row is called by, its key if it has no name."""

    table: str
    words: Noun
    who: bool
    key: Field | None
    names: tuple[Field, ...]
    fields: tuple[Field, ...]
    counted: tuple[str, str] = ("", "")

    @property
    def slug(self) -> str:
        """Its part of a type's id."""
        return slug(self.table)

    @property
    def pronoun(self) -> str:
        """The relative pronoun for several of them."""
        return "who" if self.who else "that"

    @property
    def whom(self) -> str:
        """The relative pronoun after a preposition."""
        return "whom" if self.who else "which"

    def of_role(self, *roles: str) -> list[Field]:
        """Its fields that play one of these roles, without those it is called by."""
        return [field for field in self.fields if field.role in roles and field not in self.names]


@dataclass(frozen=True)
class Link:
    """A foreign key of one column: rows of `child` belong to one of `parent`; predicates have `{}` for the latter."""

    child: Entity
    parent: Entity
    column: str  # as SQL writes it
    parent_column: str
    predicates: tuple[str, ...]


@dataclass(frozen=True)
class World:
    """The entities of a schema and its links, in the order of its tables.

    `fixed` has pairs of categories of one table of which the first decides the second.
    """

    entities: tuple[Entity, ...]
    links: tuple[Link, ...]
    fixed: frozenset[tuple[Field, Field]] = frozenset()

    def parents(self, entity: Entity) -> list[Link]:
        """The links to what a row belongs to."""
        return [link for link in self.links if link.child == entity]

    def children(self, entity: Entity) -> list[Link]:
        """The links from what belongs to a row."""
        return [link for link in self.links if link.parent == entity]


def read_world(databases: Sequence[Path], words: Words) -> World:
    """The world of databases of one schema; UserError when they are not, or one cannot be read."""
    schema = read_schema(databases[0])
    facts = read_facts(databases, schema)
    entities = {table.name: _entity(table, facts, words) for table in schema.tables}
    fixed = {
        (one, other)
        for entity in entities.values()
        for one, other in permutations(entity.of_role(CATEGORY), 2)
        if determines(databases, entity.table, one.column, other.column)
    }
    return World(tuple(entities.values()), tuple(_links(schema, entities, words)), frozenset(fixed))


def _entity(table: Table, facts: Mapping[tuple[str, str], Facts], words: Words) -> Entity:
    references = {column for key in table.foreign_keys for column in key.columns}
    key = None
    if len(table.primary_key) == 1:
        key = _field(table, table.primary_key[0], "key", words)
    fields = []
    for column in table.columns:
        if column.name not in references and column.name not in table.primary_key:
            known = facts[table.name, column.name]
            role = _role(column.name, known)
            if role:
                fields.append(_field(table, column.name, role, words, gaps=0 < known.filled < known.rows))
    measures = [
        Field(
            table.name, each.words.one, each.words, NUMBER, each.sql, meaning=each.meaning,
            gaps=any(field.gaps and field.sql in each.sql for field in fields),
        )
        for each in words.measures.get(table.name, ())
    ]
    names = _names(table, fields, facts)
    called = words.tables.get(table.name) or noun(table.name)
    return Entity(
        table=table.name,
        words=called,
        who=called.one.split(" ")[-1] in PEOPLE,
        key=key,
        names=names or ((key,) if key else ()),
        fields=(*fields, *measures),
        counted=words.counted.get(table.name, ("", "")),
    )


def _field(table: Table, column: str, role: str, words: Words, *, gaps: bool = False) -> Field:
    called = words.columns.get((table.name, column)) or column_noun(column, noun(table.name).one)
    others = [column_noun(name).one for name in table.names if name != column]
    if role == "key" or called.one in others:
        called = words.columns.get((table.name, column)) or column_noun(column)
    return Field(table.name, column, called, role, "{t}" + identifier(column), gaps)


def _role(column: str, facts: Facts) -> str:
    """The role that the data give a column; empty for one that nothing can be asked about."""
    if facts.filled == 0:
        return ""
    if facts.dates == facts.filled:
        return DATE
    is_label = column_noun(column).one.split(" ")[-1] in _LABELS
    if facts.numbers == facts.filled and facts.distinct > 2 and not is_label:
        return NUMBER
    if facts.texts < facts.filled:
        return ""
    if not is_label and facts.distinct > 2 and facts.distinct <= _MOST_VALUES * facts.filled and _short(facts):
        return CATEGORY
    return TEXT


def _short(facts: Facts) -> bool:
    return facts.letters <= _LONGEST_NAME * facts.texts


def _names(table: Table, fields: Sequence[Field], facts: Mapping[tuple[str, str], Facts]) -> tuple[Field, ...]:
    """The fields that rows are called by: a name or title, or a first name with a last one; none is found in others."""
    texts = {field.words.one: field for field in fields if field.role in (TEXT, CATEGORY)}
    texts = {words: field for words, field in texts.items() if _short(facts[table.name, field.column])}
    if {"first name", "last name"} <= set(texts):
        return texts["first name"], texts["last name"]
    for words in ("name", "title", noun(table.name).one):
        if words in texts:
            return (texts[words],)
    for ending in ("name", "title"):
        for words, field in texts.items():
            if words.endswith(ending) and field.role == TEXT:
                return (field,)
    return ()


def _links(schema: Schema, entities: Mapping[str, Entity], words: Words) -> list[Link]:
    """The links that need no further word to be told apart: one between two tables, and none within a table."""
    pairs = Counter((table.name, key.table) for table in schema.tables for key in table.foreign_keys)
    links = []
    for table in schema.tables:
        for key in table.foreign_keys:
            pair = (table.name, key.table)
            if len(key.columns) == 1 and pairs[pair] == 1 and table.name != key.table:
                links.append(
                    Link(
                        child=entities[table.name],
                        parent=entities[key.table],
                        column=identifier(key.columns[0]),
                        parent_column=identifier(key.parent_columns[0]),
                        predicates=words.links.get(pair) or (_belonging(key.columns[0], entities[key.table]),),
                    )
                )
    return links


def _belonging(column: str, parent: Entity) -> str:
    """What a row does to what it belongs to; a column that does not name the table says what that is to the row."""
    role = spaced(column).removesuffix(" id")
    if role in (parent.words.one, parent.words.many, "id") or (role == column.lower() and len(role) < 4):
        return "belong to {}"
    return f"have {with_article(role)} among the {{}}"

"""A right query as the bugs see it: its tokens and clauses, and which table each name in it belongs to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from sqlglot import exp

from sqldojo.databases.schema_model import Schema
from sqldojo.repair.sql_tokens import Clause, Token, selects, tokens
from sqldojo.verifier.mutation.scopes import Query, Scope, Source
from sqldojo.verifier.mutation.sqlite_text import Unparsable, read


@dataclass(frozen=True)
class ColumnUse:
    """A column in the text: its name's token, its qualifier's if it has one, and where it comes from."""

    name: Token
    qualifier: Token | None
    source: Source
    scope: Scope


@dataclass(frozen=True)
class TableUse:
    """A table of the schema in a FROM clause: the tokens of its name and its alias."""

    name: Token
    alias: Token | None
    scope: Scope | None


class Subject:
    """One reference with its schema; without columns and tables where sqlglot cannot read it."""

    def __init__(self, sql: str, schema: Schema) -> None:
        self.sql, self.schema = sql, schema
        self.tokens: tuple[Token, ...] = tokens(sql)
        self.selects: tuple[dict[str, Clause], ...] = selects(sql)
        self.columns = {table.name: table.names for table in schema.tables}

    @cached_property
    def query(self) -> Query | None:
        """The indexed syntax tree."""
        try:
            return Query(read(self.sql), self.columns)
        except Unparsable:
            return None

    def text(self, first: int, end: int) -> str:
        """What is written from one token up to another, this one left out."""
        return self.sql[self.tokens[first].start : self.tokens[end - 1].end]

    def inside(self, clause: Clause) -> Iterator[tuple[int, Token]]:
        """The tokens of a clause outside its parentheses, with their numbers; not the keyword."""
        depth = self.tokens[clause.first].depth
        for place in range(clause.first + 1, clause.end):
            if self.tokens[place].depth == depth:
                yield place, self.tokens[place]

    def closing(self, place: int) -> int | None:
        """The number of the parenthesis that closes the one at `place`."""
        depth = self.tokens[place].depth
        for other in range(place + 1, len(self.tokens)):
            if self.tokens[other].text == ")" and self.tokens[other].depth == depth:
                return other
        return None

    def items(self, clause: Clause) -> list[tuple[int, int]]:
        """The items of a list of a clause, as the numbers of their first token and of the one behind the last."""
        start = clause.first + 1
        if self.tokens[start].upper in ("BY", "DISTINCT"):
            start += 1
        commas = [place for place, token in self.inside(clause) if token.text == "," and place > start]
        return list(zip([start, *(place + 1 for place in commas)], [*commas, clause.end], strict=True))

    def null_tests(self) -> Iterator[tuple[int, int, bool]]:
        """Each IS NULL and IS NOT NULL: the numbers of its first and its last token, and whether it is negated."""
        words = [token.upper for token in self.tokens]
        for place, word in enumerate(words):
            for rest in (["NULL"], ["NOT", "NULL"]):
                if word == "IS" and words[place + 1 : place + 1 + len(rest)] == rest:
                    yield place, place + len(rest), len(rest) > 1

    @cached_property
    def column_uses(self) -> tuple[ColumnUse, ...]:
        """The columns whose table is known, in the order of the text."""
        if self.query is None:
            return ()
        found = []
        for node in self.query.all(exp.Column):
            scope, at = self.query.scope(node), self.query.resolve(node)
            name = self._token(node.this)
            if scope and at and name:
                found.append(ColumnUse(name, self._token(node.args.get("table")), at[1], scope))
        return tuple(sorted(found, key=lambda use: use.name.start))

    @cached_property
    def table_uses(self) -> tuple[TableUse, ...]:
        """The tables of the schema that are named in FROM clauses, in the order of the text."""
        if self.query is None:
            return ()
        found = []
        for node in self.query.all(exp.Table):
            name = self._token(node.this)
            if name and self.query.table(node.name):
                alias = node.args.get("alias")
                alias_token = self._token(alias.this) if isinstance(alias, exp.TableAlias) else None
                found.append(TableUse(name, alias_token, self.query.scope(node)))
        return tuple(sorted(found, key=lambda use: use.name.start))

    def _token(self, node: object) -> Token | None:
        if not isinstance(node, exp.Identifier) or "start" not in node.meta:
            return None
        return self._by_start.get(node.meta["start"])

    @cached_property
    def _by_start(self) -> dict[int, Token]:
        return {token.start: token for token in self.tokens}

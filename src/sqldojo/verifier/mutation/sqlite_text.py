"""SQLite text to a syntax tree and back, so that what a mutation does not touch keeps its meaning.

sqlglot's own SQLite dialect translates: it reads functions into dialect-neutral nodes and writes what SQLite has
nearest. Tried with 30.30, these change an answer, and are read and written literally here:

- CAST(x AS DATE / DATETIME / TIME) became DATE(x), AS STRING became TEXT, AS NUMERIC, DECIMAL and BOOLEAN became REAL
  or INTEGER: the type is kept as it was written, and SQLite takes its affinity from that.
- LOG10(x) became LOG(10, x) (2.9999999999999996 for 1000), MOD(a, b) became a % b, which is an integer: a function is
  taken apart only where an operator works on it, all others keep name and arguments.
- a unary plus was dropped; it takes away a column's affinity, so that +x = '1' may be false where x = '1' is true.
- a -> 'b.c' became a -> '$.b.c': two keys instead of one.
- a comma between tables became CROSS JOIN, which forbids SQLite to reorder the loops: right, but slow without bound.

The rest was found faithful: `/`, `||` (and its place above `*`), IS NOT between columns, LIKE ... ESCAPE, NULLS FIRST
(left out only where it is SQLite's default), GROUP_CONCAT, COLLATE, window frames, VALUES, CTEs. Comments are dropped.
`read` also writes each tree back and reads that again: a text that does not come back as the same tree is Unparsable.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from sqlglot import exp
from sqlglot.dialects.sqlite import SQLite
from sqlglot.errors import ErrorLevel, SqlglotError
from sqlglot.generators.sqlite import SQLiteGenerator
from sqlglot.parsers.sqlite import SQLiteParser
from sqlglot.tokens import TokenType


class Unparsable(ValueError):
    """A query that sqlglot cannot read or cannot write back unchanged, so that it has no mutants."""


class UnaryPlus(exp.Unary):
    """+x: no value of its own, but no affinity and no collation either."""


# Only these are taken apart; every other function keeps its name and its arguments.
_TAKEN_APART = frozenset((
    "AVG", "COALESCE", "COUNT", "DENSE_RANK", "FIRST_VALUE", "IF", "IFNULL", "IIF", "LAG", "LAST_VALUE", "LEAD",
    "LOWER", "MAX", "MIN", "NULLIF", "RANK", "ROUND", "ROW_NUMBER", "SUM", "UPPER",
))  # fmt: skip
_PARSED_BY_HAND = ("CAST", "GROUP_CONCAT")
_CONCATENATIONS = (exp.DPipe, exp.JSONExtract, exp.JSONExtractScalar)


def _binary(kind: type[exp.Binary]) -> Callable[[SQLiteParser, exp.Expr, exp.Expr], exp.Expr]:
    return lambda _parser, this, operand: kind(this=this, expression=operand)


class LiteralSQLite(SQLite):
    """sqlglot's SQLite dialect, less its translations."""

    class Parser(SQLiteParser):
        FUNCTIONS: ClassVar = {name: build for name, build in SQLiteParser.FUNCTIONS.items() if name in _TAKEN_APART}
        FUNCTION_PARSERS: ClassVar = {name: SQLiteParser.FUNCTION_PARSERS[name] for name in _PARSED_BY_HAND}
        NO_PAREN_FUNCTION_PARSERS: ClassVar = {"CASE": SQLiteParser.NO_PAREN_FUNCTION_PARSERS["CASE"]}
        CONCAT_OPERATORS: ClassVar = {
            token: _binary(kind) for token, kind in zip(SQLiteParser.CONCAT_OPERATORS, _CONCATENATIONS, strict=True)
        }
        UNARY_PARSERS: ClassVar = {
            **SQLiteParser.UNARY_PARSERS,
            TokenType.PLUS: lambda self: UnaryPlus(this=self._parse_unary()),
        }

        def _parse_join(self, *arguments: object, **options: object) -> exp.Join | None:
            comma = self._curr is not None and self._curr.text == ","
            join = super()._parse_join(*arguments, **options)
            if comma and join:
                join.set("kind", None)
            return join

        def _parse_cast(self, strict: bool, safe: bool | None = None) -> exp.Expr:
            cast = super()._parse_cast(strict, safe)
            if not isinstance(cast, exp.Cast):
                return cast
            last = self._index - 1
            first = last
            while self._tokens[first].text.upper() != "AS":
                first -= 1
            written = self.sql[self._tokens[first + 1].start : self._tokens[last].end + 1]
            cast.set("to", exp.DataType(this=exp.DType.USERDEFINED, kind=written.upper()))
            return cast

    class Generator(SQLiteGenerator):
        TRANSFORMS: ClassVar = {
            # Its preprocessing rewrites DISTINCT ON, QUALIFY and semi joins, which SQLite has not, and edits the tree.
            **{kind: write for kind, write in SQLiteGenerator.TRANSFORMS.items() if kind is not exp.Select},
            UnaryPlus: lambda self, plus: f"+{self.sql(plus, 'this')}",
            exp.JSONExtract: lambda self, path: self.binary(path, "->"),
            exp.JSONExtractScalar: lambda self, path: self.binary(path, "->>"),
        }

        def div_sql(self, expression: exp.Div) -> str:
            # A quotient made here has not sqlglot's note that it divides as SQLite does, and would get a CAST.
            return self.binary(expression, "/")

        def cast_sql(self, expression: exp.Cast, safe_prefix: str | None = None) -> str:
            return f"CAST({self.sql(expression, 'this')} AS {self.sql(expression, 'to')})"

        def groupconcat_sql(self, expression: exp.GroupConcat) -> str:
            # sqlglot's own takes the ORDER BY out of the tree that it writes.
            value, order = expression.this, ""
            if isinstance(value, exp.Order):
                order = " ORDER BY " + self.expressions(value, flat=True)
                value = value.this
            separator = f", {self.sql(expression, 'separator')}" if expression.args.get("separator") else ""
            return f"GROUP_CONCAT({self.sql(value)}{separator}{order})"


_DIALECT = LiteralSQLite()


def read(sql: str) -> exp.Query:
    """The syntax tree of one SELECT or set operation; Unparsable with the reason."""
    try:
        tree = _parse(sql)
        again = _parse(
            _DIALECT.generator(comments=False, unsupported_level=ErrorLevel.RAISE).generate(tree, copy=False)
        )
    except SqlglotError as error:
        raise Unparsable(f"sqlglot cannot read it: {str(error).splitlines()[0]}") from error
    except RecursionError as error:
        raise Unparsable("it is nested too deeply") from error
    if tree != again:
        raise Unparsable("sqlglot does not write it back unchanged")
    return tree


def write(tree: exp.Expr) -> str:
    """The text of a tree, without comments; the tree is neither copied nor changed."""
    return _DIALECT.generator(comments=False, unsupported_level=ErrorLevel.IGNORE).generate(tree, copy=False)


def _parse(sql: str) -> exp.Query:
    trees = [tree for tree in _DIALECT.parse(sql) if tree is not None]
    if len(trees) != 1 or not isinstance(trees[0], exp.Select | exp.SetOperation):
        raise Unparsable("it is not one SELECT")
    for node in trees[0].dfs():
        # sqlglot lets these pass; SQLite does not.
        if isinstance(node, exp.Select) and (
            not node.expressions or (node.args.get("joins") and not node.args.get("from_"))
        ):
            raise Unparsable("a SELECT lacks its columns or its first table")
        if isinstance(node, exp.Binary) and not (node.args.get("this") and node.args.get("expression")):
            raise Unparsable("an operator lacks an operand")
    return trees[0]

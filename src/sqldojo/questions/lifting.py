"""From one real question and its query to a template: values that both name become parameters.

A literal is lifted where it is compared with a stored column or with a count, and where the question says it exactly
once and nothing else of the query could be meant there. The pool of a column's parameter is the column itself, so one
name has one pool in all questions over a schema. Where a query compares a column with several values they all stay,
since "in Oslo or {town}" may be asked of Oslo. Every other literal stays too: the question implies it (a coded value,
"more than one"), or not.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sqlglot import exp

from sqldojo.databases.schema_model import Schema, quote
from sqldojo.databases.type_affinity import REAL
from sqldojo.questions.mentions import LARGEST_WORD, Span, mentions
from sqldojo.questions.parameter_names import parameter_name
from sqldojo.verifier.columns import ColumnKey, Columns

COUNT = ("count", "VALUES (2), (3), (4), (5)")  # 1 is left out: what is counted stands in the plural
_COUNTS = range(2, 11)  # those that may as well be one of these
_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between, exp.In)
_OF_A_COLUMN = (exp.Avg, exp.Max, exp.Min, exp.Sum)
# What a pattern's wildcards are wrapped around is drawn from the column's first words, first or second letters.
_WORD = "substr({0}, 1, instr({0}, ' ') - 1) FROM {1} WHERE {0} GLOB '[A-Za-z]* *'"  # a whole text would be no part
_INITIAL = "upper(substr({0}, 1, 1)) FROM {1} WHERE {0} GLOB '[A-Za-z]*'"
_LETTER = "lower(substr({0}, 2, 1)) FROM {1} WHERE {0} GLOB '?[A-Za-z]*'"


@dataclass(frozen=True)
class Lifted:
    """A question with `{name}` and its query with `:name` for each of its parameters, and their pools."""

    text: str
    tree: exp.Query
    parameters: Mapping[str, str]


@dataclass(frozen=True)
class _Site:
    """A literal that may be lifted: the parameter, its pool, the value that the question must say, what replaces it."""

    literal: exp.Literal
    name: str
    pool: str
    value: str | int | float
    replacement: exp.Expression


def single_quote(tree: exp.Query, schema: Schema) -> None:
    """Turn double-quoted names that stand for no column into the string literals that SQLite takes them for."""
    columns = Columns(tree, schema)
    aliases = {each.alias.lower() for each in tree.find_all(exp.Alias)}
    aliases |= {each.name.lower() for alias in tree.find_all(exp.TableAlias) for each in alias.columns}
    for column in list(tree.find_all(exp.Column)):
        if not isinstance(column.this, exp.Identifier) or not column.this.args.get("quoted") or column.table:
            continue
        if column.name.lower() not in aliases and not columns.within(column):
            column.replace(exp.Literal.string(column.name))


def unsaid_number(question: str, tree: exp.Query) -> int | float | None:
    """A number that the query compares with, which the question does not say, and too large to be implied."""
    literals = (each for each in tree.find_all(exp.Literal) if isinstance(each.parent, _COMPARISONS))
    numbers = (_value(each) for each in literals if not each.is_string)
    return next((each for each in numbers if each > LARGEST_WORD and not mentions(question, each)), None)


def lift(question: str, query: exp.Query, schema: Schema) -> Lifted:
    """The template of a question and its query, which is left alone; without parameters where nothing can be lifted."""
    tree = query.copy()
    sites = list(_sites(tree, schema))
    chosen = _chosen(question, sites)
    for site in sites:
        if chosen.get(site.name, (None,))[0] == site.value:
            site.literal.replace(site.replacement)
    pools = {site.name: site.pool for site in sites}
    spans = sorted((span, name) for name, (_, span) in chosen.items())
    return Lifted(_with_names(question, spans), tree, {name: pools[name] for _, name in spans})


def _chosen(question: str, sites: list[_Site]) -> dict[str, tuple[str | int | float, Span]]:
    """For each parameter that has one value and one place in the question: these two."""
    places = {(site.name, site.value): mentions(question, site.value) for site in sites}
    values = Counter(name for name, _ in places)
    spans = {span for found in places.values() for span in found}
    chosen: dict[str, tuple[str | int | float, Span]] = {}
    for (name, value), found in places.items():
        whole = [span for span in found if not any(_within(span, other) for other in spans)]
        claims = [other for other, theirs in places.items() if set(theirs) & set(whole)]
        if name and values[name] == len(whole) == len(claims) == 1:
            chosen[name] = value, whole[0]
    return chosen


def _within(span: Span, other: Span) -> bool:
    return span != other and other[0] <= span[0] and span[1] <= other[1]


def _with_names(question: str, spans: list[tuple[Span, str]]) -> str:
    pieces, end = [], 0
    for span, name in spans:
        pieces += [_escaped(question[end : span[0]]), f"{{{name}}}"]
        end = span[1]
    return "".join(pieces) + _escaped(question[end:])


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _sites(tree: exp.Query, schema: Schema) -> Iterator[_Site]:
    """Every literal of the query; those that cannot be lifted have no name but still claim their mentions."""
    columns, names = Columns(tree, schema), _names(schema)
    for literal in list(tree.find_all(exp.Literal)):
        site = _pattern(literal, columns, names) or _compared(literal, columns, names, schema)
        yield site or _Site(literal, "", "", _value(literal), literal)


def _compared(
    literal: exp.Literal, columns: Columns, names: Mapping[ColumnKey, str], schema: Schema
) -> _Site | None:
    predicate, value = literal.parent, _value(literal)
    if not isinstance(predicate, _COMPARISONS):
        return None
    other = predicate.expression if predicate.this is literal else predicate.this
    if isinstance(other, exp.Count) and value in _COUNTS:
        return _Site(literal, *COUNT, value, exp.Placeholder(this=COUNT[0]))
    key = _column(other.this if isinstance(other, _OF_A_COLUMN) else other, columns)
    if key is None:
        return None
    return _Site(literal, names[key], _pool(*key, schema), value, exp.Placeholder(this=names[key]))


def _pool(table: str, column: str, schema: Schema) -> str:
    """The query for a column's values, in which 1999.0 is 1999, as a question would say it."""
    kind = next(each.affinity for each in schema.table(table).columns if each.name == column)
    source = f"FROM {quote(table)} WHERE {quote(column)} IS NOT NULL ORDER BY"
    if kind != REAL:
        return f"SELECT DISTINCT {quote(column)} {source} {quote(column)}"
    whole = f"CAST({quote(column)} AS INTEGER)"
    return f"SELECT DISTINCT iif({whole} = {quote(column)}, {whole}, {quote(column)}) {source} 1"


def _pattern(literal: exp.Literal, columns: Columns, names: Mapping[ColumnKey, str]) -> _Site | None:
    """A word or letter with wildcards around or after it, such as '%word%' and 'L%'."""
    like = literal.parent
    fits = re.fullmatch(r"(%?)([A-Za-z][A-Za-z ]*)%", literal.this)
    if not isinstance(like, exp.Like) or like.expression is not literal or not fits:
        return None
    key = _column(like.this, columns)
    if key is None:
        return None
    before, word = fits.groups()
    kind, source = ("word", _WORD) if len(word) > 1 else ("letter", _LETTER) if before else ("initial", _INITIAL)
    name = f"{names[key]}_{kind}"
    pool = f"SELECT DISTINCT {source.format(quote(key[1]), quote(key[0]))} ORDER BY 1"
    wrapped: exp.Expression = exp.Placeholder(this=name)
    if before:
        wrapped = exp.DPipe(this=exp.Literal.string("%"), expression=wrapped)
    return _Site(literal, name, pool, word, exp.DPipe(this=wrapped, expression=exp.Literal.string("%")))


def _column(node: exp.Expression | None, columns: Columns) -> ColumnKey | None:
    """The one stored column that a node is, if it is one."""
    keys = columns.within(node) if isinstance(node, exp.Column) else ()
    return keys[0] if len(keys) == 1 else None


def _value(literal: exp.Literal) -> str | int | float:
    if literal.is_string:
        return literal.this
    return int(literal.this) if literal.this.isdecimal() else float(literal.this)


def _names(schema: Schema) -> dict[ColumnKey, str]:
    """A parameter name for each column, of the words of table and column; the later of two alike gets a number."""
    names: dict[ColumnKey, str] = {}
    taken: Counter[str] = Counter()
    for table in schema.tables:
        for column in table.columns:
            name = parameter_name(f"{table.name} {column.name}")
            taken[name] += 1
            names[table.name, column.name] = f"{name}__{taken[name]}" if taken[name] > 1 else name
    return names

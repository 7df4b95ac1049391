"""Parts of a query that may be left out: what a question says in vain if the answer is the same without them.

The parts are those that the mutants of the audit leave out (verifier/mutation), so a part that nothing in the
ordinary data needs is found before the adversarial instance is built to need it. IS NOT NULL alone is no such part: it
is there for data with gaps, which the adversarial instance has and ordinary ones may lack.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqldojo.verifier.mutation import aggregates, grouping, joins, logic, ranking
from sqldojo.verifier.mutation.edits import mutated_text, terms
from sqldojo.verifier.mutation.scopes import Query
from sqldojo.verifier.mutation.sqlite_text import read, write

_TERMS = (logic.where_term_dropped, logic.having_term_dropped, logic.on_term_dropped, logic.case_condition_dropped)
_PARTS = (
    *_TERMS, logic.correlation_dropped, logic.disjunct_dropped, aggregates.filter_dropped,
    aggregates.count_distinct_dropped, grouping.distinct_dropped, joins.join_dropped, ranking.limit_dropped,
)  # fmt: skip


@dataclass(frozen=True)
class Shortened:
    """A query with one part left out, and the parameters that it still uses."""

    sql: str
    parameters: frozenset[str]


def without_each_part(sql: str, columns: Mapping[str, Sequence[str]]) -> list[Shortened]:
    """The query less each part that could be idle, in the order of the kinds of parts.

    `columns` maps each table to its columns. Unparsable for a query that cannot be read and written back.
    """
    conditions = _conditions(sql)
    texts = dict.fromkeys(_texts(sql, columns, _PARTS))
    return [_shortened(text) for text in texts if not _is_null_guard(conditions - _conditions(text))]


def without_parameter(sql: str, columns: Mapping[str, Sequence[str]], name: str) -> Shortened | None:
    """The query less every condition that holds the parameter `name`; None when it is elsewhere than in conditions."""
    while name in (left := _uses(sql)):
        texts = [text for text in _texts(sql, columns, _TERMS) if _uses(text).count(name) < left.count(name)]
        if not texts:
            return None
        sql = max(texts, key=len)  # the innermost condition is the shortest
    return _shortened(sql)


def _texts(sql: str, columns: Mapping[str, Sequence[str]], operators: Sequence[object]) -> Iterator[str]:
    query = Query(read(sql), columns)
    for operator in operators:
        for edit in operator(query):
            yield mutated_text(query.holder, edit)


def _shortened(sql: str) -> Shortened:
    return Shortened(sql, frozenset(_uses(sql)))


def _uses(sql: str) -> list[str]:
    return [node.name for node in read(sql).find_all(exp.Placeholder)]


def _conditions(sql: str) -> Counter[str]:
    """Every condition of the query, also those inside another one."""
    clauses = [node.this for node in read(sql).find_all(exp.Where, exp.Having)]
    clauses += [node.args.get("on") for node in read(sql).find_all(exp.Join)]
    return Counter(write(term) for clause in clauses for term in terms(clause))


def _is_null_guard(lost: Counter[str]) -> bool:
    return lost.total() == 1 and next(iter(lost)).endswith(" IS NULL") and next(iter(lost)).startswith("NOT ")

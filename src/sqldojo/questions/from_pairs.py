"""Question types from pairs of a question and its query: other people's benchmarks, or a user's own log.

Pairs whose queries are the same once their literals are lifted are one type asked in several ways. The queries are
the pairs' own, but for lifted literals, quotes and letter case: whether they can be asked is for the review to say.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqldojo.databases.schema_model import Schema
from sqldojo.questions.lifting import Lifted, lift, single_quote, unsaid_number
from sqldojo.questions.patterns import difficulty_of, pattern_of
from sqldojo.records import PAIRS, TRAIN, QuestionType, Review
from sqldojo.verifier.mutation.sqlite_text import Unparsable, read, write

UNREADABLE, OMITS = "unreadable", "omits-parameter"  # rules of the review
_ASKS_FOR_ORDER = re.compile(r"\b(order(ed|ing)?|sort(ed|ing)?|(a|de)scending|alphabetic\w*|lexicographic\w*)\b", re.I)


@dataclass(frozen=True)
class Pair:
    """A question and the query that answers it; `database` is the name of the database that it is about."""

    id: str
    database: str
    question: str
    sql: str


@dataclass(frozen=True)
class Proposals:
    """Types over one database; the pairs' own queries; and a review for each pair that gives no type at all."""

    types: tuple[QuestionType, ...]
    queries: tuple[exp.Query, ...] = ()
    rejected: tuple[Review, ...] = ()


def propose(pairs: Sequence[Pair], schema: Schema) -> Proposals:
    """The types of pairs over one database, in their order; of pairs with one query those with more parameters first.

    The id of a type is the database's name, the pattern and a number.
    """
    rejected: list[Review] = []
    groups: dict[str, list[Lifted]] = {}
    places: dict[str, tuple[int, int]] = {}  # of each group: that of the first pair with its query, parameters
    queries: dict[str, tuple[int, exp.Query]] = {}
    for place, pair in enumerate(pairs):
        try:
            tree = read(pair.sql)
        except Unparsable as error:
            rejected.append(Review(pair.id, PAIRS, "", False, UNREADABLE, str(error)))
            continue
        single_quote(tree, schema)
        unsaid = unsaid_number(pair.question, tree)
        if unsaid is not None:
            evidence = f"{unsaid} is only in the query: {pair.question} {pair.sql}"
            rejected.append(Review(pair.id, PAIRS, pattern_of(tree), False, OMITS, evidence))
            continue
        lifted = lift(" ".join(pair.question.split()), tree, schema)
        key = _identity(lifted.tree)
        groups.setdefault(key, []).append(lifted)
        first, _ = queries.setdefault(_identity(tree), (place, tree))
        places.setdefault(key, (first, -len(lifted.parameters)))
    numbers: Counter[str] = Counter()
    types = []
    for key in sorted(groups, key=places.__getitem__):
        stem = f"{pairs[0].database}-{pattern_of(groups[key][0].tree)}"
        numbers[stem] += 1
        types.append(_question_type(f"{stem}-{numbers[stem]}", groups[key]))
    return Proposals(tuple(types), tuple(tree for _, tree in queries.values()), tuple(rejected))


def _identity(tree: exp.Query) -> str:
    """The query's text in which names are told apart as SQLite tells them apart: not by letter case."""
    folded = tree.copy()
    for name in folded.find_all(exp.Identifier):
        name.set("this", name.this.lower())
    return write(folded)


def _question_type(name: str, alike: Sequence[Lifted]) -> QuestionType:
    tree = alike[0].tree
    texts = dict.fromkeys(lifted.text for lifted in alike)
    return QuestionType(
        id=name,
        split=TRAIN,
        phrasings=tuple(texts),
        sql=write(tree),
        parameters=alike[0].parameters,
        ordered=tree.args.get("order") is not None and all(map(_ASKS_FOR_ORDER.search, texts)),
        pattern=pattern_of(tree),
        difficulty=difficulty_of(tree),
        proposer=PAIRS,
    )

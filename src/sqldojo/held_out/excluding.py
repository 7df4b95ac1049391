"""Which test types ask what a generated training type teaches: these are left out of the test, before it is scored.

Nobody compared the hundreds of generated types with the test when they were made, and must not: the test would shape
what is trained. So it is the test that gives way. Hand-written types are another matter: both sides were written by
people who could look, so an overlap there is a mistake (contamination.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from sqldojo.databases.execution import Limits
from sqldojo.databases.parameters import expand
from sqldojo.databases.schema_model import read_schema
from sqldojo.databases.workers import shared_workers
from sqldojo.questions.answers import answers
from sqldojo.questions.normal_form import Columns, normal_form, shape, type_form
from sqldojo.questions.wording import normalise
from sqldojo.records import HAND_WRITTEN, Question, QuestionType

_SECONDS = 300.0  # for one query on all databases, each of which ends by its own limits

# In the order in which they are asked. The ledger and the metrics count by these names.
OVERLAPS = {
    "same-query": "a trained type has the same query, but for spelling, what is compared with constants, and values",
    "same-shape": "a trained type's query is built the same way: equal but for tables, columns, constants and values",
    "same-text": "a trained type or question has the same words",
    "same-answers": "a trained type, asked with its values, has its answers on every database that it is asked on, or "
    "a training question has those of one of its questions on every database of both families",
}

# The normal form of a query, and the digest of its answers on the databases of each family.
Known = Mapping[str, tuple[str, Mapping[str, str]]]


@dataclass(frozen=True)
class Exclusion:
    """A test type that is left out, the training type that it overlaps, the name in OVERLAPS, and what shows it."""

    type: str
    overlaps: str
    rule: str
    evidence: str


def exclusions(
    types: Sequence[QuestionType],
    questions: Sequence[Question],
    training_types: Sequence[QuestionType],
    training: Sequence[Question],
    databases: Mapping[str, Sequence[Path]],
    limits: Limits,
) -> list[Exclusion]:
    """The test types that overlap a generated type of the `training` questions, each with its first overlap.

    `questions` are those of the test `types`, `training_types` hold at least the types of `training`. `databases` are
    all files of every family; all have one schema.
    """
    trained = {question.type for question in training}
    generated = [each for each in training_types if each.id in trained and each.proposer != HAND_WRITTEN]
    names = {each.id for each in generated}
    taught = [question for question in training if question.type in names]
    one = next(iter(databases.values()))[0]
    columns = {table.name: table.names for table in read_schema(one).tables}
    asked = {each.id: [question for question in questions if question.type == each.id] for each in types}
    filled = {
        (each.id, other.id): [expand(one, other.sql, question.parameters) for question in asked[each.id]]
        for each in types
        for other in generated
        if dict(each.parameters) == dict(other.parameters)
    }
    references = (*(question.reference for question in (*questions, *taught)), *chain.from_iterable(filled.values()))
    known = _known(references, databases, columns, limits)
    found = []
    for each in types:
        overlaps = chain(
            _of_types(each, generated, columns),
            _of_questions(asked[each.id], taught, known),
            _of_values(each, asked[each.id], generated, filled, known),
        )
        order = list(OVERLAPS)
        first = min(overlaps, key=lambda overlap: order.index(overlap.rule), default=None)
        found += [first] if first else []
    return found


def _of_types(
    question_type: QuestionType, generated: Sequence[QuestionType], columns: Columns
) -> Iterator[Exclusion]:
    form = type_form(question_type.sql, columns, question_type.parameters)
    built = shape(question_type.sql, columns)
    words = {normalise(phrasing): phrasing for phrasing in question_type.phrasings}
    for other in generated:
        if type_form(other.sql, columns, other.parameters) == form:
            yield Exclusion(question_type.id, other.id, "same-query", other.sql)
        if shape(other.sql, columns) == built:
            yield Exclusion(question_type.id, other.id, "same-shape", other.sql)
        for phrasing in other.phrasings:
            if normalise(phrasing) in words:
                yield Exclusion(question_type.id, other.id, "same-text", phrasing)


def _of_questions(
    asked: Sequence[Question], taught: Sequence[Question], known: Known
) -> Iterator[Exclusion]:
    seen: dict[tuple[str, str], Question] = {}
    for question in taught:
        for identity in _identities(question, known):
            seen.setdefault(identity, question)
    for question in asked:
        for identity in _identities(question, known):
            if identity in seen:
                other, text = seen[identity], identity[0] == "same-text"
                yield Exclusion(question.type, other.type, identity[0], other.text if text else other.reference)


def _identities(question: Question, known: Known) -> list[tuple[str, str]]:
    form, digests = known[question.reference]
    return [("same-query", form), ("same-text", normalise(question.text)), ("same-answers", " ".join(digests.values()))]


def _of_values(
    question_type: QuestionType,
    asked: Sequence[Question],
    generated: Sequence[QuestionType],
    filled: Mapping[tuple[str, str], Sequence[str]],
    known: Known,
) -> Iterator[Exclusion]:
    """The trained types that answer every question of the type as it does, asked with the same values.

    Only on the question's own databases: where nothing has its value, a query may give nothing, NULL or 0.
    """
    for other in generated:
        theirs = filled.get((question_type.id, other.id), ())
        if theirs and all(
            known[question.reference][1][question.family] == known[reference][1][question.family]
            for question, reference in zip(asked, theirs, strict=True)
        ):
            yield Exclusion(question_type.id, other.id, "same-answers", other.sql)


def _known(
    references: Sequence[str], databases: Mapping[str, Sequence[Path]], columns: Columns, limits: Limits
) -> Known:
    distinct = list(dict.fromkeys(references))
    calls = [(reference, databases, columns, limits) for reference in distinct]
    found = shared_workers().map(_form_and_answers, calls, seconds=_SECONDS)
    for outcome in found:
        if isinstance(outcome, Exception):  # killed or died, by a query that was run before
            raise outcome
    return dict(zip(distinct, found, strict=True))


def _form_and_answers(
    reference: str, databases: Mapping[str, Sequence[Path]], columns: Columns, limits: Limits
) -> tuple[str, dict[str, str]]:
    """What a worker finds out about one query. It can be read, since mutants were made of it."""
    digests = {family: answers(reference, paths, limits) for family, paths in databases.items()}
    return normal_form(reference, columns), digests

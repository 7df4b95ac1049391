"""Whether a held-out question is in the training data, in its words, its query or its answers.

Answers are compared on all databases of every family: a query that asks the same in another spelling gives the same
ones everywhere, and one that asks something else hardly ever does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path

from sqldojo.databases.execution import Limits
from sqldojo.databases.schema_model import read_schema
from sqldojo.databases.workers import Died, Killed, shared_workers
from sqldojo.errors import UserError
from sqldojo.questions.answers import answers
from sqldojo.questions.normal_form import Columns, normal_form
from sqldojo.questions.wording import normalise
from sqldojo.records import Question
from sqldojo.verifier.mutation.sqlite_text import Unparsable

_SECONDS = 300.0  # for one query on all databases, each of which ends by its own limits


def check_contamination(
    training: Sequence[Question],
    held_out: Sequence[Question],
    databases: Mapping[str, Sequence[Path]],
    limits: Limits,
) -> None:
    """UserError naming two questions when a held-out one has the text, the query or the answers of a training one."""
    for why in clashes(training, held_out, databases, limits).values():
        raise UserError(f"question {why}; change or remove one of the two types")


def clashes(
    training: Sequence[Question],
    held_out: Sequence[Question],
    databases: Mapping[str, Sequence[Path]],
    limits: Limits,
) -> dict[str, str]:
    """The ids of the held-out questions that have the text, the query or the answers of a training one, and of which.

    Texts are compared without case and punctuation, queries in their normal form. `databases` are the files of every
    family; all have one schema.
    """
    paths = tuple(chain.from_iterable(databases.values()))
    columns = {table.name: table.names for table in read_schema(paths[0]).tables}
    references = list(dict.fromkeys(question.reference for question in (*training, *held_out)))
    calls = [(reference, paths, columns, limits) for reference in references]
    found = dict(zip(references, shared_workers().map(_form_and_answers, calls, seconds=_SECONDS), strict=True))
    seen: dict[tuple[str, str], str] = {}
    for question in training:
        for key in _identities(question, found[question.reference]):
            seen.setdefault(key, question.id)
    clashing: dict[str, str] = {}
    for question in held_out:
        for key in _identities(question, found[question.reference]):
            if key in seen:
                why = f"held out, but the training question {seen[key]} has the same {key[0]}"
                clashing.setdefault(question.id, f"{question.id}: {why}: {question.text} ({question.reference})")
    return clashing


def _identities(question: Question, of_reference: tuple[str, str] | Killed | Died) -> list[tuple[str, str]]:
    if isinstance(of_reference, Killed | Died):  # a reference that was run before
        raise of_reference
    form, digest = of_reference
    return [("text", normalise(question.text)), ("query", form), ("answers on all databases", digest)]


def _form_and_answers(
    reference: str, databases: Sequence[Path], columns: Columns, limits: Limits
) -> tuple[str, str]:
    """What a worker finds out about one query."""
    try:
        form = normal_form(reference, columns)
    except Unparsable:
        form = normalise(reference)
    return form, answers(reference, databases, limits)

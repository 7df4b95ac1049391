"""What a question type and a question must be before anybody is taught or scored by them.

A broken template is found when questions are made, not when a model fails on it: every refusal names the type, what
is wrong and what to do. A question whose answer says nothing is not an error by itself; other values are drawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from string import Formatter

from sqldojo.databases.execution import OK, Limits, run_query
from sqldojo.databases.twins import Twins
from sqldojo.errors import UserError
from sqldojo.records import Question, QuestionType
from sqldojo.verifier.grading import CORRECT, WRONG, grade
from sqldojo.verifier.soundness import says_nothing, unsound_because


def check_types(question_types: Sequence[QuestionType]) -> None:
    """UserError unless ids are unique, phrasings fit their parameters and a parameter has one pool in all types."""
    ids: set[str] = set()
    pools: dict[str, str] = {}
    for question_type in question_types:
        if question_type.id in ids:
            raise refusal(question_type, "another type has the same id", "rename one of them")
        ids.add(question_type.id)
        _check_phrasings(question_type)
        for name, sql in question_type.parameters.items():
            if pools.setdefault(name, sql) != sql:
                raise refusal(
                    question_type,
                    f"its parameter {name} has another pool than in an earlier type, so a value could be "
                    "trained in one and reserved in the other",
                    "give both the same pool or the parameter another name",
                )


def _check_phrasings(question_type: QuestionType) -> None:
    if not question_type.phrasings or len(set(question_type.phrasings)) < len(question_type.phrasings):
        raise refusal(question_type, "it has no phrasing or the same one twice", "write different phrasings")
    for phrasing in question_type.phrasings:
        try:
            used = {name for _, name, _, _ in Formatter().parse(phrasing) if name is not None}
        except ValueError as error:
            raise refusal(question_type, f"a phrasing has stray braces ({error}): {phrasing}", "double them") from error
        for name in sorted(set(question_type.parameters) - used):
            raise refusal(question_type, f"a phrasing omits {{{name}}}: {phrasing}", "say the value in every phrasing")
        for name in sorted(used - set(question_type.parameters)):
            raise refusal(question_type, f"a phrasing uses the unknown {{{name}}}: {phrasing}",
                          "remove it or add the parameter")  # fmt: skip


def useless_because(
    question_type: QuestionType,
    reference: str,
    databases: Sequence[Path],
    limits: Limits,
    *,
    twins: Twins | None = None,
) -> str | None:
    """Why nobody should be asked this, or None: its answer is empty, or the same, on all databases.

    UserError when the reference does not run, when its answer rests on ties or on the physical order of rows, and when
    the grader does not tell its answer from an empty one. `twins` are those of `twins_of(databases)`.
    """
    results = [run_query(database, reference, limits) for database in databases]
    for database, result in zip(databases, results, strict=True):
        if result.status != OK:
            raise refusal(question_type, f"its SQL is no answer on {database}: {result.message}: {reference}",
                          "correct the type's SQL, or raise the limit in params.yaml under `verifier`")  # fmt: skip
    useless = says_nothing(results)
    if useless:
        return useless
    ordered = question_type.ordered
    unsound = unsound_because(reference, databases, limits, ordered=ordered, twins=twins)
    if unsound:
        raise refusal(question_type, unsound, f"correct this SQL: {reference}")
    for submission, wanted in ((reference, CORRECT), (f"SELECT * FROM ({reference}) WHERE 0", WRONG)):
        verdict = grade(reference, submission, databases, limits, ordered=ordered)
        if verdict.verdict != wanted:
            raise refusal(question_type, f"the grader calls this {verdict.verdict}, not {wanted}: {submission}",
                          "write a reference whose answer is the same whenever it runs")  # fmt: skip
    return None


def check_contamination(training: Iterable[Question], held_out: Iterable[Question]) -> None:
    """UserError when a held-out question shares its text, its SQL or its type and values with a training question."""
    seen: dict[str, str] = {}
    for question in training:
        for key in _identities(question):
            seen[key] = question.id
    for question in held_out:
        for key in _identities(question):
            if key in seen:
                raise UserError(
                    f"question {question.id}: held out, but the training question {seen[key]} has the same {key}; "
                    "change or remove one of the two types"
                )


def _identities(question: Question) -> tuple[str, ...]:
    values = ", ".join(f"{name} = {value!r}" for name, value in sorted(question.parameters.items()))
    return (f"text: {normalise(question.text)}", f"SQL: {normalise(question.reference)}",
            f"type and values: {question.type}, {values}")  # fmt: skip


def normalise(text: str) -> str:
    """The words of a text in lower case, without punctuation: what makes two questions the same to a reader."""
    return " ".join("".join(letter if letter.isalnum() else " " for letter in text.casefold()).split())


def refusal(question_type: QuestionType, what: str, remedy: str) -> UserError:
    """The error for a question type that cannot be used."""
    return UserError(f"question type {question_type.id}: {what}; {remedy}")

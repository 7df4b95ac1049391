"""The scripted teacher: demonstrations written from the references, played in the real environment, kept if verified.

It needs no model and no network. Its episodes go through the same `Attempt` as a model's, so what they show of the
environment (previews, error messages) is true, and only what the grader calls correct is kept.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import sqlglot
from sqlglot import exp

from sqldojo.agent.episode import AttemptMaker
from sqldojo.agent.schema_budget import FittedSchema, statement_query
from sqldojo.agent.tool_format import PLAIN
from sqldojo.databases.execution import OK, Limits, run_query
from sqldojo.records import CORRECT, RUN_SQL, SUBMIT_SQL, Episode, Question, ToolCall
from sqldojo.teacher.mistakes import mistakes
from sqldojo.verifier.comparison import first_difference

SCRIPTED = "scripted"
REJECTED = "rejected"


@dataclass(frozen=True)
class TeachParams:
    """The section `teach`: how often each scripted style is used, as weights, and who teaches beside the script.

    `direct` submits at once, `check` runs the query first, `inspect` looks at a table first, `mistake` runs a wrong
    query first, sees what comes of it, and mends it. `models` behind an API, by their litellm names, are asked for up
    to `choices` questions of a type, each with other values, and get so many `attempts` at each.
    """

    seed: int
    direct: int
    check: int
    inspect: int
    mistake: int
    models: tuple[str, ...] = ()
    choices: int = 4
    attempts: int = 2

    def __post_init__(self) -> None:
        for name in _STYLES:
            if getattr(self, name) < 0:
                raise ValueError(f"{name}: a weight must not be negative, found {getattr(self, name)}")
        if not any(getattr(self, name) for name in _STYLES):
            raise ValueError(f"direct: at least one of the weights {', '.join(_STYLES)} must be above 0")
        for name in ("choices", "attempts"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}: must be at least 1, found {getattr(self, name)}")
        if len(set(self.models)) < len(self.models):
            raise ValueError("models: a model is named twice; name each once")


@dataclass(frozen=True)
class _Call:
    """One scripted call; a deliberate mistake is no target of training."""

    call: ToolCall
    target: bool = True


def demonstrate(
    questions: Sequence[Question],
    database: Path,
    make: AttemptMaker,
    params: TeachParams,
    limits: Limits,
) -> tuple[list[Episode], Counter[str]]:
    """The verified demonstrations, one a question in the given order, and how many there are of each style.

    `make` gives attempts in the plain tool format, whose queries run on `database`. Tables of the reference that the
    prompt does not show are looked up first, whatever the style: nobody could know their columns. An episode whose
    submission does not verify on every database is left out and counted as REJECTED.
    """
    kept: list[Episode] = []
    counts: Counter[str] = Counter(dict.fromkeys((*_STYLES, REJECTED), 0))
    for question in questions:
        generator = random.Random(f"{params.seed}/teach/{question.id}")
        style = generator.choices(list(_STYLES), weights=[getattr(params, name) for name in _STYLES])[0]
        attempt = make(question, 0)
        steps = _STYLES[style](question.reference, database, limits, generator)
        for step in [*_looks(question.reference, attempt.schema), *steps]:
            if attempt.outcome is None:  # a style may have more calls than there are turns
                attempt.reply(PLAIN.render(step.call), target=step.target)
        if attempt.outcome == CORRECT:
            kept.append(replace(attempt.episode(), teacher=SCRIPTED))
            counts[style] += 1
        else:
            counts[REJECTED] += 1
    return kept, counts


def _looks(reference: str, schema: FittedSchema) -> list[_Call]:
    if not schema.left_out:
        return []
    asked = {name.casefold() for name, _ in _tables(reference)}
    return [_Call(ToolCall(RUN_SQL, statement_query(name))) for name in schema.left_out if name.casefold() in asked]


def _tables(reference: str) -> set[tuple[str, str]]:
    """The tables of a query: the name of each, and as the query writes it."""
    tree = sqlglot.parse_one(reference, read="sqlite")
    named_here = {cte.alias for cte in tree.find_all(exp.CTE)}
    return {(table.name, table.this.sql(dialect="sqlite")) for table in tree.find_all(exp.Table)
            if table.name not in named_here}  # fmt: skip


def _direct(reference: str, _database: Path, _limits: Limits, _generator: random.Random) -> list[_Call]:
    return [_Call(ToolCall(SUBMIT_SQL, reference))]


def _check(reference: str, _database: Path, _limits: Limits, _generator: random.Random) -> list[_Call]:
    return [_Call(ToolCall(RUN_SQL, reference)), _Call(ToolCall(SUBMIT_SQL, reference))]


def _inspect(reference: str, _database: Path, _limits: Limits, generator: random.Random) -> list[_Call]:
    # As the reference writes them: a table that is called order needs its quotation marks.
    tables = sorted({written for _, written in _tables(reference)})
    look = f"SELECT * FROM {generator.choice(tables)} LIMIT 2"
    return [_Call(ToolCall(RUN_SQL, look)), _Call(ToolCall(SUBMIT_SQL, reference))]


def _mistake(reference: str, database: Path, limits: Limits, generator: random.Random) -> list[_Call]:
    """A wrong query that fails or answers something else, then the right one, seen before it is submitted."""
    right = run_query(database, reference, limits)
    for wrong in mistakes(reference, generator):
        result = run_query(database, wrong, limits)
        if result.status != OK or first_difference((right.columns, right.rows), (result.columns, result.rows)):
            return [_Call(ToolCall(RUN_SQL, wrong), target=False), *_check(reference, database, limits, generator)]
    return _check(reference, database, limits, generator)


_STYLES: dict[str, Callable[[str, Path, Limits, random.Random], list[_Call]]] = {
    "direct": _direct,
    "check": _check,
    "inspect": _inspect,
    "mistake": _mistake,
}

"""The blind solver: another model than the proposer answers a question that it has never seen the reference of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from sqldojo.agent.episode import AnswerParams, AttemptMaker
from sqldojo.agent.tool_format import PLAIN
from sqldojo.databases.execution import Limits
from sqldojo.errors import UserError
from sqldojo.records import FilledType, Question, QuestionType
from sqldojo.teacher.api_episode import play
from sqldojo.teacher.client import plain_name
from sqldojo.teacher.provider import SCHEMA_ONLY, Ask, ProviderError, ProviderParams, in_parallel


class BlindTask(Protocol):
    """One try at one question, as the review makes it; `number` tells the tries at a type apart."""

    type: QuestionType
    filled: FilledType
    text: str
    number: int


def blind_solver(
    ask: Ask,
    models: Sequence[str],
    databases: Mapping[str, Sequence[Path]],
    agent: AnswerParams,
    limits: Limits,
    providers: ProviderParams,
) -> Callable[[Sequence[BlindTask]], list[str | None]]:
    """A function that gives the SQL submitted to each task, None where none was.

    The first of `models` that did not propose the type plays the agent's loop on the first database of the family.
    UserError when there is none, and when a provider failed: no type is rejected for that.
    """
    makers = {family: AttemptMaker(paths, PLAIN, agent, limits) for family, paths in databases.items()}

    def solve_one(task: BlindTask) -> str | ProviderError | None:
        model = _other_model(models, task.type)
        attempt = makers[task.filled.family](_question(task), task.number)
        try:
            play(attempt, ask, model, agent, schema_only=providers.privacy == SCHEMA_ONLY, number=task.number)
        except ProviderError as error:
            return error
        return attempt.submission

    def solve(tasks: Sequence[BlindTask]) -> list[str | None]:
        submissions = in_parallel(solve_one, tasks, providers.concurrency)
        failed = [(task, found) for task, found in zip(tasks, submissions, strict=True)
                  if isinstance(found, ProviderError)]  # fmt: skip
        if failed:
            task, error = failed[0]
            raise UserError(
                f"params.yaml: review.solvers: {_other_model(models, task.type)} gave no reply for {task.type.id} "
                f"({error.kind}; {len(failed)} of {len(tasks)} tries failed so); run `sqldojo record review` again, "
                "or name another model"
            )
        return submissions

    return solve


def _other_model(models: Sequence[str], question_type: QuestionType) -> str:
    for model in models:
        if plain_name(model) != plain_name(question_type.proposer):
            return model
    raise UserError(
        f"params.yaml: review.solvers: {question_type.id} was proposed by {question_type.proposer}, the only solver; "
        "name another model"
    )


def _question(task: BlindTask) -> Question:
    filled = task.filled
    return Question(
        id=task.type.id, type=task.type.id, split=filled.split, family=filled.family, text=task.text,
        reference=filled.reference, parameters=filled.parameters, ordered=filled.ordered,
    )  # fmt: skip

"""What is taught: solutions of teachers behind an API where there are any, and the scripted teacher's for the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sqldojo.agent.episode import AnswerParams, AttemptMaker
from sqldojo.agent.tool_format import PLAIN
from sqldojo.databases.execution import Limits
from sqldojo.records import Episode, Question
from sqldojo.teacher.api_teacher import Solutions, api_solutions
from sqldojo.teacher.provider import Ask, ProviderParams
from sqldojo.teacher.scripted import REJECTED, SCRIPTED, TeachParams, demonstrate


def collect(
    questions: Sequence[Question],
    databases: Sequence[Path],
    ask: Ask,
    params: TeachParams,
    agent: AnswerParams,
    providers: ProviderParams,
    limits: Limits,
) -> tuple[list[Episode], dict[str, Any]]:
    """The demonstrations in the order of the questions, and their metrics.

    A question that an API teacher solved has its solutions, every other one the scripted teacher's.
    """
    make = AttemptMaker(databases, PLAIN, agent, limits)
    solved = api_solutions(questions, ask, make, params, agent, providers)
    by_question: dict[str, list[Episode]] = {}
    for episode in solved.episodes:
        by_question.setdefault(episode.question, []).append(episode)
    left = [question for question in questions if question.id not in by_question]
    scripted, styles = demonstrate(left, databases[0], make, params, limits)
    for episode in scripted:
        by_question[episode.question] = [episode]
    kept = [episode for question in questions for episode in by_question.get(question.id, [])]
    return kept, _metrics(len(questions), kept, solved, styles)


def _metrics(questions: int, kept: Sequence[Episode], solved: Solutions, styles: Counter[str]) -> dict[str, Any]:
    return {
        "questions": questions,
        "kept": len(kept),
        "by_teacher": dict(Counter(episode.teacher for episode in kept)),
        "by_style": {name: count for name, count in styles.items() if name != REJECTED},
        "rejected": {**solved.rejected, SCRIPTED: styles[REJECTED]},
        "provider_errors": dict(solved.provider_errors),
    }

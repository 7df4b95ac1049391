"""Models behind an API at repair tasks: as teachers, as correctors, and as a reference that is scored like a student.

They never see what is hidden. A provider's failure is the outcome `infrastructure`, which counts neither for nor
against a model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from sqldojo.agent.episode import AgentParams
from sqldojo.errors import UserError
from sqldojo.records import CORRECT, Episode, ToolCall
from sqldojo.repair.attempt import RepairAttempt
from sqldojo.repair.task import INFRASTRUCTURE, Hidden, RepairTask
from sqldojo.teacher.api_episode import play
from sqldojo.teacher.api_teacher import LEAKED, REPEATED, Solutions, without_mistakes_as_targets
from sqldojo.teacher.provider import SCHEMA_ONLY, Ask, ProviderError, ProviderParams, in_parallel
from sqldojo.teacher.repair_script import Make, says_reference


def api_episodes(
    tasks: Sequence[RepairTask],
    ask: Ask,
    make: Make,
    model: str,
    agent: AgentParams,
    providers: ProviderParams,
    *,
    attempts: int = 1,
) -> list[Episode]:
    """What `model` does at each task, `attempts` times, whatever comes of it; in the order of the tasks.

    `make` gives attempts in the plain tool format. UserError where no value of a database may be sent: an issue and
    a query are full of them.
    """
    check_privacy(providers)

    def work(item: tuple[RepairTask, int]) -> Episode:
        task, number = item
        attempt = make(task, number)
        play_to_end(attempt, ask, model, agent, number=number)
        return replace(attempt.episode(), teacher=model)

    return in_parallel(work, [(task, number) for task in tasks for number in range(attempts)], providers.concurrency)


def api_demonstrations(
    tasks: Sequence[RepairTask],
    hidden: Mapping[str, Hidden],
    ask: Ask,
    make: Make,
    model: str,
    agent: AgentParams,
    providers: ProviderParams,
    *,
    attempts: int = 1,
) -> Solutions:
    """The verified episodes of `model`, as `api_episodes` plays them.

    Left out: what does not pass (under its outcome), a dialogue that shows the reference, and the same calls at the
    same task once more.
    """
    by_id = {task.id: task for task in tasks}
    found = Solutions()
    seen: set[tuple[str, tuple[ToolCall | None, ...]]] = set()
    for episode in api_episodes(tasks, ask, make, model, agent, providers, attempts=attempts):
        calls = (episode.question, tuple(each.tool_call for each in episode.messages if each.role == "assistant"))
        if episode.outcome == INFRASTRUCTURE:
            found.provider_errors[episode.reason] += 1
        elif episode.outcome != CORRECT:
            found.rejected[episode.outcome] += 1
        elif says_reference(episode, by_id[episode.question], hidden[episode.question]):
            found.rejected[LEAKED] += 1
        elif calls in seen:
            found.rejected[REPEATED] += 1
        else:
            seen.add(calls)
            found.episodes.append(episode)
    return found


def api_corrector(
    ask: Ask, model: str, agent: AgentParams, providers: ProviderParams
) -> Callable[[RepairAttempt], None]:
    """A function that lets `model` play an attempt to its end from whatever state it is in; UserError as above."""
    check_privacy(providers)
    return lambda attempt: play_to_end(attempt, ask, model, agent)


def play_to_end(attempt: RepairAttempt, ask: Ask, model: str, agent: AgentParams, *, number: int = 0) -> None:
    """Let `model` play until the attempt has an outcome, which is INFRASTRUCTURE when its provider fails.

    Its calls that failed are no targets of training.
    """
    try:
        play(attempt, ask, model, agent, number=number)
    except ProviderError as error:
        attempt.stop_for_provider(error.kind)
    if attempt.outcome is None:  # its last turn went without a call that counts
        attempt.stop_for_turns()
    attempt.messages[:] = without_mistakes_as_targets(attempt.messages)


def check_privacy(providers: ProviderParams) -> None:
    """UserError where no value of a database may be sent."""
    if providers.privacy == SCHEMA_ONLY:
        raise UserError(
            f"params.yaml: providers.privacy: `{SCHEMA_ONLY}` keeps the values of a database here, but a repair task "
            "shows them in its issue, its query and the tools' results; set `rows`, or name no model for repair"
        )

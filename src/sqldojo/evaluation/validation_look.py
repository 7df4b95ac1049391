"""A look at the validation tasks while a checkpoint is trained: the same tasks with the same random keys each time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqldojo.agent.episode import AgentParams
from sqldojo.evaluation.statistics import clustered_interval
from sqldojo.records import CORRECT
from sqldojo.repair.attempt import RepairAttempt
from sqldojo.repair.task import RepairTask
from sqldojo.training.policy_model import PolicyModel
from sqldojo.training.rollouts import play
from sqldojo.training.selection import Look


def validation_look(
    policy: PolicyModel,
    tasks: Sequence[RepairTask],
    make: Callable[[RepairTask, int], RepairAttempt],
    agent: AgentParams,
    *,
    attempts: int,
    seed: int,
    width: int,
    greedy: bool,
) -> Callable[[int], Look]:
    """A function that plays the tasks with the policy as it is after so many updates, and sums them up."""
    name, types = f"{seed}/validation", {task.id: task.type for task in tasks}

    def look(step: int) -> Look:
        fresh = [make(task, number) for task in tasks for number in range(attempts)]
        played = play(policy, fresh, agent, seed=name, width=width, greedy=greedy)
        solved: dict[str, dict[str, list[float]]] = {}  # tasks of one type share a root, so types are the clusters
        for episode in sorted(played, key=lambda episode: episode.id):
            tries = solved.setdefault(types[episode.question], {}).setdefault(episode.question, [])
            tries.append(float(episode.outcome == CORRECT))
        found = clustered_interval({type: list(each.values()) for type, each in solved.items()}, name)
        return Look(step, found.mean, found.low, found.high, found.questions, found.attempts)

    return look

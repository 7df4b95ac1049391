"""A look at the selection set while training goes on: the same questions with the same random keys each time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict

from sqldojo.agent.episode import AgentParams, Attempt
from sqldojo.evaluation.summary import accuracy_interval
from sqldojo.files import from_json
from sqldojo.records import Episode, Question
from sqldojo.training.data_parallel import Ranks
from sqldojo.training.grpo import GrpoParams
from sqldojo.training.policy_model import PolicyModel
from sqldojo.training.rollouts import play
from sqldojo.training.selection import Look


def make_look(
    policy: PolicyModel,
    questions: Sequence[Question],
    make_attempt: Callable[[Question, int], Attempt],
    agent: AgentParams,
    params: GrpoParams,
    ranks: Ranks,
) -> Callable[[int], Look]:
    """A function that plays the questions with the policy as it is, as `grpo.selection` says, and sums them up.

    Collective: each rank plays a share of the questions, and all return the same.
    """
    attempts, seed = params.selection.attempts, f"{params.seed}/selection"

    def look(step: int) -> Look:
        own = [make_attempt(question, number) for question in ranks.share(questions) for number in range(attempts)]
        played = [asdict(episode) for episode in play(policy, own, agent, seed=seed, width=params.width)]
        gathered = [from_json(Episode, episode) for part in ranks.gather_objects(played) for episode in part]
        interval = accuracy_interval(sorted(gathered, key=lambda episode: episode.id), seed)
        return Look(step, interval.mean, interval.low, interval.high, interval.questions, interval.attempts)

    return look

"""Correction rounds: a teacher goes on from states that the student itself reached and failed in, and the student keeps
what it could do.

Training on a teacher's own conversations shows a student only states that a teacher gets into. So the student plays
every training task, and where it fails the teacher takes over shortly before (dataset aggregation, DAgger: S. Ross,
G. Gordon and D. Bagnell, "A Reduction of Imitation Learning and Structured Prediction to No-Regret Online Learning",
2011, arXiv 1011.0686). Only continuations whose submission passes are kept, and the failed action is in none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqldojo.records import CORRECT, Episode, Message
from sqldojo.repair.attempt import RepairAttempt
from sqldojo.repair.task import INFRASTRUCTURE, Hidden, RepairTask
from sqldojo.teacher.api_teacher import LEAKED
from sqldojo.teacher.provider import in_parallel
from sqldojo.teacher.repair_script import Make, says_reference

FIRST_VERIFIED, RESULTS_DIFFER = "first_verified", "results_differ"
_MOST_STATES = 2


@dataclass(frozen=True)
class Continuation:
    """What a teacher did from a state of the student's, verified.

    `prefix` are the student's tokens as they were sampled, from the prompt to where the next action begins. `messages`
    are the teacher's actions and their results, in the plain tool format; nothing of the student is in them.
    """

    id: str
    task: str
    type: str
    prefix: tuple[int, ...]
    messages: tuple[Message, ...]
    teacher: str


@dataclass(frozen=True)
class Yield:
    """What a round brought. Every candidate state was either requested or skipped, by reason.

    Every request ended verified, rejected (by outcome) or in a provider's failure. `attempted` leaves out attempts of
    a student that met such a failure. `cost` is what `costs.spending` says of the calls, where there were any.
    """

    attempted: int
    solved: int
    failed: int
    candidate_states: int
    requested: int
    skipped: Mapping[str, int]
    rejected: Mapping[str, int]
    infrastructure: int
    verified: int
    cost: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Corrections:
    """The verified continuations in the order of the student's attempts, and what the round brought."""

    continuations: list[Continuation]
    counts: Yield


def candidate_states(episode: Episode) -> list[int]:
    """How many of the student's replies are kept in each state that a teacher may go on from, the latest state first.

    All replies but the last, whichever way it failed, then one fewer; none for an attempt without a failed action.
    """
    if episode.outcome in (CORRECT, INFRASTRUCTURE):
        return []
    replies = sum(message.role == "assistant" for message in episode.messages)
    return [kept for kept in range(replies - 1, replies - 1 - _MOST_STATES, -1) if kept >= 0]


def correct(
    tasks: Sequence[RepairTask],
    hidden: Mapping[str, Hidden],
    student: Sequence[Episode],
    make: Make,
    teach: Callable[[RepairAttempt], None],
    teacher: str,
    *,
    threads: int = 2,
) -> Corrections:
    """Verified continuations of the failed ones among the student's attempts, of which `tasks` has every task.

    `make` gives attempts in the plain tool format, with the turns that the student had; `teach` plays one to its end
    from the state that it is in. The earlier state is left out once the later one is verified, and a state that cannot
    be reached again is skipped. ValueError for an attempt without its tokens.
    """
    by_id = {task.id: task for task in tasks}
    failed = [episode for episode in student if candidate_states(episode)]

    def work(episode: Episode) -> tuple[list[Continuation], Counter[str], Counter[str]]:
        return _correct_one(by_id[episode.question], hidden[episode.question], episode, make, teach, teacher)

    continuations: list[Continuation] = []
    skipped: Counter[str] = Counter()
    ended: Counter[str] = Counter()
    for verified, skips, ends in in_parallel(work, failed, threads):
        continuations += verified
        skipped += skips
        ended += ends
    attempted = [episode for episode in student if episode.outcome != INFRASTRUCTURE]
    infrastructure = ended.pop(INFRASTRUCTURE, 0)
    verified = ended.pop(CORRECT, 0)
    return Corrections(
        continuations,
        Yield(
            attempted=len(attempted),
            solved=len(attempted) - len(failed),
            failed=len(failed),
            candidate_states=sum(len(candidate_states(episode)) for episode in failed),
            requested=verified + infrastructure + ended.total(),
            skipped=dict(sorted(skipped.items())),
            rejected=dict(sorted(ended.items())),
            infrastructure=infrastructure,
            verified=verified,
        ),
    )


def retained(now: Sequence[Episode], earlier: Sequence[Sequence[Episode]]) -> list[Episode]:
    """The student's successes now, and the latest earlier one at every task that it only solved as an older checkpoint.

    `earlier` are the attempts of older checkpoints, the oldest first.
    """
    kept = [episode for episode in now if episode.outcome == CORRECT]
    solved = {episode.question for episode in kept}
    before: dict[str, Episode] = {}
    for attempts in earlier:
        for episode in reversed(attempts):  # so that of several at a task the first one stays
            if episode.outcome == CORRECT:
                before[episode.question] = episode
    lost = [task for task in dict.fromkeys(episode.question for episode in now) if task not in solved]
    return kept + [before[task] for task in lost if task in before]


def _correct_one(
    task: RepairTask,
    hidden: Hidden,
    episode: Episode,
    make: Make,
    teach: Callable[[RepairAttempt], None],
    teacher: str,
) -> tuple[list[Continuation], Counter[str], Counter[str]]:
    """The verified continuations of one failed attempt, skipped states by reason, and requests by how they ended."""
    verified: list[Continuation] = []
    skipped: Counter[str] = Counter()
    ended: Counter[str] = Counter()
    for kept in candidate_states(episode):
        if verified:
            skipped[FIRST_VERIFIED] += 1
            continue
        attempt = _replayed(task, episode, kept, make)
        if attempt is None:
            skipped[RESULTS_DIFFER] += 1
            continue
        prefix, begun = _prefix(episode, kept), len(attempt.messages)
        teach(attempt)
        played = attempt.episode()
        end = LEAKED if played.outcome == CORRECT and says_reference(played, task, hidden) else played.outcome
        ended[end] += 1
        if end == CORRECT:
            verified.append(
                Continuation(
                    id=f"{episode.id}/{kept}",
                    task=task.id,
                    type=episode.type,
                    prefix=prefix,
                    messages=played.messages[begun:],
                    teacher=teacher,
                )
            )
    return verified, skipped, ended


def _replayed(task: RepairTask, episode: Episode, kept: int, make: Make) -> RepairAttempt | None:
    """A fresh attempt in the state after so many of the student's replies; None where it got other results then."""
    attempt = make(task, episode.attempt)
    turns = [message for message in episode.messages if message.role in ("assistant", "tool")]
    for reply, result in zip(turns[: 2 * kept : 2], turns[1 : 2 * kept : 2], strict=True):
        if attempt.reply(attempt.tool_format.render(reply.tool_call), target=False) != result.content:
            return None
    return attempt


def _prefix(episode: Episode, kept: int) -> tuple[int, ...]:
    """The tokens before the first reply that is not kept."""
    mask = episode.action_mask
    starts = [place for place, own in enumerate(mask) if own and (place == 0 or not mask[place - 1])]
    if len(starts) <= kept:
        raise ValueError(f"{episode.id}: the attempt has no tokens of its reply {kept + 1}; play it again")
    return episode.tokens[: starts[kept]]

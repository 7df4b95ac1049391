"""Runs on the same repair tasks beside each other: two of them task by task, and what a whole chain won and lost.

For two runs there is McNemar's exact test, as other reports of this benchmark have it, and the paired interval that is
clustered by type. The test takes tasks for independent. Generated tasks of one type share a reference query and are
solved or missed together, so the interval is the one to trust for them; see `which_to_trust`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from sqldojo.evaluation.repair_scores import answered, attempts_by_task
from sqldojo.evaluation.statistics import exact_mcnemar, paired_interval
from sqldojo.evaluation.summary import DIGITS
from sqldojo.records import Episode
from sqldojo.repair.task import REPAIR_OUTCOMES, RepairTask

UNION_TEXT = (
    "The union counts a task as solved when either run solves it. It is an upper bound, not the score of any model: "
    "it picks the better run of each task with hindsight."
)


@dataclass(frozen=True)
class Pair:
    """Two runs on the same tasks: how many both solved, only one of them, and neither.

    `left_out` counts the tasks on which a provider failed in one run or the other; they are in no other number.
    `change` is the second run's share of solved tasks minus the first's, with its 95 % interval clustered by type.
    """

    first: str
    second: str
    both: int
    only_first: int
    only_second: int
    neither: int
    left_out: int
    types: int
    mcnemar_p: float
    change: float
    change_low: float
    change_high: float

    @property
    def tasks(self) -> int:
        """The tasks that both runs answered."""
        return self.both + self.only_first + self.only_second + self.neither

    @property
    def union(self) -> int:
        """The tasks that one run or the other solved: an upper bound, see UNION_TEXT."""
        return self.tasks - self.neither

    def as_json(self) -> dict[str, Any]:
        """Every number under its name, `tasks` and `union` too, for a metrics file."""
        return dict(vars(self)) | {"tasks": self.tasks, "union": self.union}


@dataclass(frozen=True)
class Step:
    """From one checkpoint of a chain to the next; `regained` are those of the gained that an earlier one had solved."""

    before: str
    after: str
    solved_before: int
    solved_after: int
    gained: int
    regained: int
    lost: int


@dataclass(frozen=True)
class ChainHistory:
    """What became of each task along a chain, counted in tasks that no checkpoint met a provider's failure on.

    `lost` were solved by one checkpoint and missed by the next, at least once; `regained` are those of them that a
    later one solved again, `lost_at_end` the tasks that an earlier checkpoint solved and the last does not. `ever` were
    solved by any checkpoint, which is an upper bound, as every union is.
    """

    steps: tuple[Step, ...]
    tasks: int
    left_out: int
    always: int
    never: int
    ever: int
    lost: int
    regained: int
    lost_at_end: int


def compare_repairs(
    first: Iterable[Episode], second: Iterable[Episode], tasks: Iterable[RepairTask], names: tuple[str, str]
) -> Pair:
    """The paired table of two runs.

    ValueError naming a task that only one of both attempted, and when they share no task that both answered.
    """
    sides = _same_tasks([first, second])
    solved = [answered(side) for side in sides]
    shared = sorted(solved[0].keys() & solved[1].keys())
    if not shared:
        raise ValueError(f"{names[0]} and {names[1]} have no task that both answered")
    types = {task.id: task.type for task in tasks}
    counts = Counter((solved[0][name], solved[1][name]) for name in shared)
    by_type = _members_by_type(shared, types)
    change = paired_interval(*(
        {name: {task: [float(side[task])] for task in members} for name, members in by_type.items()} for side in solved
    ))  # fmt: skip
    bounds = (round(value, DIGITS) for value in (change.mean, change.low, change.high))
    return Pair(
        *names, counts[True, True], counts[True, False], counts[False, True], counts[False, False],
        len(sides[0]) - len(shared), change.types, exact_mcnemar(counts[True, False], counts[False, True]), *bounds,
    )  # fmt: skip


def which_to_trust(pair: Pair) -> str:
    """Whether the test's p or the interval is the one to go by, in a sentence."""
    if pair.types < pair.tasks:
        return (
            f"The {pair.tasks} tasks are of {pair.types} types, and tasks of one type are solved or missed together: "
            "trust the interval, which is clustered by type. McNemar's p takes tasks for independent, and is as a rule "
            "too small where they are not."
        )
    return (
        f"Each of the {pair.tasks} tasks is a type of its own, so both hold; McNemar's p is exact with however few "
        "tasks that differ."
    )


def chain_history(runs: Mapping[str, Iterable[Episode]]) -> ChainHistory:
    """Gains and losses from checkpoint to checkpoint, given in the order of the chain; ValueError as for a pair.

    Only tasks that all checkpoints answered count, so that each step begins with what the one before ended with.
    """
    sides = _same_tasks(list(runs.values()))
    solved = [answered(side) for side in sides]
    shared = sorted(set.intersection(*(set(side) for side in solved))) if solved else []
    fates = [tuple(side[name] for side in solved) for name in shared]
    lost = [fate for fate in fates if _first_loss(fate) is not None]
    return ChainHistory(
        steps=tuple(_step(names, place, fates) for place, names in enumerate(pairwise(runs))),
        tasks=len(fates),
        left_out=len(sides[0]) - len(fates) if sides else 0,
        always=sum(all(fate) for fate in fates),
        never=sum(not any(fate) for fate in fates),
        ever=sum(any(fate) for fate in fates),
        lost=len(lost),
        regained=sum(any(fate[_first_loss(fate) :]) for fate in lost),
        lost_at_end=sum(any(fate) and not fate[-1] for fate in fates),
    )


def outcome_transitions(first: Iterable[Episode], second: Iterable[Episode]) -> dict[str, dict[str, int]]:
    """How tasks ended in the first run and how the same ones did in the second: outcome -> outcome -> tasks.

    Every outcome that occurs on a side is there, in the order of REPAIR_OUTCOMES; a provider's failures too.
    ValueError naming a task that only one of both attempted.
    """
    sides = _same_tasks([first, second])
    counts = Counter((sides[0][name].outcome, sides[1][name].outcome) for name in sides[0])
    rows, columns = ({pair[place] for pair in counts} for place in (0, 1))
    return {
        before: {after: counts[before, after] for after in REPAIR_OUTCOMES if after in columns}
        for before in REPAIR_OUTCOMES
        if before in rows
    }


def differing_tasks(first: Iterable[Episode], second: Iterable[Episode]) -> tuple[list[str], list[str]]:
    """The tasks that only the second run solved, and those that only the first did, sorted; ValueError as above."""
    solved = [answered(side) for side in _same_tasks([first, second])]
    shared = sorted(solved[0].keys() & solved[1].keys())
    gained = [name for name in shared if solved[1][name] and not solved[0][name]]
    return gained, [name for name in shared if solved[0][name] and not solved[1][name]]


def _same_tasks(runs: Sequence[Iterable[Episode]]) -> list[dict[str, Episode]]:
    sides = [attempts_by_task(episodes) for episodes in runs]
    for side in sides[1:]:
        if differing := side.keys() ^ sides[0].keys():
            raise ValueError(f"task {min(differing)} was attempted in one run and not in another; they need the same")
    return sides


def _members_by_type(tasks: Sequence[str], types: Mapping[str, str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in tasks:
        if name not in types:
            raise ValueError(f"task {name} was attempted but is not among the tasks")
        found.setdefault(types[name], []).append(name)
    return found


def _step(names: tuple[str, str], place: int, fates: Sequence[tuple[bool, ...]]) -> Step:
    gained = [fate for fate in fates if fate[place + 1] and not fate[place]]
    return Step(
        *names,
        solved_before=sum(fate[place] for fate in fates),
        solved_after=sum(fate[place + 1] for fate in fates),
        gained=len(gained),
        regained=sum(any(fate[:place]) for fate in gained),
        lost=sum(fate[place] and not fate[place + 1] for fate in fates),
    )


def _first_loss(fate: Sequence[bool]) -> int | None:
    """The place of the first checkpoint that misses the task after the one before it solved it."""
    return next((place + 1 for place, (before, after) in enumerate(pairwise(fate)) if before and not after), None)

"""What a run solves of the repair tasks: in all, per database and per kind of bug, with intervals clustered by type.

A task on which a provider failed says nothing about the model: it is counted apart, as infrastructure, and is neither
solved nor wrong. So shares are of the tasks that were answered, and their number stands beside them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from sqldojo.evaluation.statistics import clustered_interval
from sqldojo.evaluation.summary import DIGITS
from sqldojo.records import CORRECT, Episode
from sqldojo.repair.task import INFRASTRUCTURE, REPAIR_OUTCOMES, RepairTask

Row = dict[str, Any]
SOLVE_RATE = "solve_rate"
TWO_BUGS = "two bugs"


def score_repairs(
    episodes: Iterable[Episode], tasks: Iterable[RepairTask], *, seed: int, limits: Mapping[str, int]
) -> dict[str, Any]:
    """The metrics of one run: `all`, `databases` and `kinds`, a row each, and the `limits` that it was scored with.

    A row has `tasks` (answered ones), `solved`, `solve_rate` with its 95 % interval (`solve_rate_low`, `_high`; absent
    where no task was answered), `types` and `outcomes`, the number of tasks for each of REPAIR_OUTCOMES; those of
    `infrastructure` are not among `tasks`. Kinds are those of `bug_kind`.
    ValueError as in `attempts_by_task`, for a task that is not among `tasks`, and without any episode.
    """
    played = attempts_by_task(episodes)
    asked = {task.id: task for task in tasks}
    if not played:
        raise ValueError("no attempt to score")
    if unknown := played.keys() - asked.keys():
        raise ValueError(f"task {min(unknown)} was attempted but is not among the tasks")

    def rows(field: str, value_of: Callable[[RepairTask], str]) -> dict[str, Row]:
        groups: dict[str, list[Episode]] = {}
        for name, episode in sorted(played.items()):
            groups.setdefault(value_of(asked[name]), []).append(episode)
        return {value: _row(members, asked, f"{seed}/{field}/{value}") for value, members in sorted(groups.items())}

    return {
        "all": _row(list(played.values()), asked, f"{seed}/all"),
        "databases": rows("database", lambda task: task.db_id),
        "kinds": rows("kind", lambda task: bug_kind(task.kind)),
        "limits": dict(limits),
    }


def score_table_rows(scores: Mapping[str, Mapping[str, Any]]) -> list[Row]:
    """For a plot: one row a run and group (`all`, a database or a kind of bug) with what it solved, and its interval.

    `scores` maps a run's name to what `score_repairs` says.
    """
    return [
        {"run": run, "group": group, "name": name}
        | {key: row[key] for key in ("tasks", "solved")}
        | {key: row.get(key) for key in (SOLVE_RATE, f"{SOLVE_RATE}_low", f"{SOLVE_RATE}_high")}
        | row["outcomes"]
        for run, found in scores.items()
        for group, rows in (("all", {"all": found["all"]}), ("database", found["databases"]), ("kind", found["kinds"]))
        for name, row in rows.items()
    ]


def bug_kind(kind: str) -> str:
    """The kind of bug by which scores are told: of two bugs in one query TWO_BUGS, since pairs are many and rare."""
    return TWO_BUGS if "+" in kind else kind


def attempts_by_task(episodes: Iterable[Episode]) -> dict[str, Episode]:
    """The episodes by the id of their task; ValueError naming a task that was attempted twice."""
    found: dict[str, Episode] = {}
    for episode in episodes:
        if episode.question in found:
            raise ValueError(f"task {episode.question} was attempted more than once in one run")
        found[episode.question] = episode
    return found


def answered(played: Mapping[str, Episode]) -> dict[str, bool]:
    """Task -> whether it was solved, of the tasks on which no provider failed."""
    return {name: each.outcome == CORRECT for name, each in played.items() if each.outcome != INFRASTRUCTURE}


def _row(episodes: Sequence[Episode], tasks: Mapping[str, RepairTask], seed: str) -> Row:
    counts = Counter(episode.outcome for episode in episodes)
    if unknown := set(counts) - set(REPAIR_OUTCOMES):
        raise ValueError(f"{min(unknown)!r} is no outcome of a repair")
    solved = answered(attempts_by_task(episodes))
    by_type: dict[str, list[list[float]]] = {}
    for name, right in sorted(solved.items()):
        by_type.setdefault(tasks[name].type, []).append([float(right)])
    row: Row = {"tasks": len(solved), "solved": sum(solved.values()), "types": len(by_type),
                "outcomes": {outcome: counts[outcome] for outcome in REPAIR_OUTCOMES}}  # fmt: skip
    if by_type:
        interval = clustered_interval(by_type, seed)
        bounds = {SOLVE_RATE: interval.mean, f"{SOLVE_RATE}_low": interval.low, f"{SOLVE_RATE}_high": interval.high}
        row |= {key: round(value, DIGITS) for key, value in bounds.items()}
    return row

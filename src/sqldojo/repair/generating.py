"""Repair tasks out of references: bugs put in, checked by running, told as an issue, with tests that see them.

Kinds of bugs are balanced as far as the references allow: each task takes a bug of the kind that there are fewest of,
by the mistake of that kind that there are fewest of, in the reference that has the fewest tasks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from sqldojo.databases.execution import OK, Limits
from sqldojo.progress import progress
from sqldojo.repair.bugs.edits import Bug, apart
from sqldojo.repair.bugs.kinds import KINDS
from sqldojo.repair.differences import ERROR, FEWER_COLUMNS, MORE_COLUMNS, SWAPPED_COLUMNS
from sqldojo.repair.hidden_tests import written_test
from sqldojo.repair.leaks import leak
from sqldojo.repair.places import template
from sqldojo.repair.references import RepairReference
from sqldojo.repair.supply import Database, Supply
from sqldojo.repair.symptoms import behind, besides, describe, issue
from sqldojo.repair.task import QUERY, Hidden, RepairTask

_FEWEST_REFERENCES = 60  # that are looked through for bugs, also for a handful of tasks
_ISSUES = 8  # attempts to tell an issue without giving the fix away
_SECOND_BUGS = 12  # tried for one first bug
_ABOUT_COLUMNS = (MORE_COLUMNS, FEWER_COLUMNS, SWAPPED_COLUMNS)  # a user counts no rows before these are right


@dataclass(frozen=True)
class GenerateParams:
    """How many tasks, and which share of them has two bugs; everything else follows from the seed."""

    seed: int
    tasks: int
    two_bugs_share: float

    def __post_init__(self) -> None:
        if self.tasks < 1:
            raise ValueError(f"tasks: must be at least 1, found {self.tasks}")
        if not 0 <= self.two_bugs_share <= 1:
            raise ValueError(f"two_bugs_share: must be from 0 to 1, found {self.two_bugs_share}")


@dataclass(frozen=True)
class Generated:
    """Tasks, without a split, and what judges them, in the same order.

    `counts` has the bugs of each kind, a task with two counted for both; `left_out` why bugs did not become tasks.
    """

    tasks: tuple[RepairTask, ...]
    hidden: tuple[Hidden, ...]
    counts: dict[str, int]
    left_out: dict[str, int]

    @property
    def imbalance(self) -> float:
        """How many times more bugs the commonest kind has than the rarest that occurs; 0 without tasks."""
        present = [count for count in self.counts.values() if count]
        return max(present) / min(present) if present else 0.0


def generate(
    references: Sequence[RepairReference], database_root: Path, params: GenerateParams, limits: Limits = Limits()
) -> Generated:
    """Up to `params.tasks` tasks, fewer when the bugs run out; the same each time.

    References must be of one result on every instance of their database, whose template lies below `database_root`.
    UserError when a template is missing or cannot be read.
    """
    databases = {
        db_id: Database(template(database_root, db_id), limits)
        for db_id in sorted({reference.db_id for reference in references})
    }
    left_out: Counter[str] = Counter()
    references = _enough(references, params)
    with progress("bugs for references", len(references)) as report:
        supplies = []
        for number, reference in enumerate(references, start=1):
            supply = Supply(reference, databases[reference.db_id], params.seed)
            if supply.right.status == OK and supply.right.rows:
                supplies.append(supply)
            else:
                left_out["the reference gives no row"] += 1
            report(number, reference.db_id)
    return _Generation(supplies, params, left_out).run()


def _enough(references: Sequence[RepairReference], params: GenerateParams) -> Sequence[RepairReference]:
    """As many of them as give a choice of bugs; it takes longer to find all bugs of a reference than to make a task."""
    most = max(_FEWEST_REFERENCES, 2 * params.tasks)
    if len(references) <= most:
        return references
    return Random(f"{params.seed}/enough").sample(references, most)


class _Generation:
    """One call of `generate`: what has been made so far."""

    def __init__(self, supplies: list[Supply], params: GenerateParams, left_out: Counter[str]) -> None:
        self._params, self._left_out = params, left_out
        order = Random(f"{params.seed}/references")
        self._supplies = order.sample(supplies, len(supplies))
        self._kinds: Counter[str] = Counter()
        self._names: Counter[tuple[str, str]] = Counter()
        self._of_database: Counter[str] = Counter()
        self._doubles = 0
        self.tasks: list[RepairTask] = []
        self.hidden: list[Hidden] = []

    def run(self) -> Generated:
        """Make tasks until there are enough or no bug is left."""
        exhausted: set[str] = set()
        with progress("repair tasks", self._params.tasks) as report:
            while len(self.tasks) < self._params.tasks and len(exhausted) < len(KINDS):
                kind = min((kind for kind in KINDS if kind not in exhausted), key=lambda each: self._kinds[each])
                picked = self._pick(kind)
                if picked is None:
                    exhausted.add(kind)
                elif self._make(*picked):
                    report(len(self.tasks), kind)
        return Generated(
            tuple(self.tasks),
            tuple(self.hidden),
            {kind: self._kinds[kind] for kind in KINDS},
            dict(sorted(self._left_out.items())),
        )

    def _pick(self, kind: str) -> tuple[Supply, Bug] | None:
        """Take the next bug of a kind out of the supply."""
        names = {name for supply in self._supplies for name in supply.bugs.get(kind, ())}
        if not names:
            return None
        name = min(sorted(names), key=lambda each: self._names[kind, each])
        supply = min((s for s in self._supplies if name in s.bugs.get(kind, ())), key=lambda s: s.tasks)
        return supply, supply.take(kind, name)

    def _make(self, supply: Supply, first: Bug) -> bool:
        """Add a task with this bug, and perhaps a second; whether there is one."""
        if supply.seen([first]) is None:
            self._left_out["nothing to see on the template"] += 1
            return False
        bugs = [first]
        if self._doubles < self._params.two_bugs_share * (len(self.tasks) + 1):
            second = self._second(supply, first)
            bugs += [second] if second else []
        bugs.sort(key=lambda bug: KINDS.index(bug.kind))
        return self._add(supply, bugs)

    def _second(self, supply: Supply, first: Bug) -> Bug | None:
        """Another bug for the same query, of another kind, that has to be mended too."""
        for number, other in enumerate(self._others(supply, first)):
            if number == _SECOND_BUGS:
                break
            if supply.both_count(first, other):
                supply.remove(other)
                return other
        return None

    def _others(self, supply: Supply, first: Bug) -> Iterator[Bug]:
        kinds = [kind for kind in KINDS if kind != first.kind and kind in supply.bugs]
        # By chance: the rarest kind would always be the one whose turn is next, and make the same pairs.
        random = Random(f"{self._params.seed}/second/{supply.reference.id}/{supply.with_bugs([first])}")
        for kind in random.sample(kinds, len(kinds)):
            names = sorted(supply.bugs[kind], key=lambda each: self._names[kind, each])
            for name in names:
                yield from [bug for bug in supply.bugs[kind][name] if apart(first, bug)][-2:]

    def _add(self, supply: Supply, bugs: list[Bug]) -> bool:
        reference, database = supply.reference, supply.database
        sql = supply.with_bugs(bugs)
        if sql in database.used:
            self._left_out["the same query is in another task"] += 1
            return False
        random = Random(f"{self._params.seed}/task/{reference.id}/{sql}")
        test = written_test(supply.sql, sql, ordered=reference.ordered, run=database.run, random=random)
        if test is None:
            self._left_out["no test tells it from the reference"] += 1
            return False
        text = _told(supply, bugs, sql, random)
        if text is None:
            self._left_out["the issue would give the fix away"] += 1
            return False
        self._of_database[reference.db_id] += 1
        task_id = f"{reference.db_id}-{self._of_database[reference.db_id]:04d}"
        kind = "+".join(bug.kind for bug in bugs)
        self.tasks.append(
            RepairTask(task_id, reference.db_id, "", kind, reference.type, QUERY, text, (sql,),
                       difficulty=reference.difficulty)
        )  # fmt: skip
        self.hidden.append(Hidden(task_id, (supply.sql,), (test,), reference.ordered))
        database.used.add(sql)
        supply.tasks += 1
        self._doubles += len(bugs) == 2
        for bug in bugs:
            self._kinds[bug.kind] += 1
            self._names[bug.kind, bug.name] += 1
        return True


def _told(supply: Supply, bugs: Sequence[Bug], sql: str, random: Random) -> str | None:
    """The issue in words, or None when every attempt gave something of the fix away."""
    found = supply.seen(bugs)
    if found is None:
        return None
    for _ in range(_ISSUES):
        seen = describe(found, random)
        hidden = [alone for bug in bugs if (alone := supply.seen([bug])) and alone.what != ERROR]
        if found.what == ERROR and hidden:
            seen = behind(seen, describe(hidden[0], random), random)
        elif found.what in _ABOUT_COLUMNS and len(hidden) > 1:
            others = [alone for alone in hidden if alone.what not in _ABOUT_COLUMNS]
            seen = besides(seen, describe(others[0], random), random) if others else seen
        text = issue(supply.reference.text, seen, random)
        if leak(text, sql, supply.sql) is None:
            return text
    return None

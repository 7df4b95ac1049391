"""Two scripted teachers of repair, who know the reference; their episodes are played and judged like anybody's.

A submits at once, or looks at the tables before. B is more careful: it runs the user's query, looks at the one table
concerned, and sees the result of the repaired query before it submits that. Both also go on from any state of an
attempt, in the turns that are left; they then look at nothing that was looked at before.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot.errors import SqlglotError

from sqldojo.databases.execution import OK
from sqldojo.records import CORRECT, RUN_SQL, SUBMIT_SQL, Episode, ToolCall
from sqldojo.repair.attempt import RepairAttempt
from sqldojo.repair.task import Hidden, RepairTask
from sqldojo.repair.tools import INSPECT_SCHEMA
from sqldojo.teacher.concerned_table import concerned_table
from sqldojo.teacher.mistakes import mistakes
from sqldojo.teacher.provider import in_parallel
from sqldojo.teacher.sql_layout import in_layout_of
from sqldojo.verifier.comparison import first_difference

SCRIPTED_A, SCRIPTED_B = "scripted-a", "scripted-b"
REJECTED, LEAKED = "rejected", "leaked"
_STYLES = {SCRIPTED_A: ("direct", "look", "run_and_look"), SCRIPTED_B: ("check", "mistake")}
_WITHOUT_MISTAKES = {"mistake": "check"}

Make = Callable[[RepairTask, int], RepairAttempt]


@dataclass(frozen=True)
class RepairTeachParams:
    """How often the scripted teachers use each style, as weights.

    A's styles are `direct`, which submits at once, `look`, which lists the tables before, and `run_and_look`, which
    runs the user's query before that. B's are `check`, and `mistake`, which tries a wrong repair before the right one.
    """

    seed: int
    direct: int
    look: int
    run_and_look: int
    check: int
    mistake: int

    def __post_init__(self) -> None:
        for styles in _STYLES.values():
            for name in styles:
                if getattr(self, name) < 0:
                    raise ValueError(f"{name}: a weight must not be negative, found {getattr(self, name)}")
            if not any(getattr(self, name) for name in styles):
                raise ValueError(f"{styles[0]}: one of the weights {', '.join(styles)} must be above 0")


@dataclass(frozen=True)
class _Step:
    """One scripted call; a deliberate mistake is no target of training, and a look is needed once at most."""

    call: ToolCall
    target: bool = True
    look: bool = False


def demonstrate(
    tasks: Sequence[RepairTask],
    hidden: Mapping[str, Hidden],
    make: Make,
    teacher: str,
    params: RepairTeachParams,
    *,
    threads: int = 2,
) -> tuple[list[Episode], Counter[str]]:
    """A scripted teacher's verified episodes, one a task in the given order, and how many there are of each style.

    `make` gives attempts in the plain tool format. An episode whose submission does not pass is left out and counted
    as REJECTED, one in which somebody else than the teacher says the reference as LEAKED.
    """

    def work(task: RepairTask) -> tuple[str, Episode]:
        attempt, style = make(task, 0), _style(task, teacher, params)
        _play(attempt, hidden[task.id], style, params)
        return style, replace(attempt.episode(), teacher=teacher)

    kept: list[Episode] = []
    counts: Counter[str] = Counter(dict.fromkeys((*_STYLES[teacher], REJECTED, LEAKED), 0))
    for task, (style, episode) in zip(tasks, in_parallel(work, tasks, threads), strict=True):
        if episode.outcome != CORRECT:
            counts[REJECTED] += 1
        elif says_reference(episode, task, hidden[task.id]):
            counts[LEAKED] += 1
        else:
            counts[style] += 1
            kept.append(episode)
    return kept, counts


def script_teacher(
    hidden: Mapping[str, Hidden], teacher: str, params: RepairTeachParams
) -> Callable[[RepairAttempt], None]:
    """A function that plays an attempt to its end from whatever state it is in, without mistakes.

    The attempt has the plain tool format.
    """

    def teach(attempt: RepairAttempt) -> None:
        style = _style(attempt.task, teacher, params)
        _play(attempt, hidden[attempt.task.id], _WITHOUT_MISTAKES.get(style, style), params)

    return teach


def says_reference(episode: Episode, task: RepairTask, hidden: Hidden) -> bool:
    """Whether the issue or a tool's result holds a reference statement: a view may be one."""
    texts = [task.issue, *(message.content for message in episode.messages if message.role == "tool")]
    references = [" ".join(statement.split()).rstrip("; ") for statement in hidden.sol_sql]
    return any(reference in " ".join(text.split()) for reference in references for text in texts)


def _style(task: RepairTask, teacher: str, params: RepairTeachParams) -> str:
    styles = _STYLES[teacher]
    generator = random.Random(f"{params.seed}/repair/{teacher}/{task.id}")
    return generator.choices(styles, weights=[getattr(params, name) for name in styles])[0]


def _play(attempt: RepairAttempt, hidden: Hidden, style: str, params: RepairTeachParams) -> None:
    """Make the calls that are still of use, the last ones where the turns do not suffice for all."""
    right = repaired(attempt, hidden)
    used = {message.tool_call.name for message in attempt.messages if message.tool_call}
    steps = [
        step
        for step in _PLANS[style](attempt, right, random.Random(f"{params.seed}/repair/{style}/{attempt.id}"))
        if not attempt.was_made(step.call) and not (step.look and step.call.name in used)
    ]
    for step in steps[-attempt.turns_left :]:
        if attempt.outcome is None:  # a reference that holds a tag of the format cannot be called with
            attempt.reply(attempt.tool_format.render(step.call), target=step.target)


def repaired(attempt: RepairAttempt, hidden: Hidden) -> str:
    """The reference as a text to submit, in the layout of the user's query if it means the same there."""
    if len(hidden.sol_sql) != 1:
        return ";\n".join(statement.strip().rstrip(";") for statement in hidden.sol_sql)
    reference = hidden.sol_sql[0].strip().rstrip("; \n")
    written = in_layout_of(_user_query(attempt.task), reference)
    if written == reference:
        return reference
    expected, found = attempt.database.run(reference), attempt.database.run(written)
    return written if expected.status == OK and (OK, expected.rows) == (found.status, found.rows) else reference


def _user_query(task: RepairTask) -> str:
    return ";\n".join(statement.strip().rstrip("; \n") for statement in task.issue_sql)


def _direct(_attempt: RepairAttempt, right: str, _generator: random.Random) -> Iterator[_Step]:
    yield _Step(ToolCall(SUBMIT_SQL, right))


def _look(_attempt: RepairAttempt, right: str, _generator: random.Random) -> Iterator[_Step]:
    yield _Step(ToolCall(INSPECT_SCHEMA, ""), look=True)
    yield _Step(ToolCall(SUBMIT_SQL, right))


def _run_and_look(attempt: RepairAttempt, right: str, generator: random.Random) -> Iterator[_Step]:
    yield _Step(ToolCall(RUN_SQL, _user_query(attempt.task)), look=True)
    yield from _look(attempt, right, generator)


def _check(attempt: RepairAttempt, right: str, generator: random.Random) -> Iterator[_Step]:
    shown = _user_query(attempt.task)
    yield _Step(ToolCall(RUN_SQL, shown), look=True)
    yield _Step(ToolCall(INSPECT_SCHEMA, concerned_table(shown, right, generator)), look=True)
    yield _Step(ToolCall(RUN_SQL, right))
    yield _Step(ToolCall(SUBMIT_SQL, right))


def _mistake(attempt: RepairAttempt, right: str, generator: random.Random) -> Iterator[_Step]:
    """As `_check`, with a wrong repair before the right one, if there is one that shows to be wrong."""
    *looks, run, submit = _check(attempt, right, generator)
    yield from looks
    wrong = _wrong_repair(attempt, right, generator)
    if wrong:
        yield _Step(ToolCall(RUN_SQL, wrong), target=False)
    yield run
    yield submit


def _wrong_repair(attempt: RepairAttempt, right: str, generator: random.Random) -> str | None:
    try:
        candidates = mistakes(right, generator)
    except SqlglotError:
        return None
    shown, expected = _user_query(attempt.task), attempt.database.run(right)
    for wrong in candidates:
        if wrong.split() == shown.split():  # which was run already
            continue
        found = attempt.database.run(wrong)
        if found.status != OK or first_difference((expected.columns, expected.rows), (found.columns, found.rows)):
            return wrong
    return None


_PLANS: dict[str, Callable[[RepairAttempt, str, random.Random], Iterator[_Step]]] = {
    "direct": _direct,
    "look": _look,
    "run_and_look": _run_and_look,
    "check": _check,
    "mistake": _mistake,
}

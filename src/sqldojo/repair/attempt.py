"""One attempt at a repair task: the agent's loop with the repair tools, judged by tests that nobody sees.

The attempt holds the hidden half of its task for the judge alone. What it says of a submission that fails comes from
the judge, which quotes nothing hidden.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from sqldojo.agent.episode import AgentLoop, AgentParams, Endings
from sqldojo.agent.prompt import observation
from sqldojo.agent.tool_format import ToolFormat
from sqldojo.databases.execution import Limits
from sqldojo.databases.scripts import split_statements
from sqldojo.records import CORRECT, WRONG_SQL, ToolCall
from sqldojo.repair.judging import Judge
from sqldojo.repair.places import template
from sqldojo.repair.prompt import opening
from sqldojo.repair.task import (
    INFRASTRUCTURE,
    PARSE_FAILURE,
    QUERY,
    REPEATED_ACTION,
    TOKEN_LIMIT,
    TURN_LIMIT,
    Hidden,
    RepairTask,
)
from sqldojo.repair.tools import INSPECT_SCHEMA, TaskDatabase, inspect_schema

REPAIR_REWARDS = {
    CORRECT: 1.0,
    WRONG_SQL: 0.0,
    REPEATED_ACTION: 0.0,
    PARSE_FAILURE: 0.0,
    TURN_LIMIT: -0.2,
    TOKEN_LIMIT: -0.2,
    INFRASTRUCTURE: 0.0,
}


class RepairAttempt(AgentLoop):
    """One attempt at a repair task; its queries run on the template, its submission goes to the judge.

    Besides what ends every attempt, the same call once more ends it: nothing changes between two calls, so the second
    result would be the first.
    """

    endings = Endings(no_call=PARSE_FAILURE, cut_off=TOKEN_LIMIT, out_of_turns=TURN_LIMIT, out_of_tokens=TOKEN_LIMIT)
    rewards = REPAIR_REWARDS

    def __init__(
        self,
        task: RepairTask,
        number: int,
        *,
        hidden: Hidden,
        judge: Judge,
        database: TaskDatabase,
        tool_format: ToolFormat,
        params: AgentParams,
    ) -> None:
        if hidden.id != task.id:
            raise ValueError(f"{task.id}: the hidden half belongs to {hidden.id}")
        super().__init__(task.id, number, opening(task, tool_format), type=task.kind, split=task.split,
                         tool_format=tool_format, params=params)  # fmt: skip
        self.task = task
        self.database = database
        self._hidden, self._judge = hidden, judge
        self._made: set[ToolCall] = set()

    def was_made(self, call: ToolCall) -> bool:
        """Whether this call, whatever its white space, was made before: made again it ends the episode."""
        return _without_layout(call) in self._made

    def stop_for_turns(self) -> None:
        """End the episode because no turn is left, where a turn went without a call that counts."""
        self._end(TURN_LIMIT, f"no submission within {self._params.turns} turns")

    def stop_for_provider(self, kind: str) -> None:
        """End the episode because the provider of the model that plays it failed, which is no fault of the model."""
        self._end(INFRASTRUCTURE, f"the provider failed: {kind}")

    def _run(self, call: ToolCall) -> str:
        if call.name == INSPECT_SCHEMA:
            return inspect_schema(call.sql, self.database)
        return observation(self.database.run(call.sql, preview=self._params.preview_rows))

    def _worth(self, sql: str) -> tuple[str, str]:
        # Only what changes a database needs several statements; a query that comes with others is none.
        statements = [sql] if self.task.category == QUERY else split_statements(sql)
        judgement = self._judge.judge(self.task, self._hidden, statements)
        return (CORRECT, "") if judgement.passed else (WRONG_SQL, judgement.reason)

    def _cut_short(self, call: ToolCall) -> tuple[str, str] | None:
        if self.was_made(call):
            return REPEATED_ACTION, f"the same call of {call.name} once more"
        self._made.add(_without_layout(call))
        return None


def _without_layout(call: ToolCall) -> ToolCall:
    return ToolCall(call.name, " ".join(call.sql.split()))


def repair_attempt_maker(
    database_root: Path,
    hidden: Mapping[str, Hidden],
    judge: Judge,
    tool_format: ToolFormat,
    params: AgentParams,
    limits: Limits,
) -> Callable[[RepairTask, int], RepairAttempt]:
    """A function from task and number to a fresh attempt; `hidden` has the hidden halves by their ids."""

    def make(task: RepairTask, number: int) -> RepairAttempt:
        database = TaskDatabase(template(database_root, task.db_id), task.preprocess_sql, limits)
        return RepairAttempt(task, number, hidden=hidden[task.id], judge=judge, database=database,
                             tool_format=tool_format, params=params)  # fmt: skip

    return make

"""What the repair agent is told: the task and the tools, the same for all tasks, then the user's issue and their SQL.

No schema is in it: databases of users may have more tables than a prompt can hold, so the agent asks for what it needs.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqldojo.agent.tool_format import ToolFormat
from sqldojo.records import Message
from sqldojo.repair.task import RepairTask

_TASK = "You repair SQL queries on a SQLite database. Find out why the user's query does not do what they want."
_RULES = "Make one call at a time and none twice."


def opening(task: RepairTask, tool_format: ToolFormat) -> tuple[Message, ...]:
    """The messages that start an episode; the first is the same for all tasks, so that its tokens are shared."""
    system = "\n".join(part for part in (_TASK, tool_format.instructions, _RULES) if part)
    parts = [task.issue.strip(), "My query:\n" + _script(task.issue_sql)]
    if task.preprocess_sql:
        parts.append("Run before it:\n" + _script(task.preprocess_sql))
    return Message("system", system), Message("user", "\n\n".join(parts))


def _script(statements: Sequence[str]) -> str:
    """Statements one after the other; a single one as it stands."""
    if len(statements) == 1:
        return statements[0].strip()
    return "\n".join(f"{each.strip().rstrip(';')};" for each in statements)

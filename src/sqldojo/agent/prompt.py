"""What the agent reads: the system prompt with the schema, the question, and the results of its queries."""

from __future__ import annotations

from sqldojo.agent.tool_format import ToolFormat
from sqldojo.databases.execution import OK, QueryResult
from sqldojo.records import Message

_TASK = "You answer questions about a SQLite database with SQL."
# A query may name 200 columns and values of any length; the tokens of its preview must still fit into a dialogue.
_LONGEST_CELL = 60
_LONGEST_LINE = 500
_LONGEST_MESSAGE = 300


def opening(question: str, schema: str, tool_format: ToolFormat) -> tuple[Message, ...]:
    """The messages that start an episode.

    Everything but the question comes first and is the same for all questions on a schema, so that its tokens are
    computed once and shared.
    """
    system = "\n".join(part for part in (_TASK, tool_format.instructions, schema) if part)
    return Message("system", system), Message("user", question)


def observation(result: QueryResult) -> str:
    """A query's result as the agent reads it: header, preview rows, and whether there are more; or what went wrong."""
    if result.status != OK:
        return f"Error: {shorten(result.message, _LONGEST_MESSAGE)}"  # SQLite repeats the token it stumbled over
    if not result.rows:
        return "(no rows)"
    lines = [" | ".join(map(_cell, result.columns)), *(" | ".join(map(_cell, row)) for row in result.rows)]
    if result.more:
        lines.append(f"(first {len(result.rows)} rows, there are more)")
    return "\n".join(shorten(line, _LONGEST_LINE) for line in lines)


def _cell(value: object) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, float):
        return f"{value:.10g}"
    text = f"x'{value.hex()}'" if isinstance(value, bytes) else str(value)
    return shorten(text.replace("\n", "\\n"), _LONGEST_CELL)


def shorten(text: str, longest: int) -> str:
    """The text, or its beginning with three dots where it has more than `longest` characters."""
    return text if len(text) <= longest else text[: longest - 3] + "..."

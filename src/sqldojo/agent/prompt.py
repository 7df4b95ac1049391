"""What the agent reads: the system prompt with the schema, the question, and the results of its queries."""

from __future__ import annotations

from sqldojo.agent.tool_format import ToolFormat
from sqldojo.databases.execution import OK, QueryResult
from sqldojo.databases.schema import on_one_line
from sqldojo.records import Message

_TASK = "You answer questions about a SQLite database with SQL."
# A query may name 200 columns and values of any length; the tokens of its preview must still fit into a dialogue.
_LONGEST_CELL = 60
_LONGEST_LINE = 500
_LONGEST_MESSAGE = 300
_LONGEST_STATEMENT = 1_200  # what one look at the schema may cost: statements need more room than other values


def opening(question: str, schema: str, tool_format: ToolFormat) -> tuple[Message, ...]:
    """The messages that start an episode.

    Everything but the question comes first and is the same for all questions that are shown the same schema, so that
    its tokens are computed once and shared.
    """
    system = "\n".join(part for part in (_TASK, tool_format.instructions, schema) if part)
    return Message("system", system), Message("user", question)


def observation(result: QueryResult) -> str:
    """A query's result as the agent reads it: header, preview rows, and whether there are more; or what went wrong.

    Of the schema table the rows alone, at greater length.
    """
    if result.status != OK:
        return f"Error: {shorten(result.message, _LONGEST_MESSAGE)}"  # SQLite repeats the token it stumbled over
    if not result.rows:
        return "(no rows)"
    if result.of_schema:
        return _statements(result)
    lines = [" | ".join(map(_cell, result.columns)), *(" | ".join(map(_cell, row)) for row in result.rows)]
    if result.more:
        lines.append(f"(first {len(result.rows)} rows, there are more)")
    return "\n".join(shorten(line, _LONGEST_LINE) for line in lines)


def _statements(result: QueryResult) -> str:
    lines = [" | ".join("NULL" if value is None else on_one_line(str(value)) for value in row) for row in result.rows]
    return shorten("\n".join(lines), _LONGEST_STATEMENT) + ("\n(there are more)" if result.more else "")


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

"""The published evaluator's helpers, as tests of repair tasks call them, quirks included.

What they do is a given: scores are comparable with published ones only if every oddity is kept, such as ROUND that is
found inside other names, comments that are taken out of string literals, and results without rows that never match.
Where we judge by our own rules is said in judging.py.

Known differences: the journal stays in memory (the published evaluator sets WAL), and what sessions.py refuses.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from sqldojo.databases.sessions import Session, StatementFailed

MOST_ROWS = 10_000
_TIMEOUTS = ("database is locked", "timeout")

Row = tuple[object, ...]


@dataclass(frozen=True)
class Executed:
    """What a list of statements gave: the rows of the last that ran, and the message of the one that failed, if any."""

    rows: list[Row] | None
    message: str = ""
    failed: bool = False

    @property
    def timed_out(self) -> bool:
        """Whether the failure counts as a time-out, going by its message."""
        return self.failed and any(words in self.message.lower() for words in _TIMEOUTS)


def execute(session: Session, statements: str | Sequence[str]) -> Executed:
    """Run statements in order up to the first that fails; a query's rows end at MOST_ROWS, going by its first word."""
    rows: list[Row] | None = None
    for statement in [statements] if isinstance(statements, str) else statements:
        is_query = statement.strip().lower().startswith(("select", "with"))
        try:
            rows = session.run(statement, most_rows=MOST_ROWS if is_query else None)
        except StatementFailed as failure:
            return Executed(rows, str(failure), failed=True)
    return Executed(rows)


def same_results(
    session: Session, prediction: Sequence[str], reference: Sequence[str], conditions: Mapping[str, Any] | None = None
) -> bool:
    """Whether the last statements of both lists give the same rows, once rounded to two places.

    As sets, unless the conditions say that order counts. Never when either fails or gives no row.
    """
    if not prediction or not reference:
        return False
    predicted, expected = execute(session, prediction), execute(session, reference)
    if predicted.failed or expected.failed or not predicted.rows or not expected.rows:
        return False
    ours, theirs = preprocess_results(predicted.rows), preprocess_results(expected.rows)
    if conditions is not None and conditions.get("order", False):
        return ours == theirs
    return set(ours) == set(theirs)


def preprocess_results(rows: Sequence[Row], decimal_places: int = 2) -> list[Row]:
    """The rows as they are compared: floats rounded as Python does it, dates and containers as text."""
    return [tuple(_comparable(value, decimal_places) for value in row) for row in rows]


def _comparable(value: object, decimal_places: int) -> object:
    if isinstance(value, Decimal):
        return value.quantize(Decimal(1).scaleb(-decimal_places), rounding=ROUND_HALF_UP)
    if isinstance(value, float):
        return round(value, decimal_places)
    if isinstance(value, date):
        return value.strftime("%Y-%m-%d")
    if isinstance(value, list | dict):
        return json.dumps(value, sort_keys=True)
    return value


def remove_comments(statements: Sequence[str]) -> list[str]:
    """The statements without comments, blank lines and blanks around; a line comment needs a line's end after it."""
    return [_remove_comments(statement) for statement in statements]


def _remove_comments(statement: str) -> str:
    without_blocks = re.sub(r"/\*.*?\*/", "", statement, flags=re.DOTALL)
    without_lines = re.sub(r"--.*?(\r\n|\r|\n)", r"\1", without_blocks)
    return re.sub(r"\n\s*\n+", "\n", without_lines).strip()


def remove_distinct(statements: Sequence[str]) -> list[str]:
    """The statements without the word DISTINCT, wherever it stands between two blanks."""
    return [" ".join(word for word in text.split(" ") if word.lower() != "distinct") for text in statements]


def remove_round(statements: Sequence[str]) -> list[str]:
    """The statements with each call of ROUND replaced by its first argument, without parentheses around it."""
    return [_remove_round(statement) for statement in statements]


def _remove_round(statement: str) -> str:
    while call := re.search(r"ROUND\s*\(", statement, re.IGNORECASE):
        end = _argument_end(statement, call.end(), at_comma=False)
        if end is None:  # never closed
            break
        argument = statement[call.end() : _argument_end(statement, call.end(), at_comma=True)]
        statement = statement[: call.start()] + argument.strip() + statement[end + 1 :]
    return statement


def _argument_end(text: str, start: int, *, at_comma: bool) -> int | None:
    """Where the parenthesis that was open at `start` is closed, or its first argument ends; literals are not known."""
    depth = 0
    for place in range(start, len(text)):
        if depth == 0 and (text[place] == ")" or (at_comma and text[place] == ",")):
            return place
        depth += {"(": 1, ")": -1}.get(text[place], 0)
    return None


def check_sql_function_usage(statements: Sequence[str], keywords: Sequence[str]) -> int:
    """1 if every keyword occurs somewhere in the statements, in any case and also as a part of a word; else 0."""
    text = " ".join(statements).lower()
    return int(bool(statements) and all(keyword.lower() in text for keyword in keywords))


def default_test(
    session: Session, prediction: Sequence[str], reference: Sequence[str], conditions: Mapping[str, Any]
) -> bool:
    """The test of a record that has none: the same results, comments, DISTINCT and ROUND aside."""
    cleaned = [remove_round(remove_distinct(remove_comments(statements))) for statements in (prediction, reference)]
    return same_results(session, *cleaned, conditions)


def names_for_tests(session: Session, pred_query_result: list[Row] | None) -> dict[str, Any]:
    """The names that a test may use without importing them, with the published signatures.

    A test passes a path and a connection along; there is only one of each, so both are ignored.
    """

    def execute_queries(
        queries: str | Sequence[str],
        db_path: object,
        conn: object,
        logger: object = None,
        section_title: str = "",
        return_error: bool = False,
    ) -> tuple[object, ...]:
        done = execute(session, queries)
        outcome = done.rows, done.failed and not done.timed_out, done.timed_out
        return (*outcome, done.message) if return_error else outcome

    def perform_query_on_sqlite_databases(
        query: str, db_path: object, conn: object = None, query_timeout: float = 30
    ) -> tuple[object, object]:
        done = execute(session, query)
        if done.failed:
            raise StatementFailed(done.message)
        return done.rows, conn

    def ex_base(
        pred_sqls: Sequence[str],
        sol_sqls: Sequence[str],
        db_path: object,
        conn: object,
        conditions: Mapping[str, Any] | None = None,
    ) -> int:
        return int(same_results(session, pred_sqls, sol_sqls, conditions))

    helpers: list[Callable[..., Any]] = [
        execute_queries, perform_query_on_sqlite_databases, ex_base, preprocess_results, check_sql_function_usage,
        remove_distinct, remove_comments, remove_round,
    ]  # fmt: skip
    return {**{helper.__name__: helper for helper in helpers}, "date": date, "pred_query_result": pred_query_result}

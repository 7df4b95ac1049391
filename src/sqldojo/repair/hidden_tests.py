"""The tests of generated tasks, in the form of the data set's, and what they would say of a wrong query.

The published comparison takes results as sets, rounded to two places, after DISTINCT is taken out of both queries. A
bug that is seen in none of that needs another test: one that leaves DISTINCT in, or one that counts the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from sqldojo.databases.execution import OK, QueryResult
from sqldojo.repair.published import preprocess_results, remove_distinct

_HEAD = "def test_case(pred_sqls, sol_sqls, db_path, conn, conditions):\n"
_WITHOUT_DISTINCT = "    pred_sqls = remove_distinct(pred_sqls)\n    sol_sqls = remove_distinct(sol_sqls)\n"
_COMPARED = (
    "    result = ex_base(pred_sqls, sol_sqls, db_path, conn, conditions)\n    assert result == 1, {message!r}\n"
)
_COUNTED = (
    "    pred_rows, pred_error, pred_timeout = execute_queries(pred_sqls, db_path, conn)\n"
    "    sol_rows, sol_error, sol_timeout = execute_queries(sol_sqls, db_path, conn)\n"
    "    assert not pred_error and not pred_timeout and not sol_error and not sol_timeout\n"
    "    assert len(pred_rows) == len(sol_rows), {message!r}\n"
)
_TAIL = "    return result\n"
_MESSAGES = ("the results differ", "not the rows that were asked for", "the answer is another one", "wrong rows")
_COUNT_MESSAGES = ("another number of rows", "rows lost or repeated")

Run = Callable[[str], QueryResult]


def written_test(sol_sql: str, issue_sql: str, *, ordered: bool, run: Run, random: Random) -> str | None:
    """The source of a test that the reference passes and the buggy query fails, or None when there is none.

    `run` gives a query's result on the template.
    """
    message, count_message = random.choice(_MESSAGES), random.choice(_COUNT_MESSAGES)
    plain = same_results(run(sol_sql), run(issue_sql), ordered=ordered)
    if plain is None:
        return None
    compared = _COMPARED.format(message=message)
    if not plain:
        shortened = remove_distinct([sol_sql, issue_sql])
        if same_results(run(shortened[0]), run(shortened[1]), ordered=ordered) is False:
            return _HEAD + _WITHOUT_DISTINCT + compared + _TAIL
        return _HEAD + compared + _TAIL
    if len(run(sol_sql).rows) != len(run(issue_sql).rows):
        return _HEAD + compared + _COUNTED.format(message=count_message) + _TAIL
    return None


def same_results(right: QueryResult, wrong: QueryResult, *, ordered: bool) -> bool | None:
    """What the published comparison says; None when the right query fails it too, having failed or given no row."""
    if right.status != OK or not right.rows:
        return None
    if wrong.status != OK or not wrong.rows:
        return False
    ours, theirs = _rounded(right.rows), _rounded(wrong.rows)
    return ours == theirs if ordered else set(ours) == set(theirs)


def _rounded(rows: Sequence[tuple[object, ...]]) -> list[tuple[object, ...]]:
    return preprocess_results(rows)

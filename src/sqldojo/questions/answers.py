"""One digest for the answers of a query on several databases, so that thousands of questions can be compared.

Equal digests stand for what the grader calls the same answer (verifier/comparison.py), with two differences that only
let more be found: the order of rows never counts, and reals are rounded to nine digits where the grader allows a
relative 1e-9. Reals that sit on the edge of such a digit and differ in their last bits alone may be told apart.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from sqldojo.databases.execution import OK, Limits, QueryResult, run_query

_DIGITS = 9


def answers(reference: str, databases: Sequence[Path], limits: Limits) -> str:
    """The digest of the answers on all databases; a query that fails on one has an answer like no other there."""
    results = [run_query(database, reference, limits) for database in databases]
    digest = hashlib.sha256()
    for result in results:
        digest.update(_canonical(result, reference).encode())
    return digest.hexdigest()


def _canonical(result: QueryResult, reference: str) -> str:
    if result.status != OK:
        return f"{result.status}: {reference}"
    rows = sorted(repr(tuple(map(_cell, row))) for row in result.rows)
    return f"{len(result.columns)} columns\n" + "\n".join(rows) + "\n\n"


def _cell(value: object) -> object:
    """An integer stays exact, and a real of a whole value becomes that integer, as the grader has it."""
    if not isinstance(value, float):
        return value
    rounded = 0.0 if abs(value) < 1e-12 else float(f"{value:.{_DIGITS}g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 2**53 else rounded

"""Grading what a JSON file lists: cases that bring their own databases, or pairs of queries over given ones.

Other programs rely on these formats. A case has `id`, `reference`, `submission` and either `schema_sql`, a SQL script
that builds its database, or `databases`, a list of such scripts. A pair has `id`, `reference` and `rewrite`. With
`ordered` true the order of the rows counts. Other keys are ignored.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sqldojo.databases.execution import Limits
from sqldojo.databases.scripts import build_from_script
from sqldojo.errors import UserError
from sqldojo.verifier.grading import ReferenceFailed, Verdict, grade


def grade_cases(path: Path) -> Iterator[tuple[str, Verdict]]:
    """Each case's id and verdict, in the file's order; UserError naming the file and the item that cannot be graded."""
    for where, case in _items(path, ("id", "reference", "submission")):
        scripts = case.get("databases", [case.get("schema_sql")])
        if not isinstance(scripts, list) or not scripts or not all(isinstance(script, str) for script in scripts):
            raise UserError(f"{where}: give `schema_sql`, a SQL script, or `databases`, a list of SQL scripts")
        with tempfile.TemporaryDirectory() as folder:
            databases = [Path(folder) / f"database_{number}.sqlite" for number in range(1, len(scripts) + 1)]
            try:
                for database, script in zip(databases, scripts, strict=True):
                    build_from_script(database, script)
            except UserError as error:
                raise UserError(f"{where}: {error}") from error
            yield case["id"], _graded(where, case, case["submission"], databases)


def grade_pairs(path: Path, databases: Sequence[Path]) -> Iterator[tuple[str, Verdict]]:
    """Each pair's id and the verdict on its rewrite, in the file's order; UserError as in `grade_cases`."""
    for where, pair in _items(path, ("id", "reference", "rewrite")):
        yield pair["id"], _graded(where, pair, pair["rewrite"], databases)


def _graded(where: str, item: Mapping[str, Any], submission: str, databases: Sequence[Path]) -> Verdict:
    ordered = item.get("ordered", False)
    if not isinstance(ordered, bool):
        raise UserError(f"{where}: `ordered` must be true or false, found {ordered!r}")
    try:
        return grade(item["reference"], submission, databases, Limits(), ordered=ordered)
    except ReferenceFailed as error:
        raise UserError(f"{where}: {error}; give a reference that runs on every database") from error


def _items(path: Path, texts: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects of a JSON list, each with words that say which it is, after a check of all of them."""
    try:
        items = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path}: not JSON ({error}); correct it") from error
    if not isinstance(items, list):
        raise UserError(f"{path}: expected a list of objects, found {type(items).__name__}")
    named = []
    for number, item in enumerate(items, start=1):
        where = f"{path}, item {number}"
        if not isinstance(item, dict):
            raise UserError(f"{where}: expected an object, found {type(item).__name__}")
        for key in texts:
            if not isinstance(item.get(key), str):
                raise UserError(f"{where}: `{key}` must be a text; add or correct it")
        named.append((f"{where} ({item['id']})", item))
    yield from named

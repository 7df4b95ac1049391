"""Repair tasks in the record format of the published data set (six-gym): reading them, and writing our own so.

A folder holds `train.jsonl`, one record a line, and `database/<db>/<db>_template.sqlite`. Of the fields that a record
may have, those that judge a submission go into the hidden half and nowhere else.
"""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqldojo.errors import UserError
from sqldojo.files import write_text
from sqldojo.repair.places import template_path
from sqldojo.repair.task import QUERY, Hidden, RepairTask

RECORDS, DATABASES = "train.jsonl", "database"
# What the original experiment kept of the data set, training and evaluation tasks by database.
PUBLISHED = {"books": (226, 56), "chinook": (201, 50), "movie_3": (218, 55), "netflix": (234, 59)}
_REMEDY = "correct that line, or get the file again"


@dataclass(frozen=True)
class Loaded:
    """The chosen records as tasks without a split, their hidden halves in the same order, and what there was.

    `records` counts the lines of the file, `by_category` those of each category, `by_database` the chosen tasks.
    `warnings` are for the user: where the counts differ from the published ones.
    """

    tasks: tuple[RepairTask, ...]
    hidden: tuple[Hidden, ...]
    records: int
    by_category: Mapping[str, int]
    by_database: Mapping[str, int]
    warnings: tuple[str, ...]


def load(folder: Path, category: str = QUERY, databases: Sequence[str] = tuple(PUBLISHED)) -> Loaded:
    """The records of one category on some databases, in the order of the file.

    A task's id is the record's, with the number of its line where ids repeat; its type is its own id, but records that
    share the issue's text or SQL exactly have one type. UserError naming file, line, key and remedy for a record that
    is malformed, for a database that is missing, and when nothing fits.
    """
    path = folder / RECORDS
    records = _read(path)
    chosen = [record for record in records if record.category == category and record.db_id in databases]
    if not chosen:
        known = ", ".join(sorted({record.category for record in records}))
        raise UserError(
            f"{path}: no record of category {category} on {', '.join(databases)} (categories: {known}; "
            f"databases: {', '.join(sorted({record.db_id for record in records}))}); change repair.category or "
            "repair.databases"
        )
    for db_id in sorted({record.db_id for record in chosen}):
        database = template_path(folder / DATABASES, db_id)
        if not database.is_file():
            raise UserError(f"{database}: no such database file; get it again, or take {db_id} out of repair.databases")
    repeated = {id for id, times in Counter(record.id for record in records).items() if times > 1}
    halves = [_halves(record, repeated) for record in chosen]
    hidden = [half for _, half in halves]
    tasks = _with_types([task for task, _ in halves], hidden)
    by_database = dict(sorted(Counter(task.db_id for task in tasks).items()))
    return Loaded(
        tuple(tasks),
        tuple(hidden),
        len(records),
        dict(sorted(Counter(record.category for record in records).items())),
        by_database,
        _warnings(category, databases, by_database),
    )


def write(folder: Path, tasks: Sequence[RepairTask], hidden: Sequence[Hidden]) -> None:
    """Write tasks and their hidden halves as the folder's records; kind, type and difficulty are keys of ours."""
    records = [_record(task, half) for task, half in zip(tasks, hidden, strict=True)]
    lines = (json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n" for record in records)
    write_text(folder / RECORDS, "".join(lines))


@dataclass(frozen=True)
class _Record:
    """One line of the file: what chooses it, and its keys."""

    where: str
    line: int
    id: str
    db_id: str
    category: str
    keys: Mapping[str, Any]


def _read(path: Path) -> list[_Record]:
    if not path.is_file():
        raise UserError(f"{path}: no such file; give repair.source the folder of the data set, which holds it")
    records = []
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            where = f"{path}, line {number}"
            if not line.strip():
                continue
            try:
                keys = json.loads(line)
            except ValueError as error:
                raise UserError(f"{where}: not JSON ({error}); {_REMEDY}") from error
            if not isinstance(keys, dict):
                raise UserError(f"{where}: expected an object of keys, found {type(keys).__name__}; {_REMEDY}")
            database = "selected_database" if keys.get("selected_database") else "db_id"
            chosen_by = [_text(where, keys, key) for key in ("instance_id", database, "category")]
            records.append(_Record(where, number, *chosen_by, keys))
    return records


def _halves(record: _Record, repeated: Collection[str]) -> tuple[RepairTask, Hidden]:
    where, keys = record.where, record.keys
    id = f"{record.id}@{record.line}" if record.id in repeated else record.id
    task = RepairTask(
        id=id,
        db_id=record.db_id,
        split="",
        kind=_text(where, keys, "kind", default=record.category),
        type=_text(where, keys, "type", default=id),
        category=record.category,
        issue=_text(where, keys, "query"),
        issue_sql=_texts(where, keys, "issue_sql"),
        preprocess_sql=_texts(where, keys, "preprocess_sql"),
        clean_up_sql=_texts(where, keys, "clean_up_sql"),
        difficulty=_whole(where, keys, "difficulty"),
    )
    conditions = keys.get("conditions") or {}
    if not isinstance(conditions, dict):
        raise UserError(f"{where}: key `conditions`: expected an object, found {_shown(conditions)}; {_REMEDY}")
    tests = _texts(where, keys, "test_cases")
    return task, Hidden(id, _texts(where, keys, "sol_sql"), tests, bool(conditions.get("order", False)))


def _text(where: str, keys: Mapping[str, Any], key: str, default: str | None = None) -> str:
    value = keys.get(key, default)
    if not isinstance(value, str) or not value.strip():
        raise UserError(f"{where}: key `{key}`: expected a text, found {_shown(value)}; {_REMEDY}")
    return _writable(where, key, value)


def _texts(where: str, keys: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """A list of texts; a single text is a list of one, and nothing, null or an empty text a list of none."""
    value = keys.get(key) or []
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        raise UserError(f"{where}: key `{key}`: expected a text or a list of texts, found {_shown(value)}; {_REMEDY}")
    return tuple(_writable(where, key, item) for item in items)


def _whole(where: str, keys: Mapping[str, Any], key: str) -> int:
    """A whole number from 0, and 0 for nothing."""
    value = keys.get(key, 0)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise UserError(f"{where}: key `{key}`: expected a whole number, found {_shown(value)}; {_REMEDY}")
    return value


def _writable(where: str, key: str, text: str) -> str:
    """The text; UserError for half a surrogate pair, which JSON can hold and no file in UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UserError(f"{where}: key `{key}`: is no valid Unicode ({error.reason}); {_REMEDY}") from error
    return text


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _with_types(tasks: Sequence[RepairTask], hidden: Sequence[Hidden]) -> list[RepairTask]:
    """The tasks, those with the same issue, the same buggy SQL or the same reference under the first one's type."""
    roots: dict[str, str] = {task.type: task.type for task in tasks}

    def root(type: str) -> str:
        while roots[type] != type:
            type = roots[type]
        return type

    seen: dict[tuple[str, object], str] = {}
    for task, half in zip(tasks, hidden, strict=True):
        for part, value in (("issue", task.issue), ("issue_sql", task.issue_sql), ("sol_sql", half.sol_sql)):
            if value:
                roots[root(task.type)] = root(seen.setdefault((part, value), task.type))
    return [dataclasses.replace(task, type=root(task.type)) for task in tasks]


def _warnings(category: str, databases: Sequence[str], by_database: Mapping[str, int]) -> tuple[str, ...]:
    """Where the counts differ from those of the original experiment, for the choice that it made."""
    if category != QUERY or set(databases) != set(PUBLISHED):
        return ()
    found, published = sum(by_database.values()), sum(map(sum, PUBLISHED.values()))
    lines = [
        f"{name}: {by_database.get(name, 0):,} tasks where the original experiment had {train + test:,} "
        f"({train} for training, {test} for evaluation)"
        for name, (train, test) in PUBLISHED.items()
        if by_database.get(name, 0) != train + test
    ]
    if found != published:
        lines.insert(0, f"{found:,} tasks in all where the original experiment had {published:,}")
    return tuple(lines)


def _record(task: RepairTask, hidden: Hidden) -> dict[str, Any]:
    if task.id != hidden.id:
        raise ValueError(f"the hidden half of {hidden.id} is beside the task {task.id}")
    return {
        "instance_id": task.id,
        "db_id": task.db_id,
        "dialect": "SQLite",
        "version": "3",
        "category": task.category,
        "query": task.issue,
        "issue_sql": list(task.issue_sql),
        "preprocess_sql": list(task.preprocess_sql),
        "clean_up_sql": list(task.clean_up_sql),
        "sol_sql": list(hidden.sol_sql),
        "test_cases": list(hidden.test_cases),
        "conditions": {"order": True} if hidden.ordered else {},
        "kind": task.kind,
        "type": task.type,
        "difficulty": task.difficulty,
    }

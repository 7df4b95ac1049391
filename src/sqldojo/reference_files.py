"""Files of reference queries, in the shapes that people have them in.

A `.sql` script of statements; a JSON list or JSON lines of texts or of objects whose query is under `reference`,
`query` or `sql`, such as files of pairs, the questions of this project, or a benchmark's gold queries. An object may
have an `id`, and `ordered`: true where the order of the rows counts.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from sqldojo.databases.scripts import split_statements
from sqldojo.errors import UserError

_QUERY_KEYS = ("reference", "query", "sql")


@dataclass(frozen=True)
class Reference:
    """A query that is to be right by definition, and the name it has in its file (its number where it has none).

    `ordered` says that the order of its rows is part of the answer.
    """

    id: str
    sql: str
    ordered: bool = False


def read_references(path: Path) -> list[Reference]:
    """Every different query of a file, in its order; UserError naming the file and the item that holds none."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 text ({error}); save it as UTF-8") from error
    if path.suffix.lower() in (".json", ".jsonl", ".ndjson"):
        found = [_reference(path, number, item) for number, item in enumerate(_items(path, text), start=1)]
    else:
        found = [Reference(str(number), sql) for number, sql in enumerate(split_statements(text), start=1)]
    if not found:
        raise UserError(f"{path}: there is no query in it; write one reference a statement, or a JSON list of them")
    for number, reference in enumerate(found, start=1):
        if not _is_unicode(reference.id + reference.sql):
            raise UserError(f"{path}, item {number}: holds half a surrogate pair; correct its \\u escapes")
    return list({reference.sql: reference for reference in reversed(found)}.values())[::-1]


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def _items(path: Path, text: str) -> list[object]:
    try:
        if path.suffix.lower() == ".json":
            items = json.loads(text)
        else:
            items = [json.loads(line) for line in text.split("\n") if line.strip()]  # U+2028 may be in a text
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path}: not JSON ({error}); correct it") from error
    if not isinstance(items, list):
        raise UserError(f"{path}: expected a list, found {type(items).__name__}; write a list of references")
    return items


def _reference(path: Path, number: int, item: object) -> Reference:
    if isinstance(item, str):
        return Reference(str(number), item)
    if isinstance(item, dict):
        for key in _QUERY_KEYS:
            if isinstance(item.get(key), str):
                name, ordered = item.get("id"), item.get("ordered", False)
                if not isinstance(ordered, bool):
                    raise UserError(f"{path}, item {number}: `ordered` must be true or false, found {ordered!r}")
                return Reference(str(number if name is None else name), item[key], ordered)
    raise UserError(f"{path}, item {number}: holds no query; write a text, or an object with the key `reference`")

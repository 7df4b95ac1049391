"""Files of pairs of a question and its query: Spider's format, or a user's own log."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from sqldojo.errors import UserError
from sqldojo.questions.from_pairs import Pair

_SQL_KEYS = ("query", "sql", "reference")


def read_pairs(path: Path, database: str | None) -> list[Pair]:
    """The pairs of a JSON list or of JSON lines: objects with `question`, `query` or `sql`, `db_id`, perhaps `id`.

    `database` is the name of the one database that all are about, if it is one: `db_id` may be missing then. A pair
    without `id` is named by its line or place. UserError naming file, line and key where a pair is malformed.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 text ({error}); save it as UTF-8") from error
    pairs = [_pair(f"{path}, {place}", place, item, database) for place, item in _items(path, text)]
    if not pairs:
        raise UserError(f"{path}: there is no pair in it; write one JSON object a line, with `question` and `query`")
    names = {pair.database for pair in pairs}
    if database is not None and len(names) > 1:
        raise UserError(f"{path}: about {len(names)} databases (`db_id`), but --databases is one file; give a folder")
    return pairs


def _items(path: Path, text: str) -> Iterator[tuple[str, object]]:
    """Each item with the place that names it in errors."""
    if text.lstrip()[:1] == "[":
        try:
            items = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise UserError(f"{path}: not JSON ({error}); correct it") from error
        yield from ((f"item {number}", item) for number, item in enumerate(items, start=1))
        return
    for number, line in enumerate(text.split("\n"), start=1):  # U+2028 may be in a text
        if line.strip():
            try:
                yield f"line {number}", json.loads(line)
            except (ValueError, RecursionError) as error:
                raise UserError(f"{path}, line {number}: not JSON ({error}); correct it") from error


def _pair(where: str, place: str, item: object, database: str | None) -> Pair:
    if not isinstance(item, dict):
        raise UserError(f"{where}: expected an object, found {type(item).__name__}; write `question` and `query`")
    sql_key = next((key for key in _SQL_KEYS if key in item), _SQL_KEYS[0])
    name = item.get("db_id", database)
    texts = {"question": item.get("question"), sql_key: item.get(sql_key), "db_id": name}
    for key, value in texts.items():
        if not isinstance(value, str) or not value.strip():
            raise UserError(f"{where}: the key `{key}` is missing or no text; correct this pair or leave it out")
        if any("\ud800" <= letter <= "\udfff" for letter in value):
            raise UserError(f"{where}: `{key}` holds half a surrogate pair; correct its \\u escapes")
    return Pair(str(item.get("id", place)), name, texts["question"], texts[sql_key].strip().rstrip(";"))

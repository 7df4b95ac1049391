"""What a column is likely to hold, told from its name, for operators that exchange columns.

Only names are known here (the verifier works on any schema, and SQLite's types promise little). A wrong guess costs a
mutant that is easily killed, or one that is not made; it never makes a mutant that does not compile.
"""

from __future__ import annotations

import re
from functools import lru_cache

KEY, MOMENT, NUMBER, TEXT = "key", "moment", "number", "text"

_MOMENT = re.compile(r"date|time|year|month|day|_at$|_on$|since|until|joined|born|founded|opened|created|updated")
_NUMBER = re.compile(
    r"price|amount|total|count|quantity|number|num_|_num|salary|age|rate|rating|score|size|weight|height|length|width|"
    r"cost|budget|capacity|population|points|pages|duration|distance|percent|balance|rank|level|credits|revenue|sales|"
    r"fee|tax|tonnage|speed|area|killed|injured|attendance|enrollment|stock|discount|qty|unit|hours|bytes|milliseconds"
)
_NAME = re.compile(r"name|title|label")


@lru_cache(maxsize=16384)
def words(name: str) -> str:
    """The name in lower case with underscores between its words: CustomerId, customer-id and "Customer Id" are one."""
    return re.sub(r"[\W_]+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)).lower().strip("_")


@lru_cache(maxsize=16384)
def kind(name: str) -> str:
    """What a column of this name is likely to hold: KEY, MOMENT, NUMBER or TEXT."""
    plain = words(name)
    if re.search(r"(^|_)(id|code|key|uuid)$|[a-z]id$", plain) and not plain.endswith(("paid", "valid", "bid", "grid")):
        return KEY
    if _NAME.search(plain):
        return TEXT
    if re.search(r"(^|_)(average|age|rate|weight)$", plain) or (_NUMBER.search(plain) and "phone" not in plain):
        return NUMBER
    return MOMENT if _MOMENT.search(plain) else TEXT


def is_name(name: str) -> bool:
    """Whether people would take the column for what identifies its row."""
    return bool(_NAME.search(words(name)))


@lru_cache(maxsize=16384)
def key_of(table: str, columns: tuple[str, ...]) -> str | None:
    """The column that looks like the table's own key, or None."""
    stems = _stems(table)
    for column in columns:
        if words(column) == "id":
            return column
    for column in columns:
        if words(column) in {f"{stem}_{end}" for stem in stems for end in ("id", "code", "key", "number", "no")} | {
            f"{stem}id" for stem in stems
        }:
            return column
    return columns[0] if columns and kind(columns[0]) == KEY else None


@lru_cache(maxsize=16384)
def points_to(column: str, table: str, columns: tuple[str, ...]) -> bool:
    """Whether a column of another table looks like a foreign key to this one."""
    key = key_of(table, columns)
    if key is None or kind(column) != KEY:
        return False
    name = words(column)
    return (words(key) != "id" and name == words(key)) or any(
        re.search(rf"(^|_){re.escape(stem)}_?(id|code|key)$", name) for stem in _stems(table)
    )


@lru_cache(maxsize=16384)
def _stems(table: str) -> list[str]:
    """The table's name, and what it may be in the singular."""
    plain = words(table)
    endings = (("ies", "y"), ("ses", "s"), ("es", ""), ("s", ""))
    singular = [
        plain[: -len(end)] + other for end, other in endings if plain.endswith(end) and len(plain) > len(end) + 1
    ]
    return list(dict.fromkeys([plain, *singular]))

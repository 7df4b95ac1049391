"""Foreign keys that a user's schema does not declare, in a YAML file for people to read and edit."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sqldojo.databases.schema_model import ForeignKey, Schema
from sqldojo.databases.type_affinity import fold
from sqldojo.errors import UserError
from sqldojo.params import read_document

Keys = Mapping[str, Sequence[ForeignKey]]  # by the table that refers

_LIST, _ENTRY = "foreign_keys", ("table", "columns", "parent", "parent_columns")
_EXAMPLE = '- {table: "orders", columns: ["customer_id"], parent: "customers", parent_columns: ["id"]}'
_COMMENT = f"""\
# Foreign keys that the database of `databases.source` in params.yaml has but does not declare. `{{}}`: the stage
# build_ordinary infers them from names, types and values. A list is taken as it stands and nothing is inferred; an
# empty one, `{_LIST}: []`, says that there are none. `sqldojo inspect SOURCE --write` writes what is inferred, to
# be edited; an entry is
#   {_EXAMPLE}
"""


def keys_text(keys: Keys) -> str:
    """The content of a file that lists these keys, one a line."""
    lines = [
        "  - {" + ", ".join(f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in zip(
            _ENTRY, (table, key.columns, key.table, key.parent_columns), strict=True)) + "}"
        for table, found in keys.items()
        for key in found
    ]  # fmt: skip
    return _COMMENT + "\n".join([f"{_LIST}:" if lines else f"{_LIST}: []", *lines]) + "\n"


def read_keys(path: Path, schema: Schema) -> dict[str, list[ForeignKey]] | None:
    """The keys that a file lists, spelt as the schema spells them; None where it leaves them to be inferred.

    Keys that the schema declares are passed over. UserError for whatever does not fit the format or the schema.
    """
    document = read_document(path)
    if not document:
        return None
    entries = document.get(_LIST)
    if set(document) != {_LIST} or not isinstance(entries, list):
        raise UserError(
            f"{path}: expected `{{}}` or a list under `{_LIST}`, found {dict(document)!r}; an entry is {_EXAMPLE}"
        )
    found: dict[str, list[ForeignKey]] = {}
    for number, entry in enumerate(entries, start=1):
        table, key = _read_entry(f"{path}: {_LIST}, entry {number}", entry, schema)
        if key not in schema.table(table).foreign_keys:
            found.setdefault(table, []).append(key)
    return found


def _read_entry(where: str, entry: Any, schema: Schema) -> tuple[str, ForeignKey]:
    if not isinstance(entry, dict) or set(entry) != set(_ENTRY):
        raise UserError(f"{where}: expected the keys {', '.join(_ENTRY)}, found {entry!r}; write {_EXAMPLE}")
    child, parent = (_spelt(where, name, str(entry[name]), [each.name for each in schema.tables])
                     for name in ("table", "parent"))  # fmt: skip
    columns, parent_columns = (
        tuple(_spelt(f"{where} ({owner})", name, str(each), schema.table(owner).names)
              for each in _texts(where, entry, name))
        for name, owner in (("columns", child), ("parent_columns", parent))
    )  # fmt: skip
    if len(columns) != len(parent_columns) or not columns:
        raise UserError(f"{where}: {len(columns)} columns refer to {len(parent_columns)}; name as many of both")
    return child, ForeignKey(columns, parent, parent_columns)


def _texts(where: str, entry: Mapping[str, Any], name: str) -> list[Any]:
    if not isinstance(entry[name], list):
        raise UserError(f"{where}: {name}: expected a list of names, found {entry[name]!r}; write {_EXAMPLE}")
    return entry[name]


def _spelt(where: str, key: str, name: str, known: Sequence[str]) -> str:
    """The name as the schema spells it."""
    spelling = {fold(each): each for each in known}
    if fold(name) not in spelling:
        raise UserError(
            f"{where}: {key}: there is no {name!r} in the database (known: {', '.join(known)}); correct it, or, if the "
            "file is another database's, write it anew with `sqldojo inspect SOURCE --write`"
        )
    return spelling[fold(name)]

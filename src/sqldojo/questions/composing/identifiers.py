"""Names in SQL as a person writes them: quoted only where SQLite would read something else."""

from __future__ import annotations

import re

from sqldojo.databases.schema_model import quote

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)

# SQLite's keywords, but for those that name a type or a unit and are read as a name wherever a name can stand.
_KEYWORDS = frozenset(re.findall(r"\w+", """
    abort add all alter always analyze and as asc attach autoincrement before begin between by cascade case cast
    check collate column commit conflict constraint create cross current current_date current_time
    current_timestamp database default deferrable deferred delete desc detach distinct do drop each else end
    escape except exclude exclusive exists explain fail filter following for foreign from full generated glob
    group groups having if ignore immediate in index indexed initially inner insert instead intersect into is
    isnull join left like limit match materialized natural not nothing notnull null nulls of offset on or order
    others outer over partition plan pragma preceding primary query raise range recursive references regexp
    reindex release rename replace restrict returning right rollback row rows savepoint select set table temp
    temporary then ties to transaction trigger unbounded union unique update using vacuum values view virtual
    when where window with without
"""))  # fmt: skip


def identifier(name: str) -> str:
    """The name as SQL writes it."""
    return name if _PLAIN.fullmatch(name) and name.lower() not in _KEYWORDS else quote(name)

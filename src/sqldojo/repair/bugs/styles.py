"""A reference as other people write it: tables under short aliases, so that bugs are put into both ways of writing."""

from __future__ import annotations

from random import Random

from sqldojo.databases.schema_model import Schema
from sqldojo.repair.bugs.edits import TextEdit, apply, insert, replace
from sqldojo.repair.bugs.subject import Subject

_RESERVED = frozenset(("as", "by", "do", "if", "in", "is", "no", "of", "on", "or", "to"))


def with_aliases(sql: str, schema: Schema, random: Random) -> str:
    """The query with an alias for every table whose name stands before a column; as it is where that is not safe.

    Not safe is a table that is read twice, or has the name of another thing in the text.
    """
    subject = Subject(sql, schema)
    names = [use.name.text for use in subject.table_uses]
    if len(set(names)) < len(names) or any(use.alias for use in subject.table_uses):
        return sql
    joint = random.choice((" ", " AS "))
    edits: list[TextEdit] = []
    taken = {token.text.lower() for token in subject.tokens} | {name.lower() for name in subject.columns}
    for use in subject.table_uses:
        qualifiers = [token for token in subject.tokens
                      if token.text == use.name.text and sql[token.end : token.end + 1] == "."]  # fmt: skip
        short = _short(use.name.text, taken)
        if qualifiers and short:
            taken.add(short)
            edits.append(insert(use.name.end, f"{joint}{short}"))
            edits += [replace(token, short) for token in qualifiers]
    return apply(sql, edits)


def _short(name: str, taken: set[str]) -> str | None:
    """The initials of a name's words, or its first letters; None when all are taken."""
    words = [word for word in name.lower().split("_") if word]
    for short in ("".join(word[0] for word in words), name[:2].lower(), name[:3].lower()):
        if short.isidentifier() and short not in taken and short not in _RESERVED:
            return short
    return None

"""Bugs in the spelling of a column's or a table's name."""

from __future__ import annotations

from collections.abc import Iterator

from sqldojo.repair.bugs.edits import Bug, TextEdit, bug, replace
from sqldojo.repair.bugs.kinds import NAME
from sqldojo.repair.bugs.subject import Subject
from sqldojo.repair.sql_tokens import Token

_SHORTEST_TYPO = 4  # letters of a name in which a typo is still recognised


def name_bugs(subject: Subject) -> Iterator[Bug]:
    """Every bug of this kind at every place; a guessed name is wrong wherever it occurs, a typo at one place."""
    taken = {name.lower() for table in subject.schema.tables for name in (table.name, *table.names)}
    yield from _columns(subject, taken)
    yield from _tables(subject, taken)


def _columns(subject: Subject, taken: set[str]) -> Iterator[Bug]:
    by_column: dict[tuple[str, str], list[Token]] = {}
    for use in subject.column_uses:
        if use.source.table is None or not use.name.is_word:
            continue
        by_column.setdefault((use.source.table, use.name.text), []).append(use.name)
        for wrong in _typos(use.name.text):
            if wrong.lower() not in taken:
                yield bug(NAME, "column-typo", replace(use.name, wrong))
    for (table, name), tokens in by_column.items():
        for label, wrong in (*_guesses(table, name), *_respelt(name)):
            if wrong.lower() not in taken:
                yield bug(NAME, f"column-{label}", *(replace(token, wrong) for token in tokens))


def _tables(subject: Subject, taken: set[str]) -> Iterator[Bug]:
    for name in dict.fromkeys(use.name.text for use in subject.table_uses if use.name.is_word):
        named = [use.name for use in subject.table_uses if use.name.text == name]
        everywhere = [token for token in subject.tokens if token.text == name and _names_table(subject, token, named)]
        for wrong in _other_number(name):
            if wrong.lower() not in taken:
                yield bug(NAME, "table-number", *_renamed(everywhere, wrong))
        for label, wrong in _respelt(name):
            if wrong.lower() not in taken:
                yield bug(NAME, f"table-{label}", *_renamed(everywhere, wrong))
        for wrong in _typos(name):
            if wrong.lower() not in taken:
                yield bug(NAME, "table-typo", replace(named[0], wrong))


def _names_table(subject: Subject, token: Token, named: list[Token]) -> bool:
    return token in named or subject.sql[token.end : token.end + 1] == "."


def _renamed(tokens: list[Token], wrong: str) -> list[TextEdit]:
    return [replace(token, wrong) for token in tokens]


def _typos(name: str) -> Iterator[str]:
    """Two letters exchanged, one lost, one doubled: in the middle, where people do not look."""
    if len(name) < _SHORTEST_TYPO:
        return
    middle = len(name) // 2
    for place in (middle, middle - 1):
        if name[place].isalpha() and name[place - 1].isalpha() and name[place] != name[place - 1]:
            yield name[: place - 1] + name[place] + name[place - 1] + name[place + 1 :]
    if name[middle].isalpha():
        yield name[:middle] + name[middle + 1 :]
        yield name[:middle] + name[middle] + name[middle:]


def _guesses(table: str, name: str) -> Iterator[tuple[str, str]]:
    """customer_name for the name of a customer, email_address for email, id for customer_id."""
    one = _singular(table)
    joined = (lambda a, b: a + b[:1].upper() + b[1:]) if name[:1].isupper() else (lambda a, b: f"{a}_{b}")
    if not name.lower().startswith(one.lower()):
        yield "guessed", joined(one, name)
    elif len(name) > len(one) + 1:
        yield "guessed", name[len(one) :].lstrip("_")
    yield "plural", name[:-1] if name.endswith("s") and not name.endswith("ss") else name + "s"


def _respelt(name: str) -> Iterator[tuple[str, str]]:
    """unitPrice or unitprice for unit_price, and unit_price for UnitPrice."""
    if "_" in name.strip("_"):
        first, *others = name.split("_")
        yield "camel", first + "".join(word[:1].upper() + word[1:] for word in others)
        yield "run-together", name.replace("_", "")
    elif any(letter.isupper() for letter in name[1:]) and not name.isupper():
        yield "snake", "".join(f"_{c.lower()}" if c.isupper() and i else c.lower() for i, c in enumerate(name))


def _other_number(name: str) -> Iterator[str]:
    if name.lower().endswith("s") and not name.lower().endswith("ss"):
        yield _singular(name)
    else:
        yield name + "s"


def _singular(name: str) -> str:
    lower = name.lower()
    if lower.endswith("ies") and len(name) > 4:
        return name[:-3] + "y"
    return name[:-1] if lower.endswith("s") and not lower.endswith("ss") else name

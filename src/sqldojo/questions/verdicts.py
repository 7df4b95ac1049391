"""Verdicts of people on proposed types: a YAML file in Git, and they win over the rules."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sqldojo.errors import UserError
from sqldojo.params import read_document

ACCEPT, REJECT = "accept", "reject"
_KEYS = {"verdict", "why"}


@dataclass(frozen=True)
class Verdict:
    """What a person says of one type: `accept` or `reject`, and why."""

    verdict: str
    why: str


def read_verdicts(path: Path) -> dict[str, Verdict]:
    """The verdicts of a file `<type id>: {verdict: accept or reject, why: ...}`; UserError for whatever does not fit.

    The document `{}` has none.
    """
    verdicts = {}
    for name, entry in read_document(path).items():
        where = f"{path}: {name}"
        if not isinstance(entry, dict) or set(entry) != _KEYS:
            raise UserError(f"{where}: expected the keys `verdict` and `why`, found {entry!r}; write both and no other")
        if entry["verdict"] not in (ACCEPT, REJECT):
            raise UserError(f"{where}.verdict: expected `accept` or `reject`, found {entry['verdict']!r}; correct it")
        if not isinstance(entry["why"], str) or not entry["why"].strip():
            raise UserError(f"{where}.why: expected a text, found {entry['why']!r}; say why, for the next reader")
        verdicts[str(name)] = Verdict(entry["verdict"], entry["why"])
    return verdicts

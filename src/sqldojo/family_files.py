"""`sqldojo family`: from a user's database or schema script to four databases, and a file of what they tell apart."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sqldojo.databases.execution import Limits
from sqldojo.databases.families import INSTANCES
from sqldojo.errors import UserError
from sqldojo.files import write_json
from sqldojo.progress import progress
from sqldojo.reference_files import Reference
from sqldojo.user_files import as_database, check_replaceable
from sqldojo.verifier.family import Judged, build_family, counts
from sqldojo.verifier.family_search import FamilyParams

REPORT = "family.json"


def family_from_file(
    schema_or_database: Path, references: Sequence[Reference], out: Path, params: FamilyParams, limits: Limits
) -> dict[str, Any]:
    """Write the four databases and `family.json` into `out`, and return what that file says.

    UserError when the source has no table, when no reference can be used, and when `out` is anything but a new or empty
    folder or an earlier family.
    """
    check_replaceable(out, {REPORT, *(f"{name}.sqlite" for name in INSTANCES)}, "family")
    named = {reference.id: reference.sql for reference in references}
    if len(named) < len(references):
        twice = next(name for name, count in Counter(each.id for each in references).items() if count > 1)
        raise UserError(f"references: the id {twice!r} occurs twice; give every reference an id of its own")
    with as_database(schema_or_database) as source, progress("family, percent", 100) as report:
        ordered = frozenset(reference.id for reference in references if reference.ordered)
        judged = build_family(source, named, out, params, limits, ordered=ordered, progress=report)
    content = judgement(judged, params)
    write_json(out / REPORT, content)
    return content


def family_databases(folder: Path) -> tuple[Path, ...]:
    """The four databases of a family's folder, in the order of INSTANCES; UserError when one is missing."""
    paths = tuple(folder / f"{name}.sqlite" for name in INSTANCES)
    for path in paths:
        if not path.is_file():
            raise UserError(f"{path}: no such database; build a family with `sqldojo family ... --out {folder}`")
    return paths


def refused_by(folder: Path) -> dict[str, str]:
    """The references that a family was built without, with the reasons; none where it has no `family.json`."""
    report = folder / REPORT
    if not report.is_file():
        return {}
    try:
        listed = json.loads(report.read_text(encoding="utf-8"))["references"]
        return {each["reference"]: each["refused"] for each in listed if each["refused"]}
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(f"{report}: not what `sqldojo family` wrote; build the family again") from error


def judgement(judged: Sequence[Judged], params: FamilyParams) -> dict[str, Any]:
    """What `family.json` holds: totals, and for each reference why it was refused or which mutants survive."""
    used = [each for each in judged if each.refused is None]
    return {
        "settings": vars(params),
        "used": len(used),
        "refused": len(judged) - len(used),
        "mutants": counts(judged),
        "references": [
            {
                "id": each.id,
                "reference": each.reference,
                "refused": each.refused,
                "mutants": len(each.mutants) if each.refused is None else 0,
                "missed": _survivors(each, killable=True),
                "presumed_equivalent": _survivors(each, killable=False),
            }
            for each in judged
        ],
    }


def _survivors(judged: Judged, *, killable: bool) -> list[dict[str, str]]:
    """The mutants that no instance kills, those that some candidate of the search killed or the others."""
    if judged.refused is not None:
        return []
    return [
        {"operator": mutant.operator, "sql": mutant.sql}
        for mutant, killers, known in zip(judged.mutants, judged.killed_by, judged.killable, strict=True)
        if not killers and known is killable
    ]

"""The fourth database of each family, built for the accepted questions, and which of them may still be asked."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqldojo.databases.execution import Limits
from sqldojo.databases.families import family_paths
from sqldojo.databases.schema_model import Rows, read_schema
from sqldojo.databases.writing import write_instance
from sqldojo.files import replacing_folder
from sqldojo.questions.standing import standing
from sqldojo.questions.subjects import subjects_of
from sqldojo.questions.withdrawing import withdraw
from sqldojo.records import HAND_WRITTEN, FilledType, QuestionType, Review
from sqldojo.verifier.extending import AdversarialParams, Extended, extend


@dataclass(frozen=True)
class HardeningParams(AdversarialParams):
    """The section `adversarial`. Proposed types of a difficulty above `hardest_proposed`, from 1 to 4, are left to
    stronger models: nothing searches rows for them, and they are neither audited, trained nor asked."""

    hardest_proposed: int

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.hardest_proposed <= 4:
            raise ValueError(f"hardest_proposed: must be from 1 to 4, found {self.hardest_proposed}")


@dataclass(frozen=True)
class Hardened:
    """What may still be asked, a review of each type that lost something, and the metrics."""

    types: list[QuestionType]
    filled: list[FilledType]
    withdrawn: list[Review]
    metrics: dict[str, Any]


def within_reach(
    types: Sequence[QuestionType], filled: Sequence[FilledType], hardest_proposed: int
) -> tuple[list[QuestionType], list[FilledType]]:
    """The hand-written types, the proposed ones that are not too difficult, and what is filled in of either."""
    chosen = [each for each in types if each.proposer == HAND_WRITTEN or each.difficulty <= hardest_proposed]
    names = {each.id for each in chosen}
    return chosen, [each for each in filled if each.type in names]


def harden(
    types: Sequence[QuestionType],
    filled: Sequence[FilledType],
    ordinary: Mapping[str, Sequence[Path]],
    start: Mapping[str, Rows],
    root: Path,
    params: AdversarialParams,
    limits: Limits,
) -> Hardened:
    """Replace the folder `root` by all databases of each family; what they cannot judge is withdrawn.

    `ordinary` are copied as they are, `start` has the rows that each adversarial instance grows from.
    """
    found = extend(subjects_of(types, filled), ordinary, start, params, limits)
    _write(root, ordinary, found.rows)
    databases = {family: family_paths(root, family) for family in ordinary}
    passing = {
        (subject.family, subject.reference): f"{variants[0]} passes" for subject, variants in found.missed.items()
    }
    sound_types, sound, withdrawn = standing(types, filled, databases, limits)
    left_types, left, more = withdraw(sound_types, sound, passing)
    metrics = _metrics(found, left_types, left)
    metrics["withdrawn"] = {"types": len(types) - len(left_types), "references": len(filled) - len(left)}
    return Hardened(left_types, left, [*withdrawn, *more], metrics)


def _write(root: Path, ordinary: Mapping[str, Sequence[Path]], rows: Mapping[str, Rows]) -> None:
    with replacing_folder(root) as folder:
        for family, paths in ordinary.items():
            *copies, adversarial = family_paths(folder, family)
            adversarial.parent.mkdir()
            for path, copy in zip(paths, copies, strict=True):
                shutil.copyfile(path, copy)
            write_instance(adversarial, read_schema(paths[0]), rows[family])


def _metrics(found: Extended, types: Sequence[QuestionType], filled: Sequence[FilledType]) -> dict[str, Any]:
    return {
        "types": len(types),
        "references": len(filled),
        "mutants": {"made": found.made, "shown": found.shown, "missed": sum(map(len, found.missed.values()))},
        "rows": {family: sum(map(len, rows.values())) for family, rows in found.rows.items()},
    }

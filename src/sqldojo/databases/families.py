"""Where the databases lie: two families that share one schema and no value, each of four instances.

Agents are trained on one family and scored on the other. Kept apart from the code that makes the rows, so whoever only
reads databases does not depend on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

TRAIN, EVALUATION = "train", "evaluation"
FAMILIES = (TRAIN, EVALUATION)

ORDINARY = ("ordinary_1", "ordinary_2", "ordinary_3")
ADVERSARIAL = "adversarial"
INSTANCES = (*ORDINARY, ADVERSARIAL)


def family_paths(root: Path, family: str, instances: Sequence[str] = INSTANCES) -> tuple[Path, ...]:
    """The database files of a family below `root`, in the order of `instances`; ValueError for an unknown family."""
    if family not in FAMILIES:
        raise ValueError(f"unknown family {family!r} (known: {', '.join(FAMILIES)})")
    return tuple(root / family / f"{instance}.sqlite" for instance in instances)

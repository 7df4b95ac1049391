"""Which repair tasks are for training, which for validation, which for evaluation: by database, by types, by a seed.

Tasks of one type never fall into two splits: who has seen one of them half knows the others.
"""

from __future__ import annotations

import dataclasses
import random
from collections import Counter
from collections.abc import Sequence

from sqldojo.repair.task import EVALUATION, TRAIN, VALIDATION, RepairTask


def split(
    tasks: Sequence[RepairTask], *, seed: int, evaluation_share: float, validation_share: float
) -> list[RepairTask]:
    """The tasks, in their order, each with its split.

    Of every database `evaluation_share` of the tasks, rounded, are for evaluation, and `validation_share` of the rest
    for validation; a little fewer where whole types do not add up to that.
    """
    evaluation = _drawn(tasks, evaluation_share, f"{seed}/repair/evaluation")
    rest = [task for task in tasks if task.type not in evaluation]
    validation = _drawn(rest, validation_share, f"{seed}/repair/validation")
    return [dataclasses.replace(task, split=_split_of(task.type, evaluation, validation)) for task in tasks]


def _split_of(type: str, evaluation: set[str], validation: set[str]) -> str:
    if type in evaluation:
        return EVALUATION
    return VALIDATION if type in validation else TRAIN


def _drawn(tasks: Sequence[RepairTask], share: float, name: str) -> set[str]:
    """Types that make up a share of the tasks of each database; one that several databases have counts in each."""
    drawn: set[str] = set()
    passed_over: set[str] = set()
    for db_id in sorted({task.db_id for task in tasks}):
        sizes = Counter(task.type for task in tasks if task.db_id == db_id)
        left = round(share * sizes.total()) - sum(sizes[type] for type in drawn)
        types = sorted(sizes)
        random.Random(f"{name}/{db_id}").shuffle(types)
        for type in types:
            if type in drawn or type in passed_over:
                continue
            if sizes[type] <= left:
                drawn.add(type)
                left -= sizes[type]
            else:
                passed_over.add(type)
    return drawn

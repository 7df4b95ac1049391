"""Every reference that question types can ask for: what an audit must cover, whichever questions are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from random import Random

from sqldojo.databases.families import FAMILIES, family_paths
from sqldojo.databases.parameters import expand, shared_pool
from sqldojo.records import QuestionType
from sqldojo.verifier.audit import Subject


def every_reference(
    question_types: Sequence[QuestionType], databases: Path, *, most: int = 0, seed: int = 0
) -> list[Subject]:
    """The references of all types on both families, for every combination of values that each database of it has.

    Trained and reserved values alike. Up to `most` combinations of a type in a family, drawn by `seed`; 0 for all.
    """
    subjects = []
    for family in FAMILIES:
        paths = family_paths(databases, family)
        for question_type in question_types:
            pools = [shared_pool(paths, sql) for sql in question_type.parameters.values()]
            combinations = list(product(*pools))
            if most and len(combinations) > most:
                rng = Random(f"{seed}/audit/{family}/{question_type.id}")
                places = sorted(rng.sample(range(len(combinations)), most))
                combinations = [combinations[place] for place in places]
            for values in combinations:
                parameters = dict(zip(question_type.parameters, values, strict=True))
                reference = expand(paths[0], question_type.sql, parameters)
                subjects.append(Subject(question_type.id, family, reference, question_type.ordered))
    return subjects

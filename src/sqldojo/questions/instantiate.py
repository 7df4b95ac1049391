"""From question types to questions: parameter values, phrasings and the splits they belong to.

A reserved question asks a trained type, in trained wordings, with values that no training question asks for. Names,
cities and categories differ between the two families of databases anyway; years, thresholds and statuses occur in both,
and a model could learn those by heart. So each parameter's shared values are divided once, for all types, into trained
and reserved ones by a hash of seed, parameter and value: training questions use only trained values, every held-out
question only reserved ones. (Trained rows and constants in references may still hold a reserved value.)
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from random import Random

from sqldojo.databases.execution import Limits
from sqldojo.databases.families import EVALUATION, TRAIN, family_paths
from sqldojo.databases.parameters import Value, expand, shared_pool
from sqldojo.databases.twins import Twins, twins_of
from sqldojo.errors import UserError
from sqldojo.questions.check import check_contamination, check_types, refusal, useless_because
from sqldojo.records import CHECK, RESERVED, SELECTION, Question, QuestionType
from sqldojo.records import TRAIN as TRAIN_SPLIT

SPLITS = (TRAIN_SPLIT, RESERVED, SELECTION, CHECK)


@dataclass(frozen=True)
class QuestionParams:
    """The section `questions` of params.yaml: how many questions a type gives, and how shared values are divided."""

    seed: int
    train_per_type: int
    held_out_per_type: int
    reserved_share: float

    def __post_init__(self) -> None:
        for name in ("train_per_type", "held_out_per_type"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}: must be at least 1, found {getattr(self, name)}")
        if not 0 < self.reserved_share < 1:
            raise ValueError(f"reserved_share: must be between 0 and 1, both excluded, found {self.reserved_share:g}")


def make_questions(
    question_types: Sequence[QuestionType], databases: Path, params: QuestionParams, limits: Limits
) -> dict[str, list[Question]]:
    """The questions of every split, each verified on the four databases of its family.

    `databases` is the folder of the two families. UserError for a type that cannot be asked.
    """
    check_types(question_types)
    questions: dict[str, list[Question]] = {split: [] for split in SPLITS}
    training, evaluation = family_paths(databases, TRAIN), family_paths(databases, EVALUATION)
    with twins_of((*training, *evaluation)) as twins:
        for question_type in question_types:
            trained, reserved = _divided_pools(question_type, databases, params)
            if question_type.split == TRAIN_SPLIT:
                questions[TRAIN_SPLIT] += _ask(question_type, TRAIN_SPLIT, training, trained, params, limits, twins)
                # A type without parameters has nothing that training did not show.
                if not question_type.parameters:
                    continue
            split = RESERVED if question_type.split == TRAIN_SPLIT else question_type.split
            questions[split] += _ask(question_type, split, evaluation, reserved, params, limits, twins)
    check_contamination(questions[TRAIN_SPLIT], (q for split in SPLITS[1:] for q in questions[split]))
    return questions


def divide(
    name: str, train_pool: Sequence[Value], evaluation_pool: Sequence[Value], params: QuestionParams
) -> tuple[list[Value], list[Value]]:
    """The trained and the reserved values of one parameter, each in the order of its own family's pool.

    At least one shared value goes to either side, so two are needed where a family has no values of its own.
    """
    shared = sorted(
        set(train_pool) & set(evaluation_pool),
        key=lambda value: hashlib.sha256(f"{params.seed}/{name}/{value!r}".encode()).hexdigest(),
    )
    count = min(max(1, round(len(shared) * params.reserved_share)), len(shared) - 1)
    reserved = set(shared[: max(count, 0)])
    trained = set(shared) - reserved
    return (
        [value for value in train_pool if value not in reserved],
        [value for value in evaluation_pool if value not in trained],
    )


def _divided_pools(
    question_type: QuestionType, databases: Path, params: QuestionParams
) -> tuple[dict[str, list[Value]], dict[str, list[Value]]]:
    trained, reserved = {}, {}
    for name, sql in question_type.parameters.items():
        pools = [_family_pool(question_type, name, sql, family_paths(databases, family))
                 for family in (TRAIN, EVALUATION)]  # fmt: skip
        trained[name], reserved[name] = divide(name, *pools, params)
        if not trained[name] or not reserved[name]:
            raise refusal(question_type, f"its parameter {name} has too few values to train some and reserve others",
                          f"let this list more: {sql}")  # fmt: skip
    return trained, reserved


def _family_pool(question_type: QuestionType, name: str, sql: str, databases: Sequence[Path]) -> list[Value]:
    """The values that every database of the family has, so that no database is a bystander of the question."""
    try:
        values = shared_pool(databases, sql)
    except UserError as error:
        raise UserError(f"question type {question_type.id}: its parameter {name}: {error}") from error
    if not values:
        raise refusal(question_type, f"the pool of its parameter {name} is empty",
                      f"let this list values that are in every database: {sql}")  # fmt: skip
    return values


def _ask(
    question_type: QuestionType,
    split: str,
    databases: Sequence[Path],
    pools: Mapping[str, Sequence[Value]],
    params: QuestionParams,
    limits: Limits,
    twins: Twins,
) -> list[Question]:
    """Up to as many questions as the split wants of one type; UserError when not one can be asked."""
    wanted = params.train_per_type if split == TRAIN_SPLIT else params.held_out_per_type
    random = Random(f"{params.seed}/{question_type.id}/{split}")
    questions: list[Question] = []
    usable: dict[tuple[Value, ...], str] = {}
    why = ""
    for values, phrasing in _draws(question_type, pools, random):
        if len(questions) == wanted:
            break
        key = tuple(values.values())
        if key not in usable:
            reference = _reference(question_type, databases[0], values)
            why = useless_because(question_type, reference, databases, limits, twins=twins) or ""
            usable[key] = "" if why else reference
        if usable[key]:
            questions.append(
                Question(
                    id=f"{question_type.id}-{split}-{len(questions) + 1:04d}",
                    type=question_type.id,
                    split=split,
                    family=databases[0].parent.name,
                    text=phrasing.format(**values),
                    reference=usable[key],
                    parameters=values,
                    ordered=question_type.ordered,
                )
            )
    if not questions:
        raise refusal(question_type, f"no value of its parameters can be asked on {databases[0].parent}; {why}",
                      "write a reference with an answer that depends on the data, or widen the pools")  # fmt: skip
    return questions


def _draws(
    question_type: QuestionType, pools: Mapping[str, Sequence[Value]], random: Random
) -> Iterator[tuple[dict[str, Value], str]]:
    """Every pair of values and phrasing once: all values before any repeats, phrasings in turn."""
    combinations = [dict(zip(pools, values, strict=True)) for values in product(*pools.values())]
    random.shuffle(combinations)
    phrasings = list(question_type.phrasings)
    random.shuffle(phrasings)
    for turn in range(len(phrasings)):
        for index, values in enumerate(combinations):
            yield values, phrasings[(index + turn) % len(phrasings)]


def _reference(question_type: QuestionType, database: Path, values: Mapping[str, Value]) -> str:
    try:
        return expand(database, question_type.sql, values)
    except UserError as error:
        raise UserError(f"question type {question_type.id}: its SQL: {error}") from error

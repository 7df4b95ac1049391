"""Values for the parameters of a question type: which are trained, which are reserved, and which can be asked.

A reserved question asks a trained type, in trained wordings, with values that no training question asks for. Names,
cities and categories differ between the two families of databases anyway; years, thresholds and statuses occur in both,
and a model could learn those by heart. So each parameter's shared values are divided once, for all types, into trained
and reserved ones by a hash of seed and value: training questions use only trained values, every held-out
question only reserved ones. (Trained rows and constants in references may still hold a reserved value.)
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from random import Random

from sqldojo.databases.parameters import Value, shared_pool
from sqldojo.records import RESERVED, TRAIN, QuestionType

_SHUFFLED_WHOLE = 10_000  # combinations of values; of more, only as many as are wanted are drawn
_COMMON = 2

Pools = Mapping[str, Sequence[Value]]  # the values of each parameter


@dataclass(frozen=True)
class Group:
    """Questions that are wanted of one type: their split and family, the values to choose from, and how many."""

    split: str
    family: str
    pools: Pools
    wanted: int


def divide(
    train_pool: Sequence[Value], evaluation_pool: Sequence[Value], *, seed: int, reserved_share: float
) -> tuple[list[Value], list[Value]]:
    """The trained and the reserved values of one parameter, each in the order of its own family's pool.

    At least one shared value goes to either side, so two are needed where a family has no values of its own.
    """
    shared = sorted(set(train_pool) & set(evaluation_pool), key=lambda value: _place(value, seed))
    reserved = {value for value in shared if _place(value, seed) < reserved_share} or set(shared[:1])
    if len(reserved) == len(shared):
        reserved = set(shared[:-1])
    trained = set(shared) - reserved
    return (
        [value for value in train_pool if value not in reserved],
        [value for value in evaluation_pool if value not in trained],
    )


def _place(value: Value, seed: int) -> float:
    """Where a value falls between 0 and 1, the same for every parameter that takes it."""
    return int(hashlib.sha256(f"{seed}/{value!r}".encode()).hexdigest(), 16) / 2**256


def draws(pools: Pools, most: int, seed: str, owner: str) -> Iterator[dict[str, Value]]:
    """Up to `most` different combinations of values for the type `owner`.

    The first ones are the same for all types with the same parameters, so that their answers can be compared; the
    others are the owner's own, so that all types together are asked with all values.
    """
    names = sorted(pools)
    total = min(prod(len(pools[name]) for name in names), sys.maxsize)  # a range can have no more
    common = Random(f"{seed}/{','.join(names)}").sample(range(total), min(total, _COMMON))
    # All of a small number in one order, so that a few more wanted do not change the first ones.
    own = Random(f"{seed}/{owner}").sample(range(total), total if total <= _SHUFFLED_WHOLE else most)
    for place in list(dict.fromkeys([*common, *own]))[:most]:
        values = {}
        for name in names:
            place, index = divmod(place, len(pools[name]))
            values[name] = pools[name][index]
        yield values


def divided_pools(
    parameters: Mapping[str, str], families: Sequence[Sequence[Path]], *, seed: int, reserved_share: float
) -> dict[str, tuple[list[Value], list[Value]]]:
    """The trained and the reserved values of each parameter that every database of the first or last family has.

    With one family nothing is reserved: both are all values. UserError for a query that lists no values to ask for.
    """
    divided = {}
    for name, sql in parameters.items():
        pools = [[value for value in shared_pool(databases, sql) if _sayable(value)] for databases in families]
        if len(pools) == 1:
            divided[name] = (pools[0], pools[0])
        else:
            divided[name] = divide(pools[0], pools[-1], seed=seed, reserved_share=reserved_share)
    return divided


def _sayable(value: Value) -> bool:
    """Whether a reader of a question sees where the value begins and ends."""
    return not isinstance(value, str) or (bool(value) and value == value.strip() and value.isprintable())


def groups_of(
    question_type: QuestionType,
    pools: Mapping[str, tuple[Sequence[Value], Sequence[Value]]],
    families: Sequence[str],
    *,
    trained_values: int,
    held_out_values: int,
    reserved: bool,
) -> list[Group]:
    """The questions that are wanted of a type; a trained one may be asked with `reserved` values too, if it has any."""
    to_train = {name: pools[name][0] for name in question_type.parameters}
    to_hold_out = {name: pools[name][1] for name in question_type.parameters}
    if question_type.split != TRAIN:
        return [Group(question_type.split, families[-1], to_hold_out, held_out_values)]
    groups = [Group(TRAIN, families[0], to_train, trained_values)]
    # A type without parameters has nothing that training did not show.
    if reserved and question_type.parameters and len(families) > 1:
        groups.append(Group(RESERVED, families[-1], to_hold_out, held_out_values))
    return groups

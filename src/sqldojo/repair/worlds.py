"""From one database to a family of four and the references that repair tasks are made of.

Questions are composed from the schema and the rows, reviewed as every bank is, and asked with a few values each. Then
the fourth instance is grown against their wrong rewrites, so that a query that is still broken is told from a repaired
one; what the four cannot judge is left out.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from sqlglot import exp

from sqldojo.databases.bookshop import write_bookshop
from sqldojo.databases.execution import Limits
from sqldojo.databases.families import TRAIN, family_paths
from sqldojo.databases.schema_model import Schema, read_rows, read_schema
from sqldojo.databases.streaming import write_streaming
from sqldojo.errors import UserError
from sqldojo.files import read_records, replacing_folder
from sqldojo.questions.composing.compose import compose
from sqldojo.questions.composing.words import Words
from sqldojo.questions.hardening import harden
from sqldojo.questions.instantiate import QuestionParams, make_questions
from sqldojo.questions.own_instances import write_ordinary
from sqldojo.questions.review import one_family, review
from sqldojo.questions.starting_rows import made_up_rows
from sqldojo.records import FilledType, QuestionType
from sqldojo.repair.places import FAMILY
from sqldojo.repair.references import RepairReference
from sqldojo.repair.world_words import BOOKSHOP_WORDS, STREAMING_WORDS
from sqldojo.verifier.extending import AdversarialParams
from sqldojo.verifier.mutation.sqlite_text import read

SHOP = "shop"
# Our own worlds: who writes the source database from a seed, and what its names mean.
OWN_WORLDS: Mapping[str, tuple[Callable[[Path, int], None], Words]] = {
    "bookshop": (write_bookshop, BOOKSHOP_WORDS),
    "streaming": (write_streaming, STREAMING_WORDS),
}

_ONE_TABLE = 1 / 3  # of the types, as far as there are enough others


@dataclass(frozen=True)
class WorldParams:
    """How many question types are composed of a database at most, with how many values each is asked, and how long the
    fourth instance is searched for.

    `rows` is about how many rows a sampled table has. `oracle_instances` and `rounds` are those of the adversarial
    instance: more of them leave fewer references out.
    """

    seed: int = 17
    most_types: int = 110
    values_per_type: int = 3
    rows: int = 60
    oracle_instances: int = 30
    rounds: int = 1

    def __post_init__(self) -> None:
        for name in ("most_types", "values_per_type", "rows", "oracle_instances", "rounds"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}: must be at least 1, found {getattr(self, name)}")


def build_world(
    source: Path, db_id: str, out: Path, params: WorldParams, limits: Limits, *, words: Words | None = None
) -> list[RepairReference]:
    """Replace the folder `out` by the databases of a world, and return what may be asked of it, the same each time.

    `source` is a SQLite file, with or without rows; `words` say better than its names what is in it. UserError when it
    cannot be read or nothing can be asked of it.
    """
    schema, seed = read_schema(source), f"{params.seed}/{db_id}"
    with TemporaryDirectory(prefix="sqldojo-world-") as scratch:
        work = Path(scratch)
        ordinary = write_ordinary(source, schema, (), work / "ordinary", rows=params.rows, seed=seed)
        proposals = _chosen(compose(ordinary, words=words), schema, params.most_types, seed)
        settings = one_family(params.seed, params.values_per_type)
        reviewed = review(proposals, {TRAIN: ordinary}, settings, limits)
        start = made_up_rows(schema, read_rows(ordinary[0], schema), reviewed.filled, seed)
        search = AdversarialParams(params.seed, params.oracle_instances, params.rounds)
        hardened = harden(
            reviewed.types, reviewed.filled, {TRAIN: ordinary}, {TRAIN: start}, work / "databases", search, limits
        )
        if not hardened.filled:
            raise UserError(
                f"{source}: nothing can be asked of it that has one right answer; give a database with more rows, "
                "declared foreign keys, and names of tables and columns that say what they hold"
            )
        _place(family_paths(work / "databases", TRAIN), db_id, out)
    return _references(hardened.types, hardened.filled, db_id, params)


def build_own_world(db_id: str, out: Path, params: WorldParams, limits: Limits) -> list[RepairReference]:
    """As `build_world`, for one of OWN_WORLDS; KeyError for another name."""
    write, words = OWN_WORLDS[db_id]
    with TemporaryDirectory(prefix="sqldojo-source-") as scratch:
        source = Path(scratch) / f"{db_id}.sqlite"
        write(source, params.seed)
        return build_world(source, db_id, out, params, limits, words=words)


def shop_references(audited: Path, databases: Path, out: Path, params: WorldParams) -> list[RepairReference]:
    """Replace the folder `out` by the shop's databases to train on, and return the audited references to train with.

    `audited` is the folder of the audited bank, `databases` that of both families. UserError when a record does not
    fit.
    """
    types = read_records(audited / "types.jsonl", QuestionType)
    filled = read_records(audited / "filled.jsonl", FilledType)
    _place(family_paths(databases, TRAIN), SHOP, out)
    return _references(types, filled, SHOP, params)


def _chosen(types: Sequence[QuestionType], schema: Schema, most: int, seed: str) -> list[QuestionType]:
    """Up to `most` of the types: most of them about several tables, and as many of each pattern and difficulty."""
    stored = {table.name.lower() for table in schema.tables}
    several, single = [], []
    for each in types:
        named = {table.name.lower() for table in read(each.sql).find_all(exp.Table)}
        (several if len(named & stored) > 1 else single).append(each)
    wanted = min(len(single), max(most - len(several), int(most * _ONE_TABLE)))
    chosen = {each.id for each in (*_spread(several, most - wanted, seed), *_spread(single, wanted, seed))}
    return [each for each in types if each.id in chosen]


def _spread(types: Sequence[QuestionType], most: int, seed: str) -> list[QuestionType]:
    """So many of the types, one of each pattern and difficulty before a second of any."""
    kinds: dict[tuple[str, int], list[QuestionType]] = {}
    for each in Random(f"{seed}/types").sample(types, len(types)):
        kinds.setdefault((each.pattern, each.difficulty), []).append(each)
    rounds = zip_longest(*(kinds[kind] for kind in sorted(kinds)))
    return [each for one in rounds for each in one if each is not None][:most]


def _place(instances: Sequence[Path], db_id: str, out: Path) -> None:
    """Replace the folder `out` by the four instances and the template, which is the first of them."""
    with replacing_folder(out) as folder:
        (folder / FAMILY).mkdir()
        for instance in instances:
            shutil.copyfile(instance, folder / FAMILY / instance.name)
        shutil.copyfile(instances[0], folder / f"{db_id}_template.sqlite")


def _references(
    types: Sequence[QuestionType], filled: Sequence[FilledType], db_id: str, params: WorldParams
) -> list[RepairReference]:
    """One reference for each filled type to train with, asked in one of its type's ways; no query twice."""
    asking = QuestionParams(params.seed, params.values_per_type, 1)
    difficulty = {each.id: each.difficulty for each in types}
    found: dict[str, RepairReference] = {}
    for question in make_questions(types, filled, asking)[TRAIN]:
        reference = RepairReference(
            id=f"{db_id}-{question.id}",
            type=f"{db_id}-{question.type}",
            db_id=db_id,
            text=question.text,
            sql=question.reference,
            ordered=question.ordered,
            difficulty=difficulty[question.type],
        )
        found.setdefault(reference.sql, reference)
    return list(found.values())

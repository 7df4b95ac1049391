"""`sqldojo bank`: a reviewed question bank over a user's own databases, from their questions or from a schema alone."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sqldojo.databases.execution import Limits
from sqldojo.databases.schema_model import read_schema
from sqldojo.errors import UserError
from sqldojo.files import replacing_folder, write_json, write_records
from sqldojo.questions.composing.compose import compose
from sqldojo.questions.from_pairs import Pair, Proposals, propose
from sqldojo.questions.own_instances import write_ordinary
from sqldojo.questions.pair_files import read_pairs
from sqldojo.questions.review import one_family, review
from sqldojo.records import PATTERNS, TRAIN, FilledType, QuestionType, Review
from sqldojo.user_files import as_database, check_replaceable

TYPES, FILLED, REVIEWS, SUMMARY, DATABASES = "types.jsonl", "filled.jsonl", "reviews.jsonl", "summary.json", "databases"
_MOST_COMPOSED = 500  # types
_ENDINGS = (".sqlite", ".sqlite3", ".db", ".sql", ".sql.gz")

# From name, file and a new folder: the proposals over a database, and its ordinary instances, written to the folder.
_Proposer = Callable[[str, Path, Path], tuple[Proposals, Sequence[Path]]]


@dataclass(frozen=True)
class BankParams:
    """How many values, or combinations of them, a type is asked with, and about how many rows a sampled table has."""

    seed: int = 17
    values: int = 6
    rows: int = 60


def bank_from_pairs(pairs_file: Path, databases: Path, out: Path, params: BankParams, limits: Limits) -> dict[str, Any]:
    """Write the bank that a file of pairs gives into `out`, and return what its `summary.json` says.

    `databases` is the one database of all pairs, or a folder with one for each `db_id`. UserError for a malformed pair,
    a database that is missing or unreadable, and an `out` that may not be replaced.
    """
    alone = database_name(databases) if databases.is_file() else None
    by_database: dict[str, list[Pair]] = {}
    for pair in read_pairs(pairs_file, alone):
        by_database.setdefault(pair.database, []).append(pair)

    def from_pairs(name: str, database: Path, folder: Path) -> tuple[Proposals, Sequence[Path]]:
        schema = read_schema(database)
        proposals = propose(by_database[name], schema)
        return proposals, write_ordinary(
            database, schema, proposals.queries, folder, rows=params.rows, seed=f"{params.seed}/{name}"
        )

    sources = {name: databases if alone else _find(databases, name, pairs_file) for name in by_database}
    return _build(sources, from_pairs, out, params, limits, {"pairs": sum(map(len, by_database.values()))})


def bank_from_database(database_file: Path, out: Path, params: BankParams, limits: Limits) -> dict[str, Any]:
    """Write a bank composed from the schema and the rows of one database; otherwise as `bank_from_pairs`."""

    def composed(name: str, database: Path, folder: Path) -> tuple[Proposals, Sequence[Path]]:
        paths = write_ordinary(
            database, read_schema(database), (), folder, rows=params.rows, seed=f"{params.seed}/{name}"
        )
        return Proposals(tuple(compose(paths, most=_MOST_COMPOSED, seed=params.seed))), paths

    return _build({database_name(database_file): database_file}, composed, out, params, limits, {})


def database_name(path: Path) -> str:
    """The name of a user's database: that of its file without the ending."""
    ending = next((ending for ending in reversed(_ENDINGS) if path.name.lower().endswith(ending)), path.suffix)
    return path.name[: len(path.name) - len(ending)]


def _find(folder: Path, name: str, pairs_file: Path) -> Path:
    if Path(name).name == name:
        for file in (place / f"{name}{ending}" for place in (folder, folder / name) for ending in _ENDINGS):
            if file.is_file():
                return file
    raise UserError(
        f"{pairs_file}: the db_id {name!r} is no database in {folder}; add one of that name ({', '.join(_ENDINGS)}) "
        "or leave its pairs out"
    )


def _build(
    sources: Mapping[str, Path],
    proposer: _Proposer,
    out: Path,
    params: BankParams,
    limits: Limits,
    figures: Mapping[str, int],
) -> dict[str, Any]:
    check_replaceable(out, (TYPES, FILLED, REVIEWS, SUMMARY, DATABASES), "question bank")
    settings = one_family(params.seed, params.values)
    types: list[QuestionType] = []
    filled: list[FilledType] = []
    reviews: list[Review] = []
    proposed: list[QuestionType] = []
    with replacing_folder(out) as folder:
        for number, (name, source) in enumerate(sources.items(), start=1):
            if len(sources) > 1:  # the review of each has a progress bar of its own
                print(f"database {number} of {len(sources)}: {name}", file=sys.stderr, flush=True)
            with as_database(source) as database:
                proposals, paths = proposer(name, database, folder / DATABASES / name)
            reviewed = review(proposals.types, {TRAIN: paths}, settings, limits)
            proposed += proposals.types
            types += reviewed.types
            filled += [replace(each, family=name) for each in reviewed.filled]
            reviews += [*proposals.rejected, *reviewed.reviews]
        summary = {**figures, "databases": len(sources), **_counts(proposed, reviews)}
        for file, records in ((TYPES, types), (FILLED, filled), (REVIEWS, reviews)):
            write_records(folder / file, records)
        write_json(folder / SUMMARY, {"settings": vars(params), **summary})
    return summary


def _counts(proposed: Sequence[QuestionType], reviews: Sequence[Review]) -> dict[str, Any]:
    """Types proposed, those with parameters, accepted and rejected ones by rule, and both by pattern."""
    accepted = Counter(review.pattern for review in reviews if review.accepted)
    patterns = Counter(each.pattern for each in proposed)
    rules = Counter(review.rule for review in reviews if not review.accepted)
    return {
        "proposed": len(proposed),
        "with_parameters": sum(bool(each.parameters) for each in proposed),
        "accepted": sum(accepted.values()),
        "rejected": dict(sorted(rules.items())),
        "patterns": {
            name: {"proposed": patterns[name], "accepted": accepted[name]} for name in PATTERNS if patterns[name]
        },
    }

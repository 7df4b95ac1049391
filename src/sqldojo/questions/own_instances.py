"""Three ordinary instances of a user's own database: itself, and two samples of its rows that are mixed a little."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from random import Random

from sqlglot import exp

from sqldojo.databases.families import ORDINARY
from sqldojo.databases.schema_model import Rows, Schema, read_rows
from sqldojo.databases.scratch import Scratch
from sqldojo.databases.writing import write_instance
from sqldojo.verifier.candidates import ordinary_candidates, seeded_domains
from sqldojo.verifier.hints import Hints, hints


def write_ordinary(
    source: Path, schema: Schema, queries: Iterable[exp.Query], folder: Path, *, rows: int, seed: int | str
) -> tuple[Path, ...]:
    """Write the ordinary instances into the folder and return their paths; at most about `rows` rows a sampled table.

    The samples hold what the queries' literals name. All three are made up where the database has no rows.
    UserError when the database cannot be read.
    """
    folder.mkdir(parents=True, exist_ok=True)
    paths = tuple(folder / f"{name}.sqlite" for name in ORDINARY)
    own, found = read_rows(source, schema), hints(queries, schema)
    filled = any(own.values())
    if filled:
        shutil.copyfile(source, paths[0])
    with closing(Scratch(schema)) as scratch:
        for part, path in enumerate(paths[filled:]):
            scratch.load(_candidate(schema, own, found, part, rows, seed))  # leaves out what a constraint forbids
            write_instance(path, schema, scratch.rows())
    return paths


def _candidate(schema: Schema, own: Rows, found: Hints, part: int, rows: int, seed: int | str) -> Rows:
    domains = seeded_domains(schema, own, found, Random(f"{seed}/domains"))
    return ordinary_candidates(schema, own, found, domains, size=rows, count=1, part=part, seed=seed)[0]

"""Two families of ordinary instances of a user's own database: one to train on and one to evaluate on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random

from sqldojo.databases.families import FAMILIES, ORDINARY, family_paths
from sqldojo.databases.resampling import perturb, resample
from sqldojo.databases.row_division import divide_rows
from sqldojo.databases.schema_model import Rows, Schema
from sqldojo.databases.scratch import Scratch
from sqldojo.databases.writing import write_instance
from sqldojo.verifier.candidates import ordinary_candidates, seeded_domains
from sqldojo.verifier.hints import hints

_SHARES = (0.6, 1.0, 1.6)  # of the rows of a table, as the shop's instances have
_LARGE = 4  # times the rows of the middle instance: a table with more is divided between the families
_MIXED = 0.2  # of the cells, in all but the first instance: those of a small database would be all alike


def write_families(root: Path, schema: Schema, own: Rows, *, rows: int, seed: int) -> None:
    """Write the three ordinary instances of each family into the folder `root`, the same for the same arguments.

    Each has its own sample of `own` rows, the middle one about `rows` of a large table; of a table with more than four
    times as many, the families share none. All rows are made up where there are none at all. What a constraint forbids,
    such as a row that refers to nothing, is left out.
    """
    with closing(Scratch(schema)) as scratch:
        for path, instance in _instances(root, schema, own, rows, seed):
            path.parent.mkdir(parents=True, exist_ok=True)
            scratch.load(instance)
            write_instance(path, schema, scratch.rows())


def _instances(root: Path, schema: Schema, own: Rows, rows: int, seed: int) -> Iterator[tuple[Path, Rows]]:
    divided = divide_rows(schema, own, _LARGE * rows, seed)
    for family in FAMILIES:
        for part, (path, share) in enumerate(zip(family_paths(root, family, ORDINARY), _SHARES, strict=True)):
            name, size = f"{seed}/databases/{family}/{path.stem}", max(4, round(rows * share))
            if any(own.values()):
                rng = Random(name)
                sample = resample(schema, divided[family], rng, size, {})
                yield path, perturb(schema, sample, rng, _MIXED) if part else sample
            else:
                yield path, _made_up(schema, size, f"{seed}/databases/{family}", name)


def _made_up(schema: Schema, size: int, of_family: str, of_instance: str) -> Rows:
    """Rows of values that the instances of one family share."""
    nothing = hints((), schema)
    domains = seeded_domains(schema, {}, nothing, Random(f"{of_family}/domains"))
    (found,) = ordinary_candidates(schema, {}, nothing, domains, size=size, count=1, part=0, seed=of_instance)
    return found

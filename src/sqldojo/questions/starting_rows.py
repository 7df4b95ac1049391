"""The rows that the fourth instance of a family grows from, before any wrong rewrite is looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random

from sqldojo.databases.building import hand_made_rows
from sqldojo.databases.generating import Shape, generate_rows
from sqldojo.databases.schema_model import Rows, Schema, read_rows, read_schema
from sqldojo.databases.shop_schema import is_shop
from sqldojo.records import FilledType
from sqldojo.verifier.candidates import seeded_domains
from sqldojo.verifier.hints import hints
from sqldojo.verifier.mutation.sqlite_text import read

# Many ties, namesakes and rows that nothing refers to.
_MESSY = Shape(rows=80, nulls=0.1, repeats=0.5, childless=0.25, skew=0.5, dangling=0.0, twins=0.3)


def starting_rows(ordinary: Mapping[str, Sequence[Path]], filled: Sequence[FilledType], seed: int) -> dict[str, Rows]:
    """The rows of each family, whose `ordinary` instances are given: the shop's made by hand, others made up."""
    if all(is_shop(paths[0]) for paths in ordinary.values()):
        return {family: hand_made_rows(family, seed).tables for family in ordinary}
    found = {}
    for family, (path, *_) in ordinary.items():
        schema = read_schema(path)
        own = [each for each in filled if each.family == family]
        found[family] = made_up_rows(schema, read_rows(path, schema), own, f"{seed}/{family}")
    return found


def made_up_rows(schema: Schema, own: Rows, filled: Sequence[FilledType], seed: str) -> Rows:
    """Rows of any schema, of values that are among `own` ones and of those that the filled types' references name."""
    found = hints([read(each.reference) for each in filled], schema)
    domains = seeded_domains(schema, own, found, Random(f"{seed}/start/domains"))
    return generate_rows(schema, Random(f"{seed}/start"), _MESSY, domains, found.links)

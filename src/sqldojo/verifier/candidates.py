"""Candidate instances for the search: plausible ones, and ones in every kind of disorder.

Both draw from the same domains: values of the user's own rows or invented ones, and those that the references' literals
ask for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from sqldojo.databases.generating import Shape, generate_rows
from sqldojo.databases.invented_values import invent
from sqldojo.databases.resampling import perturb, resample
from sqldojo.databases.schema_model import Rows, Schema, Value
from sqldojo.verifier.hints import Hints, shared_values

Domains = dict[tuple[str, str], list[Value]]
_DOMAIN_SAMPLE = 24
_FEW = 3
_PERTURBED = 0.2  # of the cells, so that instances of a tiny database are not all the same


def seeded_domains(schema: Schema, rows: Rows, found: Hints, rng: Random) -> Domains:
    """The values worth having in each column: some of the user's or invented ones, and those that the hints ask for."""
    domains: Domains = {}
    worth = shared_values(found)
    alike = {key: group for group in found.alike for key in group}
    for table in schema.tables:
        bound = {column for key in (*table.unique, *(key.columns for key in table.foreign_keys)) for column in key}
        bound |= {column for link in found.links if link.table == table.name for column in link.columns}
        for place, column in enumerate(table.columns):
            key = (table.name, column.name)
            present = sorted({row[place] for row in rows.get(table.name, ()) if row[place] is not None}, key=repr)
            base = rng.sample(present, min(len(present), _DOMAIN_SAMPLE))
            if not base and column.name not in bound:
                base = invent(column, rng, 8)
                if column.affinity == "INTEGER":  # an amount comes with cents
                    base = [int(value) if isinstance(value, float) else value for value in base]
            base += _in_other_case(base) + (_beyond(present) if column.name not in bound else [])
            seeds = [value for value in worth.get(key, ()) if not present or _like_the_users(value, present)]
            domains[key] = list(dict.fromkeys([*base, *seeds, *seeds]))
    for key, group in alike.items():
        for other in group:
            if other != key:
                domains[key] += [value for value in domains[other][:8] if value not in domains[key]]
    return domains


def asked_values(found: Hints, domains: Domains) -> Domains:
    """What the hints ask for in each column, of the values that its domain has."""
    return {
        key: [value for value in values if value in domains[key]] for key, values in shared_values(found).items()
    }


def _in_other_case(values: Sequence[Value]) -> list[Value]:
    """Case variants of the first text that has any, for queries that fold them without being asked to."""
    texts = [value for value in values if isinstance(value, str) and value.lower() != value.upper()]
    return [texts[0].lower(), texts[0].upper()] if texts else []


def _beyond(present: Sequence[Value]) -> list[Value]:
    """A few more numbers where the user has hardly any, such as quantities that happen all to be 1."""
    if len(present) > _FEW or not all(isinstance(value, int | float) for value in present):
        return []
    return [value + step for value in present[:2] for step in (1, 2)]


def _like_the_users(value: Value, present: Sequence[Value]) -> bool:
    """Whether the user's column may hold it: no number among texts, no time of day where all dates are plain days."""
    kinds = (str,) if isinstance(value, str) else (int, float)
    if not any(isinstance(each, kinds) for each in present):
        return False
    looks_timed = isinstance(value, str) and len(value) > 10 and value[4:5] == value[7:8] == "-" and value[10] == " "
    return not looks_timed or any(isinstance(each, str) and len(each) > 10 for each in present[:200])


def ordinary_candidates(
    schema: Schema, rows: Rows, found: Hints, domains: Domains, *, size: int, count: int, part: int, seed: int
) -> list[Rows]:
    """`count` plausible instances for one `part` of a family, resampled from `rows` where there are any.

    Part 0 has `size` rows a table, part 1 half as many again; part 2 is small and avoids the literals.
    """
    size = max(4, (size, size * 3 // 2, size // 5)[part])
    literals = found.literals if part < 2 else {}
    candidates = []
    for number in range(count):
        rng = Random(f"{seed}/ordinary/{part}/{number}")
        if any(rows.values()):
            own = resample(schema, rows, rng, size, literals, found.links)
            candidates.append(perturb(schema, own, rng, _PERTURBED, found.links))
            continue
        usual = _usual if part < 2 else _without
        plain = {key: usual(values, found, key) for key, values in domains.items()}
        shape = Shape(
            rows=size, nulls=0.05, repeats=0.2, childless=0.15, skew=rng.random(), dangling=0.0, twins=0.05
        )
        candidates.append(generate_rows(schema, rng, shape, plain, found.links))
    return candidates


def _usual(values: Sequence[Value], found: Hints, key: tuple[str, str]) -> list[Value]:
    """The values, of which those that the references name are common and what lies beside them is not."""
    asked, literals = set(found.values.get(key, ())), found.literals.get(key, frozenset())
    named = [value for value in values if value in literals & asked]
    return [*values, *named * (len(values) // (2 * max(1, len(named))))]


def _without(values: Sequence[Value], found: Hints, key: tuple[str, str]) -> list[Value]:
    """The values without those that a hint asked for, as long as some are left."""
    asked = set(found.values.get(key, ()))
    return [value for value in values if value not in asked] or list(values)


def messy_candidates(schema: Schema, found: Hints, domains: Domains, *, count: int, seed: int | str) -> Iterator[Rows]:
    """`count` instances of every kind of disorder: tiny and larger ones, many NULLs or none, ties and namesakes."""
    sizes = (4, 7, 12, 20, 30, *(2 * count + 4 for count in found.counts if count > 5))
    for number in range(count):
        rng = Random(f"{seed}/messy/{number}")
        shape = Shape(
            rows=rng.choice(sizes),
            nulls=rng.choice((0.0, 0.08, 0.2, 0.35)),
            repeats=rng.choice((0.1, 0.4, 0.7, 0.95)),
            childless=rng.choice((0.0, 0.2, 0.5)),
            skew=rng.random(),
            dangling=rng.choice((0.0, 0.1, 0.25)),
            twins=rng.choice((0.0, 0.15, 0.4)),
        )
        yield generate_rows(schema, rng, shape, domains, found.links)

"""Four databases for any schema: three ordinary instances, and an adversarial one built against mutants.

The ordinary ones come from the user's rows where there are any (resampled, foreign keys kept), else from the schema's
types and constraints and the literals in the references. The last of them is small, avoids the literals and may lose
most rows of a table, since some mistakes show only where nothing fits. The adversarial one is searched for
(instance_search.py).
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import sqlglot
from sqlglot import exp

from sqldojo.databases.execution import OK, Limits, run_query
from sqldojo.databases.families import INSTANCES, ORDINARY
from sqldojo.databases.schema_model import Schema, read_rows, read_schema
from sqldojo.databases.scratch import Scratch
from sqldojo.databases.twins import twins_of
from sqldojo.databases.writing import write_instance
from sqldojo.errors import UserError
from sqldojo.files import replacing_folder
from sqldojo.verifier.columns import Columns
from sqldojo.verifier.family_search import FamilyParams, SearchResult, search
from sqldojo.verifier.instance_search import Target
from sqldojo.verifier.mutants import Mutant, Unparsable, mutants
from sqldojo.verifier.soundness import unsound_because

# Operators whose mistakes are rarely made: a filter, guard or rounding that nobody asked for. Where four databases
# cannot show everything at once, ties, boundaries and missing values come first.
SELDOM = frozenset({
    "child-joined", "child-required", "filter-added", "foreign-guard-added", "null-guard-added", "parent-filtered",
    "parent-required", "positive-only", "round-added", "item-added", "told-by-name",
})  # fmt: skip


@dataclass(frozen=True)
class Judged:
    """A reference with its mutants, and which of them some instance tells from it; or why it cannot be used."""

    id: str
    reference: str
    refused: str | None
    mutants: tuple[Mutant, ...] = ()
    killed_by: tuple[tuple[str, ...], ...] = ()  # for each mutant the instances that kill it
    killable: tuple[bool, ...] = ()  # for each mutant whether any candidate that was tried kills it


def build_family(
    source: Path,
    references: Mapping[str, str],
    out: Path,
    params: FamilyParams,
    limits: Limits,
    *,
    ordered: Collection[str] = (),
    progress: Callable[[int, str], None] = lambda _done, _note: None,
) -> list[Judged]:
    """Write the four databases of a family into the folder `out`, and say how well they tell queries apart.

    `source` is a database with the schema, with or without rows; `references` maps an id to its query, `ordered` has
    the ids of those whose rows must come in one order. The search itself looks at no order. UserError when no reference
    can be used.
    """
    schema = read_schema(source)
    judged, targets = prepare(schema, references, limits)
    if not targets:
        raise _nothing_usable(judged, [])
    found = search(schema, read_rows(source, schema), list(targets.values()), params, progress=progress)
    with replacing_folder(out) as folder:
        paths = [folder / f"{name}.sqlite" for name in INSTANCES]
        for path, instance in zip(paths, found.instances, strict=True):
            write_instance(path, schema, instance.rows)
        finished = _judge(judged, targets, found, paths, limits, ordered)
        if all(each.refused is not None for each in finished):
            bare = [t.name for t in schema.tables if not any(one.rows.get(t.name) for one in found.instances)]
            raise _nothing_usable(finished, bare)
        return finished


def _nothing_usable(judged: Sequence[Judged], bare: Sequence[str]) -> UserError:
    """The error for references that are all refused; `bare` are the tables into which no row that was tried fits."""
    reasons = "; ".join(f"{each.id}: {each.refused}" for each in judged[:3])
    if bare:
        reasons += f"; no row that was tried fits the constraints of {', '.join(bare)}: give a database with rows"
    return UserError(f"no reference can be used ({reasons}); correct them, or give others")


def prepare(
    schema: Schema, references: Mapping[str, str], limits: Limits
) -> tuple[list[Judged], dict[str, Target]]:
    """Each reference with those of its mutants that compile, and the search's target for each that can be used."""
    columns = {table.name: table.names for table in schema.tables}
    judged, targets = [], {}
    with tempfile.TemporaryDirectory() as folder, closing(Scratch(schema)) as scratch:
        empty = Path(folder) / "empty.sqlite"
        write_instance(empty, schema, {})
        for name, sql in references.items():
            result = run_query(empty, sql, limits)
            if result.status != OK:
                judged.append(Judged(name, sql, result.message))
                continue
            try:
                found = [mutant for mutant in mutants(sql, columns) if scratch.run(mutant.sql) is not None]
            except Unparsable as error:
                judged.append(Judged(name, sql, f"its mutants cannot be made: {error}"))
                continue
            judged.append(Judged(name, sql, None, tuple(found)))
            seldom = frozenset(place for place, mutant in enumerate(found, start=1) if mutant.operator in SELDOM)
            targets[name] = Target(sql, tuple(mutant.sql for mutant in found), reads(sql, schema), seldom)
    return judged, targets


def reads(sql: str, schema: Schema) -> dict[str, tuple[str, ...]]:
    """The stored tables that a query may read, each with the columns that it names there.

    All tables with all columns when it reads from something else, such as a view.
    """
    tree = sqlglot.parse_one(sql, read="sqlite")
    known = {table.name.lower() for table in schema.tables} | {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    named = {table.name.lower() for table in tree.find_all(exp.Table)}
    if not named or named - known:
        return {table.name: table.names for table in schema.tables}
    columns = Columns(tree, schema).read()
    return {table.name: columns.get(table.name, ()) for table in schema.tables if table.name.lower() in named}


def _judge(
    judged: Sequence[Judged],
    targets: Mapping[str, Target],
    found: SearchResult,
    paths: Sequence[Path],
    limits: Limits,
    ordered: Collection[str],
) -> list[Judged]:
    """What the finished files say of each reference: refused after all, or which instances kill which mutant."""
    numbers = {name: number for number, name in enumerate(targets)}
    finished = []
    with twins_of(paths) as twins:
        for each in judged:
            if each.refused is not None:
                finished.append(each)
                continue
            kills_of_mutants = [(numbers[each.id], variant) for variant in range(1, len(each.mutants) + 1)]
            killed_by = tuple(
                tuple(name for name, one in zip(INSTANCES, found.instances, strict=True) if kill in one.kills)
                for kill in kills_of_mutants
            )
            refused = unsound_because(each.reference, paths, limits, ordered=each.id in ordered, twins=twins)
            killable = tuple(
                kill in found.killable or bool(killers)
                for kill, killers in zip(kills_of_mutants, killed_by, strict=True)
            )
            finished.append(Judged(each.id, each.reference, refused, each.mutants, killed_by, killable))
    return finished


def counts(judged: Sequence[Judged]) -> dict[str, int]:
    """Mutants of the usable references: made, killable, killed by the first instance, by three and by all four."""
    found: Counter[str] = Counter(mutants=0, killable=0, one_ordinary=0, three_ordinary=0, four=0)
    for each in judged:
        for killers, killable in zip(each.killed_by, each.killable, strict=True) if each.refused is None else ():
            found["mutants"] += 1
            found["killable"] += killable
            found["one_ordinary"] += ORDINARY[0] in killers
            found["three_ordinary"] += bool(set(ORDINARY) & set(killers))
            found["four"] += bool(killers)
    return dict(found)

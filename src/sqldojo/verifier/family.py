"""Four databases for any schema: three ordinary instances, and an adversarial one built against mutants.

The ordinary ones come from the user's rows where there are any (resampled, foreign keys kept), else from the schema's
types and constraints and the literals in the references. The last of them is small, avoids the literals and may lose
most rows of a table, since some mistakes show only where nothing fits. The adversarial one is searched for
(instance_search.py).
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from random import Random

import sqlglot
from sqlglot import exp

from sqldojo.databases.editing import Editor, Worth
from sqldojo.databases.execution import OK, Limits, run_query
from sqldojo.databases.families import INSTANCES, ORDINARY
from sqldojo.databases.grafting import graft
from sqldojo.databases.schema_model import Rows, Schema, read_rows, read_schema
from sqldojo.databases.scratch import Scratch
from sqldojo.databases.twins import twins_of
from sqldojo.databases.writing import write_instance
from sqldojo.errors import UserError
from sqldojo.files import replacing_folder
from sqldojo.verifier.candidates import messy_candidates, ordinary_candidates, seeded_domains
from sqldojo.verifier.columns import Columns
from sqldojo.verifier.hints import hints, shared_values
from sqldojo.verifier.instance_search import Instance, Kill, Target, grafted, improve, kills, with_more
from sqldojo.verifier.mutants import Mutant, Unparsable, mutants
from sqldojo.verifier.situations import situations
from sqldojo.verifier.soundness import unsound_because

_MOST_ROWS = 400
_EDITS_OF_A_CANDIDATE = 20
_TRIES_TO_MEND = 200
_SHARE_OF_A_REFERENCE = 20
_ROUNDS = 3
_MORE = 30  # candidates whose rows are added to the adversarial instance where they spoil nothing


@dataclass(frozen=True)
class FamilyParams:
    """How large the instances are and how long to search for them.

    `rows` is the number of rows a table of the first ordinary instance. So many candidates of each kind are tried, then
    up to four times as many `edits` of the last ordinary and the adversarial one.
    """

    seed: int = 17
    rows: int = 60
    ordinary_candidates: int = 12
    messy_candidates: int = 200
    edits: int = 4000


@dataclass(frozen=True)
class Judged:
    """A reference with its mutants, and which of them some instance tells from it; or why it cannot be used."""

    id: str
    reference: str
    refused: str | None
    mutants: tuple[Mutant, ...] = ()
    killed_by: tuple[tuple[str, ...], ...] = ()  # for each mutant the instances that kill it
    killable: tuple[bool, ...] = ()  # for each mutant whether any candidate that was tried kills it


@dataclass(frozen=True)
class Found:
    """What a search gives: the instances in the order of INSTANCES, and what any candidate on the way kills."""

    instances: tuple[Instance, ...]
    killable: frozenset[Kill]


def build_family(
    source: Path,
    references: Mapping[str, str],
    out: Path,
    params: FamilyParams,
    limits: Limits,
    *,
    progress: Callable[[int, str], None] = lambda _done, _note: None,
) -> list[Judged]:
    """Write the four databases of a family into the folder `out`, and say how well they tell queries apart.

    `source` is a database with the schema, with or without rows; `references` maps an id to its query. UserError when
    no reference can be used.
    """
    schema = read_schema(source)
    judged, targets = prepare(schema, references, limits)
    if not targets:
        reasons = "; ".join(f"{each.id}: {each.refused}" for each in judged[:3])
        raise UserError(f"no reference can be used ({reasons}); correct them, or give others")
    found = search(schema, read_rows(source, schema), targets, params, progress=progress)
    with replacing_folder(out) as folder:
        paths = [folder / f"{name}.sqlite" for name in INSTANCES]
        for path, instance in zip(paths, found.instances, strict=True):
            write_instance(path, schema, instance.rows)
        return _judge(judged, targets, found, paths, limits)


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
            targets[name] = Target(sql, tuple(mutant.sql for mutant in found), reads(sql, schema))
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


def search(
    schema: Schema,
    rows: Rows,
    targets: Mapping[str, Target],
    params: FamilyParams,
    *,
    progress: Callable[[int, str], None] = lambda _done, _note: None,
) -> Found:
    """Four instances that tell as many variants from their references as the search can."""
    goals = list(targets.values())
    wanted = {table: {c for goal in goals for c in goal.reads.get(table, ())} for goal in goals for table in goal.reads}
    goals += situations(schema, {table: sorted(columns) for table, columns in wanted.items()})
    found = hints([sqlglot.parse_one(target.reference, read="sqlite") for target in targets.values()], schema)
    domains = seeded_domains(schema, rows, found, Random(f"{params.seed}/domains"))
    asked = {key: [value for value in values if value in domains[key]] for key, values in shared_values(found).items()}
    adversarial_edit = Editor(schema, Worth(asked, domains, found.steps), found.links)
    with closing(Scratch(schema)) as scratch:
        everything = frozenset((n, v) for n, target in enumerate(goals) for v in range(len(target.variants) + 1))
        alone = params.edits // _SHARE_OF_A_REFERENCE  # edits for each reference by itself
        total = len(ORDINARY) * params.ordinary_candidates + params.messy_candidates + len(goals) * alone
        total += params.edits // 4 + (1 + _ROUNDS) * params.edits
        done = 0

        def report(more: int, note: str) -> None:
            progress(int(100 * (done + more) / total), note)

        killable: dict[Kill, Rows] = {}  # with the first rows that show it

        def tried(candidates: Sequence[Rows], note: str, wanted: frozenset[Kill]) -> list[Instance]:
            nonlocal done
            instances = []
            for candidate in candidates:
                scratch.load(candidate)
                instances.append(Instance(scratch.rows(), kills(scratch, goals, wanted)))
                for kill in instances[-1].kills:
                    killable.setdefault(kill, instances[-1].rows)
                done += 1
                report(0, note)
            return instances

        ordinary: list[Instance] = []
        dead: frozenset[Kill] = frozenset()
        for part, name in enumerate(ORDINARY):
            candidates = ordinary_candidates(
                schema, rows, found, domains,
                size=params.rows, count=params.ordinary_candidates, part=part, seed=params.seed,
            )  # fmt: skip
            ordinary.append(max(tried(candidates, name, everything), key=lambda one: len(one.kills - dead)))
            dead |= ordinary[-1].kills
        left = everything - dead
        candidates = messy_candidates(schema, found, domains, count=params.messy_candidates, seed=params.seed)
        for number, candidate in enumerate(candidates):
            rng = Random(f"{params.seed}/disorder/{number}")
            for _ in range(_EDITS_OF_A_CANDIDATE):
                candidate = adversarial_edit(candidate, rng.choice(goals).reads, rng)
            candidates[number] = candidate
        messy = tried(candidates, "adversarial: candidates", everything)
        instances = [*ordinary, max(messy, key=lambda one: (len(one.kills & left), len(one.kills)))]

        adversarial, small = len(ORDINARY), len(ORDINARY) - 1
        most_rows = _MOST_ROWS * len(schema.tables)
        mutants_alone = frozenset(kill for kill in everything if kill[0] < len(targets))

        def without(place: int) -> frozenset[Kill]:
            return mutants_alone.difference(*(one.kills for number, one in enumerate(instances) if number != place))

        def better(place: int, instance: Instance, focus: frozenset[Kill], tries: int) -> Instance:
            return improve(
                scratch, goals, instance, aims=everything, precious=without(place), focus=focus,
                edit=adversarial_edit if place == adversarial else Editor(schema, None, found.links),
                rng=Random(f"{params.seed}/edits/{done}"), tries=tries, most_rows=most_rows,
                progress=lambda number, count: report(number, f"{INSTANCES[place]}: {count} mutants left"),
            )  # fmt: skip

        def improved(place: int, focus: frozenset[Kill], tries: int) -> None:
            nonlocal done
            instances[place] = better(place, instances[place], focus, tries)
            for kill in instances[place].kills:
                killable.setdefault(kill, instances[place].rows)
            done += tries

        def add(rows: Rows, added: Rows) -> Rows:
            return graft(schema, rows, added, Random(f"{params.seed}/graft"), links=found.links, kept=asked)

        for number in range(len(goals)):  # rows that show what no candidate does, one reference at a time
            unseen = frozenset(kill for kill in everything if kill[0] == number) - frozenset(killable)
            base = max(messy, key=lambda one: sum(kill[0] == number for kill in one.kills))
            shown = better(adversarial, base, unseen, alone) if unseen else base
            for kill in shown.kills & unseen:
                killable[kill] = shown.rows
            done += alone
        improved(adversarial, left & frozenset(killable), params.edits)  # what the ordinary ones leave
        improved(adversarial, frozenset(killable), params.edits // 4)
        for _ in range(_ROUNDS):  # what some candidate has shown to be possible
            instances[adversarial] = grafted(
                scratch, goals, instances[adversarial], killable, without(adversarial), add=add, most_rows=most_rows,
                mend=lambda instance, spoilt: better(adversarial, instance, spoilt, _TRIES_TO_MEND),
            )  # fmt: skip
            for place in (adversarial, small):
                missed = frozenset(killable).difference(*(one.kills for one in instances))
                improved(place, missed, params.edits // 2)
        few = sorted((one.rows for one in messy), key=lambda rows: sum(map(len, rows.values())))
        instances[adversarial] = with_more(
            scratch, goals, instances[adversarial], few[:_MORE], without(adversarial), add=add, most_rows=most_rows
        )
        progress(100, "done")
    return Found(tuple(instances), frozenset(killable))


def _judge(
    judged: Sequence[Judged], targets: Mapping[str, Target], found: Found, paths: Sequence[Path], limits: Limits
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
            refused = unsound_because(each.reference, paths, limits, twins=twins)
            killable = tuple(kill in found.killable for kill in kills_of_mutants)
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

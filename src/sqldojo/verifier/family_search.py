"""The search for a family's four instances, step by step.

Ordinary candidates and messy ones are tried. Then each reference by itself, for rows that show what no candidate does.
Then the adversarial instance is built, from several starts: edited towards what the ordinary ones leave, grafted with
rows that are known to show what is still missed, and filled up with more rows. The start that misses least wins.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

import sqlglot

from sqldojo.databases.editing import Editor, Worth
from sqldojo.databases.families import ORDINARY
from sqldojo.databases.grafting import graft
from sqldojo.databases.schema_model import Rows, Schema
from sqldojo.databases.scratch import Scratch
from sqldojo.verifier.candidates import asked_values, messy_candidates, ordinary_candidates, seeded_domains
from sqldojo.verifier.hints import hints
from sqldojo.verifier.instance_search import Instance, Kill, Target, grafted, importance, improve, kills, with_more
from sqldojo.verifier.situations import situations

Progress = Callable[[int, str], None]  # percent, what is being done

_SMALL, _ADVERSARIAL = len(ORDINARY) - 1, len(ORDINARY)
_MOST_ROWS = 400  # a table of the adversarial instance, on average
_EDITS_OF_A_CANDIDATE = 20
_SHARE_OF_A_REFERENCE = 10
_TRIES_TO_MEND = 200
_ROUNDS = 3
_MORE = 60  # candidates whose rows are added to the adversarial instance where they spoil nothing


@dataclass(frozen=True)
class FamilyParams:
    """How large the instances are and how long to search for them.

    `rows` is the number of rows a table of the first ordinary instance. So many candidates of each kind are tried, then
    the adversarial instance is built from so many `starts` by some multiple of `edits` each. More starts find a little
    more, each in the same time again.
    """

    seed: int = 17
    rows: int = 60
    ordinary_candidates: int = 12
    messy_candidates: int = 200
    starts: int = 1
    edits: int = 1000


@dataclass(frozen=True)
class SearchResult:
    """What a search gives: the instances in the order of INSTANCES, and what any candidate on the way kills."""

    instances: tuple[Instance, ...]
    killable: frozenset[Kill]


def search(
    schema: Schema,
    rows: Rows,
    targets: Sequence[Target],
    params: FamilyParams,
    *,
    progress: Progress = lambda _percent, _note: None,
) -> SearchResult:
    """Four instances that tell as many variants from their references as the search can.

    `rows` are the user's, or none. Kills are numbered by place in `targets`.
    """
    scratch = Scratch(schema)
    try:
        return _Search(scratch, rows, targets, params, progress).run()
    finally:
        scratch.close()


class _Search:
    """One search: what it knows of the references, and the kills that any rows have shown so far."""

    def __init__(
        self, scratch: Scratch, rows: Rows, targets: Sequence[Target], params: FamilyParams, progress: Progress
    ) -> None:
        schema = scratch.schema
        reads: dict[str, set[str]] = {}
        for target in targets:
            for table, columns in target.reads.items():
                reads.setdefault(table, set()).update(columns)
        self.scratch, self.rows, self.params, self.progress = scratch, rows, params, progress
        self.goals = [*targets, *situations(schema, {table: sorted(columns) for table, columns in reads.items()})]
        self.everything = frozenset(
            (number, variant) for number, goal in enumerate(self.goals) for variant in range(len(goal.variants) + 1)
        )
        self.mutants = frozenset(kill for kill in self.everything if kill[0] < len(targets))
        self.hints = hints([sqlglot.parse_one(target.reference, read="sqlite") for target in targets], schema)
        self.domains = seeded_domains(schema, rows, self.hints, self.random("domains"))
        self.asked = asked_values(self.hints, self.domains)
        worth = Worth(self.asked, self.domains, self.hints.steps)
        self.messy_edit = Editor(schema, worth, self.hints.links)
        self.plain_edit = Editor(schema, None, self.hints.links)
        self.killable: dict[Kill, Rows] = {}  # with the first rows that show it
        self.most_rows = _MOST_ROWS * len(schema.tables)
        self.draws = 0

    def random(self, name: str) -> Random:
        """A generator of its own for one step."""
        return Random(f"{self.params.seed}/{name}")

    def run(self) -> SearchResult:
        ordinary = self.ordinary_instances()
        self.progress(10, "messy candidates")
        messy = self.messy_instances()
        self.progress(20, "each reference alone")
        self.ask_each_alone(messy)
        left = self.everything.difference(*(one.kills for one in ordinary[:_SMALL]))
        starts = sorted(messy, key=lambda one: (len(one.kills & left), len(one.kills)), reverse=True)
        families = []
        for number, start in enumerate(starts[: self.params.starts]):
            self.progress(40 + 60 * number // self.params.starts, f"adversarial: start {number + 1}")
            families.append(self.built(ordinary, start, left, messy))
            if not self.missed(families[-1]) & self.mutants:
                break
        best = min(families, key=lambda family: importance(self.missed(family), self.goals, self.mutants))
        self.progress(100, "done")
        return SearchResult(tuple(best), frozenset(self.killable))

    def tried(self, candidates: Sequence[Rows]) -> list[Instance]:
        """The candidates as SQLite holds them, with what each kills."""
        instances = []
        for candidate in candidates:
            self.scratch.load(candidate)
            instances.append(self.noted(Instance(self.scratch.rows(), kills(self.scratch, self.goals))))
        return instances

    def noted(self, instance: Instance) -> Instance:
        for kill in instance.kills:
            self.killable.setdefault(kill, instance.rows)
        return instance

    def ordinary_instances(self) -> list[Instance]:
        """Three plausible instances, each the candidate that adds most to those before it."""
        chosen: list[Instance] = []
        for part in range(len(ORDINARY)):
            self.progress(3 * part, ORDINARY[part])
            candidates = ordinary_candidates(
                self.scratch.schema, self.rows, self.hints, self.domains, size=self.params.rows,
                count=self.params.ordinary_candidates, part=part, seed=self.params.seed,
            )  # fmt: skip
            dead = frozenset().union(*(one.kills for one in chosen))
            chosen.append(max(self.tried(candidates), key=lambda one: len(one.kills - dead)))
        return chosen

    def messy_instances(self) -> list[Instance]:
        candidates = [*messy_candidates(
            self.scratch.schema, self.hints, self.domains, count=self.params.messy_candidates, seed=self.params.seed
        )]  # fmt: skip
        for number, candidate in enumerate(candidates):
            rng = self.random(f"disorder/{number}")
            for _ in range(_EDITS_OF_A_CANDIDATE):
                candidate = self.messy_edit(candidate, rng.choice(self.goals).reads, rng)
            candidates[number] = candidate
        return self.tried(candidates)

    def ask_each_alone(self, messy: Sequence[Instance]) -> None:
        """Edit the smallest candidate on which a reference has rows, towards what nothing has shown for it yet."""
        for number in range(len(self.goals)):
            unseen = frozenset(kill for kill in self.everything if kill[0] == number) - frozenset(self.killable)
            if unseen:
                telling = [one for one in messy if (number, 0) in one.kills] or messy
                base = min(telling, key=lambda one: sum(map(len, one.rows.values())))
                tries = self.params.edits // _SHARE_OF_A_REFERENCE
                shown = self.better(base, unseen, tries, precious=unseen, edit=self.messy_edit)
                for kill in shown.kills & unseen:
                    self.killable[kill] = shown.rows

    def built(
        self, ordinary: Sequence[Instance], start: Instance, left: frozenset[Kill], messy: Sequence[Instance]
    ) -> list[Instance]:
        """A whole family, the adversarial instance made of `start`, and the small ordinary one fitted to it."""
        family, edits = [*ordinary, start], self.params.edits
        self.improve(family, _ADVERSARIAL, left & frozenset(self.killable), edits)  # what the ordinary ones leave
        self.improve(family, _ADVERSARIAL, frozenset(self.killable), edits // 4)
        for _ in range(_ROUNDS):
            family[_ADVERSARIAL] = grafted(
                self.scratch, self.goals, family[_ADVERSARIAL], self.killable, self.precious(family, _ADVERSARIAL),
                add=self.add, mend=lambda one, spoilt: self.mended(family, one, spoilt), most_rows=self.most_rows,
            )  # fmt: skip
            self.improve(family, _ADVERSARIAL, self.missed([*ordinary[:_SMALL], family[_ADVERSARIAL]]), edits)
            self.improve(family, _SMALL, self.missed(family), edits)
        few = sorted((one.rows for one in messy), key=lambda rows: sum(map(len, rows.values())))[:_MORE]
        family[_ADVERSARIAL] = with_more(
            self.scratch, self.goals, family[_ADVERSARIAL], few, self.precious(family, _ADVERSARIAL),
            add=self.add, most_rows=self.most_rows,
        )  # fmt: skip
        return family

    def missed(self, family: Sequence[Instance]) -> frozenset[Kill]:
        return frozenset(self.killable).difference(*(one.kills for one in family))

    def precious(self, family: Sequence[Instance], place: int) -> frozenset[Kill]:
        """The mutants that an instance must kill, since no other does.

        The adversarial one does not rely on the small ordinary one, which is then free to become very small indeed.
        """
        others = [number for number in range(len(family)) if number != place]
        if place == _ADVERSARIAL:
            others.remove(_SMALL)
        return self.mutants.difference(*(family[number].kills for number in others))

    def improve(self, family: list[Instance], place: int, focus: frozenset[Kill], tries: int) -> None:
        edit = self.messy_edit if place == _ADVERSARIAL else self.plain_edit
        precious = self.precious(family, place)
        family[place] = self.noted(self.better(family[place], focus, tries, precious=precious, edit=edit))

    def mended(self, family: Sequence[Instance], instance: Instance, spoilt: frozenset[Kill]) -> Instance:
        precious = self.precious(family, _ADVERSARIAL)
        return self.better(instance, spoilt, _TRIES_TO_MEND, precious=precious, edit=self.messy_edit)

    def better(
        self, instance: Instance, focus: frozenset[Kill], tries: int, *, precious: frozenset[Kill], edit: Editor
    ) -> Instance:
        self.draws += 1
        return improve(
            self.scratch, self.goals, instance, aims=self.everything, precious=precious, focus=focus, edit=edit,
            rng=self.random(f"edits/{self.draws}"), tries=tries, most_rows=self.most_rows,
        )  # fmt: skip

    def add(self, rows: Rows, added: Rows) -> Rows:
        self.draws += 1
        rng = self.random(f"grafts/{self.draws}")
        return graft(self.scratch.schema, rows, added, rng, links=self.hints.links, kept=self.asked)

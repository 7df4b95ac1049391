"""The adversarial instance grown against the mutants of the references that are asked on it.

An instance that was made before any question existed lets some wrong rewrites of a new question pass. For each of those
that can be told apart at all, as the oracle knows (audit_oracle.py), the few rows that show the difference are grafted
into the instance, and stay if they show it there too, among all others. Rows that were added for one reference may hide
what told another one's mutant apart, so the search goes round several times.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from sqldojo.databases.execution import Limits
from sqldojo.databases.schema_model import Rows, Schema, read_schema
from sqldojo.databases.scratch import Scratch
from sqldojo.databases.workers import shared_workers
from sqldojo.progress import progress
from sqldojo.verifier.audit import Subject
from sqldojo.verifier.growing import Growing
from sqldojo.verifier.witnesses import Witness, left_by, passing_on, witnesses_for

_AT_A_TIME = 64  # references whose witnesses are sought before the instances grow by them
_FIRST_TRIES, _TRIES = 8, 20  # ways to add a witness that are tried in the first round, and in the others
_SECONDS_PER_REFERENCE = 600.0

_Found = list[tuple[list[Witness], list[str]]]


@dataclass(frozen=True)
class AdversarialParams:
    """The section `adversarial`: how many small databases the oracle makes for a reference, and how many rounds go
    through all references."""

    seed: int
    oracle_instances: int
    rounds: int

    def __post_init__(self) -> None:
        for name in ("oracle_instances", "rounds"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}: must be at least 1, found {getattr(self, name)}")


@dataclass(frozen=True)
class Extended:
    """The rows of the adversarial instance of each family, and what still passes.

    `missed` has the variants of a subject that all of its databases let pass though some rows tell them apart. `made`
    counts all mutants, `shown` those for which rows were sought and found, `grafts` how often rows were added.
    """

    rows: Mapping[str, Rows]
    missed: Mapping[Subject, tuple[str, ...]]
    made: int
    shown: int
    grafts: int


def extend(
    subjects: Sequence[Subject],
    ordinary: Mapping[str, Sequence[Path]],
    start: Mapping[str, Rows],
    params: AdversarialParams,
    limits: Limits,
) -> Extended:
    """The instances that `start` grows into, by family; `ordinary` has the files of the other databases.

    Unparsable for a reference whose mutants cannot be made.
    """
    schema = read_schema(next(iter(ordinary.values()))[0])
    calls = [(each, tuple(ordinary[each.family]), schema, limits) for each in subjects]
    found = _in_workers(left_by, calls)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        growing = {}
        for family, rows in start.items():
            scratch = stack.enter_context(closing(Scratch(schema, vm_steps=limits.vm_steps, most_rows=limits.rows)))
            scratch.load(rows)
            growing[family] = Growing(scratch, folder / family, f"{params.seed}/grafts/{family}")
        search = _Search(schema, subjects, [variants for _, variants in found], growing, params, limits)
        with progress("adversarial instances", params.rounds * len(subjects)) as report:
            for number in range(params.rounds):
                search.round(number, report)
        return Extended(
            rows={family: each.rows for family, each in growing.items()},
            missed=search.missed(),
            made=sum(made for made, _ in found),
            shown=sum(map(len, search.shown)),
            grafts=sum(each.grafts for each in growing.values()),
        )


class _Search:
    """What is known of each subject, in their order: its `telling` variants, which the ordinary databases let pass but
    some rows tell from the reference, as far as anybody knows, and those for which such rows were `shown`."""

    def __init__(
        self,
        schema: Schema,
        subjects: Sequence[Subject],
        variants: Sequence[Sequence[str]],
        growing: Mapping[str, Growing],
        params: AdversarialParams,
        limits: Limits,
    ) -> None:
        self.schema, self.subjects, self.growing, self.params, self.limits = schema, subjects, growing, params, limits
        self.telling = [list(each) for each in variants]
        self.shown: list[set[str]] = [set() for _ in subjects]

    def round(self, number: int, report: Callable[[int, str], None]) -> None:
        """Look for witnesses of the telling variants that pass now, and add them; those without any tell nothing.

        Families do not know of each other, so workers seek witnesses for one while another grows by those found for it.
        """
        seed = f"{self.params.seed}/{number}"
        seek = partial(witnesses_for, instances=self.params.oracle_instances, seed=seed, together=number > 0)
        done = number * len(self.subjects)
        sought: dict[str, tuple[list[int], Future[_Found]]] = {}
        with ThreadPoolExecutor(1) as seeking:
            for family, places in self._portions():
                if family in sought:  # it must have grown by what was found before
                    done += self._grow(number, *sought.pop(family))
                    report(done, "")
                sought[family] = places, seeking.submit(_in_workers, seek, self._calls(places))
                while len(sought) > 1:
                    done += self._grow(number, *sought.pop(next(iter(sought))))
                    report(done, "")
            for places, future in sought.values():
                done += self._grow(number, places, future)
                report(done, "")

    def _portions(self) -> Iterator[tuple[str, list[int]]]:
        """The subjects, so many at a time, and those of each family together."""
        for start in range(0, len(self.subjects), _AT_A_TIME):
            by_family: dict[str, list[int]] = {}
            for place in range(start, min(start + _AT_A_TIME, len(self.subjects))):
                by_family.setdefault(self.subjects[place].family, []).append(place)
            yield from by_family.items()

    def _grow(self, number: int, places: Sequence[int], found: Future[_Found]) -> int:
        """Add what was found for these subjects of one family; how many they are."""
        for place, (witnesses, equal) in zip(places, found.result(), strict=True):
            self.shown[place].update(*(witness.variants for witness in witnesses))
            if not number:  # later ones are only lost again
                self.telling[place] = [each for each in self.telling[place] if each not in equal]
            tries = _TRIES if number else _FIRST_TRIES
            subject = self.subjects[place]
            self.growing[subject.family].add(witnesses, subject, self.telling[place], tries)
        return len(places)

    def missed(self) -> dict[Subject, tuple[str, ...]]:
        """The telling variants that pass on the instances as they are now."""
        left = _in_workers(passing_on, self._calls(range(len(self.subjects))))
        return {subject: tuple(variants) for subject, variants in zip(self.subjects, left, strict=True) if variants}

    def _calls(self, places: Iterable[int]) -> list[tuple[Any, ...]]:
        """Arguments for workers: subject, its telling variants, the file of the instance as it is now, and the rest."""
        places = list(places)
        files = {family: self.growing[family].file() for family in {self.subjects[place].family for place in places}}
        return [
            (self.subjects[place], self.telling[place], files[self.subjects[place].family], self.schema, self.limits)
            for place in places
        ]


def _in_workers(function: Callable[..., Any], calls: Iterable[tuple[Any, ...]]) -> list[Any]:
    outcomes = shared_workers().map(function, calls, seconds=_SECONDS_PER_REFERENCE)
    for outcome in outcomes:
        if isinstance(outcome, Exception):  # killed or died, by a query of our own
            raise outcome
    return outcomes

"""Running the audit: every mutant and every equivalent rewrite of a reference on its four databases.

One call of `audit_reference` does all of one reference, so that it fits a worker process; each query runs once on each
database, and all counts are made of these results. Mutants and rewrites are our own text, so they need no sandbox,
but they run by the same limits: one that exceeds them is an error, and an error is not accepted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sqldojo.databases.execution import OK, Limits, QueryResult, run_query
from sqldojo.databases.schema_model import Schema, read_schema
from sqldojo.databases.workers import shared_workers
from sqldojo.progress import progress
from sqldojo.records import HAND_WRITTEN
from sqldojo.verifier.audit import (
    BIRD,
    FOUR,
    ONE,
    SCOPES,
    TEST_SUITE,
    Disagreement,
    JudgedMutant,
    JudgedRewrite,
    OracleScore,
    ReferenceAudit,
    Subject,
)
from sqldojo.verifier.audit_oracle import ask_oracle, compiling
from sqldojo.verifier.comparison import Result, first_difference
from sqldojo.verifier.equivalents import equivalents
from sqldojo.verifier.instance_search import Instance, choose_greedily
from sqldojo.verifier.mutants import mutants
from sqldojo.verifier.public_rules import equal_as_permuted_multisets, equal_as_sets, explain
from sqldojo.verifier.references import ReferenceFailed

_RULES = {BIRD: equal_as_sets, TEST_SUITE: equal_as_permuted_multisets}
_SECONDS_PER_REFERENCE = 600.0
_CALLS_PER_REPORT = 8  # for each worker


@dataclass(frozen=True)
class AuditParams:
    """The section `audit`: `values_per_type` values of a type's parameters are audited in each family, 0 for all.

    `oracle_instances` is the size of the pool of small databases that is made for each reference.
    """

    seed: int
    values_per_type: int
    oracle_instances: int

    def __post_init__(self) -> None:
        if self.values_per_type < 0:
            raise ValueError(f"values_per_type: must be at least 0 (0 is all), found {self.values_per_type}")
        if self.oracle_instances < 1:
            raise ValueError(f"oracle_instances: must be at least 1, found {self.oracle_instances}")


@dataclass(frozen=True)
class _Judged:
    """One query on all databases: why each does not accept it (None: it does), and what the public rules say."""

    refusals: tuple[str | None, ...]
    public: Mapping[str, tuple[bool, ...]]
    disagreements: tuple[Disagreement, ...]


@dataclass(frozen=True)
class _Judge:
    """Judges queries by what is `wanted` on each database."""

    databases: Sequence[Path]
    wanted: Sequence[Result]
    limits: Limits
    ordered: bool

    def __call__(self, sql: str) -> _Judged:
        found = [run_query(database, sql, self.limits) for database in self.databases]
        pairs = list(zip(self.wanted, found, strict=True))
        refusals = tuple(
            first_difference(expected, (result.columns, result.rows), ordered=self.ordered)
            if result.status == OK
            else f"{result.status}: {result.message}"
            for expected, result in pairs
        )
        public = {
            rule: tuple(
                result.status == OK and equal(expected, (result.columns, result.rows), ordered=self.ordered)
                for expected, result in pairs
            )
            for rule, equal in _RULES.items()
        }
        return _Judged(refusals, public, tuple(self._disagreements(refusals, public, found)))

    def _disagreements(
        self, refusals: Sequence[str | None], public: Mapping[str, Sequence[bool]], found: Sequence[QueryResult]
    ) -> Iterator[Disagreement]:
        """Where a public rule's verdict over one or four databases is not ours, with the cause on the first such."""
        for rule, accepts in public.items():
            for scope in (ONE, FOUR):
                places = range(SCOPES[scope])
                if all(refusals[place] is None for place in places) == all(accepts[place] for place in places):
                    continue
                place = next(place for place in places if (refusals[place] is None) != accepts[place])
                result = (found[place].columns, found[place].rows)
                why = explain(
                    self.wanted[place], result, theirs=accepts[place], by_sets=rule == BIRD, ordered=self.ordered
                )
                assert why is not None, "the verdicts differ there"
                yield rule, scope, why


def audit(
    subjects: Sequence[Subject], databases: Mapping[str, Sequence[Path]], params: AuditParams, limits: Limits
) -> list[ReferenceAudit]:
    """The audit of every subject, in their order, by all workers at once.

    `databases` are the four files of each family. The first subject of each hand-written type and family shows all of
    its mutants to the oracle, the others only those that survive. ReferenceFailed when a reference does not run.
    """
    schemas = {family: read_schema(paths[0]) for family, paths in databases.items()}
    calls, seen = [], set()
    for subject in subjects:
        first = (subject.type, subject.family) not in seen and subject.proposer == HAND_WRITTEN
        seen.add((subject.type, subject.family))
        calls.append((subject, tuple(databases[subject.family]), schemas[subject.family], params, limits, first))
    workers = shared_workers()
    step = _CALLS_PER_REPORT * workers.count
    audits: list[ReferenceAudit] = []
    with progress("audit", len(calls)) as report:
        for start in range(0, len(calls), step):
            for outcome in workers.map(audit_reference, calls[start : start + step], seconds=_SECONDS_PER_REFERENCE):
                if isinstance(outcome, Exception):  # killed or died, by a query of our own
                    raise outcome
                audits.append(outcome)
            report(len(audits), f"{sum(len(each.mutants) for each in audits)} mutants")
    return audits


def audit_reference(
    subject: Subject, databases: Sequence[Path], schema: Schema, params: AuditParams, limits: Limits, whole_oracle: bool
) -> ReferenceAudit:
    """The audit of one reference; `whole_oracle` shows all of its mutants to the oracle, not only the survivors.

    The oracle looks at no order, so of an ordered question it tells only what gives other rows.
    """
    reference = subject.reference
    columns = {table.name: table.names for table in schema.tables}
    judge = _Judge(databases, [_expected(database, reference, limits) for database in databases], limits,
                   subject.ordered)  # fmt: skip
    made = mutants(reference, columns, ordered=subject.ordered)
    runs = compiling(schema, [mutant.sql for mutant in made])
    judged = []
    for mutant in (mutant for mutant, compiles in zip(made, runs, strict=True) if compiles):
        found = judge(mutant.sql)
        killed = tuple(refusal is not None for refusal in found.refusals)
        judged.append(JudgedMutant(mutant.operator, mutant.sql, killed, found.public, found.disagreements))
    rewrites = []
    for rewrite in equivalents(reference, columns, ordered=subject.ordered):
        found = judge(rewrite.sql)
        refused = next(
            (f"{database.stem}: {why}" for database, why in zip(databases, found.refusals, strict=True) if why), ""
        )
        rewrites.append(JudgedRewrite(rewrite.kind, rewrite.sql, refused, found.disagreements))
    judged, score = _with_oracle(subject, judged, schema, params, whole_oracle)
    return ReferenceAudit(subject, tuple(judged), tuple(rewrites), score)


def _with_oracle(
    subject: Subject, judged: Sequence[JudgedMutant], schema: Schema, params: AuditParams, whole: bool
) -> tuple[list[JudgedMutant], OracleScore | None]:
    """The mutants with the oracle's word on the survivors, and the comparison of both when all were shown to it."""
    shown = [place for place, mutant in enumerate(judged) if whole or mutant.accepted(FOUR)]
    texts = [judged[place].sql for place in shown]
    kills = ask_oracle(
        subject, texts, schema, instances=params.oracle_instances, seed=params.seed, all_kills=whole
    )
    killable = {shown[place] for instance in kills for place in instance}
    marked = [
        replace(mutant, missed=place in killable) if mutant.accepted(FOUR) else mutant
        for place, mutant in enumerate(judged)
    ]
    if not whole:
        return marked, None
    instances = [Instance({}, frozenset((0, place) for place in instance)) for instance in kills]
    best: frozenset[tuple[int, int]] = frozenset().union(*(each.kills for each in choose_greedily(instances, 4)))
    # The shop may also kill what the pool does not; both are counted over the same mutants.
    return marked, OracleScore(len(judged), len(killable), len(best), sum(not each.accepted(FOUR) for each in judged))


def _expected(database: Path, reference: str, limits: Limits) -> Result:
    result = run_query(database, reference, limits)
    if result.status != OK:
        raise ReferenceFailed(f"{database}: the reference {result.status}: {result.message}: {reference}")
    return result.columns, result.rows

"""How strong the verifier is, as numbers: which wrong rewrites the databases tell apart, and which right ones pass.

Pure functions on records; audit_running.py makes the records. A mutant of a reference is `killed` by a database on
which its answer differs, is refused or goes over a limit: all of these are verdicts other than correct. One that no
shop database kills is shown to the oracle, many small databases made for this very reference: killed there it was
`missed`, otherwise it is `presumed equivalent`. The score is the killed share of those that are not equivalent.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqldojo.records import HAND_WRITTEN
from sqldojo.verifier.public_rules import DIFFERENCES

BIRD, TEST_SUITE = "bird_set_of_rows", "test_suite_permuted_multiset"
PUBLIC_RULES = (BIRD, TEST_SUITE)
ONE, THREE, FOUR = "one_ordinary", "three_ordinary", "all_four"
SCOPES = {ONE: 1, THREE: 3, FOUR: 4}  # how many of the databases, in INSTANCES order, have a say

Count = dict[str, int]
Disagreement = tuple[str, str, str]  # public rule, scope, the difference that causes it


@dataclass(frozen=True)
class Subject:
    """A reference to audit: the question type it belongs to, the family of databases it is asked on, and its text.

    With `ordered` the question asks for an order of the rows. `proposer` says who thought of the type. `asked` has each
    value with the query that lists what may be asked for: nobody is asked on a database that does not list the value.
    """

    type: str
    family: str
    reference: str
    ordered: bool = False
    proposer: str = HAND_WRITTEN
    asked: tuple[tuple[str, str | int | float], ...] = ()


@dataclass(frozen=True)
class JudgedMutant:
    """One mutant and what each database said: killed or not by our rule, accepted or not by each public rule.

    `disagreements` are (rule, scope, difference) wherever a public rule's verdict is not ours. `missed` is None unless
    all databases let the mutant pass; then it says whether the oracle tells it from the reference.
    """

    operator: str
    sql: str
    killed: tuple[bool, ...]
    public: Mapping[str, tuple[bool, ...]]
    disagreements: tuple[Disagreement, ...] = ()
    missed: bool | None = None

    def accepted(self, scope: str) -> bool:
        """Whether our rule lets it pass on the databases of this scope."""
        return not any(self.killed[: SCOPES[scope]])


@dataclass(frozen=True)
class JudgedRewrite:
    """One equivalent rewrite; `refused` says why and by which database it was not accepted, empty when it was."""

    kind: str
    sql: str
    refused: str = ""
    disagreements: tuple[Disagreement, ...] = ()


@dataclass(frozen=True)
class OracleScore:
    """What the oracle's whole pool, the four of it that kill most, and the shop's four kill of the same mutants."""

    mutants: int
    pool: int
    best_four: int
    shop_four: int


@dataclass(frozen=True)
class ReferenceAudit:
    """All that was found out about one reference; `oracle` only where all of its mutants were shown to the oracle."""

    subject: Subject
    mutants: tuple[JudgedMutant, ...]
    rewrites: tuple[JudgedRewrite, ...]
    oracle: OracleScore | None = None


def summarise(audits: Sequence[ReferenceAudit]) -> dict[str, Any]:
    """The metrics: counts of mutants in all, by operator and by type; of rewrites; of disagreements; of the oracle.

    What has many names is a list of rows, which `dvc metrics` leaves out of its tables.
    """
    mutants = [(audit.subject.type, mutant) for audit in audits for mutant in audit.mutants]
    rewrites = [rewrite for audit in audits for rewrite in audit.rewrites]
    everything = count_mutants(mutant for _, mutant in mutants)
    return {
        "references": len(audits),
        "types": len({audit.subject.type for audit in audits}),
        "mutants": everything,
        "score": {scope: round(score(everything, scope), 6) for scope in SCOPES},
        "by_operator": _grouped("operator", ((mutant.operator, mutant) for _, mutant in mutants)),
        "by_type": _grouped("type", mutants),
        "by_proposer": _grouped("proposer", [(each.subject.proposer, one) for each in audits for one in each.mutants]),
        "rewrites": {**_count_rewrites(rewrites), "by_kind": _rewrites_by_kind(rewrites)},
        "public_rules": {rule: _count_rule(rule, audits) for rule in PUBLIC_RULES},
        "oracle": _count_oracle(audit.oracle for audit in audits if audit.oracle),
    }


def count_mutants(mutants: Iterable[JudgedMutant]) -> Count:
    """Made, killed within each scope, presumed equivalent and missed."""
    found: Counter[str] = Counter(dict.fromkeys(("made", *_killed_names(), "presumed_equivalent", "missed"), 0))
    for mutant in mutants:
        found["made"] += 1
        for scope in SCOPES:
            found[f"killed_{scope}"] += not mutant.accepted(scope)
        found["presumed_equivalent"] += mutant.missed is False
        found["missed"] += mutant.missed is True
    return dict(found)


def score(counts: Mapping[str, int], scope: str) -> float:
    """Of the mutants that are not presumed equivalent, the share that is killed; 1.0 when there are none."""
    wrong = counts["made"] - counts["presumed_equivalent"]
    return counts[f"killed_{scope}"] / wrong if wrong else 1.0


def most_telling(audits: Sequence[ReferenceAudit]) -> JudgedMutant | None:
    """The mutant that shows best what more databases are for, or None when each is killed by the first one.

    One that three ordinary databases accept and the fourth refuses, else one that the first accepts. Of several that of
    the operator which those databases catch least often, and of these the shortest, as it is the easiest to read.
    """
    everything = [mutant for audit in audits for mutant in audit.mutants]
    refused = [mutant for mutant in everything if not mutant.accepted(FOUR)]
    for scope in (THREE, ONE):
        passing = Counter(mutant.operator for mutant in refused if mutant.accepted(scope))
        share = {name: passing[name] / sum(mutant.operator == name for mutant in refused) for name in passing}
        telling = [mutant for mutant in refused if mutant.accepted(scope)]
        if telling:
            return min(telling, key=lambda mutant: (-share[mutant.operator], len(mutant.sql), mutant.sql))
    return None


def survivors(audits: Iterable[ReferenceAudit], *, missed: bool) -> list[tuple[str, str, int, str, str]]:
    """Type, operator, number, first reference and its mutant of those that all four accept, sorted."""
    groups: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for audit in audits:
        for mutant in audit.mutants:
            if mutant.missed is missed:
                groups[audit.subject.type, mutant.operator].append((audit.subject.reference, mutant.sql))
    return [(*key, len(found), *found[0]) for key, found in sorted(groups.items())]


def _grouped(name: str, mutants: Iterable[tuple[str, JudgedMutant]]) -> list[dict[str, Any]]:
    """`count_mutants` of each group, with the group itself under `name`, sorted by it."""
    groups: dict[str, list[JudgedMutant]] = defaultdict(list)
    for group, mutant in mutants:
        groups[group].append(mutant)
    return [{name: group, **count_mutants(groups[group])} for group in sorted(groups)]


def _killed_names() -> list[str]:
    return [f"killed_{scope}" for scope in SCOPES]


def _count_rewrites(rewrites: Sequence[JudgedRewrite]) -> Count:
    return {"made": len(rewrites), "accepted": sum(not rewrite.refused for rewrite in rewrites)}


def _rewrites_by_kind(rewrites: Sequence[JudgedRewrite]) -> list[dict[str, Any]]:
    groups: dict[str, list[JudgedRewrite]] = defaultdict(list)
    for rewrite in rewrites:
        groups[rewrite.kind].append(rewrite)
    return [{"kind": kind, **_count_rewrites(groups[kind])} for kind in sorted(groups)]


def _count_rule(rule: str, audits: Sequence[ReferenceAudit]) -> dict[str, Any]:
    """How a public rule judges: wrong mutants that it accepts, and disagreements with ours by what causes them.

    Wrong are the mutants that our rule refuses on four databases. Disagreements count mutants and rewrites.
    """
    wrong = [mutant for audit in audits for mutant in audit.mutants if not mutant.accepted(FOUR)]
    judged = [each for audit in audits for each in (*audit.mutants, *audit.rewrites)]
    found = Counter((scope, why) for each in judged for name, scope, why in each.disagreements if name == rule)
    return {
        scope: {
            "accepted_wrong": sum(all(mutant.public[rule][: SCOPES[scope]]) for mutant in wrong),
            "disagreements": {difference: found[scope, difference] for difference in DIFFERENCES},
        }
        for scope in (ONE, FOUR)
    }


def _count_oracle(scores: Iterable[OracleScore]) -> Count:
    found = list(scores)
    sums = {name: sum(getattr(each, name) for each in found) for name in ("mutants", "pool", "best_four", "shop_four")}
    return {"references": len(found), **sums}

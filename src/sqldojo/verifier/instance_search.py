"""The search for four small databases on which wrong variants of the references answer differently.

Ordinary candidates and messy ones are tried by execution, not reasoned about, because SQLite's typing, NULL order and
bare columns are covered by no solver. Three ordinary instances are chosen greedily; the adversarial one is the messy
candidate that tells most of what they leave, then improved row by row. An edit stays when it tells more variants apart
than it loses. (Prior art: XData, VLDB Journal 2015, solves for rows per mutation; test suites, arXiv 2010.02840, keep
a minimal set of random databases.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from sqldojo.databases.grafting import shrink
from sqldojo.databases.schema_model import Rows, Value
from sqldojo.databases.scratch import Scratch
from sqldojo.verifier.comparison import first_difference

Kill = tuple[int, int]  # target, variant; variant 0 is the empty result
Reads = Mapping[str, Sequence[str]]  # table -> its columns
Edit = Callable[[Rows, Reads, Random], Rows]


@dataclass(frozen=True)
class Target:
    """A reference, the variants that are to answer differently somewhere, and the tables and columns that it reads.

    `seldom` has the numbers of the variants that hardly anybody would write.
    """

    reference: str
    variants: tuple[str, ...]
    reads: Reads
    seldom: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Instance:
    """The rows of one database and what it kills."""

    rows: Rows
    kills: frozenset[Kill]


def kills(scratch: Scratch, targets: Sequence[Target], wanted: Iterable[Kill] | None = None) -> frozenset[Kill]:
    """Which of the `wanted` variants (all by default) differ from their reference on the rows that are loaded.

    Variant 0 of each target stands for an empty result, so a reference that gives rows kills it. A variant that fails
    is not counted as killed, since it may only be slow; a reference that fails kills nothing.
    """
    by_target: dict[int, list[int]] = {}
    for target, variant in sorted(wanted) if wanted is not None else _all(targets):
        by_target.setdefault(target, []).append(variant)
    found = []
    for number, variants in by_target.items():
        expected = scratch.run(targets[number].reference)
        if expected is None:
            continue
        for variant in variants:
            result = scratch.run(targets[number].variants[variant - 1]) if variant else []
            if result is not None and differ(expected, result):
                found.append((number, variant))
    return frozenset(found)


def differ(one: list[tuple[Value, ...]], other: list[tuple[Value, ...]], *, ordered: bool = False) -> bool:
    """Whether two results are different answers, by the grader's rules; column counts of empty ones are not known."""
    if len(one) != len(other) or (one and len(one[0]) != len(other[0])):
        return True
    if one == other or (not ordered and Counter(one) == Counter(other)):
        return False
    names = ("",) * len(one[0])
    return first_difference((names, one), (names, other), ordered=ordered) is not None


def _all(targets: Sequence[Target]) -> list[Kill]:
    return [(number, variant) for number, target in enumerate(targets) for variant in range(len(target.variants) + 1)]


def choose_greedily(instances: Sequence[Instance], count: int) -> list[Instance]:
    """`count` of the instances, each time the one that kills most of what the chosen ones leave (first of equals)."""
    chosen: list[Instance] = []
    left = list(instances)
    dead: frozenset[Kill] = frozenset()
    for _ in range(min(count, len(left))):
        best = max(range(len(left)), key=lambda index: len(left[index].kills - dead))
        chosen.append(left.pop(best))
        dead |= chosen[-1].kills
    return chosen


def importance(found: frozenset[Kill], targets: Sequence[Target], precious: frozenset[Kill]) -> tuple[int, int, int]:
    """What kills are worth, to be compared: the precious ones that are not seldom, all precious ones, all."""
    valued = found & precious
    return sum(variant not in targets[number].seldom for number, variant in valued), len(valued), len(found)


def improve(
    scratch: Scratch,
    targets: Sequence[Target],
    start: Instance,
    *,
    aims: frozenset[Kill],
    precious: frozenset[Kill],
    focus: frozenset[Kill],
    edit: Edit,
    rng: Random,
    tries: int,
    most_rows: int,
) -> Instance:
    """The instance after up to `tries` edits, each kept when it adds more of the `aims` to its kills than it loses.

    The `precious` among the aims, which no other instance kills, come before all others. Edits are
    made for what is left of the `focus`.
    """
    rows, held, left = start.rows, start.kills & aims, aims - start.kills
    for _ in range(tries):
        goals = sorted(left & focus)
        if not goals:
            break
        changed, reads = rows, targets[rng.choice(goals)[0]].reads
        for _ in range(rng.choice((1, 1, 2, 3))):
            changed = edit(changed, reads, rng)
        touched = {table for table in changed if changed[table] is not rows.get(table)}
        if not touched or sum(map(len, changed.values())) > most_rows:
            continue
        scratch.load(changed)
        affected = {index for index, target in enumerate(targets) if touched & set(target.reads)}
        if not kills(scratch, targets, [kill for kill in goals if kill[0] in affected]):
            continue
        gained = kills(scratch, targets, [kill for kill in left if kill[0] in affected])
        at_stake = [kill for kill in held if kill[0] in affected]
        lost = frozenset(at_stake) - kills(scratch, targets, at_stake)
        if importance(gained, targets, precious) <= importance(lost, targets, precious):
            continue
        rows = scratch.rows()
        held = (held - lost) | gained
        left = (left - gained) | lost
    scratch.load(rows)
    return Instance(rows, kills(scratch, targets))


def grafted(
    scratch: Scratch,
    targets: Sequence[Target],
    start: Instance,
    witnesses: Mapping[Kill, Rows],
    precious: frozenset[Kill],
    *,
    add: Callable[[Rows, Rows], Rows],
    mend: Callable[[Instance, frozenset[Kill]], Instance],
    most_rows: int,
) -> Instance:
    """The instance with the few rows added that show each of the `precious` kills which it lacks, where that works.

    `witnesses` has rows that show a kill, `add` grafts some on others, and `mend` looks for edits that restore what the
    new rows spoil. Rows stay when in the end they add more precious kills than they spoil.
    """
    best = start
    missing = precious & set(witnesses) - start.kills
    for kill in sorted(missing, key=lambda kill: (kill[1] in targets[kill[0]].seldom, kill)):
        if kill in best.kills:
            continue

        def shows(candidate: Rows, kill: Kill = kill) -> bool:
            scratch.load(candidate)
            return bool(kills(scratch, targets, [kill]))

        candidate = add(best.rows, shrink(witnesses[kill], shows))
        if sum(map(len, candidate.values())) > most_rows or not shows(candidate):
            continue
        changed = Instance(scratch.rows(), kills(scratch, targets))
        if spoilt := (best.kills - changed.kills) & precious:
            changed = mend(changed, spoilt)
        gained, lost = changed.kills - best.kills, best.kills - changed.kills
        if importance(gained & precious, targets, precious) > importance(lost & precious, targets, precious):
            best = changed
    return best


def with_more(
    scratch: Scratch,
    targets: Sequence[Target],
    start: Instance,
    others: Iterable[Rows],
    precious: frozenset[Kill],
    *,
    add: Callable[[Rows, Rows], Rows],
    most_rows: int,
) -> Instance:
    """The instance with the rows of `others` added wherever that spoils no precious kill.

    More rows are more chances that they hold what no variant asked for.
    """
    best = start
    for added in others:
        candidate = add(best.rows, added)
        if sum(map(len, candidate.values())) > most_rows:
            continue
        scratch.load(candidate)
        changed = Instance(scratch.rows(), kills(scratch, targets))
        lost = best.kills - changed.kills
        if not lost & precious and len(lost) <= len(changed.kills - best.kills):
            best = changed
    return best

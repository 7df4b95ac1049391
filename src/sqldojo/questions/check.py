"""Whether a filled-in reference may be asked on the databases of one family, and what is wrong with it if not.

Everything runs in the process that calls, so that a review can have its workers check many references at a time.
"""

from __future__ import annotations

import marshal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from sqldojo.databases.execution import OK, REJECTED, Limits, QueryResult, run_query
from sqldojo.databases.private_copies import Copy, private_copy
from sqldojo.databases.twins import Twins, twins_of
from sqldojo.questions.rules import Fault
from sqldojo.verifier.grading import CORRECT, WRONG, judge
from sqldojo.verifier.references import Reference
from sqldojo.verifier.soundness import says_nothing, unsound_because

# A fault of these values alone: others may do.
OF_VALUES = frozenset(("empty-everywhere", "same-answer"))
_LIMITS_SAY = ("stopped after", "more than")


@dataclass(frozen=True)
class Instances:
    """The databases of one family, with what checking many references on them needs."""

    databases: tuple[Path, ...]
    copies: tuple[Copy, ...]
    twins: Twins


@contextmanager
def prepared(families: Mapping[str, Sequence[Path]]) -> Iterator[dict[str, Instances]]:
    """The instances of each family, by its name, ready to be checked on; their twins vanish afterwards.

    UserError when a database cannot be read.
    """
    with twins_of(tuple(chain.from_iterable(families.values()))) as twins:
        yield {
            family: Instances(
                tuple(databases), tuple(map(private_copy, databases)), {each: twins[each] for each in databases}
            )
            for family, databases in families.items()
        }


def fault_of(reference: str, instances: Instances, limits: Limits, *, ordered: bool) -> Fault | None:
    """Why a reference may not be asked on these instances, or None.

    It must run, say something about the data, rest on no ties, and be told from an empty answer by the grader.
    """
    results = [run_query(database, reference, limits) for database in instances.databases]
    for database, result in zip(instances.databases, results, strict=True):
        if result.status != OK:
            return Fault(_why_none(result), f"on {database.stem}: {result.message}: {reference}")
    nothing = says_nothing(results)
    if nothing:
        rule = "same-answer" if any(result.rows for result in results) else "empty-everywhere"
        return Fault(rule, f"{nothing}: {reference}")
    unsound = unsound_because(reference, instances.databases, limits, ordered=ordered, twins=instances.twins)
    if unsound:
        return Fault("depends-on-ties", f"{unsound}: {reference}")
    wanted = [Reference(marshal.dumps((result.columns, result.rows))) for result in results]
    for submission, verdict in ((reference, CORRECT), (f"SELECT * FROM ({reference}) WHERE 0", WRONG)):
        found = judge(instances.copies, wanted, submission, limits, ordered)
        if found.verdict != verdict:
            return Fault("grader-disagrees", f"called {found.verdict}, not {verdict} ({found.reason}): {submission}")
    return None


def _why_none(result: QueryResult) -> str:
    if result.status == REJECTED:
        return "refused"
    return "over-limit" if any(words in result.message for words in _LIMITS_SAY) else "sql-fails"

"""What tasks are made of: a reference on its template, the bugs that are left for it, and what is seen of each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from random import Random

from sqldojo.databases.execution import OK, Limits, QueryResult
from sqldojo.databases.private_copies import Copy, private_copy
from sqldojo.databases.sandbox import run_on_copy
from sqldojo.databases.schema_model import Schema, read_schema
from sqldojo.repair.bugs.catalogue import bugs_of
from sqldojo.repair.bugs.edits import Bug, apply
from sqldojo.repair.bugs.styles import with_aliases
from sqldojo.repair.differences import ERROR, Finding, finding
from sqldojo.repair.references import RepairReference

_MOST_STEPS = 5_000_000  # of a buggy query: one that takes longer is no fault that a user would come with
_RESULTS_KEPT = 256
_ALIASED_SHARE = 0.5  # of references, as far as they can be written with aliases
# SQLite's own words for what is wrong with a query; other messages are the sandbox's, about limits and permissions.
_SQLITES_WORDS = re.compile(
    r'near ".*": syntax error|incomplete input|unrecognized token|no such (?:column|table|function)|'
    r"ambiguous column name|misuse of (?:aggregate|window function)|HAVING clause on a non-aggregate query|"
    r"aggregate functions are not allowed|wrong number of arguments|SELECTs to the left and right|sub-select returns|"
    r"\d+(?:st|nd|rd|th) ORDER BY term|(?:ORDER BY|LIMIT) clause should come after|row value misused|"
    r"no tables specified",
    re.DOTALL,
)


class Database:
    """One template; `run` gives the results of queries on it."""

    def __init__(self, path: Path, limits: Limits) -> None:
        self.schema: Schema = read_schema(path)
        self._copy: Copy = private_copy(path)
        self._limits = replace(limits, vm_steps=min(limits.vm_steps, _MOST_STEPS))
        self.run = lru_cache(maxsize=_RESULTS_KEPT)(self._run)
        self.used: set[str] = set()  # buggy queries of tasks

    def _run(self, sql: str) -> QueryResult:
        """The result of a query that we made ourselves, so it needs no process of its own."""
        return run_on_copy(self._copy, sql, self._limits)


class Supply:
    """A reference with the bugs that are left for it, by kind and name, in a random order."""

    def __init__(self, reference: RepairReference, database: Database, seed: int) -> None:
        self.reference, self.database = reference, database
        self.sql = _in_a_style(reference, database, seed)
        self.right = database.run(self.sql)
        self.tasks = 0
        self.bugs: dict[str, dict[str, list[Bug]]] = {}
        found = bugs_of(self.sql, database.schema, ordered=reference.ordered)
        Random(f"{seed}/bugs/{reference.id}").shuffle(found)
        for each in found:
            self.bugs.setdefault(each.kind, {}).setdefault(each.name, []).append(each)

    def seen(self, bugs: Sequence[Bug]) -> Finding | None:
        """What a user sees of these bugs; None for nothing, or for what no user would come with."""
        wrong = self.database.run(self.with_bugs(bugs))
        if wrong.status != OK and not _SQLITES_WORDS.match(wrong.message):
            return None
        return finding(self.right, wrong, ordered=self.reference.ordered)

    def with_bugs(self, bugs: Sequence[Bug]) -> str:
        """The reference's text with these bugs in it."""
        return apply(self.sql, [edit for bug in bugs for edit in bug.edits])

    def both_count(self, first: Bug, second: Bug) -> bool:
        """Whether each bug is seen alone, which is what is left when the other is mended, and both of them together."""
        alone = self.seen([first]), self.seen([second])
        together = self.seen([first, second])
        if alone[0] is None or alone[1] is None or together is None:
            return False
        return together.what == ERROR or ERROR not in (alone[0].what, alone[1].what)

    def take(self, kind: str, name: str) -> Bug:
        """Remove one bug of a kind and name, and return it."""
        bug = self.bugs[kind][name][-1]
        self.remove(bug)
        return bug

    def remove(self, bug: Bug) -> None:
        """Take a bug out of the supply."""
        self.bugs[bug.kind][bug.name].remove(bug)
        if not self.bugs[bug.kind][bug.name]:
            del self.bugs[bug.kind][bug.name]


def _in_a_style(reference: RepairReference, database: Database, seed: int) -> str:
    """The reference's query, for a part of the references with aliases for its tables."""
    random = Random(f"{seed}/style/{reference.id}")
    if random.random() >= _ALIASED_SHARE:
        return reference.sql
    sql = with_aliases(reference.sql, database.schema, random)
    return sql if database.run(sql).rows == database.run(reference.sql).rows else reference.sql

"""One database that grows by the rows that it lacks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from random import Random

import sqlglot
from sqlglot import exp

from sqldojo.databases.adapting import adaptations, within
from sqldojo.databases.grafting import graft
from sqldojo.databases.schema_model import Schema, Value
from sqldojo.databases.scratch import Scratch
from sqldojo.databases.writing import write_instance
from sqldojo.verifier.audit import Subject
from sqldojo.verifier.family import reads
from sqldojo.verifier.hints import Hints, hints, shared_values
from sqldojo.verifier.witnesses import Witness, passing


class Growing:
    """The rows that are loaded into `scratch`, and in the `rows` that others read, while more are added."""

    def __init__(self, scratch: Scratch, folder: Path, seed: str) -> None:
        folder.mkdir()
        self.scratch, self.rows, self.grafts = scratch, scratch.rows(), 0
        self._folder, self._rng = folder, Random(seed)

    def file(self) -> Path:
        """A database file with the rows as they are now, which never changes."""
        path = self._folder / f"{self.grafts}.sqlite"
        if not path.exists():
            write_instance(path, self.scratch.schema, self.rows)
        return path

    def add(self, witnesses: Sequence[Witness], subject: Subject, telling: Sequence[str], tries: int) -> None:
        """Add those witnesses that show a variant which passes, if with them fewer of all `telling` ones pass.

        Up to so many `tries` are made to change the rows of each until it is so.
        """
        left = passing(self.scratch, subject, telling) if witnesses else []
        for witness in witnesses:
            shown = [variant for variant in witness.variants if variant in left]
            if shown and self._graft(witness, shown, len(left), subject, telling, tries):
                left = passing(self.scratch, subject, telling)

    def _graft(
        self, witness: Witness, shown: Sequence[str], most: int, subject: Subject, telling: Sequence[str], tries: int
    ) -> bool:
        """Whether the witness was added: so that it shows one of `shown`, and fewer than `most` telling ones pass."""
        schema, tree = self.scratch.schema, sqlglot.parse_one(subject.reference, read="sqlite")
        found = hints([tree], schema)
        grown = graft(schema, self.rows, witness.rows, self._rng, links=found.links, kept=shared_values(found))
        added = {table: grown[table][len(self.rows[table]) :] for table in grown}
        named = {key: found.literals.get(key, ()) for key in _plain_columns(subject.reference, schema, found)}
        added = within(schema, added, self.rows, kept=named)
        wanted = self._given_by_subqueries(tree)

        def shows() -> bool:
            if len(passing(self.scratch, subject, shown)) == len(shown):
                return False
            return len(passing(self.scratch, subject, telling)) < most

        for adapted in islice(adaptations(schema, added, self.rows, named, self._rng, wanted=wanted), tries):
            if within(schema, adapted, self.rows, kept=()) == adapted and self.scratch.add(adapted, shows):
                self.rows = self.scratch.rows()
                self.grafts += 1
                return True
        return False

    def _given_by_subqueries(self, tree: exp.Expression) -> list[Value]:
        """What the subqueries of a query that stand for one value are now, as far as they run by themselves."""
        found = []
        for subquery in tree.find_all(exp.Subquery):
            rows = self.scratch.run(subquery.this.sql(dialect="sqlite"))
            if rows and len(rows) == len(rows[0]) == 1:
                found.append(rows[0][0])
        return found


def _plain_columns(reference: str, schema: Schema, found: Hints) -> list[tuple[str, str]]:
    """The columns that a reference reads, without keys and what refers to keys."""
    bound = {(link.table, column) for link in found.links for column in link.columns}
    for table in schema.tables:
        keys = (*table.unique, *(key.columns for key in table.foreign_keys), (table.rowid_alias,))
        bound |= {(table.name, column) for columns in keys for column in columns}
    named = [(table, column) for table, columns in reads(reference, schema).items() for column in columns]
    return [key for key in named if key not in bound]

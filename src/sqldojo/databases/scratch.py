"""An in-memory database for trying thousands of small sets of rows, and our own queries on each.

For trusted queries only: those that the sandbox has let through before, and variants that we made of them. SQLite
itself decides which rows a schema allows; those that break a constraint are dropped, and what refers to them too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import islice

import apsw

from sqldojo.databases.schema_model import ForeignKey, Rows, Schema, Table, Value, quote

_STEPS_BETWEEN_CHECKS = 10_000
# What OR IGNORE does not ignore: types in a STRICT table, a CHECK or generated column that fails, values out of range.
_UNSTORABLE = (apsw.ConstraintError, apsw.SQLError, apsw.MismatchError, apsw.TooBigError, OverflowError, UnicodeError)


class Scratch:
    """One schema in memory, filled anew by each `load`."""

    def __init__(self, schema: Schema, *, vm_steps: int = 2_000_000, most_rows: int = 2_000) -> None:
        self.schema, self._most_rows = schema, most_rows
        self._connection = apsw.Connection(":memory:", statementcachesize=4096)
        self._connection.config(apsw.SQLITE_DBCONFIG_DQS_DML, 0)  # as in the sandbox
        for statement in schema.statements:
            self._connection.execute(statement)
        self._inserts = {
            table.name: f"INSERT OR IGNORE INTO {quote(table.name)} ({', '.join(map(quote, table.names))}) "
            f"VALUES ({', '.join('?' * len(table.columns))})"
            for table in schema.tables
        }
        self._reads = {
            table.name: f"SELECT {', '.join(map(quote, table.names))} FROM {quote(table.name)} ORDER BY "
            + (quote(table.rowid_alias) if table.rowid_alias else ", ".join(map(str, range(1, len(table.columns) + 1))))
            for table in schema.tables
        }
        self._deletions = [_deletion(table, key) for table in schema.tables for key in table.foreign_keys]
        self._budget = vm_steps // _STEPS_BETWEEN_CHECKS
        self._left = self._budget
        self._connection.set_progress_handler(self._over_budget, _STEPS_BETWEEN_CHECKS)

    def close(self) -> None:
        """Free the database."""
        self._connection.close()

    def load(self, rows: Rows) -> None:
        """Replace all rows; those that a constraint forbids are left out."""
        self._left = 1_000_000
        with self._connection:
            for table in reversed(self.schema.tables):
                self._connection.execute(f"DELETE FROM {quote(table.name)}")
            for table in self.schema.tables:
                self._insert(table, rows.get(table.name, ()))
            self._drop_broken_references()

    def add(self, rows: Rows, holds: Callable[[], bool]) -> bool:
        """Add rows to those that are loaded, if that `holds` with them; constraints are as in `load`."""
        self._left = 1_000_000
        self._connection.execute("SAVEPOINT addition")
        before = self._connection.total_changes()
        for table in self.schema.tables:
            self._insert_singly(table, rows.get(table.name, ()))
        if self._connection.total_changes() - before < sum(map(len, rows.values())):  # a parent may be left out
            self._drop_broken_references()
        kept = holds()
        self._connection.execute("RELEASE addition" if kept else "ROLLBACK TO addition; RELEASE addition")
        return kept

    def _insert(self, table: Table, rows: Sequence[tuple[Value, ...]]) -> None:
        try:
            self._connection.executemany(self._inserts[table.name], rows)
            return
        except _UNSTORABLE:
            self._connection.execute(f"DELETE FROM {quote(table.name)}")
        self._insert_singly(table, rows)

    def _insert_singly(self, table: Table, rows: Sequence[tuple[Value, ...]]) -> None:
        for row in rows:
            with suppress(*_UNSTORABLE):
                self._connection.execute(self._inserts[table.name], row)

    def _drop_broken_references(self) -> None:
        """Delete rows whose declared foreign key points nowhere, until none is left."""
        before = -1
        while before != (before := self._connection.total_changes()):
            for deletion in self._deletions:
                self._connection.execute(deletion)

    def rows(self) -> Rows:
        """The rows that are stored now, as SQLite stores them."""
        self._left = 1_000_000
        return {name: self._connection.execute(query).fetchall() for name, query in self._reads.items()}

    def run(self, sql: str) -> list[tuple[Value, ...]] | None:
        """The rows of a query; None when it fails or takes too much."""
        self._left = self._budget
        try:
            found = list(islice(self._connection.execute(sql), self._most_rows + 1))
        except (apsw.Error, UnicodeError):
            return None
        return None if len(found) > self._most_rows else found

    def _over_budget(self) -> bool:
        self._left -= 1
        return self._left < 0


def _deletion(table: Table, key: ForeignKey) -> str:
    """The statement that deletes a table's rows whose foreign key is not NULL and has no parent."""
    here = quote(table.name)
    given = " AND ".join(f"{here}.{quote(column)} IS NOT NULL" for column in key.columns)
    found = " AND ".join(
        f"parent.{quote(parent)} = {here}.{quote(column)}"
        for column, parent in zip(key.columns, key.parent_columns, strict=True)
    )
    return f"DELETE FROM {here} WHERE {given} AND NOT EXISTS (SELECT 1 FROM {quote(key.table)} AS parent WHERE {found})"

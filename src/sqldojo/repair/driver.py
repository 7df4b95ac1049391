"""A stand-in for the connection of Python's own SQLite driver, which published tests are given as `conn`.

Statements run in the session, so nothing is open to a test that is closed to a submission, and every failure is the
session's. Parameters are not supported.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqldojo.databases.sessions import Session, StatementFailed
from sqldojo.repair.published import Row

DRIVER_ERRORS = (
    "DatabaseError", "DataError", "Error", "IntegrityError", "InterfaceError", "InternalError", "NotSupportedError",
    "OperationalError", "ProgrammingError", "Warning",
)  # fmt: skip


class Cursor:
    """As much of the driver's cursor as tests use."""

    rowcount = -1
    description: tuple[tuple[str, None, None, None, None, None, None], ...] | None = None

    def __init__(self, session: Session) -> None:
        self._session = session
        self._rows: list[Row] = []

    def execute(self, sql: str, parameters: Sequence[object] = ()) -> Cursor:
        """Run one statement; StatementFailed when it fails or has parameters, which are not supported."""
        if parameters:
            raise StatementFailed("parameters are not supported here")
        self._rows = self._session.run(sql, commit=False)
        self.description = tuple((name, *[None] * 6) for name in self._session.columns) or None
        return self

    def fetchall(self) -> list[Row]:
        """The rows that are left."""
        rows, self._rows = self._rows, []
        return rows

    def fetchmany(self, size: int = 1) -> list[Row]:
        """The next rows, at most `size`."""
        rows, self._rows = self._rows[:size], self._rows[size:]
        return rows

    def fetchone(self) -> Row | None:
        """The next row, None after the last."""
        return next(iter(self.fetchmany()), None)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.fetchall())

    def close(self) -> None:
        """Nothing to do."""


class Connection:
    """As much of the driver's connection as tests use."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def cursor(self) -> Cursor:
        """A new cursor."""
        return Cursor(self._session)

    def execute(self, sql: str, parameters: Sequence[object] = ()) -> Cursor:
        """A new cursor with the rows of one statement."""
        return self.cursor().execute(sql, parameters)

    def commit(self) -> None:
        """End the transaction."""
        self._session.commit()

    def rollback(self) -> None:
        """Undo the transaction."""
        self._session.rollback()

    def close(self) -> None:
        """Nothing to do: the session is closed for it."""

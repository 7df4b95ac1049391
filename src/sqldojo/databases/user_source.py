"""Reading a user's own database where it lies, with every error told by the path that the user knows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import apsw

from sqldojo.databases.user_database import cannot_read, open_user_database
from sqldojo.errors import UserError

Connection = apsw.Connection


@contextmanager
def reading(path: Path) -> Iterator[Connection]:
    """Yield a read-only connection to a SQLite file; what goes wrong while it is read is a UserError that names it."""
    with closing(open_user_database(path)) as connection:
        try:
            yield connection
        except apsw.Error as error:
            raise cannot_read(path, error) from error
        except UnicodeDecodeError as error:
            raise UserError(f"{path}: holds a text that is no UTF-8; store it as a BLOB, or convert it") from error


@contextmanager
def about(path: Path) -> Iterator[None]:
    """Put the path in front of a UserError that does not name it."""
    try:
        yield
    except UserError as error:
        raise error if str(path) in str(error) else UserError(f"{path}: {error}") from error

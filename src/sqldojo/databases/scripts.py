"""A database from a SQL script, such as a schema with a few rows in a file of test cases."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import apsw

from sqldojo.errors import UserError


def build_from_script(path: Path, script: str) -> None:
    """Run a script of any number of statements into a new database file; UserError when a statement fails."""
    try:
        with closing(apsw.Connection(str(path))) as connection, connection:
            connection.execute("PRAGMA user_version = 0")  # writes the header, so that an empty script gives a database
            connection.execute(script)
    except (apsw.Error, ValueError) as error:  # ValueError: a NUL character, or text that is no Unicode
        raise UserError(f"the script that builds the database fails ({error}); correct it") from error

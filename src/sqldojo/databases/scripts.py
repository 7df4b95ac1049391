"""SQL scripts: a database from one, such as a schema with a few rows in a file of test cases, and its statements."""

from __future__ import annotations

from contextlib import closing, nullcontext
from pathlib import Path

import apsw

from sqldojo.errors import UserError


def build_from_script(path: Path, script: str) -> None:
    """Run a script of any number of statements into a new database file; UserError when a statement fails.

    A dump may begin and commit transactions of its own.
    """
    try:
        try:
            _run(path, script, in_transaction=True)  # thousands of INSERTs are slow without one
        except apsw.SQLError as error:
            if "within a transaction" not in str(error) and "no transaction is active" not in str(error):
                raise
            path.unlink(missing_ok=True)
            _run(path, script, in_transaction=False)
    except (apsw.Error, ValueError) as error:  # ValueError: a NUL character, or text that is no Unicode
        raise UserError(f"the script that builds the database fails ({error}); correct it") from error


def _run(path: Path, script: str, *, in_transaction: bool) -> None:
    with closing(apsw.Connection(str(path))) as connection, connection if in_transaction else nullcontext():
        connection.execute("PRAGMA user_version = 0")  # writes the header, so that an empty script gives a database
        connection.execute(script)


def split_statements(script: str) -> list[str]:
    """The statements of a script without their semicolons; SQLite says where each ends, so texts may hold some."""
    statements, start = [], 0
    for end, letter in enumerate(script):
        if letter == ";" and apsw.complete(script[start : end + 1]):
            statements.append(script[start:end].strip())
            start = end + 1
    statements.append(script[start:].strip())
    return [statement for statement in statements if not _is_comment(statement)]


def _is_comment(statement: str) -> bool:
    return all(not line.strip() or line.strip().startswith("--") for line in statement.splitlines())

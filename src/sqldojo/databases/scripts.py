"""SQL scripts: a database from one, such as a schema with a few rows in a file of test cases, and its statements."""

from __future__ import annotations

import errno
import os
import re
from contextlib import closing, nullcontext
from pathlib import Path

import apsw

from sqldojo.errors import UserError

# Whatever is still open ends with the statement, so that no text takes more than one pass.
_TEXT_OR_COMMENT = re.compile(
    r"""(?P<text> '[^']*(?:'|\Z) | "[^"]*(?:"|\Z) | `[^`]*(?:`|\Z) | \[[^\]]*(?:\]|\Z) )
      | --[^\n]* | /\*.*?(?:\*/|\Z)""",
    re.DOTALL | re.VERBOSE,
)


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
    except UserError:
        raise
    except (apsw.FullError, apsw.IOError) as error:
        number = errno.ENOSPC if isinstance(error, apsw.FullError) else errno.EIO
        raise OSError(number, os.strerror(number), str(path)) from error
    except apsw.AuthError as error:
        raise UserError("the script writes to another file (ATTACH, VACUUM INTO); leave that statement out") from error
    except (apsw.Error, ValueError) as error:  # ValueError: a NUL character, or text that is no Unicode
        raise UserError(f"the script that builds the database fails ({error}); correct it") from error


def _run(path: Path, script: str, *, in_transaction: bool) -> None:
    with closing(apsw.Connection(str(path))) as connection, connection if in_transaction else nullcontext():
        connection.execute("PRAGMA user_version = 0")  # writes the header, so that an empty script gives a database
        connection.authorizer = _in_its_own_file
        try:
            for _row in connection.execute(script):  # a statement that gives rows would end it there
                pass
        finally:
            connection.authorizer = None  # it cannot be asked while an error rolls back
        if not in_transaction and connection.in_transaction:
            raise UserError("the script begins a transaction that it never ends; add COMMIT")


def _in_its_own_file(action: int, name: str | None, *_more: str | None) -> int:
    """The authorizer's answer: no other file. A plain VACUUM attaches a nameless one."""
    return apsw.SQLITE_DENY if action == apsw.SQLITE_ATTACH and name != "" else apsw.SQLITE_OK


def split_statements(script: str) -> list[str]:
    """The statements of a script without their semicolons; SQLite says where each ends, so texts may hold some."""
    statements, start = [], 0
    for end, letter in enumerate(script):
        if letter == ";" and apsw.complete(script[start : end + 1]):
            statements.append(script[start:end].strip())
            start = end + 1
    statements.append(script[start:].strip())
    return [statement for statement in statements if not is_comment(statement)]


def without_comments(statement: str) -> str:
    """The statement with a blank for each comment and none around; what only looks like one in a text stays."""
    return _TEXT_OR_COMMENT.sub(lambda found: found[0] if found["text"] else " ", statement).strip()


def comments_in(statement: str) -> list[str]:
    """The texts of the comments of a statement, without their marks."""
    found = [match[0] for match in _TEXT_OR_COMMENT.finditer(statement) if not match["text"]]
    return [text.removeprefix("--").removeprefix("/*").removesuffix("*/").strip() for text in found]


def blanked(statement: str) -> str:
    """The statement with blanks for all letters of comments, texts and quoted names, so that every place stays."""
    return _TEXT_OR_COMMENT.sub(lambda found: " " * len(found[0]), statement)


def is_comment(statement: str) -> bool:
    """Whether nothing but comments is in it; SQLite ends one that is still open with the text."""
    while statement := statement.strip():
        if statement.startswith("--"):
            statement = statement.partition("\n")[2]
        elif statement.startswith("/*"):
            statement = statement[2:].partition("*/")[2]
        else:
            return False
    return True

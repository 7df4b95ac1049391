"""Twins of a database: the same rows in another physical order, to see whether an answer depends on that order.

A twin has no keys, so nothing but a query's own ORDER BY puts its rows back in order. What values mean is kept:
affinities, collations and the encoding. Tables without rowid and STRICT ones become ordinary tables, generated columns
hold their values, views are made again. Left out: virtual tables, triggers and the engine's own tables.

There are two of each database. One has all rows reversed and no index. The other has them shuffled, because reversing
leaves the middle one of three tied rows in its place, and has an index for each key and index of the original, because
some queries take for ever without; those of keys run downwards, so that they do not restore the original order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import apsw

from sqldojo.databases.execution import open_read_only, unreadable
from sqldojo.databases.schema_model import quote
from sqldojo.databases.type_affinity import Value, affinity
from sqldojo.errors import UserError

Twins = Mapping[Path, tuple[Path, ...]]  # each database with its twins
_Rows = list[tuple[Value, ...]]


@contextmanager
def twins_of(databases: Sequence[Path]) -> Iterator[Twins]:
    """The twins of each database, built once in a temporary folder that is gone afterwards.

    UserError when a database cannot be read. The result is only read from, so threads may share it.
    """
    with TemporaryDirectory(prefix="sqldojo-twins-") as folder:
        twins: dict[Path, tuple[Path, ...]] = {}
        for number, path in enumerate(dict.fromkeys(databases)):
            twins[path] = (Path(folder) / f"{number}-reversed.sqlite", Path(folder) / f"{number}-shuffled.sqlite")
            build_twin(path, twins[path][0])
            build_twin(path, twins[path][1], shuffled=True)
        yield twins


def build_twin(path: Path, twin_path: Path, *, shuffled: bool = False) -> None:
    """Write to the new file `twin_path` the tables and views of `path`, with the rows of each table reversed.

    `shuffled` puts them in an arbitrary order instead, the same for every call, and adds the indexes.
    UserError when `path` cannot be read.
    """
    try:
        with closing(open_read_only(path)) as source, closing(apsw.Connection(str(twin_path))) as twin:
            # A BINARY collation compares the bytes, so an order may depend on the encoding.
            twin.pragma("encoding", source.pragma("encoding"))
            twin.pragma("journal_mode", "off")
            twin.pragma("synchronous", "off")
            with twin:
                twin.pragma("user_version", 0)  # writes the header, so that no table gives a database too
                for table, strict in _tables(source):
                    _copy(source, twin, table, strict, _shuffle(table) if shuffled else list.reverse)
                    for statement in _indexes(source, table) if shuffled else ():
                        twin.execute(statement)
                for view in _views(source):
                    twin.execute(view)
    except apsw.Error as error:
        raise unreadable(path, error) from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: a table holds a text that is no UTF-8; store it as a BLOB") from error


def read_views(path: Path) -> tuple[str, ...]:
    """The CREATE VIEW statements of a database; UserError when it cannot be read."""
    try:
        with closing(open_read_only(path)) as source:
            return _views(source)
    except apsw.Error as error:
        raise unreadable(path, error) from error


def _views(source: apsw.Connection) -> tuple[str, ...]:
    query = "SELECT sql FROM sqlite_master WHERE type = 'view' ORDER BY rowid"
    return tuple(sql for (sql,) in source.execute(query))


def _tables(source: apsw.Connection) -> list[tuple[str, bool]]:
    """The ordinary tables of a database in order of name, with whether they are STRICT."""
    query = "SELECT name, strict FROM pragma_table_list WHERE schema = 'main' AND type = 'table' ORDER BY name"
    return [(name, bool(strict)) for name, strict in source.execute(query) if not name.lower().startswith("sqlite_")]


def _copy(
    source: apsw.Connection, twin: apsw.Connection, table: str, strict: bool, reorder: Callable[[_Rows], None]
) -> None:
    query = "SELECT name, type FROM pragma_table_xinfo(?, 'main') ORDER BY cid"
    columns = source.execute(query, (table,)).fetchall()
    definitions = ", ".join(
        f"{quote(name)} {affinity(declared, strict=strict)} "
        f"COLLATE {quote(source.column_metadata('main', table, name)[1])}"
        for name, declared in columns
    )
    twin.execute(f"CREATE TABLE {quote(table)} ({definitions})")
    # NOT INDEXED: a covering index would give the rows in its own order.
    names = ", ".join(quote(name) for name, _ in columns)
    rows = source.execute(f"SELECT {names} FROM {quote(table)} NOT INDEXED").fetchall()
    reorder(rows)
    twin.executemany(f"INSERT INTO {quote(table)} VALUES ({', '.join('?' * len(columns))})", rows)


def _indexes(source: apsw.Connection, table: str) -> list[str]:
    """CREATE INDEX for the primary key and the indexes of a table; partial ones and expressions are left out."""
    key = "SELECT name FROM pragma_table_xinfo(?, 'main') WHERE pk ORDER BY pk"
    parts = [[f"{quote(name)} DESC" for (name,) in source.execute(key, (table,))]]
    listed = (
        "SELECT name, \"unique\" FROM pragma_index_list(?, 'main') WHERE origin <> 'pk' AND NOT partial ORDER BY name"
    )
    inside = "SELECT name, coll FROM pragma_index_xinfo(?, 'main') WHERE key ORDER BY seqno"
    for index, unique in source.execute(listed, (table,)).fetchall():
        columns = source.execute(inside, (index,))
        direction = "DESC" if unique else "ASC"
        parts.append([f"{quote(name)} COLLATE {quote(coll)} {direction}" for name, coll in columns if name is not None])
    return [
        f"CREATE INDEX {quote(f'twin {table} {number}')} ON {quote(table)} ({', '.join(columns)})"
        for number, columns in enumerate(parts)
        if columns
    ]


def _shuffle(table: str) -> Callable[[_Rows], None]:
    return Random(f"twin/{table}").shuffle

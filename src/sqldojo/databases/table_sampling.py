"""A bounded sample of the rows of a database that may be far too large to be read.

Small tables are read whole. Of a large one as many rows are sought at random places of its key, a few neighbours each
time, because rows that were entered together often belong together; then some children of the rows that are chosen,
where an index finds them; at last every row that a chosen one refers to. Only searches by key or index are made, so the
time depends on the size of the sample and hardly on that of the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

import apsw

from sqldojo.databases.schema_model import ForeignKey, Rows, Schema, Table, quote
from sqldojo.databases.type_affinity import Value, fold
from sqldojo.errors import UserError

MOST_ROWS = 5_000  # of one table that are sought; what they refer to comes on top
MOST_CELLS = 1_000_000  # of all tables together
_FEWEST_ROWS = 200
_NEIGHBOURS = 8
_TRIES = 3  # times as many places as there should be, where rows lie unevenly
_LONGEST_BYTES, _KEPT = 2_000, 200  # of a value: what is longer is cut to so many characters or bytes
_ROWIDS = ("rowid", "_rowid_", "oid")

Place = tuple[Value, ...]  # what finds one row: its rowid, or its primary key in a table without
_Found = dict[Place, tuple[Value, ...]]


@dataclass(frozen=True)
class Sample:
    """Rows by table, in the order of their places; `whole` are the tables of which no row is missing.

    `sizes` has the number of rows of these, and of others that of the span of their rowids, if they have any.
    """

    rows: Rows
    whole: frozenset[str]
    sizes: dict[str, int | None]


def sample_tables(connection: apsw.Connection, schema: Schema, seed: int | str, *, most: int = MOST_ROWS) -> Sample:
    """Up to about `most` rows of each table, fewer where tables are many or wide, with every row that they refer to.

    The same file, seed and schema give the same sample, in one transaction. May raise apsw.Error; UserError for a text
    that is no UTF-8.
    """
    cells = sum(len(table.columns) for table in schema.tables)
    wanted = min(most, max(_FEWEST_ROWS, MOST_CELLS // max(cells, 1)))
    connection.execute("BEGIN")
    try:
        return _Sampler(connection, schema, seed, wanted).sample()
    finally:
        connection.execute("ROLLBACK")


def searches(connection: apsw.Connection, table: str, columns: Sequence[str]) -> bool:
    """Whether rows with given values of these columns are found by a key or an index, without reading the table."""
    condition = " AND ".join(f"{quote(column)} = 1" for column in columns)
    plan = connection.execute(f"EXPLAIN QUERY PLAN SELECT 1 FROM {quote(table)} WHERE {condition}").fetchall()
    return all(str(step[3]).startswith("SEARCH") for step in plan)


class _Sampler:
    def __init__(self, connection: apsw.Connection, schema: Schema, seed: int | str, wanted: int) -> None:
        self.connection, self.schema, self.seed, self.wanted = connection, schema, seed, wanted
        self.places = {table.name: _place_columns(connection, table) for table in schema.tables}
        self.found: dict[str, _Found] = {}
        self.whole: set[str] = set()
        self.sizes: dict[str, int | None] = {}
        self.sought: set[tuple[str, tuple[str, ...], tuple[Value, ...]]] = set()
        self.quick: dict[tuple[str, tuple[str, ...]], bool] = {}

    def sample(self) -> Sample:
        for table in self.schema.tables:
            self._choose(table)
        self._add_parents()
        rows: Rows = {}
        for table in self.schema.tables:
            found = self.found[table.name]
            ordered = found if table.name in self.whole else sorted(found, key=lambda place: [*map(_order, place)])
            rows[table.name] = [found[place] for place in ordered]
        return Sample(rows, frozenset(self.whole), self.sizes)

    def _choose(self, table: Table) -> None:
        """The whole table if it is small, else some of it."""
        sql = f"SELECT {self._cells(table)} FROM {quote(table.name)} NOT INDEXED LIMIT {self.wanted + 1}"
        first = self._read(table, sql)
        found: _Found = {(number,): row for number, row in enumerate(first)}
        self.found[table.name], self.sizes[table.name] = found, len(found)
        if len(found) <= self.wanted:
            self.whole.add(table.name)
            return
        rng = Random(f"{self.seed}/sample/{table.name}")
        if not self.places[table.name]:  # its rowid is hidden by columns of that name: the first ones must do
            found.popitem()
            self.sizes[table.name] = None
            return
        self.found[table.name] = {}
        self._add_children(table, rng)
        self._add_neighbours(table, rng)

    def _add_children(self, table: Table, rng: Random) -> None:
        """Up to half of the rows: some that belong to the same parents, so that there are groups of several."""
        found = self.found[table.name]
        for key in table.foreign_keys:
            parents = self.found.get(key.table)
            if not parents or not self._is_quick(table, key.columns):
                continue
            owner = self.schema.table(key.table)
            positions = [owner.names.index(column) for column in key.parent_columns]
            chosen = rng.sample(sorted(parents, key=lambda place: [*map(_order, place)]), len(parents))
            share = len(found) + self.wanted // (2 * len(table.foreign_keys))
            for place in chosen:
                if len(found) >= share:
                    break
                values = tuple(parents[place][position] for position in positions)
                self._search(table, key.columns, values, _NEIGHBOURS)

    def _add_neighbours(self, table: Table, rng: Random) -> None:
        """Rows from random places of the table until there are enough; then, if need be, from its beginning."""
        first, *_ = columns = self.places[table.name]
        order, source = ", ".join(columns), quote(table.name)
        backwards = ", ".join(f"{each} DESC" for each in columns)
        ((low,),) = self._read(table, f"SELECT {first} FROM {source} ORDER BY {order} LIMIT 1")
        ((high,),) = self._read(table, f"SELECT {first} FROM {source} ORDER BY {backwards} LIMIT 1")
        self.sizes[table.name] = high - low + 1 if isinstance(low, int) and isinstance(high, int) else None
        found, start_of_query = self.found[table.name], f"SELECT {order}, {self._cells(table)} FROM {source}"
        sql = f"{start_of_query} WHERE {first} >= ? ORDER BY {order} LIMIT {_NEIGHBOURS}"
        for start in _starts(low, high, _TRIES * self.wanted // _NEIGHBOURS, rng):
            if len(found) >= self.wanted:
                return
            self._keep(table, self._read(table, sql, (start,)))
        if len(found) < self.wanted:
            self._keep(table, self._read(table, f"{start_of_query} ORDER BY {order} LIMIT {self.wanted - len(found)}"))

    def _add_parents(self) -> None:
        """Every row that a chosen row refers to, as far as a search finds it."""
        todo = [(table, row) for table in self.schema.tables for row in self.found[table.name].values()]
        while todo:
            table, row = todo.pop()
            for key in table.foreign_keys:
                parent = self.schema.table(key.table)
                if parent.name not in self.whole and self.places[parent.name]:
                    values = tuple(row[table.names.index(column)] for column in key.columns)
                    todo += [(parent, each) for each in self._parent(parent, key, values)]

    def _parent(self, parent: Table, key: ForeignKey, values: tuple[Value, ...]) -> list[tuple[Value, ...]]:
        if None in values or not self._is_quick(parent, key.parent_columns):
            return []
        return self._search(parent, key.parent_columns, values, 1)

    def _search(
        self, table: Table, columns: Sequence[str], values: tuple[Value, ...], most: int
    ) -> list[tuple[Value, ...]]:
        """Keep up to so many rows with these values, and return those that are new; each search is made once."""
        search = (table.name, tuple(columns), values)
        if search in self.sought:
            return []
        self.sought.add(search)
        places = self.places[table.name]
        condition = " AND ".join(f"{quote(column)} = ?" for column in columns)
        sql = (
            f"SELECT {', '.join(places)}, {self._cells(table)} FROM {quote(table.name)} WHERE {condition} "
            f"ORDER BY {', '.join(places)} LIMIT {most}"
        )
        return self._keep(table, self._read(table, sql, values))

    def _keep(self, table: Table, rows: Sequence[tuple[Value, ...]]) -> list[tuple[Value, ...]]:
        found, width, new = self.found[table.name], len(self.places[table.name]), []
        for row in rows:
            place, cells = row[:width], row[width:]
            if place not in found:
                found[place] = cells
                new.append(cells)
        return new

    def _is_quick(self, table: Table, columns: Sequence[str]) -> bool:
        key = (table.name, tuple(columns))
        if key not in self.quick:
            self.quick[key] = searches(self.connection, table.name, columns)
        return self.quick[key]

    def _cells(self, table: Table) -> str:
        """The columns, long values of all but keys cut: a sample must not hold a gigabyte of pictures."""
        keys = {column for key in (*table.unique, *(each.columns for each in table.foreign_keys)) for column in key}
        keys |= {
            column for child in self.schema.tables for key in child.foreign_keys
            if key.table == table.name for column in key.parent_columns
        }  # fmt: skip
        return ", ".join(quote(name) if name in keys else _cut(quote(name)) for name in table.names)

    def _read(self, table: Table, sql: str, values: tuple[Value, ...] = ()) -> list[tuple[Value, ...]]:
        try:
            return self.connection.execute(sql, values).fetchall()
        except UnicodeDecodeError as error:
            why = f"table {table.name} holds a text that is no UTF-8; store it as a BLOB, or convert it"
            raise UserError(why) from error


def _cut(column: str) -> str:
    return f"CASE WHEN octet_length({column}) > {_LONGEST_BYTES} THEN substr({column}, 1, {_KEPT}) ELSE {column} END"


def _place_columns(connection: apsw.Connection, table: Table) -> tuple[str, ...]:
    """What a row is found and ordered by, as SQL; nothing where columns hide the rowid."""
    sql = "SELECT wr FROM pragma_table_list WHERE schema = 'main' AND name = ?"
    if connection.execute(sql, (table.name,)).get:
        return tuple(map(quote, table.primary_key))
    if table.rowid_alias:
        return (quote(table.rowid_alias),)
    taken = {fold(name) for (name,) in connection.execute("SELECT name FROM pragma_table_xinfo(?)", (table.name,))}
    return next(((name,) for name in _ROWIDS if name not in taken), ())


def _starts(low: Value, high: Value, count: int, rng: Random) -> Iterator[Value]:
    """So many random values from low to high; none where they are of different kinds."""
    for _ in range(count):
        if isinstance(low, int) and isinstance(high, int):
            yield rng.randint(low, high)
        elif isinstance(low, int | float) and isinstance(high, int | float):
            yield rng.uniform(low, high)
        elif isinstance(low, str) and isinstance(high, str):
            yield _text_between(low, high, rng)


def _text_between(low: str, high: str, rng: Random) -> str:
    """A text that sorts between two, as far as its first letters that differ decide it."""
    same = next((place for place, (one, other) in enumerate(zip(low, high, strict=False)) if one != other), len(low))
    first = ord(low[same]) if same < len(low) else 0x20
    last = ord(high[same]) if same < len(high) else first
    code = rng.randint(min(first, last), max(first, last))
    middle = chr(code) if not 0xD800 <= code < 0xE000 else "\ud7ff"  # half a character is no text
    return high[:same] + middle + chr(rng.randint(0x20, 0x7A))


def _order(value: Value) -> tuple[int, Value]:
    """Values of all kinds in SQLite's order."""
    if value is None:
        return 0, 0
    return (1 if isinstance(value, int | float) else 2 if isinstance(value, str) else 3), value

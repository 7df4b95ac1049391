"""CSV and Parquet files as the tables of one new SQLite file, read in portions of some thousand rows.

SQLite has no dates and no inference: what a column of a CSV file holds is decided by all of its values. Whole numbers
without leading zeros are INTEGER, other numbers REAL, and dates become ISO text where one format alone reads them all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw

from sqldojo.databases.schema_model import quote
from sqldojo.databases.type_affinity import fold
from sqldojo.errors import UserError

if TYPE_CHECKING:
    import polars

CSV, PARQUET = (".csv", ".tsv"), (".parquet", ".pq")
ENDINGS = (*CSV, *PARQUET)

_ROWS_AT_A_TIME = 20_000
_LOOKED_AT = 1_000  # rows that say which formats of dates are worth trying
_NULLS = ("", "NULL", "null", "\\N")
_SEPARATORS = (",", ";", "\t", "|")
_WHOLE = r"^-?(?:0|[1-9]\d{0,17})$"
_NUMBER = r"^-?(?:(?:0|[1-9]\d{0,17})(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$"  # more digits are a code
_DATES = ("%Y/%m/%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y")


@dataclass(frozen=True)
class _Column:
    """A column of the new table, and what gives its values in the order of the file."""

    name: str
    declared: str
    values: polars.Expr


def tabular_files(folder: Path) -> list[Path]:
    """The CSV and Parquet files of a folder, sorted by name."""
    return sorted(path for path in folder.iterdir() if path.is_file() and path.suffix.lower() in ENDINGS)


def import_files(
    files: Sequence[Path], target: Path, *, key_of: Callable[[str, tuple[str, ...]], str | None],
    identifier: Callable[[str], str],
) -> list[str]:
    """Make the SQLite file `target` with one table a file, called as the file is; returns what was left out.

    `key_of` says which column of a table looks like its key: it is the primary key where its values are different.
    `identifier` writes a name as SQL. UserError, naming the file, for one that cannot be read as its ending says.
    """
    import polars  # here and not above: it takes half a second, and the shop needs none

    left_out: list[str] = []
    names: dict[str, Path] = {}
    with closing(apsw.Connection(str(target))) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        for path in files:
            table = path.name[: -len(path.suffix)]
            if fold(table) in names:
                raise UserError(f"{path}: {names[fold(table)].name} would be a table of the same name; rename one")
            names[fold(table)] = path
            try:
                rows = _open_csv(path) if path.suffix.lower() in CSV else polars.scan_parquet(path)
                columns = _csv_columns(rows) if path.suffix.lower() in CSV else _parquet_columns(rows, table, left_out)
                if not columns:
                    raise UserError(f"{path}: there is no column that a table can hold; leave the file out")
                key = key_of(table, tuple(each.name for each in columns))
                _write(connection, table, columns, rows, key, identifier)
            except polars.exceptions.PolarsError as error:
                kind = "CSV in UTF-8 with a header" if path.suffix.lower() in CSV else "Parquet"
                why = str(error).partition("\n")[0]
                raise UserError(f"{path}: cannot be read as {kind} ({why}); correct it or leave it out") from error
            except apsw.SQLError as error:  # such as two names that differ in case alone
                raise UserError(f"{path}: no table can be made of it ({error}); rename its columns") from error
    return left_out


def _open_csv(path: Path) -> polars.LazyFrame:
    """The file's rows as texts, NULL where a field is empty; the separator is the one that the header has most of."""
    import polars

    with path.open("rb") as file:
        first = file.readline(1_000_000)
    if not first.strip():
        raise UserError(f"{path}: begins with an empty line where the names of its columns should be; add a header")
    header = first.decode("utf-8", errors="replace")
    separator = "\t" if path.suffix.lower() == ".tsv" else max(_SEPARATORS, key=header.count)
    return polars.scan_csv(path, separator=separator, infer_schema=False, null_values=list(_NULLS))


def _csv_columns(rows: polars.LazyFrame) -> list[_Column]:
    import polars

    names = rows.collect_schema().names()
    formats = _date_formats(rows.head(_LOOKED_AT).collect(), names)
    counts = []
    for place, name in enumerate(names):
        column = polars.col(name)
        counts += [
            column.count().alias(f"{place} filled"),
            column.str.contains(_WHOLE).sum().alias(f"{place} whole"),
            column.str.contains(_NUMBER).sum().alias(f"{place} number"),
            *(column.str.to_date(form, strict=False).count().alias(f"{place} {form}") for form in formats[name]),
        ]
    (found,) = rows.select(counts).collect(engine="streaming").to_dicts()
    columns, taken = [], set(names)
    for place, name in enumerate(names):
        filled, column = found[f"{place} filled"], polars.col(name)
        readable = [form for form in formats[name] if found[f"{place} {form}"] == filled]
        called = name.lstrip("\ufeff").strip() or f"column_{place + 1}"
        if called != name and called in taken:
            called = f"{called}_{place + 1}"
        if filled and found[f"{place} whole"] == filled:
            columns.append(_Column(called, "INTEGER", column))
        elif filled and found[f"{place} number"] == filled:
            columns.append(_Column(called, "REAL", column))
        elif filled and len(readable) == 1:
            columns.append(_Column(called, "TEXT", column.str.to_date(readable[0]).dt.strftime("%Y-%m-%d")))
        else:
            columns.append(_Column(called, "TEXT", column))
    return columns


def _date_formats(head: polars.DataFrame, names: Sequence[str]) -> Mapping[str, list[str]]:
    """The formats of dates, by column, that read all of its first values; which alone reads the rest is to be seen."""
    formats: dict[str, list[str]] = {}
    for name in names:
        column = head[name].drop_nulls()
        formats[name] = [
            form for form in _DATES if len(column) and column.str.to_date(form, strict=False).null_count() == 0
        ]  # fmt: skip
    return formats


def _parquet_columns(rows: polars.LazyFrame, table: str, left_out: list[str]) -> list[_Column]:
    """The columns that SQLite has a type for, as it would hold them; the others are added to `left_out`."""
    columns = []
    for name, dtype in rows.collect_schema().items():
        found = _as_stored(dtype, name)
        if found is None:
            left_out.append(f"column {name} of {table} (its type is {dtype})")
        else:
            columns.append(_Column(name, *found))
    return columns


def _as_stored(dtype: Any, name: str) -> tuple[str, polars.Expr] | None:
    import polars

    column = polars.col(name)
    if dtype.is_integer():
        return "INTEGER", column.cast(polars.Int64)
    if dtype.is_float() or dtype.is_decimal():
        return "REAL", column.cast(polars.Float64).fill_nan(None)
    if dtype == polars.Boolean:
        return "INTEGER", column.cast(polars.Int8)
    if dtype == polars.Date:
        return "TEXT", column.dt.strftime("%Y-%m-%d")
    if dtype == polars.Datetime:
        return "TEXT", column.dt.strftime("%Y-%m-%d %H:%M:%S")
    if dtype == polars.Time:
        return "TEXT", column.dt.strftime("%H:%M:%S")
    if dtype == polars.Duration:
        return "REAL", column.dt.total_milliseconds() / 1000
    if dtype == polars.Binary:
        return "BLOB", column
    if dtype in (polars.String, polars.Null) or isinstance(dtype, polars.Categorical | polars.Enum):
        return "TEXT", column.cast(polars.String)
    return None


def _write(
    connection: apsw.Connection, table: str, columns: Sequence[_Column], rows: polars.LazyFrame, key: str | None,
    identifier: Callable[[str], str],
) -> None:
    """Make the table, with its key if the values allow it."""
    insert = f"INSERT INTO {quote(table)} VALUES ({', '.join('?' * len(columns))})"
    keys = [each for each in columns if each.name == key and not _gaps(rows, each)]
    for primary in (*keys, None):
        declared = ", ".join(
            f"{identifier(each.name)} {each.declared}" + (" PRIMARY KEY" if each is primary else "")
            for each in columns
        )
        try:
            with connection:
                connection.execute(f"CREATE TABLE {identifier(table)} ({declared})")
                connection.executemany(insert, _values(columns, rows))
            return
        except (apsw.ConstraintError, apsw.MismatchError):  # the values are no key: try again without one
            if primary is None:
                raise


def _gaps(rows: polars.LazyFrame, column: _Column) -> int:
    return rows.select(column.values.null_count()).collect(engine="streaming").item()


def _values(columns: Sequence[_Column], rows: polars.LazyFrame) -> Iterator[tuple[Any, ...]]:
    chosen = rows.select(each.values.alias(str(place)) for place, each in enumerate(columns))
    for portion in chosen.collect_batches(chunk_size=_ROWS_AT_A_TIME, maintain_order=True):
        yield from portion.iter_rows()

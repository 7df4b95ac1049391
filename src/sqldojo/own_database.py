"""A user's own database as what the whole graph works on: what is read of it, and the families that are made of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from sqldojo.databases.building import DatabaseParams
from sqldojo.databases.key_files import Keys, keys_text, read_keys
from sqldojo.databases.schema import on_one_line
from sqldojo.databases.schema_model import ForeignKey, Schema, Table, read_schema
from sqldojo.databases.table_sampling import Sample, sample_tables
from sqldojo.databases.tabular_files import ENDINGS, import_files, tabular_files
from sqldojo.databases.user_database import is_sqlite_file
from sqldojo.databases.user_schema import read_statements, with_foreign_keys, write_empty
from sqldojo.databases.user_source import about, reading
from sqldojo.errors import UserError
from sqldojo.files import replacing_folder, write_text
from sqldojo.questions.composing.identifiers import identifier
from sqldojo.questions.inferred_keys import InferredKey, infer_foreign_keys
from sqldojo.questions.own_families import write_families
from sqldojo.user_files import as_database
from sqldojo.verifier.mutation.names import key_of

_DATABASES, _SCRIPTS = (".sqlite", ".sqlite3", ".db"), (".sql", ".sql.gz", ".gz")
_LONG_SCHEMA = 12_000  # characters: `agent.schema_characters` of our params.yaml; another is not known here
_SHOWN, _LONGEST = 3, 40  # values of a column, and letters of one


@dataclass(frozen=True)
class OwnDatabase:
    """What was read of a database: its schema with all foreign keys, a sample of its rows, and what was left out.

    `inferred` are keys that the schema does not declare; there are none where `listed` says that a file lists them all.
    """

    name: str
    schema: Schema
    sample: Sample
    inferred: tuple[InferredKey, ...]
    listed: bool
    left_out: tuple[str, ...]

    @property
    def added(self) -> Keys:
        """The inferred keys by table."""
        return _by_table(self.inferred)


def build_own_families(out: Path, params: DatabaseParams, keys: Path) -> list[str]:
    """Replace the folder `out` by the ordinary instances of both families, and return what to tell of the source.

    `keys` is the file of foreign keys. The source is only read. UserError for one that cannot be read, is too wide, or
    does not fit the file of keys.
    """
    source = Path(params.source)
    with replacing_folder(out) as folder:
        try:
            with TemporaryDirectory(prefix=".source-", dir=folder) as work:  # a folder of CSV files may be large
                own = read_own(source, keys, Path(work), seed=params.seed)
        except UserError as error:
            if str(error).startswith(str(source)):
                raise UserError(f"params.yaml: databases.source: {error}") from error
            raise
        write_families(folder, own.schema, own.sample.rows, rows=params.rows, seed=params.seed)
    return summary(own)


def read_own(source: Path, keys: Path | None, work: Path, *, seed: int) -> OwnDatabase:
    """What is read of a source: a SQLite file, a SQL script, or a CSV or Parquet file or a folder of such.

    `work` is an empty folder for files that are needed meanwhile. Without `keys`, or where that file is `{}`, foreign
    keys are inferred. UserError as `build_own_families`.
    """
    left_out: list[str] = []
    with _as_sqlite(source, work, left_out) as path, reading(path) as connection:
        declared = work / "declared.sqlite"
        with about(source):
            statements, virtual = read_statements(connection)
            left_out += virtual + write_empty(declared, statements)
        schema = read_schema(declared)
        listed = read_keys(keys, schema) if keys else None
        with about(source):
            inferred = () if listed is not None else tuple(infer_foreign_keys(connection, schema))
        added = _by_table(inferred) if listed is None else listed
        if added:
            complete = work / "complete.sqlite"
            write_empty(complete, with_foreign_keys(statements, added, identifier))
            schema = read_schema(complete)
        with about(source):
            sample = sample_tables(connection, schema, seed)
    return OwnDatabase(source.name, schema, sample, inferred, listed is not None, tuple(left_out))


def _by_table(inferred: Sequence[InferredKey]) -> dict[str, list[ForeignKey]]:
    found: dict[str, list[ForeignKey]] = {}
    for each in inferred:
        found.setdefault(each.table, []).append(each.key)
    return found


@contextmanager
def _as_sqlite(source: Path, work: Path, left_out: list[str]) -> Iterator[Path]:
    """Yield a SQLite file with what is in the source: the file itself, or one that is made in the folder `work`."""
    if source.is_dir():
        databases = sorted(path for path in source.iterdir() if path.suffix.lower() in _DATABASES)
        files = tabular_files(source)
        if bool(files) == bool(databases) or len(databases) > 1:
            raise UserError(
                f"{source}: holds {len(files)} CSV or Parquet files and {len(databases)} databases; give a folder of "
                "such files alone, each one a table, or the path of one database"
            )
        if databases:
            source = databases[0]
    elif source.suffix.lower() in ENDINGS and source.is_file():
        files = [source]
    else:
        files = []
    if files:
        made = work / "imported.sqlite"
        left_out += import_files(files, made, key_of=key_of, identifier=identifier)
        with about(source):
            yield made
    elif source.name.lower().endswith(_SCRIPTS) and source.is_file() and not is_sqlite_file(source):
        with as_database(source) as made:
            yield made
    else:
        yield source


def summary(own: OwnDatabase) -> list[str]:
    """What people should know of how their database was read, a sentence a line."""
    tables, sample = own.schema.tables, own.sample
    rows = sum(map(len, sample.rows.values()))
    declared = sum(len(table.foreign_keys) for table in tables) - len(own.inferred)
    whose = "foreign keys of the schema and the file of keys" if own.listed else "declared foreign keys"
    lines = [f"{own.name}: {_count(len(tables), 'table')}, {_count(rows, 'row')} read, {declared} {whose}"]
    for table in tables:
        if table.name not in sample.whole:
            size = sample.sizes[table.name]
            of = f" of at most {size:,}" if size else ""
            lines.append(f"a sample of {table.name}: {len(sample.rows[table.name]):,}{of} rows")
    lines += [f"foreign key inferred: {_say(each.table, each.key)} ({_evidence(each)})" for each in own.inferred]
    if own.inferred:
        lines.append("to change what is inferred: sqldojo inspect SOURCE --write, then edit the file that it writes")
    letters = sum(len(on_one_line(table.sql)) for table in tables)
    if letters > _LONG_SCHEMA:
        lines.append(
            f"the schema has {letters:,} characters, about {letters // 3:,} tokens: a prompt holds at most "
            "`agent.schema_characters` of it (params.yaml), what its question is about"
        )
    return lines + [f"left out: {each}" for each in own.left_out]


def description(own: OwnDatabase) -> list[str]:
    """The tables with their columns and some values of each, the foreign keys, and the summary."""
    lines = []
    inferred = {(each.table, each.key) for each in own.inferred}
    for table in own.schema.tables:
        lines.append(f"{table.name}: {len(own.sample.rows[table.name]):,} rows read")
        lines += [f"  {_column(table, place, own)}" for place in range(len(table.columns))]
        lines += [f"  {'inferred' if (table.name, key) in inferred else 'refers'}: {_say(table.name, key)}"
                  for key in table.foreign_keys]  # fmt: skip
    return [*lines, "", *summary(own)]


def write_keys(own: OwnDatabase, path: Path) -> None:
    """Replace the file of keys by one that lists what was inferred."""
    write_text(path, keys_text(own.added))


def _column(table: Table, place: int, own: OwnDatabase) -> str:
    column = table.columns[place]
    values = dict.fromkeys(row[place] for row in own.sample.rows[table.name] if row[place] is not None)
    shown = ", ".join(_value(value) for value in list(values)[:_SHOWN])
    key = ", primary key" if column.name in table.primary_key else ""
    return " ".join(part for part in (column.name, column.declared) if part) + key + (f": {shown}" if shown else "")


def _value(value: object) -> str:
    if isinstance(value, bytes):
        return f"{len(value):,} bytes"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def _say(table: str, key: ForeignKey) -> str:
    return f"{table}({', '.join(key.columns)}) -> {key.table}({', '.join(key.parent_columns)})"


def _evidence(inferred: InferredKey) -> str:
    return f"{inferred.values} different values agree" if inferred.values else "by its name: it holds no value"

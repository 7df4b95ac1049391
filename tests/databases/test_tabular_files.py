"""CSV and Parquet files as tables: types by all values, NULLs, dates, keys, and each kind of bad file."""

from contextlib import closing
from datetime import date, datetime, time
from decimal import Decimal

import apsw
import polars
import pytest

from sqldojo.databases.schema_model import quote
from sqldojo.databases.tabular_files import import_files, tabular_files
from sqldojo.errors import UserError


def key_of(table, columns):
    return "id" if "id" in columns else None


def write(path, text, encoding="utf-8"):
    path.write_text(text, encoding=encoding, newline="")
    return path


def tables(*files, folder=None):
    """The statements of the tables that files give, and their rows."""
    target = files[0].parent / "imported.sqlite"
    left_out = import_files(files, target, key_of=key_of, identifier=quote)
    with closing(apsw.Connection(str(target))) as connection:
        names = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall()
        rows = {name: connection.execute(f"SELECT * FROM {quote(name)}").fetchall() for name, _ in names}
    target.unlink()
    return {name: sql.partition("(")[2][:-1] for name, sql in names}, rows, left_out


def test_a_column_has_the_type_that_all_of_its_values_have(tmp_path):
    path = write(tmp_path / "people.csv", "id,age,weight,zip,phone,note\n1,30,70.5,01234,+47 1,\n2,,80,56789,+47 2,x\n")
    declared, rows, _ = tables(path)
    assert declared["people"] == (
        '"id" INTEGER PRIMARY KEY, "age" INTEGER, "weight" REAL, "zip" TEXT, "phone" TEXT, "note" TEXT'
    )
    assert rows["people"] == [(1, 30, 70.5, "01234", "+47 1", None), (2, None, 80.0, "56789", "+47 2", "x")]


def test_numbers_too_long_for_sqlite_stay_texts(tmp_path):
    path = write(tmp_path / "t.csv", "a,b\n12345678901234567890,1e3\n1,-.5\n")
    assert tables(path)[1]["t"] == [("12345678901234567890", 1000.0), ("1", -0.5)]


@pytest.mark.parametrize("null", ["", "NULL", "null", "\\N"])
def test_what_stands_for_nothing_is_null(tmp_path, null):
    path = write(tmp_path / "t.csv", f"a,b\n{null},x\n2,{null}\n")
    assert tables(path)[1]["t"] == [(None, "x"), (2, None)]


def test_a_type_is_decided_by_the_last_value_too(tmp_path):
    path = write(tmp_path / "t.csv", "a\n" + "1\n" * 3000 + "x\n")
    declared, rows, _ = tables(path)
    assert declared["t"] == '"a" TEXT' and rows["t"][-1] == ("x",) and rows["t"][0] == ("1",)


@pytest.mark.parametrize(
    ("values", "stored"),
    [
        (("2024-03-01", "2023-12-31"), ("2024-03-01", "2023-12-31")),
        (("01.03.2024", "31.12.2023"), ("2024-03-01", "2023-12-31")),
        (("2024/03/01", "2023/12/31"), ("2024-03-01", "2023-12-31")),
        (("01/03/2024", "31/12/2023"), ("2024-03-01", "2023-12-31")),
        (("03/01/2024", "12/31/2023"), ("2024-03-01", "2023-12-31")),
        (("03/01/2024", "02/12/2023"), ("03/01/2024", "02/12/2023")),  # either of two: nobody can tell
        (("01.03.2024", "soon"), ("01.03.2024", "soon")),
    ],
)
def test_dates_become_iso_texts_where_one_format_alone_reads_them(tmp_path, values, stored):
    path = write(tmp_path / "t.csv", "day\n" + "\n".join(values) + "\n")
    assert tables(path)[1]["t"] == [(each,) for each in stored]


@pytest.mark.parametrize(("name", "separator"), [("t.csv", ";"), ("t.csv", "|"), ("t.tsv", "\t"), ("t.csv", ",")])
def test_separators_quotes_and_unicode(tmp_path, name, separator):
    text = separator.join(("name", "größe")) + "\r\n" + separator.join(('"a, ""b"" | ; c\nd"', "ø")) + "\r\n"
    assert tables(write(tmp_path / name, text))[1]["t"] == [('a, "b" | ; c\nd', "ø")]


def test_a_byte_order_mark_and_blanks_are_no_part_of_a_name(tmp_path):
    declared, rows, _ = tables(write(tmp_path / "t.csv", "id, kind\n1,x\n", encoding="utf-8-sig"))
    assert declared["t"] == '"id" INTEGER PRIMARY KEY, "kind" TEXT' and rows["t"] == [(1, "x")]


@pytest.mark.parametrize("ids", ["1\n1\n", "1\nNULL\n", "x\nx\n"])
def test_values_that_are_no_key_are_none(tmp_path, ids):
    lines = "".join(f"{each},z\n" for each in ids.split())
    declared, rows, _ = tables(write(tmp_path / "t.csv", f"id,a\n{lines}"))
    assert "PRIMARY KEY" not in declared["t"] and len(rows["t"]) == 2


def test_a_header_alone_is_an_empty_table(tmp_path):
    declared, rows, _ = tables(write(tmp_path / "order items.csv", "id,a\n"))
    assert declared == {"order items": '"id" TEXT PRIMARY KEY, "a" TEXT'} and rows == {"order items": []}


def test_parquet_types(tmp_path):
    path = tmp_path / "things.parquet"
    polars.DataFrame(
        {
            "id": [1, 2], "price": [1.5, float("nan")], "exact": [Decimal("1.25"), None], "sold": [True, None],
            "day": [date(2024, 3, 1), None], "at": [datetime(2024, 3, 1, 12, 30, 5, 7), None],
            "clock": [time(1, 2, 3), None], "picture": [b"\0\xff", None], "tags": [["a"], []],
        }
    ).with_columns(kind=polars.Series(["x", "y"], dtype=polars.Categorical)).write_parquet(path)  # fmt: skip
    declared, rows, left_out = tables(path)
    assert declared["things"] == (
        '"id" INTEGER PRIMARY KEY, "price" REAL, "exact" REAL, "sold" INTEGER, "day" TEXT, "at" TEXT, "clock" TEXT, '
        '"picture" BLOB, "kind" TEXT'
    )
    assert rows["things"] == [
        (1, 1.5, 1.25, 1, "2024-03-01", "2024-03-01 12:30:05", "01:02:03", b"\0\xff", "x"),
        (2, None, None, None, None, None, None, None, "y"),
    ]
    assert left_out == ["column tags of things (its type is List(String))"]


def test_a_folder_gives_its_files_and_no_others(tmp_path):
    for name in ("b.csv", "a.parquet", "c.TSV", "readme.md", ".hidden"):
        (tmp_path / name).touch()
    (tmp_path / "d.csv").mkdir()
    assert [path.name for path in tabular_files(tmp_path)] == ["a.parquet", "b.csv", "c.TSV"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv", b"", "t.csv: begins with an empty line"),
        ("t.csv", b"a,b\n1,2,3\n", "t.csv: cannot be read as CSV in UTF-8 with a header"),
        ("t.csv", b"a\n\xe9\xe8\n", "t.csv: cannot be read as CSV in UTF-8"),
        ("t.csv", b"a,A\n1,2\n", "t.csv: no table can be made of it \\(duplicate column name: A\\)"),
        ("t.parquet", b"a,b\n1,2\n", "t.parquet: cannot be read as Parquet"),
        ("t.parquet", b"", "t.parquet: cannot be read as Parquet"),
    ],
)
def test_bad_files_are_named(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError, match=message):
        tables(tmp_path / name)


def test_two_files_of_one_name_are_told(tmp_path):
    write(tmp_path / "t.csv", "a\n1\n")
    write(tmp_path / "T.tsv", "a\n1\n")
    with pytest.raises(UserError, match=r"T\.tsv: t\.csv would be a table of the same name"):
        tables(tmp_path / "t.csv", tmp_path / "T.tsv")

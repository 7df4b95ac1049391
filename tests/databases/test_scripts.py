import subprocess
import sys

import apsw
import pytest
from source_tree import ROOT

from sqldojo.databases.scripts import build_from_script, comments_in, split_statements, without_comments
from sqldojo.errors import UserError


@pytest.mark.parametrize("statement", ["ATTACH '{}' AS other; CREATE TABLE other.y (a)", "VACUUM INTO '{}'"])
def test_a_script_writes_to_no_other_file(tmp_path, statement):
    other = tmp_path / "other.sqlite"
    with pytest.raises(UserError, match="writes to another file"):
        build_from_script(tmp_path / "a.sqlite", "CREATE TABLE x (a); " + statement.format(other))
    assert not other.exists()


def test_a_script_may_vacuum_its_own_file(tmp_path):
    build_from_script(tmp_path / "a.sqlite", "CREATE TABLE x (a); INSERT INTO x VALUES (7); VACUUM;")
    assert apsw.Connection(str(tmp_path / "a.sqlite")).execute("SELECT a FROM x").fetchall() == [(7,)]


def test_a_transaction_without_an_end_is_named_instead_of_losing_what_is_in_it(tmp_path):
    with pytest.raises(UserError, match=r"^the script begins a transaction that it never ends; add COMMIT$"):
        build_from_script(tmp_path / "a.sqlite", "BEGIN; CREATE TABLE x (a);")


def test_comments_alone_are_no_statement():
    script = "/* first */ SELECT 1 /* ; */; -- so\n/* and; */ -- so\n; SELECT 2;\n/* open to the end"
    assert split_statements(script) == ["/* first */ SELECT 1 /* ; */", "SELECT 2"]


def test_statements_after_one_that_gives_rows_run_too(tmp_path):
    script = "PRAGMA journal_mode = DELETE; CREATE TABLE x (a); SELECT 1 UNION SELECT 2; INSERT INTO x VALUES (7);"
    build_from_script(tmp_path / "a.sqlite", script)
    assert apsw.Connection(str(tmp_path / "a.sqlite")).execute("SELECT a FROM x").fetchall() == [(7,)]


def test_a_disk_that_cannot_be_written_is_not_the_scripts_fault(tmp_path):
    limited = (
        "import resource, signal, sys; from pathlib import Path\n"
        "from sqldojo.databases.scripts import build_from_script\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))\n"
        "try:\n    build_from_script(Path(sys.argv[1]), 'CREATE TABLE x (a)')\n"
        "except OSError as error:\n    print(error.filename, error.strerror)\n"
    )
    path = tmp_path / "a.sqlite"
    told = subprocess.run([sys.executable, "-c", limited, path], env={"PYTHONPATH": str(ROOT / "src")}, text=True,
                          capture_output=True, check=True)  # fmt: skip
    assert told.stdout == f"{path} Input/output error\n"


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("SELECT 1 -- x\nFROM t -- tail", "SELECT 1  \nFROM t"),
        ("/* a\n * b */SELECT/**/1", "SELECT 1"),
        ("SELECT '--a', 'it''s /* no */' FROM [-- t] -- c", "SELECT '--a', 'it''s /* no */' FROM [-- t]"),
        ('SELECT "--", `/*`, "a""--" /* open', 'SELECT "--", `/*`, "a""--"'),
        ("SELECT 'open -- ", "SELECT 'open --"),
        ("-- nothing", ""),
    ],
)
def test_comments_are_dropped_and_what_looks_like_one_in_a_text_stays(statement, expected):
    assert without_comments(statement) == expected


@pytest.mark.parametrize("letter", ["'", "[", '"', "--", "/*", "`["])
def test_dropping_comments_takes_one_pass(letter):
    assert len(without_comments(letter * 200_000)) <= 200_000 * len(letter)


def test_comments_are_found_without_their_marks_and_texts_are_none():
    statement = "CREATE TABLE t( -- the key\n a TEXT DEFAULT '-- no', /* a ' name */ \"/*b*/\" INT) /* open"
    assert comments_in(statement) == ["the key", "a ' name", "open"]

"""`sqldojo ask` as people meet it: tables, a conversation on a terminal or through a pipe, and exit codes."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import cpu_first  # noqa: F401
import pytest

# isort: split
from click.testing import CliRunner
from rich.console import Console
from scripted_replies import let_it_write, look, submit
from source_tree import ROOT
from sqlite_files import write_database
from tiny_policy import write_databases, write_model
from unfit_files import UNFIT, gzipped, held_by_another, without_privileges, write_unfit

from sqldojo import asking_session, asking_terminal, asking_view
from sqldojo.asking import Answer
from sqldojo.asking_view import cell, visible
from sqldojo.cli import main
from sqldojo.databases.execution import OK, QueryResult
from sqldojo.training.policy_model import load_policy_model

COUNT = "SELECT count(*) FROM people"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    write_model(folder)
    return folder


@pytest.fixture(autouse=True)
def loaded_once(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model of these tests is loaded once; every other one by the real function."""
    policy = load_policy_model(model) if not _LOADED else _LOADED[0]
    _LOADED.append(policy)
    load = asking_session.load_policy_model
    monkeypatch.setattr(
        asking_session,
        "load_policy_model",
        lambda folder, adapter, **more: policy if (folder, adapter) == (model, None) else load(folder, adapter, **more),
    )


_LOADED: list = []


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return write_databases(tmp_path)[0]


@pytest.fixture
def run(model: Path, monkeypatch: pytest.MonkeyPatch):
    """The command on the tiny model, which writes the given replies: exit code, standard output and error."""

    def run(*arguments: object, replies: tuple[list[str], ...] = (), typed: str | bytes = "") -> tuple[int, str, str]:
        if replies:
            let_it_write(monkeypatch, _LOADED[0], *replies)
        given = [str(each) for each in arguments]
        named = [] if "--model" in given else ["--model", str(model)]
        command = ["ask", *given, *named, "--params", str(ROOT / "params.yaml")]
        result = CliRunner().invoke(main, command, input=typed)
        return result.exit_code, result.stdout, result.stderr

    return run


def test_an_answer_is_a_table_and_its_way_is_told_apart(run, database: Path) -> None:
    sql = "SELECT name AS '[b]who', age, NULL AS n FROM people ORDER BY age DESC LIMIT 1"
    code, out, err = run(database, "Who?", replies=([look(COUNT), submit(sql)],))
    assert code == 0
    assert [line.split() for line in out.splitlines() if "Zoë" in line or "who" in line] == [
        ["┃", "[b]who", "┃", "age", "┃", "n", "┃"], ["│", "Zoë", "│", "41", "│", "NULL", "│"],
    ]  # fmt: skip
    assert err.splitlines() == [f"> {COUNT}", "count(*)", "3", sql]


def test_the_query_alone_or_all_of_it_as_json(run, database: Path) -> None:
    replies = ([submit(COUNT)],)
    assert run(database, "Who?", "--sql-only", replies=replies) == (0, f"{COUNT}\n", "")
    code, out, _ = run(database, "Who?", "--json", replies=replies)
    assert code == 0 and json.loads(out)["rows"] == [[3]] and json.loads(out)["question"] == "Who?"


def test_agreement_is_told_and_the_want_of_it_is_no_answer(run, database: Path) -> None:
    agreed = ([submit(COUNT)], [submit("SELECT 3")], [submit("SELECT 4")])
    code, out, err = run(database, "Who?", "--attempts", "3", replies=agreed)
    assert code == 0 and "3" in out and "2 of 3 attempts agree" in err
    code, out, err = run(database, "Who?", "--attempts", "3", "--agreement", "0.7", replies=agreed)
    assert (code, out) == (1, "") and err.startswith("no answer: only 2 of 3 attempts agree")


def test_a_query_that_fails_and_prose_are_no_answer(run, database: Path) -> None:
    code, out, err = run(database, "Who?", replies=([submit("SELECT height FROM people")],))
    assert (code, out) == (1, "") and err.splitlines()[-1] == "no answer: no such column: height"
    code, out, err = run(database, "Who?")
    assert (code, out) == (1, "") and err.splitlines()[-1].startswith("no answer: ")


WRONG_USES = ["--attempts 0", "--agreement 2", "--schema-tokens 0", "--json --sql-only", "--odd"]


@pytest.mark.parametrize("options", WRONG_USES)
def test_wrong_use_has_an_exit_code_of_its_own(run, database: Path, options: str) -> None:
    assert run(database, "Who?", *options.split())[0] == 2
    assert run(database, " ")[0] == 2


def test_piped_questions_and_commands(run, database: Path) -> None:
    typed = ".sql\n.tables\n\nHow many?\n.sql\n.schema PEOPLE\n.schema dogs\n.what\n.quit\nNever asked\n"
    code, out, err = run(database, "--sql-only", replies=([submit(COUNT)],), typed=typed)
    assert code == 0 and out.splitlines() == [
        "-- there is no answer yet", "people", COUNT, COUNT, "CREATE TABLE people (name TEXT, age INTEGER);",
        "there is no table dogs; .tables lists them",
    ]  # fmt: skip
    assert err == ".what: no such command; .help lists them\n"


def test_the_last_piped_question_decides_the_exit_code(run, database: Path) -> None:
    code, out, _ = run(database, "--json", replies=([submit("SELECT"), submit(COUNT)],), typed="Who?\n\nHow old?\n")
    assert [json.loads(line)["question"] for line in out.splitlines()] == ["Who?", "How old?"] and code == 1
    assert run(database, "--json", typed="")[:2] == (0, "")


def shown(columns: tuple[str, ...], rows: tuple, width: int | None, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """What is printed of an answer, and the notes, on a terminal of this width or through a pipe."""
    out, notes = io.StringIO(), io.StringIO()
    own = {"file": out, "force_terminal": width is not None, "width": width, "color_system": None}
    monkeypatch.setattr(asking_view, "Console", lambda **more: Console(**{**own, **more}))
    answer = Answer("Who?", "SELECT 1", QueryResult(OK, columns, rows), 1, 1, given=True)
    asking_view._show(answer, Console(file=notes, width=200))
    return out.getvalue(), notes.getvalue()


def test_what_is_too_wide_is_cut_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    names, row = tuple(f"column_{each}" for each in range(40)), tuple(range(40))
    out, notes = shown(names, (row,), 60, monkeypatch)
    assert "column_4" in out and "column_5" not in out and max(map(len, out.splitlines())) <= 60
    assert "the first 5 of 40 columns; --json prints all" in notes
    out, notes = shown(names, (row,), None, monkeypatch)
    assert "column_39" in out and "columns" not in notes
    out, notes = shown(("long", "a"), (("x" * 150, 1),), 40, monkeypatch)
    assert out.count("x") == 150 and max(map(len, out.splitlines())) <= 40 and "columns" not in notes


def test_long_results_are_cut_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    out, notes = shown(("a",), tuple((each,) for each in range(1_234)), None, monkeypatch)
    assert "49" in out and "50" not in out and "the first 50 of 1,234 rows; --json prints all" in notes
    assert shown(("a",), (), None, monkeypatch)[0] == "(no rows)\n"


def test_values_are_shown_as_they_are_and_steer_no_terminal() -> None:
    assert [cell(value) for value in (None, b"\0\xff", 1.5, "", "NULL", "a\nb\tc")] == [
        "NULL", "x'00ff'", "1.5", "", "NULL", "a\\nb\\tc"
    ]  # fmt: skip
    assert cell(bytes(2_048)).endswith("... (2,048 bytes)") and len(cell(bytes(2_048))) < 80
    assert cell("y" * 5_000).endswith("y... (5,000 characters)")
    assert visible("\x1b[31mred\x07\u202e\n山田 é") == "\\x1b[31mred\\x07\\u202e\n山田 é"
    assert cell("\x1b]0;title\x07") == "\\x1b]0;title\\x07"


@pytest.mark.parametrize("name", UNFIT)
def test_each_unfit_file_is_told_in_a_line_before_a_model_is_loaded(run, tmp_path: Path, name: str) -> None:
    path = tmp_path / "user.sqlite"
    said = write_unfit(name, path)
    code, out, err = run(path, "Who?", "--model", tmp_path / "none")
    (line,) = err.splitlines()
    assert (code, out) == (1, "") and line.startswith(f"Error: {path}: ") and said in line


def test_paths_that_are_no_database_are_told(run, tmp_path: Path) -> None:
    forbidden = write_database(tmp_path / "forbidden.sqlite", "CREATE TABLE t(a)")
    forbidden.chmod(0)
    bare = write_database(tmp_path / "bare.sqlite", "CREATE TABLE t(a); DROP TABLE t")
    locked = write_database(tmp_path / "locked.sqlite", "CREATE TABLE t(a)")
    scripts = {"half.sql": b"CREATE TABLE t(a); INSERT INTO u VALUES (1)", "half.sql.gz": gzipped("CREATE")[:-9]}
    for name, content in scripts.items():
        (tmp_path / name).write_bytes(content)
    with held_by_another(locked, "BEGIN EXCLUSIVE"):
        for path, said in [
            (tmp_path, "is a directory"),
            (tmp_path / "none", "no such file"),
            (bare, "there is no table in it"),
            (locked, "is locked by another program"),
            (tmp_path / "half.sql", "the script that builds the database fails"),
            (tmp_path / "half.sql.gz", "neither a SQLite database nor a SQL script"),
        ]:
            code, out, err = run(path, "Who?")
            assert (code, out) == (1, "") and err.startswith(f"Error: {path}") and said in err
            assert len(err.splitlines()) == 1
    with without_privileges():
        _, _, err = run(forbidden, "Who?")
    assert "permission denied" in err and len(err.splitlines()) == 1


def test_scripts_are_databases_too(run, tmp_path: Path) -> None:
    script = "-- people\nCREATE TEMP TABLE x(a);\nCREATE TABLE people(name); INSERT INTO people VALUES ('Ada'), ('Bo');"
    (tmp_path / "a.sql").write_text(script)
    (tmp_path / "a.sql.gz").write_bytes(gzipped(script))
    for name in ("a.sql", "a.sql.gz"):
        code, out, _ = run(tmp_path / name, "Who?", "--json", replies=([submit(COUNT)],))
        assert code == 0 and json.loads(out)["rows"] == [[2]]


def test_a_table_of_500_columns_is_asked_or_told(run, tmp_path: Path) -> None:
    columns = ", ".join(f'"a rather long name of column {each}" INTEGER' for each in range(500))
    path = write_database(tmp_path / "wide.sqlite", f"CREATE TABLE wide({columns}); INSERT INTO wide DEFAULT VALUES")
    sql = "SELECT count(*) FROM wide"
    code, out, _ = run(path, "Who?", "--json", "--schema-tokens", "600", replies=([submit(sql)],))
    assert code == 0 and json.loads(out)["rows"] == [[1]]
    code, out, err = run(path, "Who?", "--schema-tokens", "50")
    assert (code, out) == (1, "") and "more than 50 tokens" in err and len(err.splitlines()) == 1


def test_models_and_adapters_that_are_not_there_are_told(run, database: Path, model: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "adapter_config.json").write_text('{"lora_parameters": []}')
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "config.json").write_bytes((model / "config.json").read_bytes())
    for options, said in [
        (["--model", "smolm2"], "neither a folder nor one of"),
        (["--model", tmp_path / "empty"], "no config.json"),
        (["--model", tmp_path / "bare"], "a file of the model is missing"),
        (["--adapter", tmp_path / "none"], "there is no adapter; train one with `make repro`"),
        (["--adapter", tmp_path / "odd"], "is no adapter"),
        (["--adapter", tmp_path / "empty"], "is no adapter"),
    ]:
        code, out, err = run(database, "Who?", *options)
        assert (code, out) == (1, "") and said in err and len(err.splitlines()) == 1, err


def test_ctrl_c_stops_a_question_and_not_the_session(run, database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (asking_terminal, asking_view):
        monkeypatch.setattr(module, "typed_in", lambda: True)
    ask, interrupted = asking_session.ask, []

    def stopped_once(*given: object) -> Answer:
        if not interrupted:
            interrupted.append(True)
            raise KeyboardInterrupt
        return ask(*given)

    monkeypatch.setattr(asking_session, "ask", stopped_once)
    typed = b"Who?\nHow many?\nBad\xff?\n.sql\n"
    code, out, err = run(database, "--sql-only", replies=([submit(COUNT)],), typed=typed)
    assert (code, out) == (0, f"{COUNT}\n{COUNT}\n") and interrupted
    assert "\nstopped\n" in err and "Error: the question holds what is no Unicode text" in err
    assert err.count("? ") >= 5  # the prompts


def read_until(terminal: int, *wanted: str) -> None:
    """Read what a program writes to its terminal, until these texts have come, one behind the other."""
    seen, end = "", time.monotonic() + 60
    while not re.search(".*".join(map(re.escape, wanted)), seen, re.DOTALL):
        ready, _, _ = select.select([terminal], [], [], max(0, end - time.monotonic()))
        assert ready, f"waited for {wanted}, saw {seen!r}"
        seen += os.read(terminal, 4096).decode("utf-8", "replace")


def test_on_a_real_terminal(database: Path, model: Path) -> None:
    terminal, theirs = pty.openpty()
    code = "from sqldojo.cli import main; main()"
    command = [sys.executable, "-c", code, "ask", database, "--model", model, "--params", ROOT / "params.yaml"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "MKL_NUM_THREADS": "1", "TERM": "dumb"}
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    try:
        read_until(terminal, "? ")
        os.write(terminal, b"half a line")
        read_until(terminal, "half a line")
        process.send_signal(signal.SIGINT)
        read_until(terminal, "? ")
        os.write(terminal, b".tables\n")
        read_until(terminal, "\r\npeople\r\n? ")
        os.write(terminal, b"Who is it\n")
        read_until(terminal, "no answer: ", "? ")
        os.write(terminal, b"\x1b[A")  # up: the question comes back
        read_until(terminal, "Who is it")
        os.write(terminal, b"\x01\x0b\x04")  # to the line's beginning, delete it, Ctrl-D
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.wait()
        os.close(terminal)

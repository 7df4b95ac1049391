"""Tests that are code of others: what honest ones may do, and that hostile ones are contained."""

import os
import subprocess
import sys
import time

import pytest
from repair_records import CODE_TEST, RIGHT, SCHEMA, WRONG
from source_tree import ROOT
from sqlite_files import write_database

from sqldojo.databases.execution import Limits
from sqldojo.databases.private_copies import private_copy
from sqldojo.databases.sessions import session_folder
from sqldojo.repair import test_child
from sqldojo.repair.test_process import run_in_child
from sqldojo.repair.trial import DOES_NOT_RUN, FAILED, PASSED, Trial

HEAD = "def test_case(pred_sqls, sol_sqls, db_path, conn, conditions):\n"


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    return private_copy(write_database(tmp_path_factory.mktemp("books") / "books.sqlite", SCHEMA))


def outcome(copy, *tests, submission=(RIGHT,), seconds=10.0, reading_only=False):
    trial = Trial((), tuple(submission), (RIGHT,), tests, ordered=True, reading_only=reading_only)
    with session_folder() as folder:
        found = run_in_child(copy, folder, trial, Limits(), seconds)
        assert {path.name for path in folder.iterdir()} == {"database.sqlite", "result.json"}
    return found.outcome


def source(*lines, before=""):
    return before + HEAD + "".join(f"    {line}\n" for line in lines)


def test_a_test_with_an_import_is_run(copy):
    assert outcome(copy, CODE_TEST) == PASSED
    assert outcome(copy, CODE_TEST, submission=(WRONG,)) == FAILED


def test_honest_code_finds_what_it_is_promised(copy):
    """In one process, since each takes a while to start."""
    honest = [
        source("import re, json, math, datetime as dt", "assert dt.date(2024, 1, 2) < date.today()", "return 0"),
        source("from collections import Counter", "assert Counter(row[1] for row in pred_query_result)[1] == 1"),
        source("import datetime", "assert datetime.datetime.strptime('2024-03-04', '%Y-%m-%d').day == 4"),
        source("print('x' * 100)", "assert conditions == {'order': True} and len(pred_query_result) == 3"),
        source("assert conn.execute('SELECT COUNT(*) FROM item').fetchone() == (4,)"),
        source("cursor = conn.cursor()", "cursor.execute('SELECT name AS n FROM maker ORDER BY 1')",
               "assert cursor.description[0][0] == 'n'", "assert [name for name, in cursor] == ['Ada', 'Ben', 'Cleo']"),
        source("conn.execute('DELETE FROM item')", "conn.rollback()",
               "assert conn.execute('SELECT COUNT(*) FROM item').fetchall() == [(4,)]"),
        source("conn.execute('DELETE FROM item WHERE item_id = 4')", "conn.commit()", "conn.rollback()",
               "assert conn.execute('SELECT COUNT(*) FROM item').fetchone()[0] == 3"),
        source("import sqlite3", "try:", "    conn.execute('INSERT INTO maker VALUES (1, NULL)')",
               "except sqlite3.IntegrityError:", "    return 1", "assert False"),
        source("rows, same = perform_query_on_sqlite_databases('SELECT 7', db_path, conn)",
               "assert rows == [(7,)] and same is conn"),
        source("class Seen:", "    def __init__(self): self.count = 2", "assert Seen().count == 2"),
        source("x = 0", "while x < 3: x += 1", "assert x == 3"),
    ]  # fmt: skip
    assert outcome(copy, *honest) == PASSED


@pytest.mark.parametrize(
    "test",
    [
        source("assert False"),
        source("raise KeyError"),
        source("assert helper() == 1", before="def helper():\n    return 1\n"),
        source("while re.search('x', ''): pass", before="import re\n"),
        source("while False: datetime", "assert datetime"),
        "def test_case(pred_sqls, sol_sqls, db_path, conn):\n    import re\n",
        "def other():\n    import re\n",
        "def test_case(",
    ],
)
def test_what_fails_as_published_fails(copy, test):
    assert outcome(copy, test) == FAILED


def test_the_reference_is_read_only_for_queries(copy):
    deleting = source("import re", "conn.execute('DELETE FROM maker')")
    assert outcome(copy, deleting) == PASSED
    assert outcome(copy, deleting, reading_only=True) == FAILED


@pytest.mark.parametrize(
    "line",
    [
        "().__class__.__base__.__subclasses__()", "execute_queries.__globals__", "conn._session", "__builtins__",
        "g = (g.gi_frame.f_back for _ in [1])", "error.__traceback__.tb_frame", "x = lambda __class__: 1",
        "match conn:\n        case object(__class__=kind): pass",
    ],
)  # fmt: skip
def test_names_that_lead_out_are_refused(line):
    with pytest.raises(ValueError, match="may not name"):
        test_child.check(source(line))


def test_honest_names_are_not():
    test_child.check(source("class A:", "    def __init__(self, _x): self.x = _x", "_, y = 1, A(2).x"))


# Each is refused by one of the walls, or by the database's own.
HOSTILE = [
    "import os; os.system('touch {mark}')",
    "import socket; socket.create_connection(('127.0.0.1', 9))",
    "import sys; sys.exit(0)",
    "import apsw; apsw.Connection('{mark}').execute('CREATE TABLE t(a)')",
    "open('/etc/passwd', 'a').close()",
    "eval(\"open('{mark}', 'w')\")",
    "import json; json.codecs.open('{mark}', 'w')",
    "import re; re.enum.sys.modules['os'].system('touch {mark}')",
    "import re; assert not execute_queries(\"VACUUM INTO '{mark}'\", db_path, conn)[1]",
    "import re; x = bytearray(10_000_000_000)",
]


@pytest.mark.parametrize("line", HOSTILE)
def test_hostile_code_fails_and_leaves_no_trace(copy, tmp_path, line):
    users = "/etc/passwd"
    before = os.stat(users).st_mtime_ns
    assert outcome(copy, source(line.replace("{mark}", str(tmp_path / "mark")))) == FAILED
    assert not list(tmp_path.iterdir())
    assert os.stat(users).st_mtime_ns == before


def test_the_audit_hook_alone_refuses_what_has_effects(tmp_path):
    """As if code had got past the names that it may not use."""
    attempts = [
        "os.system('touch mark')", "os.fork()", "os.execv('/bin/sh', ['sh', '-c', 'touch mark'])", "open('mark', 'w')",
        "open('/etc/passwd')", "os.open('mark', os.O_CREAT | os.O_WRONLY)", "os.mkdir('mark')", "os.remove('kept')",
        "os.rename('kept', 'mark')", "os.kill(os.getppid(), 0)", "os.chmod('kept', 0)", "os.listdir('/')",
        "os.posix_spawn('/bin/sh', ['sh'], {})", "subprocess.run(['touch', 'mark'])", "shutil.rmtree('.')",
        "socket.socket()", "socket.getaddrinfo('localhost', 80)", "ctypes.CDLL(None)", "sqlite3.connect('mark')",
        "__import__('xml.dom.minidom')", "tempfile.mkstemp(dir='.')",
        "resource.setrlimit(resource.RLIMIT_CORE, (0, 0))",
    ]  # fmt: skip
    code = f"""
import ctypes, os, resource, shutil, socket, sqlite3, subprocess, sys, tempfile
from sqldojo.repair.test_child import guard_process
guard_process()
for attempt in {attempts!r}:
    try:
        eval(attempt)
    except PermissionError as error:
        assert "a test may not do this" in str(error), attempt
    else:
        print(attempt)
"""
    (tmp_path / "kept").touch()
    environment = {"PYTHONPATH": str(ROOT / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    process = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60
    )
    assert (process.stdout, process.stderr, process.returncode) == ("", "", 0)
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


@pytest.mark.parametrize("loop", ["while True: pass", "sum(range(10 ** 12))", "'a' in ('b' for _ in iter(int, 1))"])
def test_endless_code_is_killed(copy, monkeypatch, loop):
    monkeypatch.setattr("sqldojo.repair.test_process._START_SECONDS", 2.0)
    started = time.monotonic()
    assert outcome(copy, source("import re", loop), seconds=0.5) == DOES_NOT_RUN
    assert time.monotonic() - started < 10


def test_code_that_ends_its_process_has_not_passed(copy):
    assert outcome(copy, source("import re", "raise SystemExit")) == DOES_NOT_RUN
    assert outcome(copy, source("import re", "x = lambda: 0", "raise KeyboardInterrupt")) == DOES_NOT_RUN

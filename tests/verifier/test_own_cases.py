"""Verdicts that no SQL file can hold: NUL characters, surrogates, byte-order marks, queries of 100,000 characters.

Everything else is in tests/sql/grader_cases.sql, whose kinds are counted here. The reference is the right answer to
the submission as far as there is one, so a grader that lets the attack through would say `correct`.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from pathlib import Path

import pytest
from sqlite_files import write_database

from sqldojo.databases.execution import Limits
from sqldojo.verifier.grading import CORRECT, ERROR, REJECTED, WRONG, grade

CASES = Path(__file__).parents[1] / "sql" / "grader_cases.sql"
LIMITS = Limits(vm_steps=2_000_000)
SCRIPT = """
CREATE TABLE hut(id INTEGER PRIMARY KEY, name TEXT, beds INTEGER);
INSERT INTO hut VALUES (1, 'Alm', 8), (2, 'Bach', 8), (3, NULL, 20);
"""
# What SQLite can hold by default, however large, is a database that can be read.
LARGE = {
    "a table of 300 columns": f"CREATE TABLE wide({', '.join(f'c{number}' for number in range(300))});",
    "a view of 150 conditions": "CREATE TABLE t(a); CREATE VIEW v AS SELECT a FROM t WHERE "
    + " OR ".join(f"a = {number}" for number in range(150)),
    "a view of 100 queries": f"CREATE TABLE t(a); CREATE VIEW v AS {' UNION ALL '.join(['SELECT a FROM t'] * 100)}",
    "a value of 3 MB beside": "CREATE TABLE t(a, b); INSERT INTO t VALUES (zeroblob(3000000), 1);",
}
KINDS = {
    "bag": 8, "order": 4, "values": 40, "columns": 8, "empty": 7, "limit": 4, "clock": 30, "chance": 5, "engine": 12,
    "write": 18, "attach": 3, "pragma": 6, "explain": 2, "transaction": 3, "several": 7, "one": 7, "names": 2,
    "runtime": 14, "bomb": 12, "trap": 35, "equiv": 18, "four": 15,
}  # fmt: skip
NUMBERS = ", ".join(map(str, range(3, 15_000)))


def nested(opening: str, inside: str, closing: str, depth: int) -> str:
    return opening * depth + inside + closing * depth


def doubling(depth: int) -> str:
    """A chain of views in the query, each twice the one before: 2^depth copies of the table."""
    steps = ["c0 AS (SELECT id FROM hut)"]
    steps += [f"c{k} AS (SELECT id FROM c{k - 1} UNION ALL SELECT id FROM c{k - 1})" for k in range(1, depth + 1)]
    return f"WITH {', '.join(steps)} SELECT COUNT(*) FROM c{depth}"


GENERATED = [
    # title, verdict, reference, submission
    ("a NUL character at the end", ERROR, "SELECT id FROM hut", "SELECT id FROM hut\0"),
    ("a NUL character before a second statement", ERROR, "SELECT id FROM hut", "SELECT id FROM hut;\0DELETE FROM hut"),
    ("a NUL character in a text", ERROR, "SELECT 'Alm'", "SELECT 'Alm\0'"),
    ("nothing but a NUL character", ERROR, "SELECT id FROM hut WHERE 0", "\0"),
    ("nothing at all", ERROR, "SELECT id FROM hut WHERE 0", ""),
    ("nothing but blanks", ERROR, "SELECT id FROM hut WHERE 0", " \n\t \r\n"),
    ("a lone surrogate in a text", ERROR, "SELECT id FROM hut WHERE 0", "SELECT id FROM hut WHERE name = '\ud800'"),
    ("a lone surrogate in a comment", ERROR, "SELECT id FROM hut", "SELECT id FROM hut -- \udfff"),
    ("a lone surrogate made while running", ERROR, "SELECT id FROM hut WHERE 0", "SELECT char(55296)"),
    ("an undecodable text, used but not given back", CORRECT, "SELECT 'FFFE'", "SELECT hex(CAST(x'FFFE' AS TEXT))"),
    ("a byte-order mark first", CORRECT, "SELECT id FROM hut", "\ufeffSELECT id FROM hut"),
    ("a byte-order mark in the middle is part of a name", ERROR, "SELECT id FROM hut", "SELECT id\ufeff FROM hut"),
    ("a no-break space is no space", ERROR, "SELECT id FROM hut", "SELECT\u00a0id FROM hut"),
    ("line ends of all sorts", CORRECT, "SELECT id FROM hut", "SELECT id\r\n\fFROM\thut\r;\n"),
    ("an emoji and a right-to-left mark", CORRECT, "SELECT 3", 'SELECT COUNT(*) AS "\U0001f3d4\u200f" FROM hut'),
    ("600 queries in one UNION ALL", ERROR, "SELECT 1", " UNION ALL ".join(["SELECT 1"] * 600)),
    ("600 rows in one VALUES", CORRECT, f"SELECT value FROM json_each('[{', '.join(['7'] * 600)}]')",
     f"VALUES {', '.join(['(7)'] * 600)}"),
    ("60 queries in one UNION ALL", CORRECT, f"VALUES {', '.join(['(1)'] * 60)}",
     " UNION ALL ".join(["SELECT 1"] * 60)),
    ("3,000 columns", ERROR, "SELECT 1", f"SELECT {', '.join(['1'] * 3_000)}"),
    ("200 columns", CORRECT, f"SELECT {', '.join(['1'] * 200)}", f"SELECT {', '.join(['2 - 1'] * 200)}"),
    ("15,000 numbers in IN", CORRECT, "SELECT name FROM hut WHERE id = 3",
     f"SELECT name FROM hut WHERE id IN ({NUMBERS})"),
    ("200,000 characters", ERROR, "SELECT id FROM hut", f"SELECT id FROM hut -- {'x' * 200_000}"),
    ("150 conditions", CORRECT, "SELECT id FROM hut WHERE id IN (2, 3)",
     f"SELECT id FROM hut WHERE {' OR '.join(f'id = {number}' for number in range(2, 152))}"),
    ("1,200 negations", ERROR, "SELECT id FROM hut", f"SELECT id FROM hut WHERE {'NOT ' * 1_200}1"),
    ("500 brackets are no depth", CORRECT, "SELECT 1", f"SELECT {nested('(', '1', ')', 500)}"),
    ("1,200 functions in functions", ERROR, "SELECT 1", f"SELECT {nested('abs(', '1', ')', 1_200)}"),
    ("1,200 queries in queries", ERROR, "SELECT 1", f"SELECT {nested('(SELECT ', '1', ')', 1_200)}"),
    ("5,000 brackets", ERROR, "SELECT 1", f"SELECT {nested('(', '1', ')', 5_000)}"),
    ("thirty doublings", ERROR, "SELECT 1", doubling(30)),
    ("four doublings", CORRECT, "SELECT 48", doubling(4)),
    ("65 tables", ERROR, "SELECT 1", f"SELECT 1 FROM {', '.join(f'hut AS h{k}' for k in range(65))} LIMIT 1"),
    ("2,000 brackets of JSON", ERROR, "SELECT 1", f"SELECT json_array_length('{nested('[', '', ']', 2_000)}')"),
    ("a pattern of 2,000 wildcards", ERROR, "SELECT id FROM hut WHERE 0",
     f"SELECT id FROM hut WHERE name LIKE '{'%_' * 2_000}'"),
    ("300 semicolons and comments after the query", CORRECT, "SELECT id FROM hut",
     f"SELECT id FROM hut{'; /* ; */' * 300}"),
    ("a second query after 300 empty statements", REJECTED, "SELECT id FROM hut",
     f"SELECT id FROM hut; -- ;\n{';' * 300} SELECT id FROM hut"),
    ("a write after 50,000 blanks", REJECTED, "SELECT id FROM hut",
     f"SELECT id FROM hut;{' ' * 50_000}DELETE FROM hut"),
    ("a clock after 90,000 characters of comment", REJECTED, "SELECT id FROM hut",
     f"SELECT id FROM hut /* {'x' * 90_000} */ WHERE date('now') > ''"),
    ("a huge integer literal turns real", WRONG, "SELECT 9223372036854775807", f"SELECT {'9' * 19}"),
    ("400 digits are infinity", CORRECT, "SELECT 9e999", f"SELECT {'9' * 400}"),
    ("forty digits of a real", CORRECT, "SELECT 1.0 / 3", f"SELECT 0.{'3' * 40}"),
]  # fmt: skip


@pytest.fixture(scope="module")
def huts(tmp_path_factory):
    return [write_database(tmp_path_factory.mktemp("huts") / "huts.sqlite", SCRIPT)]


@pytest.mark.parametrize(("verdict", "reference", "submission"), [case[1:] for case in GENERATED],
                         ids=[case[0] for case in GENERATED])  # fmt: skip
def test_verdict(verdict, reference, submission, huts):
    started = time.monotonic()
    found = grade(reference, submission, huts, LIMITS)
    assert found.verdict == verdict, found.reason
    assert time.monotonic() - started < 5
    assert grade("SELECT COUNT(*) FROM hut", "SELECT 3", huts, LIMITS).verdict == CORRECT  # the next is unaffected


@pytest.mark.parametrize("script", LARGE.values(), ids=LARGE)
def test_a_large_schema_can_be_read(script, tmp_path):
    path = write_database(tmp_path / "large.sqlite", f"{script}; CREATE TABLE small(a); INSERT INTO small VALUES (5);")
    assert grade("SELECT 5", "SELECT a FROM small", [path], LIMITS).verdict == CORRECT


def test_one_long_instruction_per_row_ends_near_the_deadline(huts):
    """TRIM compares each character with each of the set, and no progress handler runs meanwhile: 1.2 s a row."""
    submission = (
        "SELECT COUNT(trim(h.id || g.id || printf('%.*c', 99000, 'a'), printf('%.*c', 8000, 'b') || 'a')) "
        "FROM hut h, hut g, hut f"
    )
    started = time.monotonic()
    verdict = grade("SELECT 27", submission, huts, Limits(seconds=0.5))
    assert verdict.verdict == ERROR
    assert time.monotonic() - started < 6


@pytest.mark.parametrize(
    ("verdict", "reference", "submission"),
    [
        (CORRECT, "SELECT id FROM hut ORDER BY id", "SELECT id FROM hut ORDER BY beds, id"),
        (WRONG, "SELECT id FROM hut ORDER BY id", "SELECT id FROM hut ORDER BY id DESC"),
        (WRONG, "SELECT id, beds FROM hut ORDER BY beds DESC, id", "SELECT id, beds FROM hut ORDER BY id DESC"),
        (CORRECT, "SELECT name FROM hut ORDER BY name", "SELECT name FROM hut ORDER BY name IS NOT NULL, name"),
        (WRONG, "SELECT name FROM hut ORDER BY name", "SELECT name FROM hut ORDER BY name NULLS LAST"),
        (WRONG, "SELECT beds FROM hut ORDER BY beds", "SELECT DISTINCT beds FROM hut ORDER BY beds"),
    ],
)
def test_order_counts_where_it_is_declared(verdict, reference, submission, huts):
    assert grade(reference, submission, huts, LIMITS, ordered=True).verdict == verdict
    if verdict == CORRECT:
        assert grade(reference, submission, huts, LIMITS).verdict == CORRECT


def test_the_file_of_cases_has_every_kind():
    kinds = Counter(re.findall(r"^-- title: ([a-z]+): \S", CASES.read_text(encoding="utf-8"), re.MULTILINE))
    assert kinds.keys() == KINDS.keys()
    assert {kind: least for kind, least in KINDS.items() if kinds[kind] < least} == {}
    assert kinds.total() >= 250


def test_no_case_wrote_a_file():
    assert not Path("must-not-exist.sqlite").exists()

"""A few repair tasks on a tiny bookshop, for the tests of whoever plays them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from sqlite_files import write_database

from sqldojo.agent.episode import AgentParams
from sqldojo.agent.tool_format import ToolFormat, plain_format
from sqldojo.databases.execution import Limits
from sqldojo.repair.attempt import RepairAttempt, repair_attempt_maker
from sqldojo.repair.judging import Judge
from sqldojo.repair.task import QUERY, TRAIN, Hidden, RepairTask
from sqldojo.repair.tools import REPAIR_TOOLS

CANARY = "the tests are nobody's business"
TEST = f'''def test_case(pred_sqls, sol_sqls, db_path, conn, conditions):
    assert ex_base(pred_sqls, sol_sqls, db_path, conn, conditions) == 1, "{CANARY}"
    return 1
'''
SCRIPT = """
CREATE TABLE author (author_id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE book (book_id INTEGER PRIMARY KEY, title TEXT, author_id INTEGER REFERENCES author(author_id), price REAL);
INSERT INTO author VALUES (1, 'Ada'), (2, 'Bo'), (3, 'Cy');
INSERT INTO book VALUES (1, 'Dust', 1, 9.5), (2, 'Sea', 1, 12.0), (3, 'Fog', 3, 7.25);
"""
AGENT = AgentParams(turns=8, tokens_per_turn=200, tokens_per_episode=2000, preview_rows=5)
PLAIN = plain_format(REPAIR_TOOLS)


def task(number: int, kind: str, issue: str, sql: str, setup: tuple[str, ...] = ()) -> RepairTask:
    """A training task of category Query with one buggy statement."""
    return RepairTask(f"books-{number}", "books", TRAIN, kind, f"type-{number}", QUERY, issue, (sql,), setup)


JOIN = task(1, "join", "Count the books of each author. Authors without any are missing.",
            "SELECT name, COUNT(book_id)\nFROM author JOIN book USING (author_id)\nGROUP BY name")  # fmt: skip
NAME = task(2, "name", "I want the price of each title and get: no such column: cost", "SELECT title, cost FROM book")
SETUP = task(3, "aggregate", "Which books got more than 10 copies? I get: misuse of aggregate: SUM()",
             "SELECT book_id FROM restock WHERE SUM(copies) > 10 GROUP BY book_id",
             ("CREATE TEMP TABLE restock (book_id INTEGER, copies INTEGER)",
              "INSERT INTO restock VALUES (1, 4), (1, 9), (2, 10), (3, 25)"))  # fmt: skip
TASKS = (JOIN, NAME, SETUP)
SOLUTIONS = {
    # in another layout than the user's, as references of data sets are
    JOIN.id: "select name, count(book_id) from author left join book using (author_id) group by name",
    NAME.id: "SELECT title, price FROM book",
    SETUP.id: "SELECT book_id FROM restock GROUP BY book_id HAVING SUM(copies) > 10;",
}
HIDDEN = {name: Hidden(name, (sql,), (TEST,)) for name, sql in SOLUTIONS.items()}


def write_books(root: Path) -> Path:
    """The folder of databases below `root`, with the bookshop in it."""
    write_database(root / "database/books/books_template.sqlite", SCRIPT)
    return root / "database"


def make_attempts(
    databases: Path,
    *,
    agent: AgentParams = AGENT,
    tool_format: ToolFormat = PLAIN,
    hidden: Mapping[str, Hidden] = HIDDEN,
) -> Callable[[RepairTask, int], RepairAttempt]:
    """A function from task and number to a fresh attempt."""
    limits = Limits(seconds=5)
    return repair_attempt_maker(databases, hidden, Judge(databases, limits), tool_format, agent, limits)


def say(attempt: RepairAttempt, name: str, argument: str = "") -> str | None:
    """What a call in the plain format leads to."""
    return attempt.reply(f"<{name}>{argument}</{name}>")

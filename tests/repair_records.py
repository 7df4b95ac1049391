"""A folder laid out like the published data set of repair tasks, with records of our own on four tiny databases."""

from __future__ import annotations

import json
from pathlib import Path

from sqlite_files import write_database

from sqldojo.repair.task import Hidden, RepairTask

SCHEMA = """
CREATE TABLE maker(maker_id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE item(item_id INTEGER PRIMARY KEY, maker_id INTEGER REFERENCES maker, title TEXT, price REAL);
INSERT INTO maker VALUES (1, 'Ada'), (2, 'Ben'), (3, 'Cleo');
INSERT INTO item VALUES (1, 1, 'Lamp', 10.0), (2, 1, 'Desk', 20.0), (3, 2, 'Chair', 20.0), (4, NULL, 'Rug', 5.5);
"""
NAMES = ("books", "chinook", "movie_3", "netflix")

PLAIN_TEST = """def test_case(pred_sqls, sol_sqls, db_path, conn, conditions):
    pred_sqls = remove_distinct(pred_sqls)
    sol_sqls = remove_distinct(sol_sqls)
    result = ex_base(pred_sqls, sol_sqls, db_path, conn, conditions)
    assert result == 1, f"differs: {result}"
    return result
"""
CODE_TEST = """import re
def test_case(pred_sqls, sol_sqls, db_path, conn, conditions):
    import re
    assert ex_base(pred_sqls, sol_sqls, db_path, conn, conditions) == 1
    assert re.search("left", pred_sqls[0], re.IGNORECASE)
"""
RIGHT = "SELECT m.name, COUNT(i.item_id) AS items FROM maker m LEFT JOIN item i USING (maker_id) GROUP BY m.maker_id"
WRONG = RIGHT.replace("LEFT JOIN", "JOIN")
ISSUE = "How many items has each maker made? Makers without any are missing from my list."


def write_template(root: Path, db_id: str, script: str = SCHEMA) -> Path:
    """The database of that name below `root`, as the data set lays it out."""
    return write_database(root / db_id / f"{db_id}_template.sqlite", script)


def record(id: str, db_id: str, /, **changes: object) -> dict[str, object]:
    """A sound record of the data set, with some keys changed, and those left out whose value is Ellipsis."""
    keys = {
        "instance_id": id, "db_id": db_id, "dialect": "SQLite", "version": "3", "category": "Query",
        "query": f"{ISSUE} ({id})", "issue_sql": [f"{WRONG} -- {id}"], "preprocess_sql": [], "clean_up_sql": [],
        "sol_sql": [f"{RIGHT} -- {id}"], "test_cases": [PLAIN_TEST], **changes,
    }  # fmt: skip
    return {key: value for key, value in keys.items() if value is not ...}


def write_folder(folder: Path, records: list[dict[str, object]]) -> Path:
    """The folder with these records and the four databases."""
    for name in NAMES:
        write_template(folder / "database", name)
    lines = "".join(json.dumps(keys) + "\n" for keys in records)
    (folder / "train.jsonl").write_text(lines, encoding="utf-8")
    return folder


def task_and_hidden(
    *,
    category: str = "Query",
    issue_sql: tuple[str, ...] = (WRONG,),
    setup: tuple[str, ...] = (),
    sol_sql: tuple[str, ...] = (RIGHT,),
    tests: tuple[str, ...] = (PLAIN_TEST,),
    ordered: bool = False,
) -> tuple[RepairTask, Hidden]:
    """One task on the database `books`, and its hidden half."""
    task = RepairTask("T1", "books", "", category, "T1", category, ISSUE, issue_sql, setup)
    return task, Hidden("T1", sol_sql, tests, ordered)

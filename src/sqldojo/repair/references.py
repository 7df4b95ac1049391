"""References that repair tasks are made of: a question in words with a right query, over one of the databases."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RepairReference:
    """A question that may be asked of the database `db_id`, and its answer in SQL.

    `sql` gives one result on each of the database's four instances, by whatever plan. `type` names the question type,
    which no two databases share. `ordered` says that `text` asks for an order of the rows. `difficulty` goes from 1
    (one table, one condition) to 4 (several steps). Files of references are read and written by `files`.
    """

    id: str
    type: str
    db_id: str
    text: str
    sql: str
    ordered: bool
    difficulty: int

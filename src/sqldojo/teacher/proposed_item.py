"""One proposed question type as a model wrote it in JSON: what is wrong with its form, and the record it becomes.

Only the form is judged here; whether the type is any good is for the review, as for everybody's.
"""

from __future__ import annotations

from collections.abc import Mapping
from string import Formatter
from typing import Any

import sqlglot
from sqlglot import exp

from sqldojo.records import TRAIN, QuestionType


def broken_because(item: Mapping[str, Any], pools: Mapping[str, str]) -> str | None:
    """Why the item is no question type, or None; `pools` are the queries of known parameters."""
    phrasings, sql, parameters = item.get("phrasings"), item.get("sql"), item.get("parameters", {})
    if not isinstance(sql, str) or not sql.strip():
        return "`sql` is no text"
    if not isinstance(phrasings, list) or not phrasings or not all(isinstance(each, str) for each in phrasings):
        return "`phrasings` is no list of texts"
    if not isinstance(parameters, dict) or not all(isinstance(each, str) for each in parameters.values()):
        return "`parameters` does not map names to texts"
    for phrasing in phrasings:
        try:
            fields = [field for field in Formatter().parse(phrasing) if field[1] is not None]
        except ValueError as error:
            return f"a phrasing has stray braces ({error})"
        named = {name for _, name, _, _ in fields}
        if named != set(parameters) or any(spec or conversion for _, _, spec, conversion in fields):
            return f"the parameters of a phrasing are not those of `parameters`: {phrasing}"
    columns = {_pool_column(sql): name for name, sql in sorted(pools.items())}
    for name, pool in parameters.items():
        if name not in pools:
            if not name.isidentifier():
                return f"the parameter {name!r} is no name"
            column = _pool_column(pool)
            if column is None:
                return f"the new parameter {name} does not list one column of one table"
            if column in columns:  # its values would be trained under one name and held out under the other
                return f"the new parameter {name} lists what the known parameter {columns[column]} lists"
    return None


def read_item(item: Mapping[str, Any], identifier: str, model: str, pools: Mapping[str, str]) -> QuestionType:
    """The record of an item that is not broken; a known parameter keeps its query, whatever the model wrote."""
    return QuestionType(
        id=identifier,
        split=TRAIN,
        phrasings=tuple(dict.fromkeys(item["phrasings"])),
        sql=item["sql"].strip().removesuffix(";").rstrip(),
        parameters={name: pools.get(name, sql) for name, sql in item.get("parameters", {}).items()},
        ordered=item.get("ordered") is True,
        proposer=model,
    )


def _pool_column(sql: str) -> tuple[str, str] | None:
    """Table and column that a pool lists, in lower case; None for one that lists anything else."""
    try:
        tree = sqlglot.parse_one(sql, read="sqlite")
    except (sqlglot.errors.SqlglotError, RecursionError):
        return None
    if not isinstance(tree, exp.Select) or len(tree.expressions) != 1 or tree.args.get("joins"):
        return None
    column, source = tree.expressions[0].unalias(), tree.find(exp.From)
    if not isinstance(column, exp.Column) or source is None or not isinstance(source.this, exp.Table):
        return None
    return source.this.name.lower(), column.name.lower()

"""The views that a query reads, written into it, so that what they leave open can be seen there.

A CTE hides a view of the same name, so the query itself stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from sqldojo.databases.schema_model import fold


def with_views(query: exp.Query, views: Sequence[str]) -> exp.Query:
    """The query with a CTE for each view that it reads, itself or through another view.

    `views` are CREATE VIEW statements. What sqlglot cannot read stays a view.
    """
    if not views:
        return query
    definitions = _definitions(views)
    needed: dict[str, exp.CTE] = {}
    own = {fold(cte.alias) for cte in query.find_all(exp.CTE)}
    waiting: list[exp.Expression] = [query]
    while waiting:
        for table in waiting.pop().find_all(exp.Table):
            name = fold(table.name)
            if name in definitions and name not in needed and name not in own:
                needed[name] = definitions[name]
                waiting.append(definitions[name])
    if not needed:
        return query
    query = query.copy()
    clause = query.args.get("with_") or exp.With(expressions=[])
    clause.set("expressions", [*reversed(needed.values()), *clause.expressions])
    query.set("with_", clause)
    return query


def _definitions(views: Sequence[str]) -> dict[str, exp.CTE]:
    definitions = {}
    for view in views:
        try:
            tree = sqlglot.parse_one(view, read="sqlite")
        except SqlglotError:
            continue
        if isinstance(tree, exp.Create) and isinstance(tree.expression, exp.Query):
            named = tree.this
            table, columns = (named.this, named.expressions) if isinstance(named, exp.Schema) else (named, [])
            alias = exp.TableAlias(
                this=table.this.copy(), columns=[exp.to_identifier(each.name, quoted=True) for each in columns]
            )
            definitions[fold(table.name)] = exp.CTE(this=tree.expression.copy(), alias=alias)
    return definitions

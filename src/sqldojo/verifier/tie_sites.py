"""The places of a query at which SQL leaves to the engine which rows come first, as tie_probes.py explains."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from sqlglot import exp

from sqldojo.databases.schema_model import quote
from sqldojo.verifier.tie_settling import UP, Site, settled, standing_alone, text

ColumnNames = Callable[[str], Sequence[str]]  # a query -> the names of its columns, none when it does not run alone

_NUMBERED = (exp.RowNumber, exp.Ntile, exp.Lag, exp.Lead)


def sites_of(tree: exp.Query, column_names: ColumnNames, *, ordered: bool) -> list[Site]:
    """Every site of a query; the query itself is one without a LIMIT too where the order of its result counts."""
    found: list[Site | None] = []
    for number, node in enumerate(tree.walk()):
        if isinstance(node, exp.Query):
            found.append(_query_site(number, node, column_names, ordered))
        elif isinstance(node, exp.Window):
            found.append(_window_site(number, node, column_names))
    return [site for site in found if site is not None]


def _query_site(number: int, query: exp.Query, column_names: ColumnNames, ordered: bool) -> Site | None:
    use = _use(query)
    if use is None or isinstance(query, exp.Subquery) or _is_one_row(query):
        return None
    limit, order = query.args.get("limit"), query.args.get("order")
    shown = f"`{_shorten(text(query))}`"
    if use == "top" and ordered:
        complaint = (
            f"the order of the result counts, and {shown} leaves it open"
            + (" between rows that are equal in its ORDER BY" if order else "")
            + ": end the ORDER BY with a unique column"
        )
    elif limit and order:
        complaint = (
            f"the LIMIT of {shown} cuts through rows that are equal in its ORDER BY, so which of them are in the "
            "answer is left to SQLite: add a unique column to that ORDER BY, or return all tied rows by comparing "
            "with the MAX or MIN"
        )
    elif limit:
        complaint = (
            f"the LIMIT of {shown} takes any rows, since it has no ORDER BY beside it: add one that ends in a unique "
            "column"
        )
    elif use == "value":
        complaint = (
            f"{shown} gives several rows where one value is needed, and SQLite takes the first it meets: "
            "aggregate it, narrow it to one row, or use IN"
        )
    elif use == "source":
        complaint = (
            f"the answer depends on the order in which {shown} hands on its rows, by a bare column beside MAX or MIN, "
            "a list of values or a LIMIT further out: pick the row by its value and order where the rows are used"
        )
    else:
        return None
    shows_star = not isinstance(query, exp.Select) or any(each.is_star for each in query.expressions)
    values = () if shows_star else tuple(text(each.unalias()) for each in query.expressions)
    width = len(values) or _width(query, column_names)
    keys = tuple(str(place) for place in range(1, width + 1))
    return Site(number, keys, values, complaint) if keys else None


def _use(query: exp.Query) -> str | None:
    """What a query is for: `top`, `source` (of rows), `value`, `set`; None where the order of its rows is nothing."""
    node: exp.Expression = query
    while isinstance(node.parent, exp.Subquery | exp.Paren):
        node = node.parent
    parent = node.parent
    if parent is None:
        return "top"
    if isinstance(parent, exp.SetOperation | exp.Exists):
        return None
    if isinstance(parent, exp.CTE):
        named = {table.name.lower() for table in query.find_all(exp.Table)}
        # ORDER BY and LIMIT in a recursive CTE steer the recursion.
        return None if parent.alias.lower() in named else "source"
    if isinstance(parent, exp.From | exp.Join):
        return "source"
    return "set" if isinstance(parent, exp.In) and parent.args.get("query") is node else "value"


def _is_one_row(query: exp.Query) -> bool:
    """Whether a query surely gives one row: it aggregates without groups."""
    return (
        isinstance(query, exp.Select)
        and not query.args.get("group")
        and any(
            # In SQLite MAX and MIN of several arguments are no aggregates.
            node.parent_select is query and not node.find_ancestor(exp.Window) and not node.args.get("expressions")
            for expression in query.expressions
            for node in expression.find_all(exp.Count, exp.Sum, exp.Avg, exp.Max, exp.Min)
        )
    )


def _width(query: exp.Query, column_names: ColumnNames) -> int:
    """The number of columns of a query with a star or UNION, 0 when unknown: one that does not run alone."""
    return len(column_names(standing_alone(query.copy(), query)))


def _window_site(number: int, window: exp.Window, column_names: ColumnNames) -> Site | None:
    select, spec = window.parent_select, window.args.get("spec")
    function = window.this.this if isinstance(window.this, exp.Filter) else window.this
    by_rows = spec is not None and spec.args.get("kind") == "ROWS"
    if select is None or not isinstance(function, exp.Expression) or not (
        by_rows or isinstance(function, _NUMBERED) or (spec is None and isinstance(function, exp.FirstValue))
    ):  # fmt: skip
        return None
    # The first that SQLite takes: a name in GROUP BY may be an alias, and a source may have no name or odd columns.
    for keys in _tie_breakers(select, column_names):
        site = Site(
            number,
            keys,
            keys,
            f"`{_shorten(text(window))}` depends on the order of rows that are equal in its ORDER BY: "
            "end that ORDER BY with a unique column, or use RANK where ties should share a place",
        )
        if keys and column_names(settled(_root(window), [site], UP)):
            return site
    return None


def _tie_breakers(select: exp.Select, column_names: ColumnNames) -> Iterator[tuple[str, ...]]:
    """Ways to name what tells the rows of a SELECT apart: its groups, else all columns of all its sources."""
    group = select.args.get("group")
    if group:
        plain = [
            select.expressions[int(key.name) - 1].unalias() if key.is_int else key  # GROUP BY 1
            for key in group.expressions
        ]
        yield tuple(map(text, plain))
        aliased = {each.alias.lower(): each.this for each in select.expressions if isinstance(each, exp.Alias)}
        yield tuple(
            text(aliased.get(key.name.lower(), key) if isinstance(key, exp.Column) and not key.table else key)
            for key in plain
        )
        return
    keys: list[str] = []
    for clause in (select.args.get("from_"), *(select.args.get("joins") or ())):
        if clause is not None:
            source = clause.this.copy()
            prefix = f"{quote(source.alias_or_name)}." if source.alias_or_name else ""
            names = column_names(standing_alone(exp.select("*").from_(source), select))
            keys += (prefix + quote(name) for name in names)
    yield tuple(keys)


def _root(node: exp.Expression) -> exp.Expression:
    while node.parent is not None:
        node = node.parent
    return node


def _shorten(sql: str) -> str:
    return sql if len(sql) <= 120 else f"{sql[:80]} ... {sql[-35:]}"

"""Rewrites of conditions that hold a subquery: EXISTS, IN, LEFT JOIN ... IS NULL, and the row with the highest value.

All start from a query whose columns name their tables, so that nothing changes its meaning when it moves. Each rule
looks at the conjuncts of WHERE: there NULL is as good as false, and what is moved is tested once for each row.
A pair of columns that a reference compares is taken to have one collation, as it has wherever none is declared.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from sqldojo.verifier.equivalent_predicates import is_plain_select
from sqldojo.verifier.equivalent_queries import QueryRule
from sqldojo.verifier.qualified_names import (
    TableColumns,
    all_names,
    fresh,
    own_nodes,
    qualified,
    sources,
    with_query_columns,
)


def in_as_exists(tree: exp.Expression, columns: TableColumns) -> Iterator[exp.Expression]:
    """x IN (SELECT y ...) is true where a row has x = y, and IN compares as = does."""
    for _, condition in _conditions(tree, exp.In):
        found = condition.args.get("query")
        inner = found.unnest() if found is not None else None
        if inner is None or not _may_be_filtered(inner) or not _may_move_into(condition.this, inner):
            continue
        equal = exp.EQ(this=condition.this.copy(), expression=inner.expressions[0].unalias().copy())
        condition.replace(exp.Exists(this=_asking(inner, equal)))
        yield tree
        return


def not_in_as_not_exists(tree: exp.Expression, columns: TableColumns) -> Iterator[exp.Expression]:
    """x NOT IN (SELECT y ...) is true where x = y is false for every row: neither true nor NULL."""
    for _, condition in _conditions(tree, exp.Not):
        inside = condition.this.unnest()
        found = inside.args.get("query") if isinstance(inside, exp.In) else None
        inner = found.unnest() if found is not None else None
        if inner is None or not _may_be_filtered(inner) or not _may_move_into(inside.this, inner):
            continue
        x, y = inside.this, inner.expressions[0].unalias()
        blocking = exp.or_(exp.EQ(this=x.copy(), expression=y.copy()), _is_null(x), _is_null(y))
        condition.replace(exp.Not(this=exp.Exists(this=_asking(inner, exp.Paren(this=blocking)))))
        yield tree
        return


def exists_as_in(tree: exp.Expression, columns: TableColumns) -> Iterator[exp.Expression]:
    """The same theorem as IN as EXISTS, read the other way, for a condition `inner column = outer column`."""
    for _, condition in _conditions(tree, exp.Exists):
        link = _link(condition.this)
        if link is not None:
            outer, inner_column, rest = link
            query = _selecting(condition.this, inner_column, rest)
            condition.replace(exp.In(this=outer, query=exp.Subquery(this=query)))
            yield tree
            return


def not_exists_as_not_in(tree: exp.Expression, columns: TableColumns) -> Iterator[exp.Expression]:
    """Without NULLs on either side NOT IN is the negation of IN; an outer NULL equals no row, so it passes."""
    for _, condition in _conditions(tree, exp.Not):
        exists = condition.this.unnest()
        link = _link(exists.this) if isinstance(exists, exp.Exists) else None
        if link is not None:
            outer, inner_column, rest = link
            query = _selecting(exists.this, inner_column, [*rest, exp.Not(this=_is_null(inner_column))])
            not_in = exp.Not(this=exp.In(this=outer.copy(), query=exp.Subquery(this=query)))
            condition.replace(exp.Paren(this=exp.or_(_is_null(outer), not_in)))
            yield tree
            return


def not_exists_as_left_join(tree: exp.Expression, columns: TableColumns) -> Iterator[exp.Expression]:
    """A row without a partner comes once, with NULL for the column that a partner would have equal, so not NULL."""
    known = with_query_columns(tree, columns)
    for select, condition in _conditions(tree, exp.Not):
        exists = condition.this.unnest()
        link = _link(exists.this) if isinstance(exists, exp.Exists) else None
        if link is None or select.is_star or any(column.table == "" for column in own_nodes(select, exp.Column)):
            continue
        inner = exists.this
        (table,) = sources(inner)
        taken = {
            source.alias_or_name.lower()
            for each in tree.find_all(exp.Select)
            if each is not inner
            for source in sources(each)
        }
        if not isinstance(table, exp.Table) or table.alias_or_name.lower() in taken or table.name.lower() not in known:
            continue
        _, inner_column, _ = link
        condition.replace(_is_null(inner_column))
        select.append("joins", exp.Join(this=table.copy(), side="LEFT", on=inner.args["where"].this.copy()))
        yield tree
        return


def left_join_as_not_exists(tree: exp.Expression, columns: TableColumns) -> Iterator[exp.Expression]:
    """The same theorem, the other way: the joined table serves only to see that it has no partner."""
    for select, condition in _conditions(tree, exp.Is):
        joins = select.args.get("joins") or []
        last = joins[-1] if joins else None
        column = condition.this
        if last is None or not isinstance(column, exp.Column) or not isinstance(condition.expression, exp.Null):
            continue
        if last.side != "LEFT" or last.args.get("on") is None or not isinstance(last.this, exp.Table):
            continue
        name = last.this.alias_or_name.lower()
        used = [each for each in select.find_all(exp.Column) if each.table.lower() in (name, "") and each is not column]
        on = last.args["on"]
        equal = any(isinstance(each, exp.EQ) and column in (each.left, each.right) for each in _parts(on))
        if not equal or select.is_star or any(each.find_ancestor(exp.Join) is not last for each in used):
            continue
        last.pop()
        inner = exp.select("1").from_(last.this.copy()).where(on.copy())
        condition.replace(exp.Not(this=exp.Exists(this=inner)))
        yield tree
        return


def maximum_as_order(tree: exp.Expression, columns: TableColumns) -> Iterator[exp.Expression]:
    """MAX(y) is the first of the values that are not NULL, from the top; of no values both are NULL."""
    for condition, inner, y, highest in _extremes(tree):
        inner.set("expressions", [y.copy()])
        _add(inner, exp.Not(this=_is_null(y)))
        inner.set("order", exp.Order(expressions=[exp.Ordered(this=y.copy(), desc=highest)]))
        inner.set("limit", exp.Limit(expression=exp.Literal.number(1)))
        assert condition is not None
        yield tree
        return


def maximum_as_not_exists(tree: exp.Expression, columns: TableColumns) -> Iterator[exp.Expression]:
    """x is the maximum where a row has it and no row has more; for both, all of these rows are looked at."""
    for condition, inner, y, highest in _extremes(tree):
        x = condition.left
        taken = all_names(tree, columns)
        (table,) = sources(inner)
        old, new = table.alias_or_name, exp.to_identifier(fresh("other", taken))
        if any(each is not table and each.alias_or_name.lower() == old.lower()
               for select in inner.find_all(exp.Select) for each in sources(select)):  # fmt: skip
            continue
        for column in list(inner.find_all(exp.Column)):
            if column.table.lower() == old.lower():
                column.set("table", new.copy())
        table.set("alias", exp.TableAlias(this=new))
        y = inner.expressions[0].this
        there = exp.In(this=x.copy(), query=exp.Subquery(this=_selecting(inner, y, _conjuncts_of(inner))))
        more = exp.GT(this=y.copy(), expression=x.copy()) if highest else exp.LT(this=y.copy(), expression=x.copy())
        none_above = exp.Not(this=exp.Exists(this=_asking(_selecting(inner, y, _conjuncts_of(inner)), more)))
        condition.replace(exp.Paren(this=exp.and_(there, none_above)))
        yield tree
        return


def _conditions(tree: exp.Expression, kind: type[exp.Expression]) -> Iterator[tuple[exp.Select, exp.Expression]]:
    """The conjuncts of that kind in each WHERE clause of the query, with the SELECT that they filter."""
    for select in list(tree.find_all(exp.Select)):
        for conjunct in _conjuncts_of(select, copy=False):
            if isinstance(conjunct, kind):
                yield select, conjunct


def _conjuncts_of(select: exp.Select, *, copy: bool = True) -> list[exp.Expression]:
    where = select.args.get("where")
    if where is None:
        return []
    parts = _parts(where.this)
    return [part.copy() for part in parts] if copy else parts


def _parts(condition: exp.Expression) -> list[exp.Expression]:
    """The conjuncts of a condition, or the condition alone."""
    return list(condition.flatten()) if isinstance(condition, exp.And) else [condition]


def _extremes(tree: exp.Expression) -> Iterator[tuple[exp.EQ, exp.Select, exp.Column, bool]]:
    """Conjuncts `x = (SELECT MAX(y) FROM t ...)` where x and y are one column of one table, and whether it is MAX.

    Only then both have the same affinity and collation, so that MAX and the comparisons order values alike.
    """
    for select, condition in _conditions(tree, exp.EQ):
        inner = condition.right.unnest() if isinstance(condition.right, exp.Subquery) else None
        if not isinstance(inner, exp.Select) or len(inner.expressions) != 1 or len(sources(inner)) != 1:
            continue
        if any(inner.args.get(name) for name in ("group", "having", "limit", "order", "with_", "windows", "distinct")):
            continue
        extreme, x = inner.expressions[0].unalias(), condition.left
        if (
            not isinstance(extreme, exp.Max | exp.Min)
            or extreme.expressions
            or not isinstance(extreme.this, exp.Column)
        ):
            continue
        y, (table,) = extreme.this, sources(inner)
        home = next((each for each in sources(select) if each.alias_or_name.lower() == _table_of(x)), None)
        same = isinstance(table, exp.Table) and isinstance(home, exp.Table) and table.name.lower() == home.name.lower()
        if (
            same
            and isinstance(x, exp.Column)
            and x.name.lower() == y.name.lower()
            and _table_of(y) == table.alias_or_name.lower()
        ):
            yield condition, inner, y, isinstance(extreme, exp.Max)


def _table_of(node: exp.Expression) -> str:
    return node.table.lower() if isinstance(node, exp.Column) else ""


def _may_be_filtered(inner: exp.Expression) -> bool:
    """Whether one more condition on the rows of this query of one column is a condition on its result."""
    return (
        is_plain_select(inner)
        and len(inner.expressions) == 1
        and isinstance(inner.expressions[0].unalias(), exp.Column)
    )


def _may_move_into(x: exp.Expression, inner: exp.Select) -> bool:
    """Whether x is a column whose table no source of the inner query hides."""
    return isinstance(x, exp.Column) and bool(x.table) and x.table.lower() not in _own_names(inner)


def _own_names(select: exp.Select) -> set[str]:
    return {source.alias_or_name.lower() for source in sources(select)}


def _link(inner: exp.Expression) -> tuple[exp.Column, exp.Column, list[exp.Expression]] | None:
    """Outer column, inner column and the other conjuncts of an EXISTS query over one table that has such a pair."""
    if not is_plain_select(inner) or len(sources(inner)) != 1 or inner.args.get("joins"):
        return None
    own, conjuncts = _own_names(inner), _conjuncts_of(inner)
    for index, conjunct in enumerate(conjuncts):
        if not isinstance(conjunct, exp.EQ):
            continue
        for one, other in ((conjunct.left, conjunct.right), (conjunct.right, conjunct.left)):
            if _table_of(one) in own and _table_of(other) not in (*own, ""):
                return other, one, conjuncts[:index] + conjuncts[index + 1 :]
    return None


def _selecting(inner: exp.Select, column: exp.Column, conditions: list[exp.Expression]) -> exp.Select:
    query = inner.copy()
    query.set("expressions", [column.copy()])
    query.set("distinct", None)
    query.set("where", exp.Where(this=exp.and_(*conditions)) if conditions else None)
    return query


def _asking(inner: exp.Select, condition: exp.Expression) -> exp.Select:
    """The query as one that asks whether there is a row that meets one more condition."""
    query = inner.copy()
    query.set("expressions", [exp.Literal.number(1)])
    query.set("distinct", None)
    _add(query, condition)
    return query


def _add(select: exp.Select, condition: exp.Expression) -> None:
    select.set("where", exp.Where(this=exp.and_(*_conjuncts_of(select), condition)))


def _is_null(node: exp.Expression) -> exp.Expression:
    return exp.Is(this=node.copy(), expression=exp.Null())


def _on_qualified(rule: QueryRule) -> QueryRule:
    return lambda tree, columns: rule(qualified(tree, columns), columns)


SUBQUERY_RULES: tuple[tuple[str, QueryRule], ...] = tuple(
    (kind, _on_qualified(rule))
    for kind, rule in (
        ("IN as EXISTS", in_as_exists),
        ("NOT IN as NOT EXISTS", not_in_as_not_exists),
        ("EXISTS as IN", exists_as_in),
        ("NOT EXISTS as guarded NOT IN", not_exists_as_not_in),
        ("NOT EXISTS as LEFT JOIN IS NULL", not_exists_as_left_join),
        ("LEFT JOIN IS NULL as NOT EXISTS", left_join_as_not_exists),
        ("maximum as ORDER BY LIMIT 1", maximum_as_order),
        ("maximum as NOT EXISTS above", maximum_as_not_exists),
    )
)

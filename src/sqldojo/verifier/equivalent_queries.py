"""Rewrites of a whole query, or of one SELECT in it, that give the same multiset of rows on every database.

A rule takes a copy of the query and what its tables' columns are, and yields rewritten queries. Conditions are checked
first: a rule that does not apply for sure yields nothing. The line under a rule's name says why it is a theorem.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlglot import exp

from sqldojo.verifier.qualified_names import TableColumns, all_names, fresh, own_nodes, qualified, sources

_ROWIDS = ("rowid", "oid", "_rowid_")
QueryRule = Callable[[exp.Expression, TableColumns], Iterator[exp.Expression]]


def in_derived_table(tree: exp.Expression, columns: TableColumns) -> Iterator[exp.Expression]:
    """SELECT * FROM (query) is the query; an ORDER BY in it matters only with a LIMIT, which goes in with it."""
    name = fresh("answer", all_names(tree, columns))
    yield exp.select("*").from_(exp.Subquery(this=tree, alias=exp.TableAlias(this=exp.to_identifier(name))))


def in_cte(tree: exp.Expression, columns: TableColumns) -> Iterator[exp.Expression]:
    """A common table expression that is used once is a derived table."""
    name = fresh("answer", all_names(tree, columns))
    yield exp.select("*").from_(name).with_(name, as_=tree)


def cte_inlined(tree: exp.Expression, columns: TableColumns) -> Iterator[exp.Expression]:
    """A query without chance gives the same rows wherever it is computed again."""
    named = tree.args.get("with_")
    if named is None or named.recursive or len(named.expressions) != 1 or named.expressions[0].args["alias"].columns:
        return
    cte = named.expressions[0]
    tree.set("with_", None)
    for table in list(tree.find_all(exp.Table)):
        if table.name.lower() == cte.alias.lower() and not table.db:
            alias = exp.TableAlias(this=exp.to_identifier(table.alias_or_name))
            table.replace(exp.Subquery(this=cte.this.copy(), alias=alias))
    yield tree


def derived_table_as_cte(tree: exp.Expression, columns: TableColumns) -> Iterator[exp.Expression]:
    """A derived table sees nothing of the query around it, so it may stand before it."""
    if not isinstance(tree, exp.Select) or tree.args.get("with_") is not None:
        return
    derived = next((each for each in sources(tree) if isinstance(each, exp.Subquery) and each.alias), None)
    if derived is None or derived.args["alias"].columns:
        return
    name = fresh(f"{derived.alias}_rows", all_names(tree, columns))
    alias = exp.TableAlias(this=derived.args["alias"].this.copy())
    inner = derived.this
    derived.replace(exp.Table(this=exp.to_identifier(name), alias=alias))
    yield tree.with_(name, as_=inner)


def filter_in_derived_table(tree: exp.Expression, columns: TableColumns) -> Iterator[exp.Expression]:
    """Filtering the only table before anything else is what WHERE does; columns keep affinity and collation."""
    if not isinstance(tree, exp.Select) or len(sources(tree)) != 1 or tree.args.get("where") is None:
        return
    tree = qualified(tree, columns)
    table, where = sources(tree)[0], tree.args["where"]
    # What is not qualified may be a result alias, which the derived table would not know, or the hidden rowid.
    unknown = [column for column in tree.find_all(exp.Column) if not column.table and column.find_ancestor(exp.Where)]
    if (
        not isinstance(table, exp.Table)
        or unknown
        or any(column.name.lower() in _ROWIDS for column in tree.find_all(exp.Column))
    ):
        return
    alias = exp.TableAlias(this=exp.to_identifier(table.alias_or_name))
    inner = exp.select("*").from_(table.copy()).where(where.this.copy())
    tree.set("where", None)
    table.replace(exp.Subquery(this=inner, alias=alias))
    yield tree


def join_order_swapped(tree: exp.Expression, columns: TableColumns) -> Iterator[exp.Expression]:
    """Inner joins are commutative; nothing here depends on the order of the rows."""
    for select in _inner_joined(tree):
        first, second = sources(select)[:2]
        first.replace(second.copy())
        second.replace(first)
        yield tree
        return


def joins_as_commas(tree: exp.Expression, columns: TableColumns) -> Iterator[exp.Expression]:
    """An inner join is the product, filtered by its ON condition; so is a comma with that condition in WHERE."""
    for select in _inner_joined(tree):
        conditions = [join.args["on"] for join in select.args["joins"]]
        for join in select.args["joins"]:
            join.set("on", None)
            join.set("kind", None)
        _add_conditions(select, conditions)
        yield tree
        return


def commas_as_joins(tree: exp.Expression, columns: TableColumns) -> Iterator[exp.Expression]:
    """The same theorem, the other way: all of WHERE becomes the condition of the last inner join."""
    for select in tree.find_all(exp.Select):
        joins = select.args.get("joins") or []
        plain = [join for join in joins if not join.side and not join.args.get("on") and not join.args.get("using")
                 and not join.args.get("method")]  # fmt: skip
        if joins and len(plain) == len(joins) and select.args.get("where") is not None:
            for join in joins:
                join.set("kind", None)
                join.set("on", exp.Boolean(this=True) if join is not joins[-1] else select.args["where"].this)
            select.set("where", None)
            yield tree
            return


def aliases_renamed(tree: exp.Expression, columns: TableColumns) -> Iterator[exp.Expression]:
    """A name for a table is only a name; every column that used the old one uses the new one."""
    tree = qualified(tree, columns)
    taken = all_names(tree, columns)
    for select in tree.find_all(exp.Select):
        for source in sources(select):
            old = source.alias_or_name
            if not isinstance(source, exp.Table) or _named_again(select, old):
                continue
            new = exp.to_identifier(fresh(f"{old[0].lower()}1" if old[0].isalpha() else "t1", taken))
            for column in list(select.find_all(exp.Column)):
                if column.table.lower() == old.lower() and not _is_set_order(column):
                    column.set("table", new.copy())
            source.set("alias", exp.TableAlias(this=new))
    yield tree


def columns_qualified(tree: exp.Expression, columns: TableColumns) -> Iterator[exp.Expression]:
    """The table is written out that SQLite finds the column in anyway."""
    yield qualified(tree, columns)


def distinct_as_group(tree: exp.Expression, columns: TableColumns) -> Iterator[exp.Expression]:
    """Both keep one row of those that are equal in all columns, and both take NULLs for equal."""
    if not _keeps_rows(tree) or not tree.args.get("distinct") or tree.args["distinct"].args.get("on"):
        return
    keys = [expression.unalias().copy() for expression in tree.expressions]
    if any(isinstance(key, exp.Star | exp.Literal | exp.Query | exp.Neg) or key.is_star for key in keys):
        return
    tree.set("distinct", None)
    tree.set("group", exp.Group(expressions=keys))
    yield tree


def group_as_distinct(tree: exp.Expression, columns: TableColumns) -> Iterator[exp.Expression]:
    """The same theorem, the other way, for a query that shows just what it groups by."""
    group = tree.args.get("group")
    if group is None or not isinstance(tree, exp.Select):
        return
    shown = qualified(tree, columns)
    keys, shown_columns = shown.args["group"].expressions, [each.unalias() for each in shown.expressions]
    tree.set("group", None)
    plain = all(isinstance(key, exp.Column) for key in keys) and _keeps_rows(tree)
    if (
        plain
        and not tree.args.get("distinct")
        and {key.sql() for key in keys} == {each.sql() for each in shown_columns}
    ):
        tree.set("distinct", exp.Distinct())
        yield tree


def distinct_as_union(tree: exp.Expression, columns: TableColumns) -> Iterator[exp.Expression]:
    """UNION drops repeats, also those within one side."""
    if _keeps_rows(tree) and tree.args.get("distinct") and not tree.args["distinct"].args.get("on"):
        tree.set("distinct", None)
        yield exp.Union(this=tree, expression=tree.copy(), distinct=True)


def union_as_distinct(tree: exp.Expression, columns: TableColumns) -> Iterator[exp.Expression]:
    """UNION is UNION ALL without repeats, and so is DISTINCT over it."""
    sides = (tree.args.get("this"), tree.args.get("expression"))
    plain = isinstance(tree, exp.Union) and tree.args.get("distinct") and all(isinstance(s, exp.Select) for s in sides)
    if plain and not any(tree.args.get(name) for name in ("order", "limit", "offset", "with_")):
        name = fresh("united", all_names(tree, columns))
        tree.set("distinct", False)
        alias = exp.TableAlias(this=exp.to_identifier(name))
        yield exp.select("*").distinct().from_(exp.Subquery(this=tree, alias=alias))


def having_as_filter(tree: exp.Expression, columns: TableColumns) -> Iterator[exp.Expression]:
    """HAVING keeps a group where its condition is true; as a column of the groups, WHERE tests the same value."""
    if not isinstance(tree, exp.Select) or tree.args.get("having") is None or _is_ordered(tree) or tree.is_star:
        return
    tree = _without_aliases_in_having(qualified(tree, columns))
    if tree is None:
        return
    taken = all_names(tree, columns)
    grouped, kept = fresh("grouped", taken), fresh("kept", taken)
    names = [fresh(f"c{number}", taken) for number in range(1, len(tree.expressions) + 1)]
    # An alias may be used in GROUP BY or HAVING, so each existing one is kept.
    shown = [
        each.alias if isinstance(each, exp.Alias) else name for each, name in zip(tree.expressions, names, strict=True)
    ]
    if len({name.lower() for name in shown}) < len(shown):
        return
    inner = [each if isinstance(each, exp.Alias) else exp.alias_(each, name)
             for each, name in zip(tree.expressions, names, strict=True)]  # fmt: skip
    tree.set("expressions", [*inner, exp.alias_(exp.Paren(this=tree.args["having"].this), kept)])
    tree.set("having", None)
    named, distinct = tree.args.get("with_"), tree.args.get("distinct")
    tree.set("with_", None)
    tree.set("distinct", None)
    alias = exp.TableAlias(this=exp.to_identifier(grouped))
    outer = exp.select(*(exp.column(exp.to_identifier(name)) for name in shown))
    outer = outer.from_(exp.Subquery(this=tree, alias=alias)).where(exp.column(kept))
    outer.set("with_", named)
    outer.set("distinct", distinct)
    yield outer


def ordered(tree: exp.Expression, columns: TableColumns) -> Iterator[exp.Expression]:
    """No question of ours asks for an order, so adding one changes nothing that is asked."""
    if not _is_ordered(tree):
        first = exp.Ordered(this=exp.Literal.number(1), desc=True)
        tree.set("order", exp.Order(expressions=[first]))
        yield tree


def _keeps_rows(tree: exp.Expression) -> bool:
    """Whether the query shows filtered rows, neither grouped, counted nor cut off."""
    if not isinstance(tree, exp.Select) or _is_ordered(tree):
        return False
    if any(tree.args.get(name) for name in ("group", "having", "windows", "with_")):
        return False
    return not any(own_nodes(tree, exp.AggFunc, exp.Window, exp.Anonymous))


def _without_aliases_in_having(tree: exp.Select) -> exp.Select | None:
    """HAVING may use a result alias and a select list may not; None for a name that is neither alias nor column."""
    meanings = {each.alias.lower(): each.this for each in tree.expressions if isinstance(each, exp.Alias)}
    for column in list(tree.args["having"].find_all(exp.Column)):
        if not column.table:
            if column.name.lower() not in meanings:
                return None
            column.replace(exp.Paren(this=meanings[column.name.lower()].copy()))
    return tree


def _is_ordered(tree: exp.Expression) -> bool:
    return any(tree.args.get(name) for name in ("order", "limit", "offset"))


def _inner_joined(tree: exp.Expression) -> Iterator[exp.Select]:
    """The SELECTs whose joins are all inner ones with a condition, where the order of rows or columns plays no role."""
    if any(tree.find_all(exp.GroupConcat, exp.Window, exp.Limit, exp.Anonymous)):
        return
    for select in tree.find_all(exp.Select):
        joins = select.args.get("joins") or []
        if (
            joins
            and not select.is_star
            and all(
                join.args.get("on") is not None
                and not join.side
                and not join.args.get("method")
                and join.kind in ("", "INNER")
                for join in joins
            )
        ):
            yield select


def _add_conditions(select: exp.Select, conditions: list[exp.Expression]) -> None:
    where = select.args.get("where")
    select.set("where", exp.Where(this=exp.and_(*conditions, *([where.this] if where is not None else []))))


def _named_again(select: exp.Select, name: str) -> bool:
    """Whether a query inside this one has a source of the same name, so that one name stands for two."""
    names = [source.alias_or_name.lower() for inner in select.find_all(exp.Select) for source in sources(inner)]
    return names.count(name.lower()) > 1


def _is_set_order(column: exp.Column) -> bool:
    order = column.find_ancestor(exp.Order, exp.Select)
    return isinstance(order, exp.Order) and isinstance(order.parent, exp.SetOperation)


QUERY_RULES: tuple[tuple[str, QueryRule], ...] = (
    ("query in a derived table", in_derived_table),
    ("query in a CTE", in_cte),
    ("CTE as derived table", cte_inlined),
    ("derived table as CTE", derived_table_as_cte),
    ("filter in a derived table", filter_in_derived_table),
    ("inner join order", join_order_swapped),
    ("JOIN ON as comma", joins_as_commas),
    ("comma as JOIN ON", commas_as_joins),
    ("table aliases", aliases_renamed),
    ("columns qualified", columns_qualified),
    ("DISTINCT as GROUP BY", distinct_as_group),
    ("GROUP BY as DISTINCT", group_as_distinct),
    ("DISTINCT as UNION", distinct_as_union),
    ("UNION as DISTINCT", union_as_distinct),
    ("HAVING as filter", having_as_filter),
    ("ORDER BY added", ordered),
)

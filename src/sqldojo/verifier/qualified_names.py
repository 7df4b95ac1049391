"""Every column of a query with the table that it belongs to, written out.

Moving an expression to another place of a query must not let a name be captured there. With all names qualified it
cannot be, so rewrites that move something start from here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sqlglot import exp

from sqldojo.verifier.mutation.trees import from_items

TableColumns = Mapping[str, Sequence[str]]  # table -> the names of its columns


def qualified(tree: exp.Expression, columns: TableColumns) -> exp.Expression:
    """A copy of the query in which each column that SQLite finds in a FROM clause names its table.

    SQLite looks in a query's own FROM first and then outwards; ORDER BY alone looks at result aliases before that.
    A name that is found in no source, or may be in one whose columns are not known, stays as it is.
    """
    tree = tree.copy()
    known = with_query_columns(tree, columns)
    for column in list(tree.find_all(exp.Column)):
        if column.table or isinstance(column.this, exp.Star) or _is_ordered_alias(column):
            continue
        source = _source_of(column, known)
        if source is not None:
            column.set("table", _identifier(source))
    return tree


def with_query_columns(tree: exp.Expression, columns: TableColumns) -> dict[str, list[str]]:
    """`columns` in lower case, with those of the query's CTEs and derived tables; one that shows a star has none."""
    known = {table.lower(): [name.lower() for name in names] for table, names in columns.items()}
    for named in tree.find_all(exp.CTE, exp.Subquery):
        if named.alias and isinstance(named.this, exp.Query):
            given = named.args["alias"].columns
            names = [name.name for name in given] or named.this.named_selects
            known[named.alias.lower()] = [] if "*" in names or "" in names else [name.lower() for name in names]
    return known


def own_nodes(select: exp.Expression, *kinds: type[exp.Expression]) -> Iterator[exp.Expression]:
    """The nodes of a query that are not inside a query within it."""
    for node in select.find_all(*kinds):
        if node.find_ancestor(exp.Query) is select:
            yield node


def sources(select: exp.Select) -> list[exp.Expression]:
    """The tables and derived tables of a SELECT's FROM clause, in their order."""
    return [source for source, _ in from_items(select)]


def all_names(tree: exp.Expression, columns: TableColumns) -> set[str]:
    """Every name that a query or its tables use, in lower case: a new alias must be none of them."""
    used = {identifier.name.lower() for identifier in tree.find_all(exp.Identifier)}
    return used | {table.lower() for table in columns} | {name.lower() for names in columns.values() for name in names}


def fresh(wanted: str, taken: set[str]) -> str:
    """`wanted`, or with the lowest number that makes it a new name; the name is taken from now on."""
    name, number = wanted, 2
    while name.lower() in taken:
        name, number = f"{wanted}{number}", number + 1
    taken.add(name.lower())
    return name


def _source_of(column: exp.Column, known: Mapping[str, Sequence[str]]) -> exp.Expression | None:
    select = column.find_ancestor(exp.Select)
    inside_from = _derived_table_of(column, select)
    while select is not None:
        if isinstance(inside_from, exp.CTE):  # it does not see the FROM clause of the query that it is named for
            return None
        holders = []
        for source in sources(select):
            if source is inside_from:  # a derived table does not see its neighbours
                return None
            names = known.get(_stored_name(source), [])
            if not names:
                return None
            if column.name.lower() in names:
                holders.append(source)
        if holders:
            return holders[0] if len(holders) == 1 else None
        inner, select = select, select.find_ancestor(exp.Select)
        inside_from = _derived_table_of(inner, select)
    return None


def _derived_table_of(node: exp.Expression, select: exp.Expression | None) -> exp.Expression | None:
    """The derived table of `select`, or the CTE, that the node is part of."""
    while node is not None and node is not select:
        if isinstance(node, exp.CTE) or (
            isinstance(node, exp.Subquery) and isinstance(node.parent, exp.From | exp.Join)
        ):
            return node
        node = node.parent
    return None


def _stored_name(source: exp.Expression) -> str:
    return (source.name if isinstance(source, exp.Table) else source.alias_or_name).lower()


def _identifier(source: exp.Expression) -> exp.Identifier:
    alias = source.args.get("alias")
    return (alias.this if alias is not None else source.this).copy()


def _is_ordered_alias(column: exp.Column) -> bool:
    order = column.find_ancestor(exp.Order, exp.Select)
    if not isinstance(order, exp.Order) or not isinstance(order.parent, exp.Query):
        return False
    return column.name.lower() in (name.lower() for name in order.parent.named_selects)

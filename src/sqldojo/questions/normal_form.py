"""The normal form of a query: equal for two queries that differ in spelling alone, though not for all that mean one.

What does not count: letter case, aliases, the names of derived tables and their columns, CTE against subquery,
parentheses, the order of AND and OR terms, of inner joins and of the operands of =, <>, + and *, and which way round a
comparison is written. A form is a text to compare with others of its kind, not SQL.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sqldojo.verifier.mutation.edits import terms
from sqldojo.verifier.mutation.scopes import Query, Scope, Source
from sqldojo.verifier.mutation.sqlite_text import read

Columns = Mapping[str, Sequence[str]]  # each table with its columns

_COMMUTATIVE = (exp.EQ, exp.NEQ, exp.Add, exp.Mul)
_MIRRORED = {exp.GT: exp.LT, exp.GTE: exp.LTE}
_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.In, exp.Between, exp.Like, exp.Glob)
_KEPT, _COMPARED, _ALL = "kept", "compared", "all"  # which constants are blanked: none, those of comparisons, all


def normal_form(sql: str, columns: Columns) -> str:
    """The form of a complete query, with its constants. Unparsable when it cannot be read and written back."""
    return _Writer(sql, columns, {}, _KEPT).form()


def type_form(sql: str, columns: Columns, parameters: Mapping[str, str]) -> str:
    """The form of a question type's query: a parameter is its pool, and what is compared with a constant is blanked.

    So two types are alike that ask about pending and about shipped orders, or that name one parameter differently.
    """
    return _Writer(sql, columns, parameters, _COMPARED).form()


def shape(sql: str, columns: Columns) -> str:
    """The form with all names of tables and columns, constants and parameters blanked: how the query is built."""
    return _Writer(sql, columns, {}, _ALL).form()


class _Writer:
    def __init__(self, sql: str, columns: Columns, pools: Mapping[str, str], blanked: str) -> None:
        self.query = Query(read(sql), columns)
        self.pools, self.blanked = pools, blanked
        self.ctes: dict[str, exp.Expr] = {}
        self.inside: list[str] = []  # the CTEs that are being written
        for cte in self.query.tree.find_all(exp.CTE):
            self.ctes[cte.alias.lower()] = cte.this

    def form(self) -> str:
        return self.say(self.query.tree)

    def say(self, node: exp.Expr) -> str:
        if isinstance(node, exp.Select):
            return self.select(node)
        if isinstance(node, exp.Paren | exp.Alias | exp.Subquery) and not node.args.get("joins"):
            return self.say(node.this)
        if isinstance(node, exp.Table):
            return self.table(node)
        if isinstance(node, exp.Column):
            return self.column(node)
        if isinstance(node, exp.Literal | exp.Placeholder):
            return self.constant(node)
        if isinstance(node, exp.And | exp.Or):
            return self.sorted(type(node).__name__, terms(node, type(node)))
        if isinstance(node, _COMMUTATIVE):
            return self.sorted(type(node).__name__, [node.left, node.right])
        if type(node) in _MIRRORED:
            return f"{_MIRRORED[type(node)].__name__}(expression={self.say(node.left)}; this={self.say(node.right)})"
        if isinstance(node, exp.SetOperation):
            return self.set_operation(node)
        return self.any_other(node)

    def any_other(self, node: exp.Expr) -> str:
        parts = []
        for key, value in sorted(node.args.items()):
            values = value if isinstance(value, list) else [value]
            said = [self.say(each) if isinstance(each, exp.Expr) else str(each).lower()
                    for each in values if each not in (None, False, "")]  # fmt: skip
            if said:
                parts.append(f"{key}={', '.join(sorted(said) if isinstance(node, exp.In) else said)}")
        return f"{type(node).__name__}({'; '.join(parts)})"

    def sorted(self, name: str, parts: Sequence[exp.Expr]) -> str:
        return f"{name}({', '.join(sorted(map(self.say, parts)))})"

    def select(self, select: exp.Select) -> str:
        conditions = terms(select.args["where"].this) if select.args.get("where") else []
        joins = select.args.get("joins") or []
        first = select.args.get("from_")
        if all(_is_plain(join) for join in joins):
            tables = sorted(self.say(item) for item in ([first.this] if first else []) + [join.this for join in joins])
            conditions = [*conditions, *(term for join in joins for term in terms(join.args.get("on")))]
        else:
            tables = [self.say(first.this), *map(self.any_other, joins)]
        parts = [
            "distinct" if select.args.get("distinct") else "",
            ", ".join(map(self.say, select.expressions)),
            "from " + ", ".join(tables),
            "where " + ", ".join(sorted(map(self.say, conditions))),
            *(self.clause(select, key) for key in ("group", "having", "windows", "order", "limit", "offset")),
        ]
        return f"Select({'; '.join(parts)})"

    def clause(self, select: exp.Expr, key: str) -> str:
        node = select.args.get(key)
        if node is None:
            return ""
        if key == "group":
            return self.sorted(key, node.expressions)
        if key == "having":
            return self.sorted(key, terms(node.this))
        return ", ".join(map(self.say, node)) if isinstance(node, list) else self.say(node)

    def set_operation(self, node: exp.SetOperation) -> str:
        sides = [self.say(node.left), self.say(node.right)]
        if not isinstance(node, exp.Except):
            sides.sort()
        kind = f"{type(node).__name__}{'' if node.args.get('distinct') else ' all'}"
        tail = "; ".join(self.clause(node, key) for key in ("order", "limit", "offset"))
        return f"{kind}({'; '.join(sides)}; {tail})"

    def table(self, table: exp.Table) -> str:
        name = table.name.lower()
        if name in self.inside:
            return "itself"
        if name in self.ctes:
            self.inside.append(name)
            said = self.say(self.ctes[name])
            self.inside.pop()
            return said
        return "table" if self.blanked == _ALL else name

    def column(self, column: exp.Column) -> str:
        if self.blanked == _ALL:
            return "column"
        if column.is_star:
            return "*"
        found = self.query.resolve(column)
        if found is None:
            scope = self.query.scope(column)
            defined = [item for item in scope.select.expressions if item.alias.lower() == column.name.lower()] if (
                scope) else []  # fmt: skip
            return self.say(defined[0].this) if defined and isinstance(defined[0], exp.Alias) else column.name.lower()
        scope, source = found
        around = "" if scope is self.query.scope(column) else "^"
        return around + self.source(scope, source, column.name)

    def source(self, scope: Scope, source: Source, name: str) -> str:
        """A column by its table, or by its place in a derived table; a table that comes twice is numbered."""
        same = [each for each in scope.sources if each.table == source.table]
        number = next(place for place, each in enumerate(same) if each is source)
        if source.table:
            return f"{source.table.lower()}{number or ''}.{name.lower()}"
        place = [each.lower() for each in source.columns].index(name.lower())
        return f"derived{number or ''}.{place}"

    def constant(self, node: exp.Expr) -> str:
        above = node.parent
        while isinstance(above, exp.Paren | exp.Neg):
            above = above.parent
        if self.blanked == _ALL:
            return "?"
        if isinstance(node, exp.Placeholder):
            return f":{self.pools.get(node.name, node.name)}"
        if self.blanked == _COMPARED and isinstance(above, _COMPARISONS):
            return "text" if node.is_string else "number"
        return repr(node.this) if node.is_string else node.this


def _is_plain(join: exp.Join) -> bool:
    """Whether it is an inner join by ON, so that its condition might as well stand in WHERE."""
    return not join.side and join.kind.upper() in ("", "INNER", "CROSS") and not (
        join.method or join.args.get("using"))  # fmt: skip

"""Which tests of repair tasks we judge ourselves: those written in a small harmless part of Python.

A test is Python from a data set, and running that takes the user's permission. Most tests, though, only call the
published helpers and assert something of what comes back. Such a test is recognised here by its syntax tree alone,
and test_interpreter.py walks that tree; its text is never run. Whatever is not listed here is other code, for
test_process.py: imports inside the test, try, while, classes, attributes but a few methods of texts and collections.
"""

from __future__ import annotations

import ast
from functools import lru_cache

PREDICTION = "pred_query_result"
HELPERS = {
    "execute_queries", "ex_base", "check_sql_function_usage", "remove_distinct", "remove_comments", "remove_round",
    "preprocess_results",
}  # fmt: skip


def _print_nothing(*_values: object, **_words: object) -> None:
    """What a test prints is dropped."""


BUILT_IN = {
    function.__name__: function
    for function in (
        abs, all, any, bool, dict, enumerate, float, int, isinstance, len, list, max, min, range, repr, reversed, round,
        set, sorted, str, sum, tuple, zip,
    )
} | {"print": _print_nothing}  # fmt: skip
METHODS = {
    "add", "append", "copy", "count", "difference", "endswith", "extend", "find", "get", "index", "intersection",
    "isdigit", "issubset", "issuperset", "items", "join", "keys", "lower", "lstrip", "replace", "rstrip", "split",
    "splitlines", "startswith", "strip", "union", "upper", "values",
}  # fmt: skip
OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod)

_STATEMENTS = (
    ast.Assign, ast.AugAssign, ast.Assert, ast.Return, ast.For, ast.If, ast.Expr, ast.Pass, ast.Break, ast.Continue,
)  # fmt: skip
_EXPRESSIONS = (
    ast.Constant, ast.Name, ast.Tuple, ast.List, ast.Set, ast.Dict, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.BinOp,
    ast.Subscript, ast.Slice, ast.JoinedStr, ast.FormattedValue, ast.Call, ast.IfExp, ast.ListComp, ast.SetComp,
    ast.GeneratorExp, ast.Lambda,
)  # fmt: skip
_PARTS = (
    *OPERATORS, ast.And, ast.Or, ast.Not, ast.USub, ast.cmpop, ast.expr_context, ast.comprehension, ast.keyword,
    ast.arguments, ast.arg,
)  # fmt: skip
_MODULES_WITHOUT_EFFECT = {"datetime", "decimal", "json", "math", "re", "sqlite3", "statistics", "typing"}


@lru_cache(maxsize=4096)
def recognise(source: str) -> ast.FunctionDef | None:
    """The test that a source defines, when it is one of those that can be judged without running it; else None."""
    try:
        module = ast.parse(source)
        functions = [node for node in module.body if not _has_no_effect(node)]
        return functions[0] if len(functions) == 1 and _is_test(functions[0]) else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # all of which the parser may raise
        return None


def _has_no_effect(node: ast.stmt) -> bool:
    """Texts, and imports at the top, whose names a test cannot see."""
    if isinstance(node, ast.Import):
        return all(alias.name in _MODULES_WITHOUT_EFFECT for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        return node.module == "datetime" and {alias.name for alias in node.names} <= {"date", "datetime"}
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_test(node: ast.stmt) -> bool:
    if not isinstance(node, ast.FunctionDef) or node.name != "test_case" or node.decorator_list or node.returns:
        return False
    parameters = node.args
    names = [argument.arg for argument in parameters.args]
    plain = not (parameters.posonlyargs or parameters.kwonlyargs or parameters.vararg or parameters.kwarg)
    if not plain or len(set(names)) != 5 or names[-1] != "conditions":
        return False
    if len(parameters.defaults) > 1 or not all(isinstance(value, ast.Constant) for value in parameters.defaults):
        return False
    own = {*names, *_assigned(node)}
    if own & {*HELPERS, *BUILT_IN, PREDICTION}:  # a name that means two things
        return False
    known = {*own, *BUILT_IN, PREDICTION}
    methods = {id(call.func) for call in ast.walk(node) if isinstance(call, ast.Call)}
    helpers = {id(call.func) for call in ast.walk(node) if isinstance(call, ast.Call) and _is_helper(call.func)}
    return all(
        _is_listed(part, known, methods, helpers) for statement in node.body for part in ast.walk(statement)
    ) and not any(argument.annotation for argument in parameters.args)


def _assigned(function: ast.FunctionDef) -> set[str]:
    stored = {part.id for part in ast.walk(function) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
    bound = {part.arg for part in ast.walk(function) if isinstance(part, ast.arg)}
    return stored | bound


def _is_helper(function: ast.expr) -> bool:
    return isinstance(function, ast.Name) and function.id in HELPERS


def _is_listed(part: ast.AST, known: set[str], called: set[int], helpers: set[int]) -> bool:
    if isinstance(part, ast.Attribute):
        return id(part) in called and part.attr in METHODS
    if isinstance(part, ast.Name):
        return part.id in known or id(part) in helpers
    if isinstance(part, ast.Call):
        return isinstance(part.func, ast.Name | ast.Attribute) and all(word.arg for word in part.keywords)
    if isinstance(part, ast.Assign | ast.AugAssign | ast.For):
        targets = part.targets if isinstance(part, ast.Assign) else [part.target]
        return all(_is_target(target, alone=isinstance(part, ast.AugAssign)) for target in targets)
    if isinstance(part, ast.comprehension):
        return not part.is_async and _is_target(part.target)
    if isinstance(part, ast.Lambda):
        return _has_plain_parameters(part.args)
    if isinstance(part, ast.Dict):
        return None not in part.keys  # how the tree shows {**other}
    if isinstance(part, ast.Constant):
        return part.value is not Ellipsis
    return isinstance(part, (*_STATEMENTS, *_EXPRESSIONS, *_PARTS))


def _is_target(target: ast.expr, *, alone: bool = False) -> bool:
    """Names, and tuples of names."""
    if isinstance(target, ast.Tuple | ast.List) and not alone:
        return all(map(_is_target, target.elts))
    return isinstance(target, ast.Name)


def _has_plain_parameters(parameters: ast.arguments) -> bool:
    more = parameters.posonlyargs or parameters.kwonlyargs or parameters.vararg or parameters.kwarg
    return not (more or parameters.defaults)

"""Judging a recognised test by walking its syntax tree: what it asserts is worked out, its text is never run.

Only what test_shapes.py lists can occur here, so a test reaches nothing but its arguments, the published helpers and
a few functions and methods of plain values. Steps are counted; time and memory are its worker's, as for a query.
"""

from __future__ import annotations

import ast
import operator
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from typing import Any

from sqldojo.databases.sessions import StatementFailed
from sqldojo.repair.test_shapes import BUILT_IN

_MOST_STEPS = 1_000_000
# Whatever else Python raises for such code is our fault and no verdict.
_FAILURES = (
    AssertionError, ArithmeticError, AttributeError, LookupError, RecursionError, StatementFailed, TypeError,
    ValueError,
)  # fmt: skip
_PLAIN = (str, bytes, int, float, bool, list, tuple, set, dict, type(None))
_BINARY = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
}  # fmt: skip
_COMPARED: Mapping[type, Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.Is: operator.is_, ast.IsNot: operator.is_not,
    ast.In: lambda item, whole: item in whole, ast.NotIn: lambda item, whole: item not in whole,
}  # fmt: skip
_CONVERSIONS = {-1: lambda value: value, ord("s"): str, ord("r"): repr, ord("a"): ascii}

Names = MutableMapping[str, Any]


class _TooLong(Exception):
    """A test of more steps than any honest one has."""


def passes(test: ast.FunctionDef, arguments: Sequence[object], names: Mapping[str, Any]) -> bool:
    """Whether a recognised test ends without an error on its five arguments; `names` are the published helpers."""
    parameters = [parameter.arg for parameter in test.args.args]
    scope: Names = ChainMap(dict(zip(parameters, arguments, strict=True)), dict(names), dict(BUILT_IN))
    try:
        _Walk().block(test.body, scope)
    except (*_FAILURES, _TooLong):
        return False
    return True


class _Walk:
    """One run of a test: counts its steps, and does what each kind of node means."""

    def __init__(self) -> None:
        self._steps = 0

    def block(self, statements: Sequence[ast.stmt], names: Names) -> type[ast.stmt] | None:
        """Do statements in order; the kind of the one that leaves the block, if one does."""
        for statement in statements:
            self._count()
            leaving = self._statement(statement, names)
            if leaving:
                return leaving
        return None

    def _count(self) -> None:
        self._steps += 1
        if self._steps > _MOST_STEPS:
            raise _TooLong

    def _statement(self, node: ast.stmt, names: Names) -> type[ast.stmt] | None:
        match node:
            case ast.Return() | ast.Break() | ast.Continue():
                if isinstance(node, ast.Return) and node.value:
                    self.value(node.value, names)
                return type(node)
            case ast.Expr(value=value):
                self.value(value, names)
            case ast.Assert(test=test):
                assert self.value(test, names)
            case ast.Assign(targets=targets, value=value):
                found = self.value(value, names)
                for target in targets:
                    self._assign(target, found, names)
            case ast.AugAssign(target=ast.Name(id=name), op=sign, value=value):
                names[name] = _BINARY[type(sign)](names[name], self.value(value, names))
            case ast.If(test=test, body=body, orelse=otherwise):
                return self.block(body if self.value(test, names) else otherwise, names)
            case ast.For():
                return self._loop(node, names)
        return None

    def _loop(self, node: ast.For, names: Names) -> type[ast.stmt] | None:
        for item in self.value(node.iter, names):
            self._count()
            self._assign(node.target, item, names)
            leaving = self.block(node.body, names)
            if leaving is ast.Return:
                return leaving
            if leaving is ast.Break:
                return None
        return self.block(node.orelse, names)

    def _assign(self, target: ast.expr, value: Any, names: Names) -> None:
        if isinstance(target, ast.Name):
            names[target.id] = value
            return
        values = list(value)
        for part, item in zip(target.elts, values, strict=True):  # ValueError, as in Python
            self._assign(part, item, names)

    def value(self, node: ast.expr, names: Names) -> Any:
        """What an expression comes to."""
        self._count()
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return names[name]
            case ast.Tuple(elts=parts):
                return tuple(self.value(part, names) for part in parts)
            case ast.List(elts=parts):
                return [self.value(part, names) for part in parts]
            case ast.Set(elts=parts):
                return {self.value(part, names) for part in parts}
            case ast.Dict(keys=keys, values=values):
                return {self.value(k, names): self.value(v, names) for k, v in zip(keys, values, strict=True)}
            case ast.Compare():
                return self._compare(node, names)
            case ast.BoolOp(op=sign, values=values):
                found = None
                for part in values:
                    found = self.value(part, names)
                    if bool(found) == isinstance(sign, ast.Or):
                        break
                return found
            case ast.UnaryOp(op=sign, operand=operand):
                return (operator.not_ if isinstance(sign, ast.Not) else operator.neg)(self.value(operand, names))
            case ast.BinOp(left=left, op=sign, right=right):
                return _BINARY[type(sign)](self.value(left, names), self.value(right, names))
            case ast.IfExp(test=test, body=body, orelse=otherwise):
                return self.value(body if self.value(test, names) else otherwise, names)
            case ast.Subscript(value=whole, slice=place):
                return self.value(whole, names)[self.value(place, names)]
            case ast.Slice(lower=lower, upper=upper, step=step):
                return slice(*(None if part is None else self.value(part, names) for part in (lower, upper, step)))
            case ast.JoinedStr(values=parts):
                return "".join(str(self.value(part, names)) for part in parts)
            case ast.FormattedValue(value=value, conversion=conversion, format_spec=spec):
                shown = _CONVERSIONS[conversion](self.value(value, names))
                return format(shown, self.value(spec, names) if spec else "")
            case ast.Call():
                return self._call(node, names)
            case ast.ListComp(elt=item, generators=generators):
                return [self.value(item, scope) for scope in self._scopes(generators, names)]
            case ast.SetComp(elt=item, generators=generators):
                return {self.value(item, scope) for scope in self._scopes(generators, names)}
            case ast.GeneratorExp(elt=item, generators=generators):
                return (self.value(item, scope) for scope in self._scopes(generators, names))
            case ast.Lambda(args=parameters, body=body):
                return self._function([parameter.arg for parameter in parameters.args], body, names)
        raise TypeError(f"{type(node).__name__} was recognised but has no meaning here")

    def _compare(self, node: ast.Compare, names: Names) -> bool:
        left = self.value(node.left, names)
        for sign, part in zip(node.ops, node.comparators, strict=True):
            right = self.value(part, names)
            if not _COMPARED[type(sign)](left, right):
                return False
            left = right
        return True

    def _call(self, node: ast.Call, names: Names) -> Any:
        if isinstance(node.func, ast.Attribute):
            owner = self.value(node.func.value, names)
            if not isinstance(owner, _PLAIN):
                raise AttributeError(node.func.attr)
            function = getattr(owner, node.func.attr)
        else:
            function = names[node.func.id]
        words = {word.arg: self.value(word.value, names) for word in node.keywords}
        return function(*(self.value(argument, names) for argument in node.args), **words)

    def _scopes(self, generators: Sequence[ast.comprehension], names: Names) -> Iterator[Names]:
        """The names inside a comprehension, once for each of its items."""
        first, *others = generators
        for item in self.value(first.iter, names):
            self._count()
            scope = ChainMap({}, *names.maps)
            self._assign(first.target, item, scope)
            if all(self.value(condition, scope) for condition in first.ifs):
                if others:
                    yield from self._scopes(others, scope)
                else:
                    yield scope

    def _function(self, parameters: Sequence[str], body: ast.expr, names: Names) -> Callable[..., Any]:
        def call(*arguments: object) -> Any:
            if len(arguments) != len(parameters):
                raise TypeError("a lambda takes as many arguments as it names")
            return self.value(body, ChainMap(dict(zip(parameters, arguments, strict=True)), *names.maps))

        return call

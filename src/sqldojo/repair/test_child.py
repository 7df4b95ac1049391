"""What the process of test_process.py does: bound itself, then run a trial whose tests are code of others.

Such code gets the published names, the harmless built-in functions and the contents of a few modules. Three walls, each
of which would do for honest code: it cannot name anything that begins with an underscore or leads to a stack frame;
`import` gives copies of listed modules without the modules that those import; and an audit hook, which Python has no
way to remove, refuses every file, process, socket, signal, foreign library and import.

As published, its names at the top level are not visible inside `test_case`. `conn` is a stand-in for the driver's
connection, and every error of `sqlite3` that it may name is the one that a failing statement raises here.
"""

from __future__ import annotations

import ast
import builtins
import dataclasses
import importlib
import io
import json
import math
import resource
import sys
from contextlib import closing, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from types import ModuleType, SimpleNamespace, TracebackType
from typing import Any

from sqldojo.databases.execution import Limits
from sqldojo.databases.sessions import Session, StatementFailed
from sqldojo.databases.worker_process import ADDRESS_SPACE
from sqldojo.files import from_json
from sqldojo.repair import published
from sqldojo.repair.driver import DRIVER_ERRORS, Connection
from sqldojo.repair.published import Row
from sqldojo.repair.test_shapes import recognise
from sqldojo.repair.trial import Trial, arguments_of, conditions_of, interpret, run

_MODULES = (
    "collections", "datetime", "decimal", "fractions", "functools", "itertools", "json", "math", "re", "statistics",
)  # fmt: skip
_ALSO_LOADED = ("_strptime", "time")  # which they import when first needed
_WITHHELD = {
    "breakpoint", "compile", "copyright", "credits", "delattr", "dir", "eval", "exec", "exit", "getattr", "globals",
    "help", "input", "license", "locals", "memoryview", "open", "quit", "setattr", "vars",
}  # fmt: skip
_FRAMES = {
    "ag_code", "ag_frame", "cr_code", "cr_frame", "f_back", "f_builtins", "f_code", "f_globals", "f_locals", "gi_code",
    "gi_frame", "gi_yieldfrom", "tb_frame", "tb_next",
}  # fmt: skip
_HARMLESS_EVENTS = {"builtins.id", "compile", "exec", "sys._getframe", "sys.excepthook", "sys.unraisablehook"}


def main() -> None:
    """Read a request from standard input, try it, write the outcome to standard output."""
    request = json.load(sys.stdin)
    limits = Limits(**request["limits"])
    trial: Trial = from_json(Trial, request["trial"])
    database = Path(request["database"])
    modules = {name: _contents(importlib.import_module(name)) for name in _MODULES}
    modules["sqlite3"] = SimpleNamespace(**dict.fromkeys(DRIVER_ERRORS, StatementFailed))
    for name in _ALSO_LOADED:
        importlib.import_module(name)
        modules[name] = SimpleNamespace()  # C code asks through our `__import__`, and does not look at the answer
    _bound(request["seconds"], most_file_bytes=database.stat().st_size + limits.heap_bytes)
    output = sys.stdout
    with closing(Session(database, limits)) as session:
        guard_process()
        with redirect_stdout(_Nowhere()), redirect_stderr(_Nowhere()):
            outcome = run(trial, session, _Code(modules).passes)
    output.write(json.dumps(dataclasses.asdict(outcome)))
    output.flush()


def _bound(seconds: float, *, most_file_bytes: int) -> None:
    for kind, most in (
        (resource.RLIMIT_AS, ADDRESS_SPACE),
        (resource.RLIMIT_CPU, math.ceil(seconds)),
        (resource.RLIMIT_FSIZE, most_file_bytes),
        (resource.RLIMIT_NOFILE, 32),
        (resource.RLIMIT_NPROC, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        with suppress(ValueError, OSError):  # some systems have no such limit, or allow less already
            resource.setrlimit(kind, (most, most))


def guard_process() -> None:
    """Refuse, from here on, whatever Python reports to audit hooks, but for what has no effect outside."""
    sys.addaudithook(_refuse)


def _refuse(event: str, _arguments: tuple[object, ...]) -> None:
    if event not in _HARMLESS_EVENTS:
        raise PermissionError(f"a test may not do this: {event}")


class _Nowhere(io.TextIOBase):
    """Takes what a test prints."""

    def write(self, text: str, /) -> int:
        return len(text)


class _Code:
    """Runs tests, each with names of its own."""

    def __init__(self, modules: dict[str, SimpleNamespace]) -> None:
        self._modules = modules

    def passes(self, test: str, trial: Trial, session: Session, rows: list[Row] | None) -> bool:
        """Whether a test ends without an exception."""
        if recognise(test):
            return interpret(test, trial, session, rows)
        with _Failing() as failing:
            check(test)
            visible = published.names_for_tests(session, rows)
            visible["__builtins__"] = self._built_in()
            own: dict[str, Any] = {}
            exec(compile(test, "test", "exec", dont_inherit=True), visible, own)
            *first, _ = arguments_of(trial, session, Connection(session))
            own["test_case"](*first, conditions=conditions_of(trial))
        return not failing.failed

    def _built_in(self) -> dict[str, Any]:
        harmless = {
            name: value
            for name, value in vars(builtins).items()
            if name not in _WITHHELD and (not name.startswith("_") or name == "__build_class__")
        }
        return {**harmless, "__import__": self._import, "__name__": "test"}

    def _import(self, name: str, _globals: object = None, _locals: object = None, *_more: object) -> SimpleNamespace:
        if name not in self._modules:
            raise ImportError(f"a test may not import {name}")
        return self._modules[name]


def check(test: str) -> None:
    """ValueError for source that names what could lead out of it; SyntaxError for what is no Python."""
    for node in ast.walk(ast.parse(test)):
        match node:
            case ast.Name(id=name) | ast.arg(arg=name):
                refused = [name] if name.startswith("__") else []
            case ast.Attribute(attr=name):
                refused = [name] if name.startswith("_") or name in _FRAMES else []
            case ast.MatchClass(kwd_attrs=names):
                refused = names
            case _:
                refused = []
        if refused:
            raise ValueError(f"a test may not name {refused[0]}")


def _contents(module: ModuleType) -> SimpleNamespace:
    """A module's public names, without the modules that it imported."""
    names = getattr(module, "__all__", dir(module))
    public = {name: getattr(module, name) for name in names if not name.startswith("_")}
    return SimpleNamespace(**{name: value for name, value in public.items() if not isinstance(value, ModuleType)})


class _Failing:
    """Takes every exception of a block as a failure, MemoryError among them, as the published runner does."""

    failed = False

    def __enter__(self) -> _Failing:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> bool:
        self.failed = error is not None
        return isinstance(error, Exception)

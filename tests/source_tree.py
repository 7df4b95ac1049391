"""Which modules of the project a file imports, by reading it: the rules about imports are tested on this."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "sqldojo"


def source_files() -> list[Path]:
    """Every module of the package, sorted."""
    return sorted((ROOT / "src" / PACKAGE).rglob("*.py"))


def stage_scripts() -> list[Path]:
    return sorted((ROOT / "stages").glob("*.py"))


def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def imported_names(path: Path) -> set[str]:
    """Dotted names imported anywhere in a file, inside functions too; `from a import b` gives `a` and `a.b`."""
    names: set[str] = set()
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import; write the full name"
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def first_party(path: Path) -> set[Path]:
    """The project's files that importing `path` runs at once, the `__init__.py` of each package on the way included."""
    return {file for name in imported_names(path) for file in _files_of(name)}


def closure(path: Path) -> set[Path]:
    """All of the project's files that `path` imports, directly or not; without `path` itself."""
    found: set[Path] = set()
    todo = [path]
    while todo:
        new = first_party(todo.pop()) - found
        found |= new
        todo += new
    return found


def has_code(path: Path) -> bool:
    """Whether a module holds anything but its docstring."""
    body = parse(path).body
    return any(not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)) for node in body)


def _files_of(name: str) -> Iterator[Path]:
    parts = name.split(".")
    if parts[0] != PACKAGE:
        return
    for end in range(1, len(parts) + 1):
        folder = (ROOT / "src").joinpath(*parts[:end])
        for candidate in (folder / "__init__.py", folder.with_suffix(".py")):
            if candidate.is_file():
                yield candidate

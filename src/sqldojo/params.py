"""params.yaml as typed sections: one frozen dataclass a section, one section a stage.

Read with ruamel (YAML 1.2, as DVC reads it), because PyYAML takes `1e-4` for a text. An unknown key, a missing
key or a value of the wrong type is the user's error and names file, key and remedy.
"""

from __future__ import annotations

import dataclasses
import difflib
import typing
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from sqldojo.errors import UserError

Section = TypeVar("Section")
Item = TypeVar("Item", str, int)


class ParamsError(UserError):
    """A mistake in params.yaml, told with the file, the key and what to do."""


def load(path: Path, section: str, schema: type[Section], **given: Any) -> Section:
    """The section of a params file as an instance of `schema`; ParamsError for whatever does not fit.

    The fields that are `given` do not come from the file, and are unknown keys there.
    """
    return _build(f"{path}: {section}", _section(path, section), schema, given)


def load_entry(path: Path, section: str, name: str) -> str:
    """The text under a name of the user's own choice; ParamsError when it is not there or no text."""
    entries = _section(path, section)
    if not isinstance(entries, dict) or not isinstance(entries.get(name), str):
        raise ParamsError(f"{path}: {section}.{name}: there is no such text; add it")
    return entries[name]


def load_list(path: Path, section: str, kind: type[Item]) -> list[Item]:
    """A list of texts or of whole numbers; ParamsError when it is none, is empty or holds anything twice."""
    values = _section(path, section)
    if not isinstance(values, list) or not values:
        raise ParamsError(f"{path}: {section}: expected a list of at least one, found {values!r}")
    items = [_convert(f"{path}: {section}[{index}]", value, kind) for index, value in enumerate(values)]
    if len(set(items)) < len(items):
        raise ParamsError(f"{path}: {section}: holds something twice; remove one of the two")
    return items


def _section(path: Path, section: str) -> Any:
    document = read_document(path)
    if section not in document:
        raise ParamsError(f"{path}: section `{section}` is missing;{_suggest(section, list(document), 'add it')}")
    return document[section]


def read_document(path: Path) -> dict[str, Any]:
    """The whole params file as plain mappings; ParamsError when it is absent or is no YAML mapping."""
    try:
        document = YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ParamsError(f"{path}: no such file; restore it with `git checkout {path}`") from error
    except (YAMLError, UnicodeDecodeError) as error:
        raise ParamsError(f"{path}: not YAML ({_problem(error)}); correct it") from error
    if not isinstance(document, dict):
        raise ParamsError(f"{path}: expected a mapping of sections, found {type(document).__name__}")
    return document


def _problem(error: Exception) -> str:
    """YAML's complaint in one line: its own text shows the place and advice for programmers on several."""
    if isinstance(error, MarkedYAMLError) and error.problem and error.problem_mark:
        return f"line {error.problem_mark.line + 1}: {error.problem}"
    return str(error).partition("\n")[0]


def _build(where: str, values: Any, schema: type[Section], given: Mapping[str, Any] = MappingProxyType({})) -> Section:
    if not isinstance(values, dict):
        raise ParamsError(f"{where}: expected a mapping of keys, found {values!r}")
    hints = typing.get_type_hints(schema)
    fields = {field.name: field for field in dataclasses.fields(schema) if field.name not in given}
    for key in values:
        if key not in fields:
            raise ParamsError(f"{where}.{key}: unknown key;{_suggest(str(key), list(fields), 'remove it')}")
    arguments = dict(given)
    for name, field in fields.items():
        if name in values:
            arguments[name] = _convert(f"{where}.{name}", values[name], hints[name])
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise ParamsError(f"{where}.{name}: missing; add it ({_describe(hints[name])})")
    try:
        return schema(**arguments)
    except ValueError as error:  # a section's own range check in __post_init__ names the key
        raise ParamsError(f"{where}.{error}") from error


def _convert(where: str, value: Any, hint: Any) -> Any:
    """`value` as `hint` wants it; a whole number is accepted where a float is expected, a bool never is a number."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if dataclasses.is_dataclass(hint):
        return _build(where, value, hint)
    if isinstance(value, int | float) and not -(2**63) <= value < 2**63:  # nan too compares as false
        raise ParamsError(f"{where}: expected {_describe(hint)} of a usual size, found {value!r}")
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if origin is tuple and isinstance(value, list):
        return tuple(_convert(f"{where}[{index}]", item, arguments[0]) for index, item in enumerate(value))
    if origin is dict and isinstance(value, dict):
        return {_convert(f"{where}.{key}", key, arguments[0]): _convert(f"{where}.{key}", item, arguments[1])
                for key, item in value.items()}
    if isinstance(hint, type) and isinstance(value, hint) and not (isinstance(value, bool) and hint is not bool):
        return value
    raise ParamsError(f"{where}: expected {_describe(hint)}, found {value!r}")


def _describe(hint: Any) -> str:
    names = {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}
    if typing.get_origin(hint) is tuple:
        return f"a list, each item {_describe(typing.get_args(hint)[0])}"
    if typing.get_origin(hint) is dict:
        return f"a mapping of names to {_describe(typing.get_args(hint)[1])}"
    return names.get(hint, "a mapping")


def _suggest(key: str, known: list[str], otherwise: str) -> str:
    close = difflib.get_close_matches(key, known, n=1)
    return f" did you mean `{close[0]}`?" if close else f" {otherwise} (known: {', '.join(known)})"

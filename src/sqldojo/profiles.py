"""Profiles: overlays on params.yaml, such as a tiny one for tests or one for another model.

An overlay holds only the keys that it changes; it adds keys only where they are names of the user's choice. params.yaml
is rewritten in place with its comments kept, so that DVC sees ordinary changed params and `git checkout params.yaml`
takes the profile off again.
"""

from __future__ import annotations

import difflib
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from sqldojo.files import write_text
from sqldojo.params import ParamsError, read_document

_NAMED_BY_USERS = {("sources",), ("providers", "prices")}  # an overlay adds to these
_REPLACED = {("questions", "held_out_questions")}  # and takes the place of this, which has only keys that it needs


def apply(params: Path, profile: Path) -> list[str]:
    """Lay the profile file over the params file; return the dotted keys whose values changed, in the file's order.

    ParamsError for a profile that is absent, holds a key that params.yaml has not, or puts a value in a section's
    place; params.yaml is then untouched.
    """
    if not profile.is_file():
        known = ", ".join(sorted(path.stem for path in profile.parent.glob("*.yaml"))) or "none"
        raise ParamsError(f"{profile}: no such profile; known: {known}")
    overlay = read_document(profile)
    read_document(params)  # tells what is wrong with the file in our words
    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 4096  # no long line is ever folded
    document = yaml.load(params.read_text(encoding="utf-8"))
    changed = _overlay(str(profile), document, overlay, ())
    stream = io.StringIO()
    yaml.dump(document, stream)
    write_text(params, stream.getvalue())
    return changed


def _overlay(profile: str, base: dict[str, Any], overlay: Mapping[str, Any], place: tuple[str, ...]) -> list[str]:
    changed = []
    for key, value in overlay.items():
        dotted = ".".join((*place, str(key)))
        if key not in base and place in _NAMED_BY_USERS:
            base[key] = value
            changed.append(dotted)
            continue
        if key not in base:
            close = difflib.get_close_matches(str(key), [str(name) for name in base], n=1)
            hint = f"did you mean `{close[0]}`?" if close else "remove it, or add it to params.yaml first"
            raise ParamsError(f"{profile}: {dotted}: not in params.yaml; {hint}")
        if isinstance(base[key], dict) != isinstance(value, dict):
            raise ParamsError(f"{profile}: {dotted}: a section must stay a section, and a value a value")
        if isinstance(value, dict) and (*place, str(key)) not in _REPLACED:
            changed += _overlay(profile, base[key], value, (*place, str(key)))
        elif base[key] != value or isinstance(base[key], bool) != isinstance(value, bool):
            base[key] = value
            changed.append(dotted)
    return changed

"""What goes into the page besides its text: data that no browser may take for markup, and its scripts.

A model's output is hostile: it may hold `</script>`, and it may have been taught to. Data is JSON in which no `<` is
left, and reaches the document as text alone. The page's policy lets exactly the scripts run whose hashes it names,
and lets nothing be loaded from anywhere but the page's own server.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import json
from importlib import resources
from typing import Any

import vl_convert

_SCRIPTS = ("theme.js", "charts.js", "sql_text.js", "transcripts.js", "start.js")
_ESCAPES = {character: f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


def embedded_json(value: Any) -> str:
    """JSON for a `<script type="application/json">`: one line, no character that ends a script or a line elsewhere.

    Keys keep their order, which is part of what is said. ValueError for NaN and infinity.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character, escape in _ESCAPES.items():  # outside of texts JSON has none of them
        text = text.replace(character, escape)
    return text.encode("utf-8", "backslashreplace").decode("utf-8")  # a lone surrogate, which UTF-8 cannot hold


@functools.cache
def scripts() -> tuple[str, str]:
    """Vega with all it needs, and our own script: texts that a `<script>` can hold."""
    own = "\n".join(_text(name) for name in _SCRIPTS)
    for script in (bundle := vl_convert.javascript_bundle(), own):
        if "</script" in script.lower() or "<!--" in script:
            raise ValueError("a script of the page holds what ends or comments out a script")
    return bundle, own


def style_sheet() -> str:
    """The page's style sheet."""
    return _text("page.css")


def content_policy(scripts: tuple[str, ...]) -> str:
    """A Content-Security-Policy under which only these scripts run, without eval, and nothing foreign is loaded."""
    hashes = " ".join(f"'sha256-{_digest(script)}'" for script in scripts)
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _text(name: str) -> str:
    return resources.files(__package__).joinpath("assets", name).read_text(encoding="utf-8")

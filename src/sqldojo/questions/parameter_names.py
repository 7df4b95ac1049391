"""What a parameter is called, so that SQLite, sqlglot and a text with braces all read its name."""

from __future__ import annotations

import re


def parameter_name(text: str) -> str:
    """The words of `text` in lower case, joined by underscores; letters of any alphabet stay."""
    name = re.sub(r"\W+", "_", text.lower()).strip("_")
    return name if name[:1].isalpha() else f"value_{name}"

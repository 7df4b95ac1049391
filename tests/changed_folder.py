"""A copy of a model's folder with other values in one of its JSON files."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any


def changed_copy(folder: Path, to: Path, name: str, **values: Any) -> Path:
    """Write the copy to `to`, with these values in the file `name`; returns `to`."""
    shutil.copytree(folder, to)
    content = json.loads((folder / name).read_text(encoding="utf-8")) | values
    (to / name).write_text(json.dumps(content), encoding="utf-8")
    return to

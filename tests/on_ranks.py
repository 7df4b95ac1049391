"""Runs a snippet of Python on several ranks of this machine, for tests of data-parallel work."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

SECONDS = 60.0  # far more than a test takes; ranks end when their launcher is killed

_LAUNCHER = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a job in the background ignores
sys.path[:] = {path!r}
from pathlib import Path
from sqldojo.training.launching import relaunch_on
sys.exit(relaunch_on(["localhost"] * {count}, ["snippet.py"], folder=Path({folder!r})))
"""
_BEFORE = """
import sys
sys.path[:] = {path!r}
import json, os, time
from pathlib import Path
import cpu_first
import mlx.core as mx
from sqldojo.training.data_parallel import join_ranks
if os.environ["MLX_RANK"] == "{last}":
    time.sleep(0.3)  # it connects first, and mlx tries again only after a second if nobody listens yet
ranks = join_ranks()
result = None
"""
_AFTER = """
Path(f"result_{ranks.rank}.json").write_text(json.dumps(result))
"""


def start_on_ranks(count: int, snippet: str, folder: Path) -> subprocess.Popen[str]:
    """A process that launches `count` ranks of the snippet in `folder` and exits with their code.

    The snippet finds `ranks`, `mx` and `Path` defined and may set `result` to a JSON-like value.
    """
    script = _BEFORE.format(path=sys.path, last=count - 1) + snippet + _AFTER
    (folder / "snippet.py").write_text(script, encoding="utf-8")
    code = _LAUNCHER.format(path=sys.path, count=count, folder=str(folder))
    return subprocess.Popen(
        [sys.executable, "-c", code], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder
    )


def run_on_ranks(count: int, snippet: str, folder: Path) -> list[Any]:
    """What the snippet set as `result` on each rank; AssertionError with what they printed when it fails."""
    code, _, errors = end_of(start_on_ranks(count, snippet, folder))
    assert code == 0, errors
    return [json.loads((folder / f"result_{rank}.json").read_text(encoding="utf-8")) for rank in range(count)]


def end_of(launcher: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Exit code, output and errors of a launcher, which is killed when it takes too long."""
    try:
        output, errors = launcher.communicate(timeout=SECONDS)
    finally:
        launcher.kill()
    return launcher.returncode, output, errors

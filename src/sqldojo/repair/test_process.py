"""Running a test that is code of others, which only happens with the user's permission: in a process of its own.

The child is a fresh interpreter without the user's environment, path and site folder (`python -I`). It works in a
folder that is removed afterwards, on a copy of the database, under limits of the system: CPU time, size of files, open
files, processes, core dumps and, where the system has it, memory. macOS does not enforce a limit on a process's memory;
there only SQLite's own heap is bounded, and the time. What the code may reach is told in test_child.py.

Not covered: code that escapes from Python itself, such as by a flaw of the interpreter or of a C module. It would run
with the user's rights. That is why permission is asked.
"""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

from sqldojo.databases.execution import Limits
from sqldojo.databases.private_copies import Copy
from sqldojo.databases.sandbox import explain
from sqldojo.databases.sessions import own_copy
from sqldojo.databases.workers import Died, Killed
from sqldojo.repair.trial import DOES_NOT_RUN, Outcome, Trial

_START_SECONDS = 20.0  # for a new interpreter on a busy machine
_RESULT = "result.json"
_COMMAND = "import sys; sys.path.insert(0, sys.argv[1]); from sqldojo.repair.test_child import main; main()"


def run_in_child(copy: Copy, folder: Path, trial: Trial, limits: Limits, seconds: float) -> Outcome:
    """How a trial ends whose tests have to be run; one that its process does not survive has not passed."""
    request = {
        "database": str(own_copy(copy, folder)),
        "seconds": seconds,
        "limits": dataclasses.asdict(limits),
        "trial": dataclasses.asdict(trial),
    }
    source = Path(__file__).resolve().parents[2]
    result = folder / _RESULT
    with result.open("wb") as output:  # not a pipe: the limit on files bounds what the child can write
        process = subprocess.Popen(
            [sys.executable, "-I", "-B", "-X", "utf8", "-c", _COMMAND, str(source)],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.DEVNULL,
            env={"TZ": "UTC"},
            cwd=folder,
            start_new_session=True,
        )
        try:
            process.communicate(json.dumps(request).encode(), timeout=_START_SECONDS + seconds)
        except subprocess.TimeoutExpired:
            return Outcome(DOES_NOT_RUN, explain(Killed(0, seconds), dataclasses.replace(limits, seconds=seconds)))
        finally:
            process.kill()
            process.wait()
    content = result.read_bytes()
    if process.returncode or not content:
        return Outcome(DOES_NOT_RUN, explain(Died(0, seconds, process.returncode), limits))
    return Outcome(**json.loads(content))

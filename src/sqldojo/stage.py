"""What every stage script shares: how it starts, how it fails, how long it took.

A stage is `run_stage(name, main)`. The user's fault ends it with one line and exit code 1; our fault with a traceback.
Its seconds go to `.scratch/` beside the data, outside every artefact, for the table that `make repro` prints.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from sqldojo.errors import UserError, system_refusal
from sqldojo.files import file_sha256, write_text

RANK = "MLX_RANK"  # set by mlx's launcher and ours in each of several processes that train together


def run_stage(name: str, main: Callable[[], None]) -> None:
    """Run `main` as the stage `name`; exit 1 with one line when the fault is the user's.

    Also fails when the code or params.yaml changed meanwhile: DVC hashes dependencies after the command, so the
    lock would claim that the new code made this result. A stage that ends well leaves no checkpoints.
    """
    started = time.monotonic()
    sources = _source_files()
    before = _fingerprint(sources)
    try:
        main()
        if _fingerprint(sources) != before:
            raise UserError(f"stage {name}: code or params.yaml changed while it ran; run `dvc repro {name}` again")
        if os.environ.get(RANK, "0") == "0":  # one cleans up for all
            _clear_scratch(name)  # not before the check: a rerun may still go on from the checkpoints
            write_text(scratch_folder() / "seconds" / name, f"{time.monotonic() - started:.1f}\n")
    except UserError as error:
        _fail(str(error))
    except OSError as error:  # a full disk, a missing file, no permission
        _fail(f"stage {name}: {system_refusal(error)}")
    except RuntimeError as error:
        if not str(error).startswith("[write]"):  # how mlx says that the disk is full
            raise
        _fail(f"stage {name}: {error}; make room on the disk and run this again")
    except KeyboardInterrupt:
        print(f"\nstage {name}: interrupted; `dvc repro` goes on from its last checkpoint", file=sys.stderr)
        sys.exit(130)


def _fail(message: str) -> NoReturn:
    print(f"error: {message}", file=sys.stderr)
    sys.exit(1)


def scratch_folder() -> Path:
    """Where checkpoints and timings live: outside the outs, which DVC deletes before it runs a stage.

    Beside the real workspace even when DVC runs an experiment in a temporary copy of it.
    """
    return Path(os.environ.get("DVC_ROOT", ".")) / ".scratch"


def resumable_folder(stage: str, *inputs: object) -> Path:
    """The stage's scratch folder for exactly these inputs.

    Files and folders count by their content, other values by their repr.
    A changed parameter, input or line of code gives another folder, so a stale checkpoint is never resumed from.
    """
    code = [file for file in _source_files() if file.suffix == ".py"]
    digest = hashlib.sha256(_fingerprint(code).encode())
    for item in inputs:
        folder = isinstance(item, Path) and item.is_dir()
        for part in sorted(item.rglob("*")) if folder else [item]:
            name = part.relative_to(item).as_posix() if folder else ""
            if not isinstance(part, Path):
                digest.update(f"{part!r}\n".encode())
            elif part.is_file() or not folder:
                digest.update(f"{name} {file_sha256(part)}\n".encode())
    return scratch_folder() / stage / digest.hexdigest()[:16]


def _clear_scratch(stage: str) -> None:
    """Delete a stage's checkpoints, those of other inputs too, so that abandoned ones do not pile up."""
    shutil.rmtree(scratch_folder() / stage, ignore_errors=True)


def _source_files() -> list[Path]:
    """The running script, params.yaml and every module of sqldojo imported by now."""
    modules = [module for name, module in sys.modules.items() if name.partition(".")[0] == "sqldojo"]
    files = {Path("params.yaml"), Path(sys.argv[0])} | {Path(module.__file__) for module in modules if module.__file__}
    return sorted(file for file in files if file.is_file())


def _fingerprint(files: list[Path]) -> str:
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()

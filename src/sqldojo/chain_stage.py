"""How a stage starts that works on one chain: its command names the model and the seed."""

from __future__ import annotations

import sys
from collections.abc import Callable

from sqldojo.chains import Chain, chain_of
from sqldojo.stage import run_stage


def run_chain_stage(name: str, main: Callable[[Chain], None]) -> None:
    """Run `main` on the chain of the command's arguments, as the stage `name`@CHAIN; it ends as `run_stage` says."""
    run_stage(f"{name}@{'-'.join(sys.argv[1:])}", lambda: main(chain_of(sys.argv[1:])))

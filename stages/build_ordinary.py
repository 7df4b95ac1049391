"""Stage build_ordinary: the ordinary databases of both families, to propose questions about."""

from __future__ import annotations

from pathlib import Path

from sqldojo import params
from sqldojo.databases.building import DatabaseParams, build_families
from sqldojo.databases.families import ORDINARY
from sqldojo.stage import run_stage


def main() -> None:
    """Write data/ordinary."""
    build_families(Path("data/ordinary"), params.load(Path("params.yaml"), "databases", DatabaseParams), ORDINARY)


if __name__ == "__main__":
    run_stage("build_ordinary", main)

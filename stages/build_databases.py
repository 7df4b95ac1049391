"""Stage build_databases: the databases of both families, to train on and to evaluate on."""

from __future__ import annotations

from pathlib import Path

from sqldojo import params
from sqldojo.databases.building import DatabaseParams, build_families
from sqldojo.stage import run_stage


def main() -> None:
    """Write data/databases."""
    build_families(Path("data/databases"), params.load(Path("params.yaml"), "databases", DatabaseParams))


if __name__ == "__main__":
    run_stage("build_databases", main)

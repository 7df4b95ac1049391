"""Stage build_ordinary: the ordinary databases of both families, to propose questions about."""

from __future__ import annotations

from pathlib import Path

from sqldojo import own_database, params
from sqldojo.databases.building import DatabaseParams, build_families
from sqldojo.databases.families import ORDINARY
from sqldojo.stage import run_stage

OUT, KEYS = Path("data/ordinary"), Path("bank/foreign_keys.yaml")


def main() -> None:
    """Write data/ordinary."""
    settings = params.load(Path("params.yaml"), "databases", DatabaseParams)
    if settings.is_shop:
        build_families(OUT, settings, ORDINARY)
    else:
        print(*own_database.build_own_families(OUT, settings, KEYS), sep="\n")


if __name__ == "__main__":
    run_stage("build_ordinary", main)

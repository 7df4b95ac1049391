"""Families built from references alone, over schemas of other people: every wrong rewrite rejected, every right one
accepted. The schemas and their rows are in ../shared, beside the project; without it these tests are skipped.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from sqldojo.databases.execution import Limits
from sqldojo.family_files import family_databases, family_from_file
from sqldojo.reference_files import Reference
from sqldojo.verifier.family_search import FamilyParams
from sqldojo.verifier.grading import CORRECT, WRONG, grade

SHARED = Path(__file__).parents[2].parent / "shared"
FIXTURES = Path(__file__).parents[1] / "sql"
SCRIPTS = {
    "pairs": SHARED / "cases" / "rewrites_schema.sql",
    "chinook": SHARED / "data" / "chinook" / "chinook.sql.gz",
    "sakila": SHARED / "data" / "sakila" / "sakila.sql.gz",
}

pytestmark = pytest.mark.skipif(not SHARED.is_dir(), reason="../shared is not there")


@dataclass(frozen=True)
class Rewrite:
    world: str
    id: str
    reference: str
    sql: str
    verdict: str


def of_the_pairs() -> list[Rewrite]:
    pairs = json.loads((SHARED / "cases" / "rewrites.json").read_text(encoding="utf-8"))
    verdicts = {"equivalent": CORRECT, "wrong": WRONG}
    return [Rewrite("pairs", each["id"], each["reference"], each["rewrite"], verdicts[each["kind"]]) for each in pairs]


def of_a_fixture(world: str) -> list[Rewrite]:
    blocks = []
    for block in (FIXTURES / f"{world}_rewrites.sql").read_text(encoding="utf-8").split("\n\n"):
        lines = block.strip().splitlines()
        comments = [line.removeprefix("-- ") for line in lines if line.startswith("-- ")]
        headers = dict(comment.split(": ", 1) for comment in comments if ": " in comment)
        sql = " ".join(line for line in lines if not line.startswith("-- ")).removesuffix(";")
        if sql:
            blocks.append((headers, sql))
    references = {headers["type"]: sql for headers, sql in blocks if headers["verdict"] == "reference"}
    return [
        Rewrite(world, f"{headers['type']}: {headers['title']}", references[headers["type"]], sql, headers["verdict"])
        for headers, sql in blocks
        if headers["verdict"] != "reference"
    ]


REWRITES = [*of_the_pairs(), *of_a_fixture("chinook"), *of_a_fixture("sakila")] if SHARED.is_dir() else []


@pytest.fixture(scope="module")
def families(tmp_path_factory):
    """World -> its four databases, each built when first asked for."""
    built: dict[str, tuple[Path, ...]] = {}

    def family(world: str) -> tuple[Path, ...]:
        if world not in built:
            folder = tmp_path_factory.mktemp(world)
            raw = SCRIPTS[world].read_bytes()
            (folder / "script.sql").write_bytes(gzip.decompress(raw) if SCRIPTS[world].suffix == ".gz" else raw)
            sql = dict.fromkeys(rewrite.reference for rewrite in REWRITES if rewrite.world == world)
            references = [Reference(str(number), reference) for number, reference in enumerate(sql)]
            content = family_from_file(folder / "script.sql", references, folder / "out", FamilyParams(), Limits())
            assert content["refused"] == 0
            built[world] = family_databases(folder / "out")
        return built[world]

    return family


@pytest.mark.parametrize("rewrite", REWRITES, ids=lambda rewrite: f"{rewrite.world}: {rewrite.id}")
def test_the_family_tells_the_rewrite(rewrite, families):
    assert grade(rewrite.reference, rewrite.sql, families(rewrite.world)).verdict == rewrite.verdict

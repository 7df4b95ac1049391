"""Mutation scores on other people's databases: how many mutants of their gold queries each set of instances kills.

    python benchmarks/mutation_scores.py SCRIPTS QUERIES [--databases N] [--queries-each N] [--out FILE]

SCRIPTS is a folder of `<db_id>.sql.gz` or `<db_id>.sql` scripts, QUERIES a JSON-lines file with `db_id` and `query`.
For each database a family is built from the gold queries alone; the table gives the mutants that differ on the
original database, on the three ordinary instances and on all four, and those that differ on any rows that were tried.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from sqldojo.databases.execution import Limits
from sqldojo.databases.schema_model import Schema, read_rows, read_schema
from sqldojo.databases.scratch import Scratch
from sqldojo.databases.scripts import build_from_script
from sqldojo.verifier.family import build_family, counts, reads
from sqldojo.verifier.family_search import FamilyParams
from sqldojo.verifier.instance_search import Target, kills


def main() -> None:
    """Print one line a database and the sums."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scripts", type=Path)
    parser.add_argument("queries", type=Path)
    parser.add_argument("--databases", type=int, default=50, help="the first so many in alphabetical order")
    parser.add_argument("--queries-each", type=int, default=40, help="at most so many different queries a database")
    parser.add_argument("--edits", type=int, default=FamilyParams.edits)
    parser.add_argument("--starts", type=int, default=FamilyParams.starts)
    parser.add_argument("--out", type=Path, help="write the figures to this JSON file too")
    options = parser.parse_args()
    golds: dict[str, list[str]] = {}
    for line in options.queries.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        golds.setdefault(record["db_id"], []).append(record["query"])
    files = sorted(path for path in options.scripts.iterdir() if path.name.split(".sql")[0] in golds)
    files = files[: options.databases]
    jobs = [(path, list(dict.fromkeys(golds[path.name.split(".sql")[0]]))[: options.queries_each],
             FamilyParams(edits=options.edits, starts=options.starts))
            for path in files]  # fmt: skip
    total: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    table = []
    with ProcessPoolExecutor(2) as pool:
        for figures, refused in pool.map(_score, jobs):
            print(_line(figures), flush=True)
            table.append(figures)
            total.update({key: value for key, value in figures.items() if key != "database"})
            reasons.update(refused)
    print(_line({"database": f"all {len(table)}", **total}))
    for reason, count in reasons.most_common():
        print(f"  refused {count}: {reason}")
    if options.out:
        options.out.write_text(json.dumps({"databases": table, "total": total, "refused": reasons}, indent=2) + "\n")


def _score(job: tuple[Path, list[str], FamilyParams]) -> tuple[dict[str, object], list[str]]:
    path, queries, params = job
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "source.sqlite"
        raw = path.read_bytes()
        build_from_script(source, (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8"))
        schema = read_schema(source)
        references = {str(number): single_quoted(query, schema) for number, query in enumerate(queries)}
        judged = build_family(source, references, Path(folder) / "out", params, Limits())
        used = [each for each in judged if each.refused is None]
        targets = [Target(each.reference, tuple(m.sql for m in each.mutants), reads(each.reference, schema))
                   for each in used]  # fmt: skip
        scratch = Scratch(schema, vm_steps=20_000_000)
        scratch.load(read_rows(source, schema))
        original = sum(1 for _, variant in kills(scratch, targets) if variant)
        scratch.close()
    figures = {"database": path.name.split(".sql")[0], "queries": len(judged), "used": len(used),
               "original": original, **counts(judged), "seconds": round(time.monotonic() - started, 1)}  # fmt: skip
    refused = [re.sub(r"`.*|ordinary_\d|adversarial", "...", each.refused or "")[:60] for each in judged]
    return figures, [reason for reason in refused if reason]


def single_quoted(query: str, schema: Schema) -> str:
    """The query with "text" as 'text' where no table or column has that name: what the benchmark's authors meant."""
    names = {name.lower() for table in schema.tables for name in (table.name, *table.names)}

    def requoted(found: re.Match[str]) -> str:
        return found[0] if found[1].lower() in names else "'" + found[1].replace("'", "''") + "'"

    return re.sub(r'"([^"]*)"', requoted, query)


def _line(figures: dict[str, object]) -> str:
    of = max(1, int(figures["killable"]))
    shares = "  ".join(f"{key} {int(figures[key])} ({100 * int(figures[key]) / of:.1f} %)"
                       for key in ("original", "one_ordinary", "three_ordinary", "four"))  # fmt: skip
    return (f"{figures['database']}: {figures['used']}/{figures['queries']} queries, {figures['mutants']} mutants, "
            f"{figures['killable']} killable  {shares}  {figures['seconds']} s")  # fmt: skip


if __name__ == "__main__":
    main()

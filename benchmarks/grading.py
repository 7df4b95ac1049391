"""What grading costs beside running the same SQL with the standard library's sqlite3, as a ratio of wall times.

    make bench

For every question type of the shop: 16 different submissions to one question on the four databases of a family,
graded, against 4 runs of the reference and 16 x 4 runs of the submissions, one after another in this process, rows
fetched and nothing compared. Plain sqlite3 keeps one connection a database; the second ratio opens one a query, as the
grader does. References are computed before (warm) or within (cold) the measured call. The best of interleaved rounds
counts. The target is a ratio below 2.
"""

from __future__ import annotations

import argparse
import math
import os
import sqlite3
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from sqldojo.databases.building import DatabaseParams, build_families
from sqldojo.databases.execution import Limits, run_query
from sqldojo.databases.families import EVALUATION, FAMILIES, ORDINARY, family_paths
from sqldojo.databases.sandbox import run_untrusted
from sqldojo.databases.workers import Workers
from sqldojo.questions.review import ReviewParams, review
from sqldojo.questions.shop_types import SHOP_TYPES
from sqldojo.verifier.grading import CORRECT, WRONG, grade_all

SUBMISSIONS = 16
REVIEW = ReviewParams(seed=1, trained_values=2, held_out_values=1, reserved_share=0.4, held_out_shapes=0.0)
SIZES = {
    "as in params.yaml": DatabaseParams(seed=17, customers=60, products=60, orders=250),
    "as large as can be": DatabaseParams(seed=17, customers=1_000, products=200, orders=5_000),
}


def main() -> None:
    """Print a table for each size of the databases, then what a call and a new process cost."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9, help="of which the best counts")
    rounds = parser.parse_args().rounds
    print(f"{os.cpu_count()} processors; standard library's SQLite {sqlite3.sqlite_version}")
    with tempfile.TemporaryDirectory() as folder:
        for name, params in SIZES.items():
            root = Path(folder) / name.replace(" ", "-")
            build_families(root, params)
            _print_table(f"databases {name}", root, rounds)
        _print_calls(family_paths(root, EVALUATION)[0], rounds)


def _print_table(title: str, root: Path, rounds: int) -> None:
    ordinary = {family: family_paths(root, family, ORDINARY) for family in FAMILIES}
    filled = review(SHOP_TYPES, ordinary, REVIEW, Limits()).filled
    references = {each.type: each.reference for each in filled if each.family == EVALUATION}
    databases = family_paths(root, EVALUATION)
    measured = {name: _measure(reference, databases, rounds) for name, reference in references.items()}
    heads = ("plain ms", "warm", "cold", "warm*", "cold*", "wrong")
    print(f"\n{title}: ratios to plain sqlite3, * with one connection a query")
    print(" " * 34 + "".join(f"{head:>9}" for head in heads))
    ratios = []
    for name, (plain, reopening, warm, cold, wrong, plain_wrong) in sorted(measured.items(), key=lambda item: item[1]):
        row = (warm / plain, cold / plain, warm / reopening, cold / reopening, wrong / plain_wrong)
        ratios.append(row)
        print(f"{name:34}{plain * 1000:9.2f}" + "".join(f"{ratio:9.2f}" for ratio in row))
    sums = [sum(times) for times in zip(*measured.values(), strict=True)]
    plain, reopening, warm, cold, wrong, plain_wrong = sums
    row = (warm / plain, cold / plain, warm / reopening, cold / reopening, wrong / plain_wrong)
    print(f"{'all types together':34}{plain * 1000:9.2f}" + "".join(f"{ratio:9.2f}" for ratio in row))
    means = [math.exp(sum(map(math.log, column)) / len(column)) for column in zip(*ratios, strict=True)]
    print(f"{'geometric mean':34}{'':9}" + "".join(f"{mean:9.2f}" for mean in means))


def _measure(reference: str, databases: Sequence[Path], rounds: int) -> list[float]:
    """Best seconds of: plain, plain reopening, graded warm, graded cold, wrong ones graded, wrong ones plain."""
    right = [f"{reference} -- {number}" for number in range(SUBMISSIONS)]
    wrong = [f"SELECT * FROM ({reference}) UNION ALL SELECT * FROM ({reference}) -- {n}" for n in range(SUBMISSIONS)]
    open_ones = [_connect(database) for database in databases]

    def plain(submissions: Sequence[str]) -> None:
        for sql in (reference, *submissions):
            for connection in open_ones:
                connection.execute(sql).fetchall()

    def reopening() -> None:
        for sql in (reference, *right):
            for database in databases:
                with closing(_connect(database)) as connection:
                    connection.execute(sql).fetchall()

    def graded(submissions: Sequence[str], verdict: str, text: str = reference) -> None:
        assert {each.verdict for each in grade_all(text, submissions, databases)} == {verdict}

    graded(right, CORRECT)
    best = [math.inf] * 6
    for number in range(rounds):
        works: list[Callable[[], None]] = [
            lambda: plain(right),
            reopening,
            lambda: graded(right, CORRECT),
            lambda text=f"{reference} -- round {number}": graded(right, CORRECT, text),
            lambda: graded(wrong, WRONG),
            lambda: plain(wrong),
        ]
        best = [min(least, _seconds(work)) for least, work in zip(best, works, strict=True)]
    for connection in open_ones:
        connection.close()
    return best


def _print_calls(database: Path, rounds: int) -> None:
    run_untrusted(database, "SELECT 1")
    times = {
        "a query in this process": lambda: run_query(database, "SELECT 1"),
        "the same query in a worker": lambda: run_untrusted(database, "SELECT 1"),
        "a worker's start and first call": _start_a_worker,
    }
    print()
    for name, work in times.items():
        print(f"{name:34}{min(_seconds(work) for _ in range(10 * rounds)) * 1000:9.3f} ms")


def _start_a_worker() -> None:
    workers = Workers(1)
    workers.call(math.sqrt, 4.0, seconds=60)
    workers.close()


def _connect(database: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)


def _seconds(work: Callable[[], None]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


if __name__ == "__main__":
    main()

"""The five example records that the published evaluator was run on, where the folder with them is at hand."""

import gzip
import json
from pathlib import Path

import pytest

from sqldojo.databases.execution import Limits
from sqldojo.databases.scripts import build_from_script
from sqldojo.repair.gate import gate
from sqldojo.repair.judging import Judge, needs_test_code
from sqldojo.repair.six_gym import load

SHARED = Path(__file__).parents[2].parent / "shared" / "data"
EXAMPLES = SHARED / "synthetic" / "sixgym_examples.jsonl"
DATABASES = {
    "chinook_snake": "chinook/chinook_snake", "bookshop": "synthetic/bookshop", "streaming": "synthetic/streaming",
    "sakila": "sakila/sakila",
}  # fmt: skip
pytestmark = pytest.mark.skipif(not EXAMPLES.is_file(), reason="no ../shared beside this repository")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("examples")
    (folder / "train.jsonl").write_bytes(EXAMPLES.read_bytes())
    for name, place in DATABASES.items():
        path = folder / "database" / name / f"{name}_template.sqlite"
        path.parent.mkdir(parents=True)
        build_from_script(path, gzip.decompress((SHARED / f"{place}.sql.gz").read_bytes()).decode())
    return folder


@pytest.fixture(scope="module")
def examples(folder):
    found = {}
    for category in ("Query", "Personalization", "Management"):
        loaded = load(folder, category, tuple(DATABASES))
        found |= {task.id: (task, hidden) for task, hidden in zip(loaded.tasks, loaded.hidden, strict=True)}
    return found


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("id", [f"SYNTH_{number}" for number in range(1, 6)])
def test_the_reference_passes_and_the_buggy_sql_does_not(folder, examples, id, strict):
    judge = Judge(folder / "database", Limits())
    task, hidden = examples[id]
    assert not needs_test_code(hidden)
    assert judge.judge(task, hidden, hidden.sol_sql, strict=strict).passed
    assert not judge.judge(task, hidden, task.issue_sql, strict=strict).passed


def test_all_records_are_examples(examples):
    lines = EXAMPLES.read_text(encoding="utf-8").splitlines()
    assert set(examples) == {json.loads(line)["instance_id"] for line in lines}


def test_the_gate_keeps_them(folder, examples):
    tasks, hidden = zip(*examples.values(), strict=True)
    gated = gate(tasks, hidden, Judge(folder / "database", Limits()))
    assert gated.tasks == tasks and gated.counts == {"judged": 5, "kept": 5}

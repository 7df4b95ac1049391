"""The test split stands apart: the main graph does not know it, and a release is scored once, whatever is tried."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from dvc.dependency.param import ParamsDependency
from dvc.repo import Repo
from source_tree import ROOT, closure, first_party, has_code, parse, source_files, stage_scripts
from tiny_policy import QUESTION, write_databases, write_model

from sqldojo.chains import KEPT
from sqldojo.databases.families import EVALUATION, ORDINARY, family_paths
from sqldojo.files import file_sha256, write_json, write_records
from sqldojo.held_out.ledger import LEDGER, PARAMS, SCORE, Exclusions, read_ledger, record_exclusions
from sqldojo.held_out.release import ReleaseParams
from sqldojo.held_out.split import split_digest
from sqldojo.params import load
from sqldojo.records import TEST, Question
from sqldojo.training import policy_model

HELD_OUT = ROOT / "stages" / "held_out"
SCRIPTS = {path.stem: path for path in sorted(HELD_OUT.glob("*.py"))}
TEST_TYPES = ROOT / "src/sqldojo/held_out/shop_test_types.py"
WITHOUT_INFLUENCE = {ROOT / "src/sqldojo" / name for name in ("errors.py", "progress.py", "stage.py")}


def read_stages():
    with Repo(str(ROOT)) as repo:
        return list(repo.index.stages)


EVERY_STAGE = read_stages()
STAGES = {stage.name: stage for stage in EVERY_STAGE if Path(stage.path) == HELD_OUT / "dvc.yaml"}


def depended_paths(stage):
    return {ROOT / dep.fs_path for dep in stage.deps if not isinstance(dep, ParamsDependency)}


def test_a_stage_is_its_script_and_runs_at_the_root():
    assert sorted(STAGES) == ["build_test", "score_test"] == sorted(set(SCRIPTS) - {"show_test"})
    for name, stage in STAGES.items():
        assert stage.cmd == f"PYTHONPATH=src python stages/held_out/{name}.py"
        assert Path(stage.wdir) == ROOT


def test_the_main_graph_neither_imports_the_test_types_nor_depends_on_what_the_test_makes():
    assert TEST_TYPES in closure(SCRIPTS["build_test"])
    assert not [path for path in stage_scripts() if TEST_TYPES in closure(path)]
    assert not [path for path in source_files() if TEST_TYPES in first_party(path)]
    main = [stage for stage in EVERY_STAGE if Path(stage.path) == ROOT / "dvc.yaml"]
    assert main
    made = {ROOT / out.fs_path for stage in STAGES.values() for out in stage.outs} | {ROOT / LEDGER, ROOT / PARAMS}
    for stage in main:
        for path in {ROOT / dep.fs_path for dep in stage.deps}:
            assert not {path, *path.parents} & made, f"{stage.name} depends on {path}"
            assert not [each for each in made if path in each.parents], f"{stage.name} depends on all of {path}"


@pytest.mark.parametrize("name", sorted(STAGES))
def test_deps_are_the_imports(name):
    script, deps = SCRIPTS[name], depended_paths(STAGES[name])
    imported = closure(script) | {script}
    needed = {path for path in imported if has_code(path)} - WITHOUT_INFLUENCE
    missing = {str(path.relative_to(ROOT)) for path in needed if not deps & {path, *path.parents}}
    assert not missing, f"add to the deps of {name}"
    code = {dep for dep in deps if dep.relative_to(ROOT).parts[0] in ("src", "stages")}
    unused = {str(dep.relative_to(ROOT)) for dep in code if not any({dep} & {path, *path.parents} for path in imported)}
    assert not unused, f"remove from the deps of {name}"


@pytest.mark.parametrize("name", sorted(STAGES))
def test_params_are_the_sections_that_the_script_loads(name):
    declared = {dep.fs_path: set(dep.params) for dep in STAGES[name].deps if isinstance(dep, ParamsDependency)}
    loaded = {str(ROOT / "params.yaml"): set(), str(ROOT / PARAMS): set()}
    for node in ast.walk(parse(SCRIPTS[name])):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("load", "load_own"):
            own = ast.unparse(node.func) == "load_own"
            loaded[str(ROOT / (PARAMS if own else "params.yaml"))].add(node.args[0].value)
    assert {str(ROOT / path): names for path, names in declared.items()} == loaded


def test_scripts_are_thin():
    assert {name for name, path in SCRIPTS.items() if len(path.read_text(encoding="utf-8").splitlines()) > 40} == set()


def test_what_a_refusal_must_leave_and_no_cache_may_replace_is_persistent():
    """A persistent output turns the run cache off: a result from there would leave no line in the ledger."""
    for stage in STAGES.values():
        assert [out for out in stage.outs if out.persist and not out.use_cache], stage.name
    assert not [out for stage in STAGES.values() for out in stage.outs if out.fs_path == str(LEDGER)]


class Workspace:
    """A copy of the scripts with a tiny model, an adapter, and a test set of two questions."""

    def __init__(self, folder):
        self.folder, self.ledger = folder, folder / LEDGER
        (folder / "src").symlink_to(ROOT / "src")
        for path in (*HELD_OUT.glob("*.py"), HELD_OUT / "dvc.yaml", ROOT / PARAMS, ROOT / "params.yaml"):
            copy = folder / path.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
        self.chain = load(folder / PARAMS, "release", ReleaseParams).chain
        (folder / self.chain.base).parent.mkdir(parents=True)
        write_model(folder / self.chain.base)
        write_json(folder / self.chain.base_card, {"source": "random:tiny"})
        self.train(seed=3)
        self.write_split()
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("DVC_")} | {
            "PYTHONPATH": "src", "MKL_NUM_THREADS": "1",
        }  # fmt: skip

    def train(self, seed):
        """Put another adapter in the place of the kept one."""
        lora = policy_model.LoraParams(2, 2.0)
        policy = policy_model.load_policy_model(self.folder / self.chain.base)
        policy_model.add_fresh_adapter(policy.model, lora, seed)
        policy_model.save_adapter(self.folder / self.chain.weights(KEPT), policy.model, lora, {"seed": seed})

    def write_split(self):
        data = self.folder / "data"
        root = data / "held_out" / "databases"
        (root / EVALUATION).mkdir(parents=True)
        for number, (place, path) in enumerate(zip(family_paths(root, EVALUATION), [*ORDINARY, "last"], strict=True)):
            (data / path).mkdir()
            place.write_bytes(write_databases(data / path)[number % 2].read_bytes())
        self.questions = data / "held_out" / "questions.jsonl"
        texts = {"q-1": "How many people are there?", "q-2": "Count everybody."}
        write_records(self.questions, [
            Question(name, f"type-{name}", TEST, EVALUATION, text, QUESTION.reference, {})
            for name, text in texts.items()
        ])  # fmt: skip
        self.training = data / "questions" / "train.jsonl"
        write_records(self.training, [QUESTION])

    def decide(self):
        """What build_test writes at its end."""
        split = split_digest(self.questions, family_paths(self.folder / "data/held_out/databases", EVALUATION))
        record_exclusions(self.ledger, Exclusions(split, file_sha256(self.training), ("type-q-1", "type-q-2"), (), {}))

    def run(self, script, **environment):
        return subprocess.run(
            [sys.executable, f"stages/held_out/{script}.py"], cwd=self.folder, capture_output=True, text=True,
            env=self.environment | environment, check=False,
        )  # fmt: skip

    def refused(self, **environment):
        """What score_test says when it fails by the user's fault, the recorded score being left as it is."""
        before = [path.read_bytes() if path.is_file() else None for path in (self.ledger, self.metrics_file)]
        done = self.run("score_test", **environment)
        assert done.returncode == 1 and done.stderr.startswith("error: "), done.stderr
        assert before == [path.read_bytes() if path.is_file() else None for path in (self.ledger, self.metrics_file)]
        return done.stderr

    def score(self):
        done = self.run("score_test")
        assert done.returncode == 0, done.stderr
        return json.loads(self.metrics_file.read_text(encoding="utf-8"))

    @property
    def metrics_file(self):
        return self.folder / "metrics" / "test.json"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    return Workspace(tmp_path_factory.mktemp("held_out"))


def test_a_release_from_the_first_refusal_to_the_second_look(workspace):
    assert "no exclusions were decided" in workspace.refused()
    workspace.decide()
    assert "not for experiments" in workspace.refused(DVC_EXP_NAME="gentler")

    first = workspace.score()
    assert (first["release"], first["look"], first["kept"]["questions"]) == ("first", 1, 2)
    assert set(first["change"]) == {"change", "change_low", "change_high"}
    (score,) = [entry for entry in read_ledger(workspace.ledger) if entry["kind"] == SCORE]
    assert {(row["checkpoint"], row["type"]) for row in score["result"]["types"]} == {
        (checkpoint, name) for checkpoint in ("released", "kept") for name in ("type-q-1", "type-q-2")
    }
    for checkpoint, digest in score["result"]["episodes"].items():
        played = workspace.folder / "data/held_out/episodes/first" / f"{checkpoint}.jsonl"
        assert file_sha256(played) == digest
        played.unlink()
    shown = workspace.run("show_test").stdout
    assert "look 1 at this test set, 1 at any: 2 questions x 1, 2 types" in shown and "kept - released" in shown

    workspace.metrics_file.unlink()
    assert workspace.score() == first, "the score is read from the ledger"
    assert not list(workspace.folder.glob("data/held_out/episodes/first/*")), "nothing was played for it"

    workspace.train(seed=4)
    assert "scored already, with another adapter" in workspace.refused()
    params = workspace.folder / PARAMS
    params.write_text(params.read_text(encoding="utf-8").replace("name: first", "name: second"), encoding="utf-8")
    second = workspace.score()
    assert (second["release"], second["look"]) == ("second", 2) and second["adapter"] != first["adapter"]


def test_a_missing_adapter_is_told_with_the_command(workspace):
    kept = workspace.folder / workspace.chain.weights(KEPT)
    kept.rename(kept.with_name("elsewhere"))
    try:
        assert "kept: there is no such adapter" in workspace.refused()
    finally:
        kept.with_name("elsewhere").rename(kept)

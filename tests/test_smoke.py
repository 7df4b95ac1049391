"""The whole graph in a clone, with a tiny random model: what `make repro` and the README's sweep do."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from source_tree import ROOT

from sqldojo import profiles

CHECKPOINTS = ("released", "distilled", "grpo")
EVALUATION_STAGES = {*(f"evaluate@{checkpoint}" for checkpoint in CHECKPOINTS), "report"}
ROW_KEYS = {
    "accuracy", "accuracy_low", "accuracy_high", "correct", "wrong_sql", "never_submitted", "out_of_budget",
    "questions", "attempts",
}  # fmt: skip


class Workspace:
    """A committed copy of the working tree, and the commands that people run in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "DVC_"))},
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": "src",  # the clone's own code, not the installed one
            "DVC_NO_ANALYTICS": "1",
            "MKL_NUM_THREADS": "1",  # as in cpu_first.py
            "DVC_SITE_CACHE_DIR": str(folder.parent / "site"),
        }

    def run(self, *command: str) -> str:
        done = subprocess.run(
            command, cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True
        )
        assert done.returncode == 0, f"{' '.join(command)} failed:\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def dvc(self, *arguments: str) -> str:
        return self.run(sys.executable, "-m", "dvc", *arguments)

    def commit(self, message: str) -> None:
        self.run("git", "add", "--all")
        self.run("git", "commit", "--quiet", "--message", message)

    def read_json(self, path: str) -> dict:
        return json.loads((self.folder / path).read_text(encoding="utf-8"))


def ran(output: str) -> set[str]:
    """The stages that DVC says it ran."""
    return {line.split("'")[1] for line in output.splitlines() if line.startswith("Running stage '")}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    """What a clone of the working tree would hold if everything in it were committed, with the smoke profile on."""
    folder = tmp_path_factory.mktemp("smoke") / "clone"
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout.split("\0")  # fmt: skip
    for name in filter(None, listed):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    for result in ("dvc.lock", "metrics", "plots"):  # of the full run: they would only be replaced
        path = folder / result
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    space = Workspace(folder)
    space.run("git", "init", "--quiet", "--initial-branch", "main")
    space.run("git", "config", "user.name", "smoke")
    space.run("git", "config", "user.email", "smoke@localhost")
    profiles.apply(folder / "params.yaml", folder / "profiles/smoke.yaml")
    space.commit("the working tree with the smoke profile")
    return space


@pytest.fixture(scope="module")
def first_run(workspace):
    """The output of the first `dvc repro`, its results committed."""
    output = workspace.dvc("repro")
    workspace.commit("results")
    return output


def test_every_stage_runs_and_metrics_have_their_keys(workspace, first_run):
    assert ran(first_run) >= {"prepare_model", "teach", "distill", "grpo"} | EVALUATION_STAGES
    for checkpoint in CHECKPOINTS:
        metrics = workspace.read_json(f"metrics/evaluate/{checkpoint}.json")
        assert set(metrics) == {"reserved", "selection", "check"}
        assert all(set(row) == ROW_KEYS for row in metrics.values())
        for row in metrics.values():
            assert 0 <= row["accuracy_low"] <= row["accuracy"] <= row["accuracy_high"] <= 1
        header = (workspace.folder / f"plots/evaluate/{checkpoint}_types.csv").read_text().splitlines()[0]
        assert {"type", "split", "accuracy"} <= set(header.split(","))
    summary = workspace.read_json("metrics/summary.json")
    assert {split: set(row) for split, row in summary.items()} == {
        split: set(CHECKPOINTS) for split in ("reserved", "selection", "check")
    }
    assert (workspace.folder / "plots/distill.csv").read_text().startswith("update,")
    assert (workspace.folder / "plots/grpo/steps.csv").read_text().startswith("step,")
    assert (workspace.folder / "plots/grpo/looks.csv").read_text().startswith("step,accuracy,low,high")
    assert workspace.read_json("metrics/grpo.json")["looks"] == 3


def test_git_sees_no_output_that_dvc_keeps(workspace, first_run):
    """Everything that the run left is committed or ignored by the root .gitignore, which DVC did not touch."""
    assert workspace.run("git", "status", "--porcelain") == ""
    committed = workspace.run("git", "ls-files").split()
    assert not [name for name in committed if name.startswith(("data/", "reports/"))]
    assert [name for name in committed if name.endswith(".gitignore")] == [".dvc/.gitignore", ".gitignore"]


def test_second_run_does_nothing(workspace, first_run):
    output = workspace.dvc("repro")
    assert not ran(output) and "up to date" in output
    assert workspace.run("git", "status", "--porcelain") == ""


def test_command_prints_scores_and_seconds(workspace, first_run):
    output = workspace.run(sys.executable, "-c", "from sqldojo.cli import main; main()", "summary")
    assert "reserved" in output and "distilled" in output and "evaluate@released" in output


def test_evaluation_parameter_reruns_evaluation_and_report_alone(workspace, first_run):
    params = workspace.folder / "params.yaml"
    before = params.read_text(encoding="utf-8")
    attempts = workspace.read_json("metrics/evaluate/released.json")["reserved"]["attempts"]
    profile = workspace.folder.parent / "more.yaml"
    profile.write_text("evaluate:\n  attempts: 2\n", encoding="utf-8")
    assert profiles.apply(params, profile) == ["evaluate.attempts"]
    try:
        assert ran(workspace.dvc("repro")) == EVALUATION_STAGES
        assert workspace.read_json("metrics/evaluate/released.json")["reserved"]["attempts"] == 2 * attempts
    finally:
        params.write_text(before, encoding="utf-8")
    output = workspace.dvc("repro")
    assert not ran(output), "going back must come from the run cache"
    assert workspace.run("git", "status", "--porcelain") == ""


def test_sweep_and_compare_as_in_the_readme(workspace, first_run):
    output = workspace.dvc("exp", "run", "-S", "distill.learning_rate=1e-3", "-n", "faster")
    # The report is skipped when no score changed, as with a model that cannot learn.
    assert ran(output) - {"report"} == {"distill", "grpo", "evaluate@distilled", "evaluate@grpo"}
    losses = (workspace.folder / "plots/distill.csv").read_text()
    difference = json.loads(workspace.dvc("metrics", "diff", "main", "faster", "--all", "--json"))
    assert "metrics/summary.json" in difference
    assert "faster" in workspace.dvc("exp", "show", "--csv")
    workspace.run("git", "checkout", "--quiet", ".")
    workspace.dvc("checkout")
    assert (workspace.folder / "plots/distill.csv").read_text() != losses
    assert not ran(workspace.dvc("repro"))

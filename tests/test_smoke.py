"""The whole graph in a clone, with a tiny random model: what `make repro` and the README's sweep do."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from source_tree import ROOT

from sqldojo import profiles, repair_chain
from sqldojo.chains import CHECKPOINTS, KEPT, RELEASED, Chain
from sqldojo.files import read_records
from sqldojo.repair.task import Hidden

CHAIN = Chain("smollm2-135m", 17)
TRAINED = CHECKPOINTS[1:]
LATE_STAGES = {f"keep@{CHAIN.name}", f"report@{CHAIN.name}", "summary"}
PLAYED_STAGES = {f"evaluate_released@{CHAIN.model}", *(f"evaluate@{CHAIN.name}-{name}" for name in TRAINED)}
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

    def read_json(self, path: str | Path) -> dict:
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
    for result in (
        "dvc.lock",
        "stages/repair/dvc.lock",
        "metrics",
        "plots",
    ):  # of the full run: they would only be replaced
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
    trained = {f"{stage}@{CHAIN.name}" for stage in ("distill", "grpo", "redistill")}
    assert ran(first_run) >= {f"prepare_model@{CHAIN.model}", "teach"} | trained | PLAYED_STAGES | LATE_STAGES
    for checkpoint in CHECKPOINTS:
        metrics = workspace.read_json(CHAIN.scores(checkpoint))
        assert set(metrics) == {"reserved", "selection", "check"}
        assert all(set(row) == ROW_KEYS for row in metrics.values())
        for row in metrics.values():
            assert 0 <= row["accuracy_low"] <= row["accuracy"] <= row["accuracy_high"] <= 1
        header = (workspace.folder / CHAIN.type_scores(checkpoint)).read_text().splitlines()[0]
        assert {"type", "split", "accuracy"} <= set(header.split(","))
    for path in ("metrics/summary.json", CHAIN.metrics("report")):
        assert (workspace.folder / path).is_file()
    for name, start in (("distill", "update,"), ("redistill", "update,"), ("grpo_steps", "step,"),
                        ("grpo_looks", "step,accuracy,low,high")):  # fmt: skip
        assert (workspace.folder / CHAIN.curve(name)).read_text().startswith(start)
    assert workspace.read_json(CHAIN.metrics("grpo"))["looks"] == 3
    assert not list((workspace.folder / ".scratch/live").rglob("*.csv"))


def test_the_kept_adapter_is_the_one_that_selection_prefers(workspace, first_run):
    found = workspace.read_json(CHAIN.metrics("keep"))
    kept = "redistilled" if found["kept_redistilled"] else "grpo"
    assert found["grpo"] <= found[kept] >= found["redistilled"]
    of_kept, of_chosen = (
        {path.name: path.read_bytes() for path in (workspace.folder / CHAIN.weights(name)).iterdir()}
        for name in (KEPT, kept)
    )
    assert of_kept == of_chosen and "adapters.safetensors" in of_kept


def test_the_report_is_one_page_of_the_chain(workspace, first_run):
    page = (workspace.folder / CHAIN.page).read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") and all(name in page for name in CHECKPOINTS)


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
    assert "reserved" in output and "redistilled" in output and f"evaluate@{CHAIN.name}-grpo" in output


def test_evaluation_parameter_reruns_evaluation_and_report_alone(workspace, first_run):
    params = workspace.folder / "params.yaml"
    before = params.read_text(encoding="utf-8")
    attempts = workspace.read_json(CHAIN.scores(RELEASED))["reserved"]["attempts"]
    profile = workspace.folder.parent / "more.yaml"
    profile.write_text("evaluate:\n  attempts: 2\n", encoding="utf-8")
    assert profiles.apply(params, profile) == ["evaluate.attempts"]
    try:
        reran = ran(workspace.dvc("repro"))
        assert PLAYED_STAGES <= reran <= PLAYED_STAGES | LATE_STAGES
        assert workspace.read_json(CHAIN.scores(RELEASED))["reserved"]["attempts"] == 2 * attempts
    finally:
        params.write_text(before, encoding="utf-8")
    output = workspace.dvc("repro")
    assert not ran(output), "going back must come from the run cache"
    assert workspace.run("git", "status", "--porcelain") == ""


def test_late_parameter_reruns_late_stages_alone(workspace, first_run):
    """The second distillation's rate: what was trained and played before stays."""
    output = workspace.dvc("exp", "run", "-S", "redistill.learning_rate=1e-2", "-n", "late")
    again = {f"redistill@{CHAIN.name}", f"evaluate@{CHAIN.name}-redistilled"}
    assert again <= ran(output) <= again | LATE_STAGES
    workspace.run("git", "checkout", "--quiet", ".")
    workspace.dvc("checkout", "--allow-missing")


def test_sweep_and_compare_as_in_the_readme(workspace, first_run):
    output = workspace.dvc("exp", "run", "-S", "distill.learning_rate=1e-3", "-n", "faster")
    again = {*(f"{stage}@{CHAIN.name}" for stage in ("distill", "grpo", "redistill")),
             *(f"evaluate@{CHAIN.name}-{name}" for name in TRAINED)}  # fmt: skip
    # What follows is skipped when no score changed, as with a model that cannot learn.
    assert again <= ran(output) <= again | LATE_STAGES
    curve = workspace.folder / CHAIN.curve("distill")
    losses = curve.read_text()
    difference = json.loads(workspace.dvc("metrics", "diff", "main", "faster", "--all", "--json"))
    assert "metrics/summary.json" in difference
    assert "faster" in workspace.dvc("exp", "show", "--csv")
    workspace.run("git", "checkout", "--quiet", ".")
    workspace.dvc("checkout", "--allow-missing")
    assert curve.read_text() != losses
    assert not ran(workspace.dvc("repro"))


def test_a_second_seed_is_a_second_chain(workspace, first_run):
    """Nothing of the first one runs again, and the summary has both."""
    other = Chain(CHAIN.model, 18)
    output = workspace.dvc("exp", "run", "-S", "seeds=[17,18]", "-n", "seeds")
    assert {f"distill@{other.name}", f"keep@{other.name}"} <= ran(output)
    assert all(name.endswith(other.name) or f"@{other.name}-" in name or name == "summary" for name in ran(output))
    assert workspace.read_json(other.metrics("report")).keys() == workspace.read_json(CHAIN.metrics("report")).keys()
    workspace.run("git", "checkout", "--quiet", ".")
    workspace.run("git", "clean", "--quiet", "-d", "--force", "metrics", "plots")
    workspace.dvc("checkout", "--allow-missing")


REPAIR = "stages/repair/dvc.yaml"


def repair_stages(output: str) -> set[str]:
    """The stages of the repair chain that DVC says it ran."""
    return {name.removeprefix(f"{REPAIR}:") for name in ran(output) if name.startswith(REPAIR)}


@pytest.fixture(scope="module")
def repaired(workspace, first_run):
    """The output of the repair chain's first run, its results committed."""
    output = workspace.dvc("repro", REPAIR)
    workspace.commit("repair")
    return output


def test_the_repair_chain_runs_apart_and_ends_with_its_table(workspace, repaired):
    wanted = {"make_tasks", "teach_repair@a", "teach_repair@b", "score_references", "report_repair"}
    wanted |= {f"{stage}@{name}" for stage in ("attempt_repair", "correct") for name in repair_chain.ROUNDS}
    wanted |= {f"evaluate_repair@{name}" for name in repair_chain.CHECKPOINTS} | {"sft_repair@a", "sft_repair@b"}
    assert repair_stages(repaired) == wanted and len(ran(repaired)) == len(wanted)  # nothing of the main graph
    found = workspace.read_json("metrics/repair/report.json")
    tasks = workspace.read_json("metrics/repair/tasks.json")
    played = {name: min(most, tasks["splits"][name]["tasks"]) for name, most in (("evaluation", 4), ("validation", 2))}
    assert found["chain"] == list(repair_chain.CHECKPOINTS)
    assert found["counts"] == {name: count for name, count in played.items() if count} and played["evaluation"]
    assert tasks["tasks"] == tasks["gate"]["kept"] and "shop" in tasks["by_database"]
    page = (workspace.folder / "reports/repair.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") and all(name in page for name in repair_chain.CHECKPOINTS)
    table = workspace.run(sys.executable, "-c", "from sqldojo.cli import main; main()", "repair")
    assert all(name in table for name in repair_chain.CHECKPOINTS)
    assert not ran(workspace.dvc("repro", REPAIR)) and not ran(workspace.dvc("repro"))
    assert workspace.run("git", "status", "--porcelain") == ""


def test_hidden_halves_stay_in_their_file(workspace, repaired):
    """No test of any task is in what the chain wrote but in the tasks' own folder."""
    hidden = read_records(workspace.folder / repair_chain.HIDDEN, Hidden)
    assert len(hidden) >= 10 and all(half.test_cases for half in hidden)
    left = workspace.folder / repair_chain.ROOT
    files = [path for path in left.rglob("*.jsonl") if repair_chain.TASKS.name not in path.relative_to(left).parts]
    files += [workspace.folder / "reports/repair.html", workspace.folder / "reports/repair.md"]
    assert len(files) >= 12
    for path in files:
        text = path.read_text(encoding="utf-8")
        assert "test_case" not in text and "sol_sql" not in text, path


def test_switching_retention_off_reruns_the_corrections_alone(workspace, repaired):
    output = workspace.dvc("exp", "run", "-S", "repair.correction.retention=false", "-n", "forgetful", REPAIR)
    rounds = {f"{stage}@{name}" for stage in ("correct", "evaluate_repair") for name in repair_chain.ROUNDS}
    assert {"correct@r1", "correct@r2"} <= repair_stages(output) <= rounds | {"attempt_repair@r2", "report_repair"}
    assert len(ran(output)) == len(repair_stages(output))
    workspace.run("git", "checkout", "--quiet", ".")
    workspace.dvc("checkout", "--allow-missing")

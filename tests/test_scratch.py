"""Scratch folders: one for exactly one set of inputs."""

import sys
from dataclasses import dataclass

import pytest

from sqldojo.stage import resumable_folder, run_stage, scratch_folder


@dataclass(frozen=True)
class Params:
    rate: float = 1e-4


@pytest.fixture(autouse=True)
def workspace(tmp_path, monkeypatch):
    """A workspace with a script and two inputs, in place of pytest's own."""
    monkeypatch.setenv("DVC_ROOT", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(tmp_path / "script.py")])
    (tmp_path / "script.py").write_text("1")
    (tmp_path / "data" / "deep").mkdir(parents=True)
    (tmp_path / "data" / "a.txt").write_text("a")
    (tmp_path / "data" / "deep" / "b.txt").write_text("b")
    return tmp_path


def folder(workspace, params=Params()):
    return resumable_folder("distill", params, workspace / "data", workspace / "data" / "a.txt")


def test_the_same_inputs_give_the_same_folder_below_the_stages(workspace):
    assert folder(workspace) == folder(workspace)
    assert folder(workspace).parent == scratch_folder() / "distill"
    assert not folder(workspace).exists()


def test_params_code_content_and_names_all_count_at_any_depth(workspace):
    folders = [folder(workspace), folder(workspace, Params(2e-4))]
    for path, text in (("data/a.txt", "c"), ("data/deep/b.txt", "c"), ("script.py", "2"), ("data/deep/new.txt", "")):
        (workspace / path).write_text(text)
        folders.append(folder(workspace))
    (workspace / "data/deep/b.txt").rename(workspace / "data/deep/c.txt")
    folders.append(folder(workspace))
    assert len(set(folders)) == len(folders)


def test_params_yaml_counts_by_the_sections_given_alone(workspace):
    before = folder(workspace)
    (workspace / "params.yaml").write_text("evaluate: {attempts: 4}\n")
    assert folder(workspace) == before


def test_inputs_do_not_run_into_each_other():
    assert resumable_folder("a", 1, 23) != resumable_folder("a", 12, 3)
    assert resumable_folder("a", "1") != resumable_folder("a", 1)


def test_a_stage_that_ends_well_clears_its_own_folders_and_no_others(workspace):
    for stage in ("distill", "evaluate"):
        (resumable_folder(stage) / "deep").mkdir(parents=True)
    for _ in range(2):
        run_stage("distill", lambda: None)
        assert sorted(path.name for path in scratch_folder().iterdir()) == ["evaluate", "seconds"]


def test_checkpoints_stay_when_params_changed_while_the_stage_ran(workspace):
    """The stage fails then, though its work may be as good as before: it must not have to be done again."""
    (workspace / "params.yaml").write_text("evaluate: {attempts: 2}\n")
    checkpoint = folder(workspace) / "checkpoint"

    def main():
        checkpoint.parent.mkdir(parents=True)
        checkpoint.write_text("1")
        (workspace / "params.yaml").write_text("evaluate: {attempts: 4}\n")

    with pytest.raises(SystemExit):
        run_stage("distill", main)
    assert checkpoint.exists() and folder(workspace) == checkpoint.parent

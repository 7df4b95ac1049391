"""How a stage ends: exit codes, one line for the user's fault, its seconds, a guard against code edited meanwhile."""

import sys

import pytest

from sqldojo.errors import UserError
from sqldojo.stage import run_stage, scratch_folder


@pytest.fixture(autouse=True)
def workspace(tmp_path, monkeypatch):
    """An empty workspace with a params.yaml and a running script, in place of pytest's own."""
    monkeypatch.setenv("DVC_ROOT", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "params.yaml").write_text("seed: 17\n")
    (tmp_path / "script.py").write_text("")
    monkeypatch.setattr(sys, "argv", [str(tmp_path / "script.py")])
    return tmp_path


def test_seconds_are_written_outside_the_outs(workspace):
    run_stage("teach", lambda: None)
    assert float((workspace / ".scratch/seconds/teach").read_text()) >= 0
    assert scratch_folder() == workspace / ".scratch"


def test_users_fault_is_one_line_and_exit_code_1(workspace, capsys):
    def main():
        raise UserError("params.yaml: teach.x: unknown key; remove it")

    with pytest.raises(SystemExit) as ended:
        run_stage("teach", main)
    assert ended.value.code == 1
    assert capsys.readouterr().err == "error: params.yaml: teach.x: unknown key; remove it\n"
    assert not (workspace / ".scratch").exists()


def test_our_fault_is_a_traceback():
    with pytest.raises(ZeroDivisionError):
        run_stage("teach", lambda: print(1 / 0))


def test_interrupt_is_exit_code_130():
    def main():
        raise KeyboardInterrupt

    with pytest.raises(SystemExit) as ended:
        run_stage("teach", main)
    assert ended.value.code == 130


@pytest.mark.parametrize("name", ["params.yaml", "script.py"])
def test_edit_while_running_fails_the_stage(workspace, capsys, name):
    with pytest.raises(SystemExit) as ended:
        run_stage("teach", lambda: (workspace / name).write_text("seed: 18\n"))
    assert ended.value.code == 1
    assert "changed while it ran" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (OSError(28, "No space left on device"), "the system: No space left on device; make room on the disk"),
        (FileNotFoundError(2, "No such file or directory", "data/a"), "data/a: No such file or directory; restore it"),
        (RuntimeError("[write] Unable to write 8 bytes."), "[write] Unable to write 8 bytes.; make room on the disk"),
    ],
)
def test_what_the_system_refuses_is_one_line_and_exit_code_1(capsys, error, line):
    def main():
        raise error

    with pytest.raises(SystemExit) as ended:
        run_stage("teach", main)
    assert ended.value.code == 1
    told = capsys.readouterr().err
    assert told.startswith(f"error: stage teach: {line}") and told.count("\n") == 1


def test_other_runtime_errors_are_our_fault():
    def main():
        raise RuntimeError("[matmul] shapes do not fit")

    with pytest.raises(RuntimeError, match="matmul"):
        run_stage("teach", main)

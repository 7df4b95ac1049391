"""`sqldojo export`: the files of a folder, checked by llama.cpp; a user's fault is one line."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from sqldojo.cli import main
from sqldojo.export import command


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["export", *map(str, arguments)], env={"COLUMNS": "200"})


def test_it_writes_and_checks_the_files(extra: None, base: Path, adapter: Path, tmp_path: Path) -> None:
    result = run("--model", base, "--adapter", adapter, "--out", tmp_path / "out", "--quantise", "q8_0")
    assert result.exit_code == 0, result.output
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["base-adapter-BF16.gguf", "base-adapter-Q8_0.gguf", "mlx"]
    assert "base-adapter-Q8_0.gguf" in result.stdout and "of 10 prompts" in result.stdout
    assert "write base-adapter-BF16.gguf" in result.stderr


def test_without_llama_cpps_library_it_says_what_it_did_not_check(
    extra: None, base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "llama-quantize").write_text('#!/bin/sh\ncat "$1" > "$2"\n')
    (tmp_path / "llama-quantize").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    for module in (command, command.export_model.__globals__["quantise"].__globals__):
        target = module if isinstance(module, dict) else vars(module)
        monkeypatch.setitem(target, "is_installed", lambda: False)
    result = run("--model", base, "--out", tmp_path / "out", "--quantise", "q8_0")
    assert result.exit_code == 0, result.output
    assert result.stdout.count("not checked") == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--adapter", "nowhere"), "nowhere: there is no adapter"),
        (("--model", "nobody"), "neither a folder nor one of"),
        (("--model", "BASE", "--quantise", "q9"), "no such type of weights: 'q9'"),
    ],
)
def test_a_users_fault_is_one_line(base: Path, tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    (tmp_path / "params.yaml").write_text("models: [tiny]\nseeds: [17]\n")
    given = [base if each == "BASE" else each for each in arguments]
    result = run(*given, "--out", tmp_path / "out", "--params", tmp_path / "params.yaml")
    assert result.exit_code == 1 and message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1 and not (tmp_path / "out").exists()

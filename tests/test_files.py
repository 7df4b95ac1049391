"""Artefacts: whole or absent, the same bytes for the same content, and back to equal records."""

import hashlib

import pytest

from sqldojo import files
from sqldojo.errors import UserError
from sqldojo.records import CORRECT, SUBMIT_SQL, Episode, Message, Question, ToolCall

EPISODE = Episode(
    "q-1/0", "q-1", "cheap", "check", 0,
    (
        Message("user", "Which products cost 5 €?"),
        Message("assistant", "…", ToolCall(SUBMIT_SQL, "SELECT 1"), target=False),
        Message("assistant", "prose"),
    ),
    CORRECT, 1.0, "", "SELECT 1", (1, 2, 3), (0, 1, 1), (0.0, -0.5, -1e-9),
)  # fmt: skip


def test_episode_comes_back_equal(tmp_path):
    path = tmp_path / "deep" / "episodes.jsonl"
    files.write_records(path, [EPISODE, EPISODE])
    assert files.read_records(path, Episode) == [EPISODE, EPISODE]


def test_question_comes_back_equal_with_the_types_of_its_values(tmp_path):
    question = Question("q", "cheap", "train", "train", "?", "SELECT 1", {"price": 5.0, "year": 2024, "city": "Zürich"})
    files.write_records(tmp_path / "q.jsonl", [question])
    (back,) = files.read_records(tmp_path / "q.jsonl", Question)
    assert back == question
    assert {name: type(value) for name, value in back.parameters.items()} == {"price": float, "year": int, "city": str}


def test_bytes_are_sorted_readable_and_end_lines_with_lf(tmp_path):
    files.write_json(tmp_path / "a.json", {"b": 1, "a": "é"})
    assert (tmp_path / "a.json").read_bytes() == '{\n  "a": "é",\n  "b": 1\n}\n'.encode()
    files.write_json(tmp_path / "b.json", {"a": "é", "b": 1})
    assert (tmp_path / "b.json").read_bytes() == (tmp_path / "a.json").read_bytes()


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_json_refuses_what_is_no_number_and_keeps_the_old_file(tmp_path, number):
    path = tmp_path / "metrics.json"
    files.write_json(path, {"accuracy": 0.5})
    with pytest.raises(ValueError):
        files.write_json(path, {"accuracy": number})
    assert path.read_text() == '{\n  "accuracy": 0.5\n}\n'


def test_crash_while_writing_a_file_leaves_the_old_one_and_nothing_else(tmp_path):
    path = tmp_path / "a.txt"
    files.write_text(path, "old")
    with pytest.raises(RuntimeError), files.replacing_file(path) as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def test_crash_while_writing_a_folder_leaves_the_old_one_and_nothing_else(tmp_path):
    folder = tmp_path / "model"
    with files.replacing_folder(folder) as temporary:
        (temporary / "weights").write_text("old")
    with pytest.raises(RuntimeError), files.replacing_folder(folder) as temporary:
        (temporary / "weights").write_text("half")
        raise RuntimeError
    assert (folder / "weights").read_text() == "old" and list(tmp_path.iterdir()) == [folder]


def test_folder_is_replaced_whole(tmp_path):
    folder = tmp_path / "model"
    for name in ("first", "second"):
        with files.replacing_folder(folder) as temporary:
            (temporary / name).write_text(name)
    assert [path.name for path in folder.iterdir()] == ["second"]


@pytest.mark.parametrize("line", ["{", "{}", '{"unknown": 1}', "[]"])
def test_line_that_is_no_record_is_named(tmp_path, line):
    path = tmp_path / "episodes.jsonl"
    path.write_text(files.to_line(EPISODE) + "\n" + line + "\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"episodes\.jsonl, line 2: not a record of the kind Episode .*dvc repro"):
        files.read_records(path, Episode)


def test_sha256(tmp_path):
    (tmp_path / "a").write_bytes(b"sqldojo" * 100_000)
    assert files.file_sha256(tmp_path / "a") == hashlib.sha256(b"sqldojo" * 100_000).hexdigest()

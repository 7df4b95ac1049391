"""Comparing two files of episodes: which file a name means, what is said of it, and what is refused."""

import json

import pytest
from example_chain import CHAIN, episodes, write_chain
from rich.console import Console

from sqldojo.comparing_files import compare_files, episodes_path
from sqldojo.errors import UserError
from sqldojo.evaluation.comparison_view import render_comparison
from sqldojo.files import write_json, write_records
from sqldojo.records import CORRECT, WRONG_SQL, Episode, Message


def played(right, text="How many?", split="check"):
    """One attempt at each question, `type-number`, in the order in which `right` names whether it was right."""
    return [
        Episode(f"{name}/0", name, name.rpartition("-")[0], split, 0, (Message("user", text),),
                CORRECT if value else WRONG_SQL, float(value), "")
        for name, value in right.items()
    ]  # fmt: skip


@pytest.fixture
def files(tmp_path):
    paths = tmp_path / "before.jsonl", tmp_path / "after.jsonl"
    text = "Which [b]\x1b[2Jcity\n is it?"
    write_records(paths[0], played({"city-1": 1, "city-2": 1, "best-1": 0, "best-2": 0}, text))
    write_records(paths[1], played({"city-1": 1, "city-2": 0, "best-1": 1, "best-2": 1}, text))
    return paths


def printed(found, limit=10):
    console = Console(width=120, color_system=None, highlight=False)
    with console.capture() as capture:
        console.print(render_comparison(found.names, found.splits, found.types, found.questions, limit))
    return capture.get()


def test_numbers(files):
    found = compare_files(*files, ("old", "new"))
    row = found.splits["check"]
    assert (row["before"], row["after"], row["change"], row["questions"], row["attempts"]) == (0.5, 0.75, 0.25, 4, 4)
    assert (row["gained"], row["lost"], row["both_right"], row["both_wrong"]) == (2, 1, 1, 0)
    assert row["change_low"] < 0.25 < row["change_high"]
    assert [(each.type, each.change) for each in found.types] == [("city", -0.5), ("best", 1.0)]
    assert [each.question for each in found.questions] == ["best-1", "best-2", "city-2"]


def test_json_has_the_same(files):
    found = compare_files(*files, ("old", "new"))
    answer = json.loads(json.dumps(found.as_json(), allow_nan=False))
    assert (answer["before"], answer["after"], answer["splits"]) == ("old", "new", found.splits)
    assert [(each["question"], each["kind"]) for each in answer["questions"]] == [
        ("best-1", "gained"), ("best-2", "gained"), ("city-2", "lost"),
    ]  # fmt: skip
    assert answer["types"][0] == {
        "split": "check", "type": "city", "questions": 2, "attempts": 2, "before": 1.0, "after": 0.5, "change": -0.5,
    }  # fmt: skip


def test_tables(files):
    text = printed(compare_files(*files, ("old[1]", "new")), limit=1)
    assert "check (4 x 1)" in text and "old[1]" in text and "+25.0 [-" in text
    assert text.index("city ") < text.index("best ")  # types from losses to gains
    assert "Which [b][2Jcity is it?" in text and "\x1b" not in text
    assert "1 of 2 questions gained." in text and "1 of 1 questions lost." in text
    assert "best-1" in text and "best-2" not in text
    assert "both partly" not in text


def test_nothing_changed_says_so(files):
    text = printed(compare_files(files[0], files[0], ("a", "b")))
    assert "0 of 2 types changed." in text and "0 of 0 questions gained." in text and "+0.0 [" in text


def test_one_split_alone(tmp_path):
    write_chain(tmp_path)
    paths = [tmp_path / CHAIN.episodes(name) for name in ("distilled", "grpo")]
    found = compare_files(*paths, ("distilled", "grpo"), "selection")
    assert list(found.splits) == ["selection"] and {each.split for each in found.types} == {"selection"}
    assert set(compare_files(*paths, ("distilled", "grpo")).splits) == {"check", "reserved", "selection"}
    with pytest.raises(UserError, match=r"distilled.jsonl: no episodes of the split test; it holds check, reserved, "):
        compare_files(*paths, ("distilled", "grpo"), "test")


def test_names_of_checkpoints_and_files(tmp_path, files):
    write_chain(tmp_path)
    assert episodes_path(str(files[0]), no_chain, tmp_path) == files[0]
    assert episodes_path("grpo", lambda: CHAIN, tmp_path) == tmp_path / CHAIN.episodes("grpo")
    for chosen, name in ((0, "grpo"), (1, "redistilled")):
        write_json(tmp_path / CHAIN.metrics("keep"), {"kept_redistilled": chosen, "grpo": 0.5, "redistilled": 0.5})
        assert episodes_path("kept", lambda: CHAIN, tmp_path) == tmp_path / CHAIN.episodes(name)


def no_chain():
    raise AssertionError("a file needs no chain")


def test_what_is_not_there_is_named(tmp_path):
    with pytest.raises(UserError, match=r"grpo\.json: no such file, nor one of the checkpoints released, distilled, "):
        episodes_path("grpo.json", no_chain, tmp_path)
    with pytest.raises(UserError, match=r"grpo\.jsonl: grpo has not played yet; run `dvc repro`"):
        episodes_path("grpo", lambda: CHAIN, tmp_path)
    with pytest.raises(UserError, match=r"no checkpoint has been kept yet; run `dvc repro keep`"):
        episodes_path("kept", lambda: CHAIN, tmp_path)


def test_other_questions_are_refused(tmp_path, files):
    write_records(tmp_path / "other.jsonl", episodes("grpo"))
    with pytest.raises(UserError, match=r"before.jsonl and .*other.jsonl: not the same questions .*evaluate both"):
        compare_files(files[0], tmp_path / "other.jsonl", ("a", "b"))
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(UserError, match=r"empty.jsonl: no episodes; it holds nothing"):
        compare_files(tmp_path / "empty.jsonl", files[0], ("a", "b"))

"""Scoring plays every attempt once, and a run that was killed goes on as if it had not been."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlite_files import write_database
from tiny_policy import OTHER, QUESTION, Killed, write_databases, write_model

from sqldojo.agent.episode import AgentParams, AnswerParams
from sqldojo.databases.execution import Limits
from sqldojo.errors import UserError
from sqldojo.evaluation import scoring
from sqldojo.evaluation.scoring import EvaluateParams, score
from sqldojo.files import read_records, to_line
from sqldojo.records import Episode, Question
from sqldojo.training.policy_model import PolicyModel, load_policy_model

PARAMS = EvaluateParams(seed=1, attempts=3, width=4)
AGENT = AnswerParams(turns=2, tokens_per_turn=10, tokens_per_episode=20, preview_rows=2, schema_characters=12_000)
IDS = ["q-1/0", "q-1/1", "q-1/2", "q-2/0", "q-2/1", "q-2/2"]


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> PolicyModel:
    folder = tmp_path_factory.mktemp("model")
    write_model(folder)
    return load_policy_model(folder)


@pytest.fixture(scope="module")
def databases(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ...]:
    return write_databases(tmp_path_factory.mktemp("people"))


@pytest.fixture
def run(policy: PolicyModel, databases: tuple[Path, ...]) -> Any:
    def run_with(journal: Path, params: EvaluateParams = PARAMS) -> list[Episode]:
        return score(policy, [OTHER, QUESTION], databases, params, AGENT, Limits(), journal)

    return run_with


def equal(first: list[Episode], second: list[Episode]) -> bool:
    """The same episodes, but for the last bits of log-probabilities, which depend on who else was in the batch."""
    near = all(a.logprobs == pytest.approx(b.logprobs, abs=1e-5) for a, b in zip(first, second, strict=True))
    return near and [replace(e, logprobs=()) for e in first] == [replace(e, logprobs=()) for e in second]


def killed_after(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """Let the process die when `count` episodes are done."""

    def play(*args: Any, **kwargs: Any) -> Iterator[Episode]:
        for number, episode in enumerate(original(*args, **kwargs)):
            if number == count:
                raise Killed
            yield episode

    original = scoring.play
    monkeypatch.setattr(scoring, "play", play)


def test_every_question_is_attempted_as_often_as_asked(run: Any, tmp_path: Path) -> None:
    episodes = run(tmp_path / "deep" / "episodes.jsonl")
    assert [episode.id for episode in episodes] == IDS
    assert len({episode.tokens for episode in episodes}) == len(IDS)
    written = read_records(tmp_path / "deep" / "episodes.jsonl", Episode)
    assert sorted(written, key=lambda episode: episode.id) == episodes


def test_width_and_order_change_nothing(run: Any, tmp_path: Path) -> None:
    straight = run(tmp_path / "a")
    assert equal(run(tmp_path / "b", replace(PARAMS, width=1)), straight)
    more = run(tmp_path / "c", replace(PARAMS, attempts=4))
    assert equal([episode for episode in more if episode.attempt < 3], straight)
    other = run(tmp_path / "d", replace(PARAMS, seed=2))
    assert not any(one.tokens == two.tokens for one, two in zip(other, straight, strict=True))


@pytest.mark.parametrize("done", [0, 1, 4, 5])
def test_a_killed_run_goes_on_where_it_was(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, done: int
) -> None:
    straight, journal = run(tmp_path / "straight"), tmp_path / "killed"
    with monkeypatch.context() as patch:
        killed_after(patch, done)
        with pytest.raises(Killed):
            run(journal)
    before = journal.read_bytes()
    assert before.count(b"\n") == done and before.endswith(b"\n"[: len(before)])
    with monkeypatch.context() as patch:
        killed_after(patch, len(IDS) - done)  # and plays nothing that is there already
        assert equal(run(journal), straight)
    assert journal.read_bytes().startswith(before)
    assert len(journal.read_text(encoding="utf-8").splitlines()) == len(IDS)


def test_a_finished_run_plays_nothing(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, before = run(tmp_path / "journal"), (tmp_path / "journal").read_bytes()
    killed_after(monkeypatch, 0)
    assert run(tmp_path / "journal") == first
    assert (tmp_path / "journal").read_bytes() == before


def test_where_the_schema_is_cut_each_question_has_its_own_and_may_look(
    policy: PolicyModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[AgentParams] = []

    def play(policy: PolicyModel, attempts: Any, agent: AgentParams, **options: Any) -> Iterator[Episode]:
        given.append(agent)
        return original(policy, attempts, agent, **options)

    original = scoring.play
    monkeypatch.setattr(scoring, "play", play)
    script = "".join(f"CREATE TABLE archive_{n}(taken_at TEXT, content BLOB, note_{n} TEXT);" for n in range(40))
    path = write_database(tmp_path / "long.sqlite", f"{script} CREATE TABLE people(name TEXT, age INTEGER);")
    archive = Question("q-3", "archive", "check", "evaluation", "When was archive 37 taken?", "SELECT 1", {})
    agent = replace(AGENT, schema_characters=1_000)
    episodes = score(policy, [QUESTION, archive], [path], replace(PARAMS, attempts=2), agent, Limits(), tmp_path / "j")
    assert given == [agent.with_looks()] and (given[0].turns, given[0].tokens_per_episode) == (4, 820)
    systems = {episode.question: episode.messages[0].content for episode in episodes}
    assert len(episodes) == 4 and "people(name TEXT" in systems["q-1"] and "archive_37(taken_at" in systems["q-3"]
    assert "archive_37(taken_at" not in systems["q-1"]


@pytest.mark.parametrize("kept", ["one byte", "half a character", "all but the line's end"])
def test_a_line_that_was_cut_off_is_dropped_and_played_again(run: Any, tmp_path: Path, kept: str) -> None:
    straight, journal = run(tmp_path / "straight"), tmp_path / "cut"
    lines = [to_line(episode).encode() for episode in straight]
    last = to_line(replace(straight[-1], reason="é")).encode()
    size = {"one byte": 1, "half a character": last.index("é".encode()) + 1, "all but the line's end": len(last)}[kept]
    journal.write_bytes(lines[0] + b"\n" + lines[3] + b"\n" + last[:size])
    assert equal(run(journal), straight)
    assert [episode.id for episode in read_records(journal, Episode)][:2] == [IDS[0], IDS[3]]
    assert len(read_records(journal, Episode)) == len(IDS)


def test_a_damaged_line_within_the_journal_is_an_error(run: Any, tmp_path: Path) -> None:
    (tmp_path / "journal").write_text("{}\n")
    with pytest.raises(UserError, match=r"journal, line 1: not a record of the kind Episode"):
        run(tmp_path / "journal")


@pytest.mark.parametrize("key", ["attempts", "width"])
def test_params_out_of_range_name_the_key(key: str) -> None:
    with pytest.raises(ValueError, match=f"^{key}: must be at least 1, found 0"):
        replace(PARAMS, **{key: 0})

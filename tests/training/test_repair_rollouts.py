"""Repair played by the tiny random model: it fails by itself, and can be made to say what it should."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import cpu_first  # noqa: F401

# isort: split
import mlx.core as mx
import pytest
from chat_templates import HERMES
from repair_tasks import AGENT, CANARY, HIDDEN, JOIN, NAME, SOLUTIONS, TASKS, make_attempts, write_books
from tiny_policy import write_model

from sqldojo.files import to_line
from sqldojo.records import CORRECT, RUN_SQL, SUBMIT_SQL, ToolCall
from sqldojo.repair.task import PARSE_FAILURE, REPAIR_OUTCOMES, REPEATED_ACTION, TOKEN_LIMIT
from sqldojo.repair.tools import INSPECT_SCHEMA, REPAIR_TOOLS
from sqldojo.teacher.repair_correction import correct
from sqldojo.teacher.repair_script import SCRIPTED_B, RepairTeachParams, script_teacher
from sqldojo.training import decoding
from sqldojo.training.policy_model import PolicyModel, load_policy_model
from sqldojo.training.rollouts import play
from sqldojo.training.sampling import draw

SHORT = replace(AGENT, tokens_per_turn=60, tokens_per_episode=900)


@pytest.fixture(scope="module")
def databases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_books(tmp_path_factory.mktemp("repair"))


@pytest.fixture(scope="module", params=["plain", "native"])
def student(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> PolicyModel:
    folder = tmp_path_factory.mktemp("model") / "tiny"
    write_model(folder, **({"template": HERMES} if request.param == "native" else {}))
    policy = load_policy_model(folder, tools=REPAIR_TOOLS)
    assert policy.dialogue.tool_format.name == request.param
    return policy


def test_a_random_model_plays_repair_and_every_episode_ends_with_an_outcome(
    student: PolicyModel, databases: Path
) -> None:
    make = make_attempts(databases, agent=SHORT, tool_format=student.dialogue.tool_format)
    attempts = [make(task, number) for task in TASKS for number in range(2)]
    episodes = list(play(student, attempts, SHORT, seed=1, width=4))
    assert sorted(episode.id for episode in episodes) == sorted(attempt.id for attempt in attempts)
    assert {episode.outcome for episode in episodes} <= set(REPAIR_OUTCOMES)
    assert {episode.outcome for episode in episodes} & {PARSE_FAILURE, TOKEN_LIMIT}
    for episode in episodes:
        assert len(episode.tokens) == len(episode.action_mask) == len(episode.logprobs) and any(episode.action_mask)


def test_a_student_is_played_corrected_and_the_correction_continues_its_own_tokens(
    student: PolicyModel, databases: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool_format, tokenizer = student.dialogue.tool_format, student.dialogue.tokenizer
    look, wrong = ToolCall(INSPECT_SCHEMA, ""), ToolCall(RUN_SQL, "SELECT 1")
    replies = {
        f"{JOIN.id}/0": [look, wrong, wrong],
        f"{NAME.id}/0": [look, ToolCall(SUBMIT_SQL, SOLUTIONS[NAME.id])],
    }
    said = {name: [tokenizer.encode(tool_format.render(call)) for call in calls] for name, calls in replies.items()}

    def scripted(logits: mx.array, names: Sequence[str]) -> tuple[mx.array, mx.array]:
        tokens, logprobs = draw(logits, names)
        forced = []
        for name, token in zip(names, tokens.tolist(), strict=True):
            episode, turn, place = name.removeprefix("1/").rsplit("/", 2)
            written = said[episode][int(turn)] if int(turn) < len(said[episode]) else []
            forced.append(written[int(place)] if int(place) < len(written) else token)
        return mx.array(forced), logprobs

    monkeypatch.setattr(decoding, "draw", scripted)
    make = make_attempts(databases, agent=AGENT, tool_format=tool_format)
    attempts = [make(JOIN, 0), make(NAME, 0)]
    episodes = sorted(play(student, attempts, AGENT, seed=1, width=2), key=lambda episode: episode.id)
    assert [episode.outcome for episode in episodes] == [REPEATED_ACTION, CORRECT]

    params = RepairTeachParams(seed=1, direct=0, look=1, run_and_look=0, check=1, mistake=0)
    teach = script_teacher(HIDDEN, SCRIPTED_B, params)
    found = correct(TASKS, HIDDEN, episodes, make_attempts(databases), teach, SCRIPTED_B)
    assert (found.counts.attempted, found.counts.solved, found.counts.verified) == (2, 1, 1)
    (continuation,) = found.continuations
    # What the student was told and did, token by token, up to its failed action; then the teacher's in its format.
    sequence = student.dialogue.continued(continuation.prefix, continuation.messages)
    results = [message.content for message in episodes[0].messages if message.role == "tool"]
    pieces = [student.dialogue.prompt(make(JOIN, 0).messages)]
    for call, result in zip((look, wrong), results, strict=True):
        pieces += [tokenizer.encode(tool_format.render(call)), student.dialogue.bridge(result)]
    assert continuation.prefix == tuple(token for piece in pieces for token in piece)
    calls = [message.tool_call for message in continuation.messages if message.tool_call]
    assert [call.name for call in calls] == [RUN_SQL, SUBMIT_SQL]
    learnt = [token for token, own in zip(sequence.tokens, sequence.action_mask, strict=True) if own]
    assert learnt == [token for call in calls for token in student.dialogue.action(call)]
    assert not any(CANARY in to_line(record) for record in (*episodes, continuation))

"""Batched episodes: each is the same alone and in any batch, keeps its tokens as sampled, and computes none twice."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import mlx.core as mx
import pytest
from chat_templates import LLAMA3
from tiny_policy import AGENT, OTHER, QUESTION, attempt, with_adapter, write_model

from sqldojo.agent.episode import Attempt
from sqldojo.agent.tool_format import PLAIN
from sqldojo.errors import UserError
from sqldojo.records import (
    CORRECT,
    NEVER_SUBMITTED,
    OUT_OF_BUDGET,
    RUN_SQL,
    SUBMIT_SQL,
    WRONG_SQL,
    Episode,
    Question,
    ToolCall,
)
from sqldojo.training import decoding, rollouts
from sqldojo.training.dialogue import shared_prefix_length
from sqldojo.training.policy_model import PolicyModel, load_policy_model
from sqldojo.training.rollouts import RolloutCounts, play
from sqldojo.training.sampling import draw
from sqldojo.training.tiny_model import CONTEXT

Databases = tuple[Path, ...]
LOOK = PLAIN.render(ToolCall(RUN_SQL, "SELECT * FROM people"))
RIGHT = PLAIN.render(ToolCall(SUBMIT_SQL, QUESTION.reference))
WRONG = PLAIN.render(ToolCall(SUBMIT_SQL, "SELECT 3"))  # right on the first database alone
SEEN = "name | age\nZoë | 41\nMax | 7\n(first 2 rows, there are more)"
SHORT = replace(AGENT, tokens_per_turn=12, tokens_per_episode=12)


@pytest.fixture(scope="module")
def adapted(tiny_folder: Path) -> PolicyModel:
    return with_adapter(tiny_folder)


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch, policy: PolicyModel) -> Callable[[Mapping[str, Sequence[Any]]], None]:
    """Lets the model say given replies: for each attempt's id those of its turns, as text or ids; else it samples."""

    def install(replies: Mapping[str, Sequence[str | list[int]]]) -> None:
        def said(name: str) -> int | None:
            """The token that the draw of this name must give, or None for any."""
            episode, _, draw = name.partition("/")[2].rpartition("/")[0].rpartition("/")
            turn, position = name.split("/")[-2:] if draw else (0, 0)
            turns = replies.get(episode, ())
            if int(turn) >= len(turns):
                return None
            reply = turns[int(turn)]
            tokens = policy.dialogue.tokenizer.encode(reply) if isinstance(reply, str) else reply
            # one sample more is drawn than used; whatever it is, it must leave no trace
            return [*tokens, *[9] * 500][int(position)]

        def scripted(logits: mx.array, names: Sequence[str]) -> tuple[mx.array, mx.array]:
            drawn, _ = draw(logits, names)
            forced = [said(name) for name in names]
            tokens = mx.array([own if token is None else token for own, token in zip(drawn.tolist(), forced,
                                                                                     strict=True)])  # fmt: skip
            logprobs = logits - mx.logsumexp(logits, axis=-1, keepdims=True)
            return tokens, mx.take_along_axis(logprobs, tokens[:, None], axis=-1).squeeze(-1)

        monkeypatch.setattr(decoding, "draw", scripted)

    return install


def played(
    policy: PolicyModel,
    databases: Databases,
    names: Sequence[tuple[Question, int]],
    *,
    agent: Any = AGENT,
    seed: int = 1,
    width: int = 4,
) -> dict[str, Episode]:
    """The episodes of these attempts by id."""
    attempts = [attempt(databases, number, question, agent=agent) for question, number in names]
    episodes = list(play(policy, attempts, agent, seed=seed, width=width))
    assert sorted(episode.id for episode in episodes) == sorted(attempt.id for attempt in attempts)
    return {episode.id: episode for episode in episodes}


def same(first: Episode, second: Episode) -> bool:
    """Equal in all but the last bits of the log-probabilities."""
    near = first.logprobs == pytest.approx(second.logprobs, abs=1e-5)
    return near and replace(first, logprobs=()) == replace(second, logprobs=())


def actions(episode: Episode) -> list[int]:
    return [token for token, mask in zip(episode.tokens, episode.action_mask, strict=True) if mask]


def assert_trainer_agrees(policy: PolicyModel, episodes: Sequence[Episode]) -> None:
    """The sampler's log-probabilities are those of a plain forward pass over the stored tokens; 0 where none is due."""
    for episode in episodes:
        tokens = mx.array(episode.tokens)
        logits = policy.model(tokens[None, :-1])[0]
        logprobs = mx.take_along_axis(logits, tokens[1:, None], axis=-1).squeeze(-1) - mx.logsumexp(logits, axis=-1)
        trained = [0.0, *(logprobs * mx.array(episode.action_mask[1:])).tolist()]
        assert list(episode.logprobs) == pytest.approx(trained, abs=1e-4)
        assert all(mask or logprob == 0.0 for logprob, mask in zip(episode.logprobs, episode.action_mask, strict=True))


NAMES = [(QUESTION, 0), (OTHER, 0), (QUESTION, 1), (OTHER, 1), (QUESTION, 2)]


def test_an_episode_is_the_same_alone_and_in_any_batch(adapted: PolicyModel, databases: Databases) -> None:
    together = played(adapted, databases, NAMES, width=5)
    for width, names in ((2, NAMES), (3, NAMES[::-1]), (5, [*NAMES[2:], *NAMES[:2]])):
        others = played(adapted, databases, names, width=width)
        assert all(same(others[name], episode) for name, episode in together.items()), width
    for question, number in NAMES[1:3]:
        (alone,) = played(adapted, databases, [(question, number)]).values()
        assert same(alone, together[alone.id])


def test_attempts_and_seeds_differ(adapted: PolicyModel, databases: Databases) -> None:
    names = [(QUESTION, number) for number in range(16)]
    first, again, other = (played(adapted, databases, names, agent=SHORT, seed=seed, width=16) for seed in (1, 1, 2))
    assert first.keys() == again.keys() and all(same(first[name], again[name]) for name in first)
    said = [tuple(actions(episode)) for run in (first, other) for episode in run.values()]
    assert len(set(said)) == 32


def test_greedy_attempts_are_all_the_same_and_the_likeliest(adapted: PolicyModel, databases: Databases) -> None:
    played = [
        *play(adapted, [attempt(databases, number) for number in range(2)], AGENT, seed=1, width=2, greedy=True),
        *play(adapted, [attempt(databases, 0)], AGENT, seed=2, width=1, greedy=True),
    ]
    assert len({episode.tokens for episode in played}) == 1
    episode = played[0]
    logits = adapted.model(mx.array([episode.tokens[:-1]]))[0]
    places = [place for place, own in enumerate(episode.action_mask) if own]
    assert places and all(mx.argmax(logits[place - 1]).item() == episode.tokens[place] for place in places)
    wanted = [(logits[place - 1] - mx.logsumexp(logits[place - 1]))[episode.tokens[place]].item() for place in places]
    assert [episode.logprobs[place] for place in places] == pytest.approx(wanted, abs=1e-4)


def test_sampled_logprobs_are_those_of_training(adapted: PolicyModel, databases: Databases) -> None:
    assert_trainer_agrees(adapted, list(played(adapted, databases, NAMES, width=3).values()))


def test_a_dialogue_is_played_to_its_end(adapted: PolicyModel, databases: Databases, script: Any) -> None:
    """Look, then submit: its tokens are prompt, reply, bridge, reply; only the replies are actions."""
    script({"q-1/0": [LOOK, RIGHT], "q-1/1": [LOOK, LOOK, WRONG], "q-2/0": [RIGHT]})
    episodes = played(adapted, databases, NAMES, width=3)
    right, wrong, hasty = (episodes[name] for name in ("q-1/0", "q-1/1", "q-2/0"))
    assert (right.outcome, right.reward, right.submission) == (CORRECT, 1.0, QUESTION.reference)
    assert (wrong.outcome, wrong.submission) == (WRONG_SQL, "SELECT 3") and "adversarial" in wrong.reason
    assert hasty.outcome == WRONG_SQL
    assert [(message.role, message.content) for message in right.messages[2:]] == [
        ("assistant", LOOK), ("tool", SEEN), ("assistant", RIGHT),
    ]  # fmt: skip
    dialogue = adapted.dialogue
    encode, prompt = dialogue.tokenizer.encode, dialogue.prompt(right.messages[:2])
    assert list(right.tokens) == prompt + encode(LOOK) + dialogue.bridge(SEEN) + encode(RIGHT)
    assert list(right.action_mask) == (
        [0] * len(prompt) + [1] * len(encode(LOOK)) + [0] * len(dialogue.bridge(SEEN)) + [1] * len(encode(RIGHT))
    )
    assert actions(wrong) == encode(LOOK) * 2 + encode(WRONG)
    assert_trainer_agrees(adapted, list(episodes.values()))


def test_a_dialogue_is_the_same_in_any_batch(adapted: PolicyModel, databases: Databases, script: Any) -> None:
    """Rows leave the batch for a tool's result and come back, each with its own cache."""
    script({"q-1/0": [LOOK, LOOK], "q-1/1": ["<run_sql>SELECT 1</run_sql>"] * 3, "q-2/0": [RIGHT], "q-2/1": [LOOK]})
    together = played(adapted, databases, NAMES, width=5)
    assert Counter(len(episode.messages) for episode in together.values()) == {7: 1, 9: 1, 3: 2, 5: 1}
    for width in (1, 2):
        others = played(adapted, databases, NAMES[::-1], width=width)
        assert all(same(others[name], episode) for name, episode in together.items()), width


def test_no_token_is_computed_twice(
    adapted: PolicyModel, databases: Databases, script: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One at a time nothing is padded: the model sees the shared start once, and every other token once."""
    body, shapes = type(adapted.body), []

    def counting(self: Any, inputs: mx.array, *args: Any, **kwargs: Any) -> mx.array:
        shapes.append(inputs.shape)
        return forward(self, inputs, *args, **kwargs)

    forward = body.__call__
    monkeypatch.setattr(body, "__call__", counting)
    script({"q-1/0": [LOOK, LOOK, RIGHT], "q-1/1": [LOOK, "no call", "never said"], "q-2/0": [LOOK, WRONG]})
    names = [(QUESTION, 0), (QUESTION, 1), (OTHER, 0)]
    episodes = played(adapted, databases, names, width=1).values()
    prompts = {episode.question: adapted.dialogue.prompt(episode.messages[:2]) for episode in episodes}
    shared = shared_prefix_length(prompts.values())
    assert 100 < shared < min(map(len, prompts.values())) - 1
    assert shapes[0] == (1, shared)
    behind_prompts = sum(len(episode.tokens) - len(prompts[episode.question]) for episode in episodes)
    once = shared + sum(len(prompt) - shared for prompt in prompts.values()) + behind_prompts
    assert sum(rows * columns for rows, columns in shapes) == once

    shapes.clear()
    played(adapted, databases, names, width=3)
    assert [shape for shape in shapes if shape[1] >= shared] == [(1, shared)]


def test_a_group_prefills_its_prompt_once(adapted: PolicyModel, databases: Databases, script: Any) -> None:
    """And each tool result once, whatever the width; a decoding step serves all that run."""
    call = "<run_sql>SELECT 1</run_sql>"
    script({f"{question}/{number}": [call] * number + ["no"] for question in ("q-1", "q-2") for number in range(3)})
    names = [(question, number) for number in range(3) for question in (QUESTION, OTHER)]
    bridge = len(adapted.dialogue.bridge("1\n1"))
    agent = replace(AGENT, tokens_per_turn=30)
    for width in (1, 3, 16):
        counts = RolloutCounts()
        attempts = [attempt(databases, number, question, agent=agent) for question, number in names]
        episodes = list(play(adapted, attempts, agent, seed=1, width=width, counts=counts))
        prompts = [adapted.dialogue.prompt(attempt.messages[:2]) for attempt in attempts[:2]]
        assert counts.prefix_tokens == shared_prefix_length(prompts)
        assert counts.question_tokens == sum(len(prompt) - counts.prefix_tokens for prompt in prompts)
        assert counts.tool_tokens == 6 * bridge
        assert sum(episode.action_mask.count(0) for episode in episodes) == 3 * sum(map(len, prompts)) + 6 * bridge
        assert counts.sampled_tokens == sum(sum(episode.action_mask) for episode in episodes)
        assert counts.episodes == 6
        assert counts.sampled_tokens <= counts.rows <= width * counts.steps
        if width == 1:
            assert counts.rows == counts.steps == counts.sampled_tokens


def test_a_turn_is_cut_at_its_limit(adapted: PolicyModel, databases: Databases, script: Any) -> None:
    script({"q-1/0": [LOOK, "x" * 100], "q-1/1": ["y" * 100]})
    episodes = played(adapted, databases, [(QUESTION, 0), (QUESTION, 1)])
    for name, turns in (("q-1/0", 2), ("q-1/1", 1)):
        episode = episodes[name]
        assert (episode.outcome, episode.reward) == (OUT_OF_BUDGET, -0.2)
        assert episode.reason == "the token limit ended the reply"
        assert sum(message.role == "assistant" for message in episode.messages) == turns
        assert len(episode.messages[-1].content) == AGENT.tokens_per_turn
        assert len(actions(episode)) == AGENT.tokens_per_turn + (turns - 1) * len(LOOK)


def test_an_episode_is_cut_at_its_limit(adapted: PolicyModel, databases: Databases, script: Any) -> None:
    """What a tool answers counts as well, since it takes up the same memory and time."""
    bridge = len(adapted.dialogue.bridge(SEEN))
    for room, sampled, reason in (
        (5, 2 * len(LOOK) + 5, "the token limit ended the reply"),
        (0, 2 * len(LOOK), "no submission within {} tokens"),
        (-1, 2 * len(LOOK), "no submission within {} tokens"),
        (-bridge, 2 * len(LOOK), "no submission within {} tokens"),  # the second call is complete at the last token
        (-bridge - 1, 2 * len(LOOK) - 1, "the token limit ended the reply"),
    ):
        agent = replace(AGENT, tokens_per_episode=2 * (len(LOOK) + bridge) + room)
        script({"q-1/0": [LOOK] * 4})
        (episode,) = played(adapted, databases, [(QUESTION, 0)], agent=agent).values()
        assert episode.outcome == OUT_OF_BUDGET, room
        assert episode.reason == reason.format(agent.tokens_per_episode), room
        assert len(actions(episode)) == sampled, room
        assert len(episode.tokens) == len(episode.action_mask) == len(episode.logprobs)


def test_turns_are_limited_too(adapted: PolicyModel, databases: Databases, script: Any) -> None:
    script({"q-1/0": [LOOK] * 9})
    (episode,) = played(adapted, databases, [(QUESTION, 0)]).values()
    assert (episode.outcome, episode.reason) == (OUT_OF_BUDGET, "no submission within 4 turns")
    assert actions(episode) == adapted.dialogue.tokenizer.encode(LOOK) * 4
    assert episode.action_mask[-1] == 1  # the last call's result is of no use to anyone


def test_a_reply_that_ends_at_its_limit_is_not_cut_off(adapted: PolicyModel, databases: Databases, script: Any) -> None:
    script({"q-1/0": [[*adapted.dialogue.tokenizer.encode("x" * (AGENT.tokens_per_turn - 1)), 2]]})
    (episode,) = played(adapted, databases, [(QUESTION, 0)]).values()
    assert len(actions(episode)) == AGENT.tokens_per_turn
    assert episode.outcome == NEVER_SUBMITTED


@pytest.mark.parametrize("text", ["", "The answer is 3."])
def test_every_end_token_ends_a_reply(adapted: PolicyModel, databases: Databases, script: Any, text: str) -> None:
    said = adapted.dialogue.tokenizer.encode(text)
    script({"q-1/0": [[*said, 0, 7]], "q-1/1": [[*said, 2, 7]], "q-1/2": [[*said, 1, 0]]})
    episodes = played(adapted, databases, [(QUESTION, number) for number in range(3)])
    for name, end in (("q-1/0", [0]), ("q-1/1", [2]), ("q-1/2", [1, 0])):
        assert actions(episodes[name]) == said + end
        assert episodes[name].outcome == NEVER_SUBMITTED
    assert [episodes[name].messages[-1].content for name in sorted(episodes)] == [text, text, text + "<|im_start|>"]


def test_a_call_ends_the_reply_at_once(adapted: PolicyModel, databases: Databases, script: Any) -> None:
    """Nothing after a call is asked for, wherever it stands, even at the last token that the limit allows."""
    script({"q-1/0": ["Well: " + WRONG + " and so on"], "q-1/1": ["x" * (60 - len(WRONG)) + WRONG + "x"]})
    episodes = played(adapted, databases, [(QUESTION, 0), (QUESTION, 1)])
    assert episodes["q-1/0"].messages[-1].content == "Well: " + WRONG
    assert [episode.submission for episode in episodes.values()] == ["SELECT 3"] * 2
    assert len(actions(episodes["q-1/1"])) == AGENT.tokens_per_turn


def tokenisations(text: str, tokens: Mapping[str, int]) -> list[list[int]]:
    """All ways to write `text` in these tokens."""
    if not text:
        return [[]]
    found = []
    for size in range(1, len(text) + 1):
        if text[:size] in tokens:
            found += [[tokens[text[:size]], *rest] for rest in tokenisations(text[size:], tokens)]
    return found


def test_a_call_ends_whatever_its_tokenisation(tmp_path: Path, databases: Databases, script: Any) -> None:
    """Also where the marker's last character and what follows it are one token."""
    pieces = ("</", "run", "_sql", "sql>", "l>", "/run_sql", ">\n", "sql>\n", "l>;", "</run_sql>", "</run_sql>\n\n")
    write_model(tmp_path, pieces=pieces)
    policy = load_policy_model(tmp_path)
    vocabulary = json.loads((tmp_path / "tokenizer.json").read_text())["model"]["vocab"]
    tokens = {name.replace("Ċ", "\n"): index for name, index in vocabulary.items()}
    marker = "</run_sql>"
    ways = tokenisations(marker, tokens)
    for tail in ("\n", ";", "\n\n"):  # where the last token holds both the marker's end and the tail
        longer = tokenisations(marker + tail, tokens)
        ways += [way for way in longer if marker not in policy.dialogue.tokenizer.decode(way[:-1])]
    assert len(ways) > 30 and any(tokens[">\n"] in way for way in ways) and [tokens["</run_sql>\n\n"]] in ways
    start = policy.dialogue.tokenizer.encode("<run_sql>SELECT 1")
    script({f"q-1/{number}": [[*start, *way, 65, 66]] for number, way in enumerate(ways)})
    agent = replace(AGENT, turns=1)
    episodes = played(policy, databases, [(QUESTION, number) for number in range(len(ways))], agent=agent, width=32)
    for number, way in enumerate(ways):
        episode = episodes[f"q-1/{number}"]
        assert actions(episode) == start + way
        assert episode.messages[-1].tool_call == ToolCall(RUN_SQL, "SELECT 1")


def test_a_turn_that_the_model_ends_itself_is_ended_once(tmp_path: Path, databases: Databases, script: Any) -> None:
    """A format without an end marker lets it: what joins the call and its result must not end the turn again."""
    write_model(tmp_path, template=LLAMA3.replace("<|eot_id|>", "<|im_end|>"))
    policy = load_policy_model(tmp_path)
    form, end = policy.dialogue.tool_format, policy.dialogue.tokenizer.encode("<|im_end|>")
    assert form.calls_in_content is False and form.call_ends == ("}",) and len(end) == 1
    look = "<|python_tag|>run_sql.call(sql='SELECT 1')"
    call = form.render(ToolCall(SUBMIT_SQL, QUESTION.reference))
    script({"q-1/0": [[*policy.dialogue.tokenizer.encode(look), *end], call + " and so on"]})
    agent = replace(AGENT, tokens_per_turn=100)
    (episode,) = play(policy, [attempt(databases, 0, agent=agent, tool_format=form)], agent, seed=1, width=2)
    assert [message.role for message in episode.messages] == ["system", "user", "assistant", "tool", "assistant"]
    assert (episode.outcome, episode.messages[2].content) == (CORRECT, look)
    opened = policy.dialogue.prompt(episode.messages[:2])
    said = policy.dialogue.tokenizer.encode(look) + policy.dialogue.bridge(episode.messages[3].content)
    assert list(episode.tokens) == [*opened, *said, *policy.dialogue.tokenizer.encode(call)]
    assert actions(episode)[: len(look) + 1] == [*policy.dialogue.tokenizer.encode(look), *end]  # it is its own action
    assert_trainer_agrees(policy, [episode])


def test_a_sampled_text_is_never_tokenised_again(tmp_path: Path, databases: Databases, script: Any) -> None:
    """The ids that a loss sees are the sampler's, though the tokenizer would write the same text otherwise."""
    write_model(tmp_path, pieces=("SELECT", "<run_sql>"))
    policy = load_policy_model(tmp_path)
    encode = policy.dialogue.tokenizer.encode
    odd = [260, 259, *encode(" 1</run_sql>")]
    assert policy.dialogue.tokenizer.decode(odd) == "<run_sql>SELECT 1</run_sql>" and encode("SELECT") != [259]
    script({"q-1/0": [odd, RIGHT]})
    (episode,) = played(policy, databases, [(QUESTION, 0)]).values()
    assert actions(episode) == odd + encode(RIGHT)
    assert episode.outcome == CORRECT
    assert_trainer_agrees(policy, [episode])


def test_prompts_that_share_nothing_are_played_too(
    adapted: PolicyModel, databases: Databases, script: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    script({"q-1/0": [LOOK, RIGHT], "q-1/1": ["x" * 99], "q-1/2": [LOOK, LOOK]})
    names = [(QUESTION, number) for number in range(3)]
    shared = played(adapted, databases, names, width=2)
    monkeypatch.setattr(rollouts, "shared_prefix_length", lambda _: 0)
    unshared = played(adapted, databases, names, width=2)
    assert all(same(unshared[name], episode) for name, episode in shared.items())


def test_playing_can_be_left_and_begun_again(adapted: PolicyModel, databases: Databases) -> None:
    attempts = [attempt(databases, number, agent=SHORT) for number in range(4)]
    episodes = play(adapted, attempts, SHORT, seed=1, width=2)
    first = next(episodes)
    episodes.close()
    again = played(adapted, databases, [(QUESTION, number) for number in range(4)], agent=SHORT, width=2)
    assert same(again[first.id], first)
    assert list(play(adapted, [], SHORT, seed=1, width=2)) == []


def slowly(monkeypatch: pytest.MonkeyPatch, delays: Callable[[Attempt, int], float]) -> None:
    """Make every attempt take its time, in seconds by attempt and turn, before it answers a reply."""
    reply = Attempt.reply

    def slow(self: Attempt, text: str, **options: Any) -> str | None:
        time.sleep(delays(self, sum(message.role == "assistant" for message in self.messages)))
        return reply(self, text, **options)

    monkeypatch.setattr(Attempt, "reply", slow)


@pytest.mark.parametrize("patience", [1.0, 0.0])
def test_results_that_come_back_in_another_order_change_nothing(
    adapted: PolicyModel, databases: Databases, script: Any, monkeypatch: pytest.MonkeyPatch, patience: float
) -> None:
    script({"q-1/0": [LOOK, LOOK], "q-1/1": ["<run_sql>SELECT 1</run_sql>"] * 3, "q-2/0": [LOOK, RIGHT]})
    prompt = played(adapted, databases, NAMES, width=5)
    monkeypatch.setattr(rollouts, "_PATIENCE_SECONDS", patience)
    slowly(monkeypatch, lambda attempt, turn: (7 * attempt.number + 3 * turn + len(attempt.question.text)) % 5 * 0.01)
    late = played(adapted, databases, NAMES[::-1], width=4)
    assert all(same(late[name], episode) for name, episode in prompt.items())


def test_others_are_decoded_while_a_query_runs(
    adapted: PolicyModel, databases: Databases, script: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first attempt's query ends only when the second attempt is over."""
    script({"q-1/0": [LOOK, RIGHT], "q-1/1": [LOOK, LOOK, RIGHT]})
    monkeypatch.setattr(rollouts, "_PATIENCE_SECONDS", 0.0)
    other_is_over = threading.Event()
    reply = Attempt.reply

    def waiting(self: Attempt, text: str, **options: Any) -> str | None:
        if self.id == "q-1/0":
            assert other_is_over.wait(timeout=60)
        result = reply(self, text, **options)
        if self.id == "q-1/1" and self.outcome is not None:
            other_is_over.set()
        return result

    monkeypatch.setattr(Attempt, "reply", waiting)
    attempts = [attempt(databases, number) for number in range(2)]
    episodes = list(play(adapted, attempts, AGENT, seed=1, width=2))
    assert [(episode.id, episode.outcome) for episode in episodes] == [("q-1/1", CORRECT), ("q-1/0", CORRECT)]


def test_a_repeated_run_has_the_same_bits(adapted: PolicyModel, databases: Databases, script: Any) -> None:
    script({"q-1/0": [LOOK, LOOK, RIGHT], "q-1/1": [LOOK], "q-2/0": [LOOK, RIGHT]})
    first = played(adapted, databases, NAMES, width=3)
    assert played(adapted, databases, NAMES, width=3) == first


def test_our_own_fault_in_an_attempt_is_raised(
    adapted: PolicyModel, databases: Databases, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: Attempt, text: str, **options: Any) -> str | None:
        raise RuntimeError("the grader is broken")

    monkeypatch.setattr(Attempt, "reply", broken)
    with pytest.raises(RuntimeError, match="grader is broken"):
        played(adapted, databases, [(QUESTION, number) for number in range(3)], agent=SHORT)


def test_leaving_does_not_wait_for_queries(
    adapted: PolicyModel, databases: Databases, script: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    script({"q-1/0": [RIGHT], "q-1/1": [LOOK], "q-1/2": [LOOK]})
    monkeypatch.setattr(rollouts, "_PATIENCE_SECONDS", 0.0)
    left, ended = threading.Event(), []
    reply = Attempt.reply

    def waiting(self: Attempt, text: str, **options: Any) -> str | None:
        if self.number > 0:
            left.wait(timeout=10)
            ended.append(self.id)
        return reply(self, text, **options)

    monkeypatch.setattr(Attempt, "reply", waiting)
    episodes = play(adapted, [attempt(databases, number) for number in range(3)], AGENT, seed=1, width=3)
    assert next(episodes).id == "q-1/0"
    episodes.close()
    assert ended == []
    left.set()


def test_an_episode_that_the_model_cannot_read_is_the_users_fault(policy: PolicyModel, databases: Databases) -> None:
    agent = replace(AGENT, tokens_per_episode=CONTEXT)
    with pytest.raises(UserError, match=rf"agent\.tokens_per_episode: .* the model reads {CONTEXT}"):
        played(policy, databases, [(QUESTION, 0)], agent=agent)


def test_long_prompts_are_computed_in_parts_and_a_few_at_a_time(
    adapted: PolicyModel, databases: Databases, monkeypatch: pytest.MonkeyPatch
) -> None:
    together = played(adapted, databases, NAMES, width=5)
    monkeypatch.setattr(rollouts, "_PROMPT_TOKENS_AT_ONCE", 1)
    monkeypatch.setattr(decoding, "_PROMPT_STEP", 3)
    parts = played(adapted, databases, NAMES, width=5)
    monkeypatch.setattr(rollouts, "_PROMPT_TOKENS_AT_ONCE", 10**6)
    several = played(adapted, databases, NAMES, width=5)
    for name, episode in together.items():
        assert same(parts[name], episode) and same(several[name], episode)

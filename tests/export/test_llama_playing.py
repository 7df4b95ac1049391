"""Episodes played one after the other are those that training's rollouts play together, given the same logits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import mlx.core as mx
import numpy
import pytest
from tiny_policy import AGENT, OTHER, QUESTION, attempt

from sqldojo.agent.episode import AnswerParams
from sqldojo.databases.execution import Limits
from sqldojo.export.file_scoring import fused_dialogue, play_examples, score_file
from sqldojo.export.llama_playing import LlamaPolicy, play
from sqldojo.records import CORRECT, NEVER_SUBMITTED, OUT_OF_BUDGET, Episode
from sqldojo.training import rollouts
from sqldojo.training.policy_model import PolicyModel


class Scripted:
    """Writes these texts token by token, whatever it is given, and then ends its turn."""

    def __init__(self, policy: PolicyModel, *replies: str) -> None:
        self._size = policy.model.args.vocab_size
        end = min(policy.end_tokens)
        encode = policy.dialogue.tokenizer.encode
        self._tokens = [each for text in replies for each in [*encode(text, add_special_tokens=False), end]]
        self.calls: list[list[int]] = []

    def logits(self, tokens: Sequence[int]) -> numpy.ndarray:
        self.calls.append(list(tokens))
        found = numpy.zeros(self._size, numpy.float32)
        found[self._tokens.pop(0)] = 100.0
        return found


class ThroughMlx:
    """The logits of MLX for a whole sequence, in the place of llama.cpp's."""

    def __init__(self, policy: PolicyModel) -> None:
        self._policy = policy

    def logits(self, tokens: Sequence[int]) -> numpy.ndarray:
        return numpy.array(self._policy.model(mx.array([list(tokens)]))[0, -1].astype(mx.float32))


def through(policy: PolicyModel, model: object) -> LlamaPolicy:
    return LlamaPolicy(model, policy.dialogue, policy.end_tokens)


def essence(episode: Episode) -> tuple:
    return episode.id, episode.tokens, episode.action_mask, episode.outcome, episode.messages, episode.submission


@pytest.mark.parametrize("greedy", [False, True])
def test_it_plays_what_the_rollouts_play(policy: PolicyModel, databases: tuple[Path, ...], greedy: bool) -> None:
    agent = AnswerParams(turns=3, tokens_per_turn=12, tokens_per_episode=30, preview_rows=2, schema_characters=12_000)

    def attempts() -> list:
        asked = [(question, number) for question in (QUESTION, OTHER) for number in (0, 1)]
        return [attempt(databases, number, question, agent=agent) for question, number in asked]

    together = rollouts.play(policy, attempts(), agent, seed=5, width=4, greedy=greedy)
    alone = play(through(policy, ThroughMlx(policy)), attempts(), agent, seed=5, greedy=greedy)
    wanted, found = (sorted(each, key=lambda episode: episode.id) for each in (together, alone))
    assert [essence(each) for each in found] == [essence(each) for each in wanted]
    for mine, theirs in zip(found, wanted, strict=True):
        assert mine.logprobs == pytest.approx(theirs.logprobs, abs=1e-4)


def test_a_tools_result_goes_back_to_the_model(policy: PolicyModel, databases: tuple[Path, ...]) -> None:
    model = Scripted(policy, "<run_sql>SELECT max(age) FROM people</run_sql>", "<submit_sql>SELECT 3</submit_sql>")
    model._tokens.remove(min(policy.end_tokens))  # the agent takes the call before the turn would end
    (episode,) = play(through(policy, model), [attempt(databases, 0, QUESTION)], AGENT, seed=1)
    assert [message.role for message in episode.messages] == ["system", "user", "assistant", "tool", "assistant"]
    assert episode.messages[3].content == "max(age)\n41" and episode.submission == "SELECT 3"
    text = policy.dialogue.tokenizer.decode(list(episode.tokens))
    assert "</run_sql><|im_end|>\n<|im_start|>user\nmax(age)\n41<|im_end|>\n<|im_start|>assistant\n<submit_sql>" in text
    own = [token for token, mask in zip(episode.tokens, episode.action_mask, strict=True) if mask]
    assert policy.dialogue.tokenizer.decode(own) == (
        "<run_sql>SELECT max(age) FROM people</run_sql><submit_sql>SELECT 3</submit_sql>"
    )
    assert model.calls[-1] == list(episode.tokens[:-1])


@pytest.mark.parametrize(
    ("replies", "agent", "outcome"),
    [
        (("<submit_sql>SELECT count(*) FROM people</submit_sql>",), AGENT, CORRECT),
        (("I do not know.",), AGENT, NEVER_SUBMITTED),
        (("a" * 200,), AGENT, OUT_OF_BUDGET),
        (("<run_sql>SELECT 1</run_sql>",), replace(AGENT, tokens_per_episode=30), OUT_OF_BUDGET),
    ],
)
def test_an_episode_ends_as_in_training(
    policy: PolicyModel, databases: tuple[Path, ...], replies: tuple[str, ...], agent: AnswerParams, outcome: str
) -> None:
    model = Scripted(policy, *replies)
    (episode,) = play(through(policy, model), [attempt(databases, 0, agent=agent)], agent, seed=1, greedy=True)
    assert episode.outcome == outcome
    assert len(episode.tokens) == len(episode.action_mask) == len(episode.logprobs)


def test_a_file_is_scored_through_llama_cpp(bf16: Path, fused: Path, databases: tuple[Path, ...]) -> None:
    agent = AnswerParams(turns=2, tokens_per_turn=8, tokens_per_episode=16, preview_rows=2, schema_characters=12_000)
    found = score_file(bf16, fused, [QUESTION, OTHER], databases, 2, agent, Limits(), 17)
    assert [episode.id for episode in found] == ["q-1/0", "q-1/1", "q-2/0", "q-2/1"]
    assert {episode.outcome for episode in found} <= {NEVER_SUBMITTED, OUT_OF_BUDGET}  # it has learnt nothing
    assert found == score_file(bf16, fused, [QUESTION, OTHER], databases, 2, agent, Limits(), 17)


def test_examples_are_asked_greedily_and_drawn(bf16: Path, fused: Path, databases: tuple[Path, ...]) -> None:
    agent = AnswerParams(turns=1, tokens_per_turn=5, tokens_per_episode=5, preview_rows=2, schema_characters=12_000)
    greedy, drawn, ending = play_examples(bf16, fused, [QUESTION, OTHER], databases, 3, agent, Limits(), 17)
    assert [episode.id for episode in greedy] == ["q-1/0", "q-2/0"]
    assert [episode.attempt for episode in drawn] == [1, 2, 3, 1, 2, 3] and ending == 0


def test_the_dialogue_needs_no_weights(fused: Path, policy: PolicyModel) -> None:
    dialogue, ends = fused_dialogue(fused)
    assert (dialogue.tool_format.name, ends) == (policy.dialogue.tool_format.name, policy.end_tokens)

"""Rows decoded together are what each would be alone, and every token is computed once."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import mlx.core as mx
import pytest
from tiny_policy import with_adapter

from sqldojo.training import decoding
from sqldojo.training.decoding import Decoder, RolloutCounts, Row
from sqldojo.training.policy_model import PolicyModel

PREFIX = [random.Random("prefix").randrange(3, 250) for _ in range(50)]


@pytest.fixture(scope="module")
def adapted(tiny_folder: Path) -> PolicyModel:
    return with_adapter(tiny_folder)


@pytest.fixture
def greedy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The likeliest token in place of a random one."""

    def likeliest(logits: mx.array, names: Sequence[str]) -> tuple[mx.array, mx.array]:
        logprobs = logits - mx.logsumexp(logits, axis=-1, keepdims=True)
        return mx.argmax(logits, axis=-1).astype(mx.int32), logprobs.max(axis=-1)

    monkeypatch.setattr(decoding, "draw", likeliest)


def some_tokens(name: str, count: int) -> list[int]:
    return [random.Random(name).randrange(3, 250) for _ in range(count)]


class Sequences:
    """Rows of one decoder with all that each has read and said, and the log-probabilities of the latter."""

    def __init__(self, policy: PolicyModel, prefix: Sequence[int] = PREFIX) -> None:
        self.policy, self.prefix, self.counts = policy, list(prefix), RolloutCounts()
        self.decoder = Decoder(policy, prefix, self.counts)
        self.rows: dict[str, Row] = {}
        self.tokens: dict[str, list[int]] = {}
        self.logprobs: dict[str, dict[int, float]] = {}

    def join(self, fresh: dict[str, list[int]], returning: dict[str, list[int]] | None = None) -> None:
        returning = returning or {}
        prompts = self.decoder.compute(list(fresh.values())) if fresh else []
        turns = {name: f"{name}/{len(self.tokens[name])}" for name in returning}
        joined = self.decoder.join(
            [(prompt, f"{name}/0") for name, prompt in zip(fresh, prompts, strict=True)],
            [(self.rows[name], tokens, turns[name]) for name, tokens in returning.items()],
        )
        self.rows |= dict(zip([*fresh, *returning], joined, strict=True))
        for name, tokens in fresh.items():
            self.tokens[name], self.logprobs[name] = [*self.prefix, *tokens], {}
        for name, tokens in returning.items():
            self.tokens[name] += tokens

    def step(self, times: int = 1) -> None:
        names = {row: name for name, row in self.rows.items()}
        for _ in range(times):
            for row, token, logprob in self.decoder.step():
                self.logprobs[names[row]][len(self.tokens[names[row]])] = logprob
                self.tokens[names[row]].append(token)

    def assert_plain(self) -> None:
        """Every log-probability is that of a plain forward pass over the sequence."""
        for name, tokens in self.tokens.items():
            logits = self.policy.model(mx.array([tokens]))[0]
            logprobs = logits - mx.logsumexp(logits, axis=-1, keepdims=True)
            for place, logprob in self.logprobs[name].items():
                assert logprob == pytest.approx(logprobs[place - 1, tokens[place]].item(), abs=1e-4), (name, place)


def play_raggedly(policy: PolicyModel, prefix: Sequence[int] = PREFIX) -> Sequences:
    """Rows of many lengths that join, rest, return and leave at different times."""
    sequences = Sequences(policy, prefix)
    decoder, rows = sequences.decoder, sequences.rows
    sequences.join({"a": some_tokens("a", 3), "b": some_tokens("b", 29), "c": some_tokens("c", 1)})
    sequences.step(5)
    sequences.join({"d": some_tokens("d", 17)})
    decoder.rest(rows["b"])
    sequences.step(4)
    decoder.leave(rows["a"])
    sequences.join({"e": some_tokens("e", 2), "f": some_tokens("f", 40)}, {"b": some_tokens("B", 21)})
    sequences.step(30)
    decoder.rest(rows["c"])
    decoder.rest(rows["f"])
    sequences.step(3)
    decoder.leave(rows["b"])
    decoder.leave(rows["e"])
    sequences.join({}, {"f": some_tokens("F", 5), "c": some_tokens("C", 1)})
    sequences.step(6)
    return sequences


def test_rows_that_come_and_go_are_those_of_a_plain_forward(adapted: PolicyModel) -> None:
    sequences = play_raggedly(adapted)
    said = {name: len(logprobs) for name, logprobs in sequences.logprobs.items()}
    assert said == {"a": 9, "b": 5 + 33, "c": 39 + 6, "d": 43, "e": 33, "f": 30 + 6}  # one a step while they run
    sequences.assert_plain()


@pytest.mark.usefixtures("greedy")
def test_a_row_of_a_ragged_batch_is_the_row_alone(adapted: PolicyModel) -> None:
    together = play_raggedly(adapted)
    for name in "abcdef":
        alone = Sequences(adapted)
        replies, read = [], together.tokens[name]
        prompt = some_tokens(name, {"a": 3, "b": 29, "c": 1, "d": 17, "e": 2, "f": 40}[name])
        said = sorted(together.logprobs[name])
        turns = [place for place in said if place - 1 not in said]
        for start in turns:
            length = next((place for place in range(start, len(read)) if place not in said), len(read)) - start
            if not replies:
                alone.join({name: prompt})
            else:
                alone.decoder.rest(alone.rows[name])
                alone.join({}, {name: read[len(alone.tokens[name]) : start]})
            alone.step(length + 1)
            alone.tokens[name] = alone.tokens[name][: start + length]
            replies.append(length)
        assert alone.tokens[name] == read
        assert len(replies) == 1 + (name in "bcf")


def test_without_a_prefix_and_with_a_long_one(adapted: PolicyModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """The prefix is computed in pieces, so that its scores need little memory."""
    play_raggedly(adapted, []).assert_plain()
    whole = play_raggedly(adapted)
    monkeypatch.setattr(decoding, "_PREFIX_STEP", 16)
    pieces = play_raggedly(adapted)
    pieces.assert_plain()
    assert pieces.tokens == whole.tokens


def test_attempts_are_forked_off_one_prompt(adapted: PolicyModel) -> None:
    counts = RolloutCounts()
    decoder = Decoder(adapted, PREFIX, counts)
    first, second = decoder.compute([some_tokens("a", 9), some_tokens("b", 4)])
    rows = decoder.join([(first, "a/0"), (first, "a/1"), (second, "b/0"), (first, "a/2")], [])
    assert len(set(rows)) == 4 and [row.length for row in rows] == [9, 9, 4, 9]
    said: dict[Row, list[int]] = {row: [] for row in rows}
    for _ in range(11):
        for row, token, _ in decoder.step():
            said[row].append(token)
    assert counts == RolloutCounts(prefix_tokens=50, question_tokens=13, steps=11, rows=44)
    assert len({tuple(tokens) for tokens in said.values()}) == 4  # each has draws of its own
    alone = Decoder(adapted, PREFIX, RolloutCounts())
    (row,) = alone.join([(alone.compute([some_tokens("a", 9)])[0], "a/2")], [])
    assert [token for _ in range(11) for _, token, _ in alone.step()] == said[rows[3]]


def test_the_batch_holds_own_keys_alone(adapted: PolicyModel) -> None:
    """However long the prefix is; and rows that have left are cut out of the batch."""
    sequences = Sequences(adapted, PREFIX * 8)
    sequences.join({str(number): some_tokens(str(number), 5) for number in range(16)})
    sequences.step(3)
    shapes = {part.shape for layer in sequences.decoder._keys for part in layer.own}
    assert shapes == {(16, 2, 32, 16)}
    for number in range(12):
        sequences.decoder.leave(sequences.rows[str(number)])
    sequences.step(2)
    assert sequences.decoder.size == sequences.decoder.running == 4
    assert {part.shape[0] for layer in sequences.decoder._keys for part in layer.own} == {4}
    assert sequences.counts.rows == 3 * 16 + 2 * 4
    sequences.assert_plain()


def test_the_token_under_way_leaves_no_trace(adapted: PolicyModel) -> None:
    """Neither when the turn is over for good nor when the next one begins before that token is looked at."""
    sequences = Sequences(adapted)
    sequences.join({"a": some_tokens("a", 3), "b": some_tokens("b", 5)})
    sequences.step(4)
    for name in ("a", "b"):
        sequences.decoder.rest(sequences.rows[name])
    said = {name: list(tokens) for name, tokens in sequences.tokens.items()}
    sequences.join({}, {"a": some_tokens("A", 2)})
    sequences.step(2)
    sequences.step()
    assert sequences.tokens["b"] == said["b"]
    assert sequences.tokens["a"][: len(said["a"]) + 2] == said["a"] + some_tokens("A", 2)
    assert sequences.rows["a"].length == len(sequences.tokens["a"]) - len(PREFIX)
    sequences.assert_plain()


def test_nothing_is_computed_when_no_row_runs(adapted: PolicyModel) -> None:
    sequences = Sequences(adapted)
    assert sequences.decoder.step() == []
    sequences.join({"a": some_tokens("a", 3)})
    sequences.step(2)
    sequences.decoder.rest(sequences.rows["a"])
    steps = sequences.counts.steps
    assert sequences.decoder.step() == [] and sequences.decoder.size == 1
    assert sequences.counts.steps == steps
    sequences.decoder.leave(sequences.rows["a"])
    assert sequences.decoder.size == 0


def test_a_model_that_gives_no_numbers_is_refused(tiny_folder: Path) -> None:
    policy = with_adapter(tiny_folder)
    policy.model.update({"model": {"norm": {"weight": mx.full((64,), float("nan"))}}})
    sequences = Sequences(policy)
    sequences.join({"a": [5, 6]})
    with pytest.raises(ValueError, match="not finite at a/0"):
        sequences.step(2)

"""Losses on a tree of shared prefixes: the numbers and gradients of each sequence run alone, whatever the padding."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import mlx.core as mx
import mlx.nn as nn
import numpy as np
import pytest
from mlx.utils import tree_flatten, tree_map
from tiny_policy import with_adapter

from sqldojo.training.policy_model import PolicyModel, adapter_weights
from sqldojo.training.shared_prefix import (
    Batch,
    PrefixTree,
    action_logprobs,
    loss_and_gradients,
    make_tree,
    padded_length,
)

Pair = tuple[list[int], list[int]]
TRUNK, QUESTION = 21, 24
RAGGED = (1, 7, 30, 16, 17)


@pytest.fixture(scope="module")
def adapted(tiny_folder: Path) -> PolicyModel:
    """The tiny model with an adapter that is not zero."""
    return with_adapter(tiny_folder)


def group(lengths: Sequence[int] = RAGGED, name: str = "", question: int = QUESTION) -> list[Pair]:
    """Sequences with one prompt and own continuations, whose masks have holes, as tool results make them."""
    trunk = [random.Random("trunk").randrange(3, 259) for _ in range(TRUNK)]
    generator = random.Random(f"{name}/sequences")
    prompt = trunk + [generator.randrange(3, 259) for _ in range(question)]
    pairs = []
    for number, length in enumerate(lengths):
        own = [number % 259, *(generator.randrange(259) for _ in range(length - 1))]
        mask = [1, *(generator.randrange(2) for _ in range(length - 1))]
        pairs.append((prompt + own, [0] * len(prompt) + mask))
    return pairs


def different(lengths: Sequence[int] = RAGGED) -> list[Pair]:
    """Sequences that share the trunk only, as demonstrations do."""
    return [group([length], f"other {number}", question=number)[0] for number, length in enumerate(lengths, start=3)]


def branches(tree: PrefixTree) -> list[int]:
    return [branch.tokens.size for branch in tree.branches]


GROUPS: dict[str, list[list[Pair]]] = {
    "one prompt": [group()],
    "demonstrations": [different()],
    "questions": [group(name="a"), group((3, 40, 21), "b", question=40)],
    "all kinds": [group(name="a"), different(), group((9,), "single"), group((5, 6), "pair", question=70)],
}
# All that one group shares is trunk; a branch that saves too little (one sequence, few tokens) is not made.
BRANCHES = {
    "one prompt": [0],
    "demonstrations": [0],
    "questions": [QUESTION - 1, 40 - 1],
    "all kinds": [QUESTION - 1, 0, 0, 70 - 1],
}


def flat(groups: Sequence[Sequence[Pair]]) -> list[Pair]:
    return [pair for members in groups for pair in members]


def alone(policy: PolicyModel, pair: Pair) -> mx.array:
    """The log-probabilities of one sequence's actions from a plain forward pass of all of it."""
    tokens, mask = pair
    logits = policy.model(mx.array([tokens[:-1]]))[0].astype(mx.float32)
    logprobs = logits - mx.logsumexp(logits, axis=-1, keepdims=True)
    return mx.stack([logprobs[place - 1, tokens[place]] for place in range(1, len(tokens)) if mask[place]])


def coefficients(groups: Sequence[Sequence[Pair]]) -> list[list[float]]:
    """A number for each token of each sequence."""
    generator = random.Random("coefficients")
    return [[generator.uniform(-1.0, 1.0) for _ in tokens] for tokens, _ in flat(groups)]


def weighted(factors: list[list[float]]) -> Callable[[mx.array, Batch], mx.array]:
    return lambda logprobs, batch: (logprobs * batch.pick(factors)).sum()


def weighted_alone(policy: PolicyModel, groups: Sequence[Sequence[Pair]]) -> tuple[mx.array, dict[str, mx.array]]:
    """What `weighted` and its gradients should be."""

    def loss(_: nn.Module) -> mx.array:
        total = mx.array(0.0)
        for (tokens, mask), factors in zip(flat(groups), coefficients(groups), strict=True):
            if any(mask):
                own = [factor for factor, learnt in zip(factors, mask, strict=True) if learnt]
                total = total + (alone(policy, (tokens, mask)) * mx.array(own)).sum()
        return total

    value, gradients = nn.value_and_grad(policy.model, loss)(policy.model)
    return value, dict(tree_flatten(gradients))


def compare(gradients: Any, expected: dict[str, mx.array], tolerance: float = 1e-4) -> None:
    found = dict(tree_flatten(gradients))
    assert found.keys() == expected.keys() and len(found) == 2 * 2 * 7  # a and b of 7 layers in 2 blocks
    for name, gradient in expected.items():
        largest = mx.abs(gradient).max().item()
        assert largest > 0, name
        assert mx.abs(found[name] - gradient).max().item() <= tolerance * largest, name


@pytest.mark.parametrize("rows", [1, 2, 5])
@pytest.mark.parametrize("kind", GROUPS)
def test_loss_and_gradients_are_those_of_each_sequence_alone(adapted: PolicyModel, kind: str, rows: int) -> None:
    """Trunk and branches run back once for all that stands behind them; their parts must not be lost."""
    groups = GROUPS[kind]
    tree = make_tree(groups, rows=rows)
    assert branches(tree) == BRANCHES[kind]
    before = dict(tree_flatten(adapted.model.trainable_parameters()))
    value, gradients, logprobs = loss_and_gradients(adapted, tree, weighted(coefficients(groups)))
    assert logprobs == [pytest.approx(row, abs=1e-5) for row in action_logprobs(adapted, tree)]
    after = dict(tree_flatten(adapted.model.trainable_parameters()))
    assert before.keys() == after.keys() and all(before[name] is after[name] for name in before)  # no traced arrays
    expected, expected_gradients = weighted_alone(adapted, groups)
    assert value.item() == pytest.approx(expected.item(), rel=1e-5)
    compare(gradients, expected_gradients)


@pytest.mark.parametrize("trunk_length", [1, 2, TRUNK - 1])
def test_a_shorter_trunk_gives_the_same(adapted: PolicyModel, trunk_length: int) -> None:
    groups = GROUPS["questions"]
    tree = make_tree(groups, rows=2, trunk_length=trunk_length)
    assert tree.trunk.shape == (1, trunk_length)
    assert branches(tree) == [TRUNK + question - 1 - trunk_length for question in (QUESTION, 40)]
    value, gradients, _ = loss_and_gradients(adapted, tree, weighted(coefficients(groups)))
    expected, expected_gradients = weighted_alone(adapted, groups)
    assert value.item() == pytest.approx(expected.item(), rel=1e-5)
    compare(gradients, expected_gradients)


@pytest.mark.parametrize("kind", GROUPS)
def test_logprobs_are_those_of_each_sequence_alone(adapted: PolicyModel, kind: str) -> None:
    groups = [*GROUPS[kind], [(pair[0], [0] * len(pair[0])) for pair in group((4,))]]
    found = action_logprobs(adapted, make_tree(groups, rows=2))
    for (tokens, mask), logprobs in zip(flat(groups), found, strict=True):
        assert len(logprobs) == len(tokens)
        assert all(value == 0.0 for value, learnt in zip(logprobs, mask, strict=True) if not learnt)
        if any(mask):
            own = [value for value, learnt in zip(logprobs, mask, strict=True) if learnt]
            np.testing.assert_allclose(own, np.array(alone(adapted, (tokens, mask))), atol=1e-5)


@pytest.mark.parametrize("kind", GROUPS)
def test_targets_are_the_given_ids_where_the_mask_is_set(kind: str) -> None:
    """Whatever was sampled is learnt as it was sampled: one target for each 1 in the masks, and the right one."""
    pairs = flat(GROUPS[kind])
    tree = make_tree(GROUPS[kind], rows=2)
    wanted = {(n, place) for n, (_, mask) in enumerate(pairs) for place, learnt in enumerate(mask) if learnt}
    places = [place for batch in tree.batches for place in batch.places]
    assert set(places) == wanted and len(places) == len(wanted) == tree.action_tokens
    for batch in tree.batches:
        count = len(batch.places)
        assert batch.weights.tolist() == [1.0] * count + [0.0] * (batch.weights.size - count)
        assert batch.targets.tolist()[:count] == [pairs[number][0][place] for number, place in batch.places]
        before = batch.continuations.reshape(-1)[batch.positions].tolist()[:count]
        assert before == [pairs[number][0][place - 1] for number, place in batch.places]


def test_pick_takes_what_belongs_to_each_target() -> None:
    groups = GROUPS["all kinds"]
    lengths = [len(tokens) for tokens, _ in flat(groups)]
    values = [[1000.0 * number + place for place in range(length)] for number, length in enumerate(lengths)]
    for batch in make_tree(groups, rows=2).batches:
        picked = batch.pick(values)
        assert picked.dtype == mx.float32 and picked.shape == batch.targets.shape
        expected = [1000.0 * number + place for number, place in batch.places]
        assert picked.tolist() == expected + [0.0] * (picked.size - len(expected))


def test_masked_sequences_and_groups_change_nothing(adapted: PolicyModel) -> None:
    groups = GROUPS["questions"]
    masked = [(tokens, [0] * len(tokens)) for tokens, _ in group((80, 3), "a")]
    more = [[*groups[0], masked[0]], groups[1], masked[1:]]
    few, many = make_tree(groups, rows=2), make_tree(more, rows=2)
    assert (few.dropped, many.dropped) == (0, 2)
    assert (few.loss_tokens, few.action_tokens, few.shapes) == (many.loss_tokens, many.action_tokens, many.shapes)
    factors = coefficients(groups)
    more_factors = [*factors[:5], [7.0] * len(masked[0][0]), *factors[5:], [7.0] * len(masked[1][0])]
    first = loss_and_gradients(adapted, few, weighted(factors))
    second = loss_and_gradients(adapted, many, weighted(more_factors))
    assert first[0].item() == second[0].item()
    pairs = zip(tree_flatten(first[1]), tree_flatten(second[1]), strict=True)
    assert all(mx.array_equal(one, other) for (_, one), (_, other) in pairs)


def test_what_stands_in_the_padding_changes_nothing(adapted: PolicyModel) -> None:
    groups = GROUPS["questions"]
    tree = make_tree(groups, rows=2)

    def other(batch: Batch) -> Batch:
        ends = mx.zeros(batch.continuations.shape[0], dtype=mx.int32)
        rows, columns = batch.positions // batch.continuations.shape[1], batch.positions % batch.continuations.shape[1]
        padded = mx.arange(batch.continuations.shape[1])[None] > ends.at[rows].maximum(columns)[:, None]
        assert padded.any().item()
        real = batch.weights == 1
        return replace(
            batch,
            continuations=mx.where(padded, 77, batch.continuations),
            positions=mx.where(real, batch.positions, 1),
            targets=mx.where(real, batch.targets, 99),
        )

    changed = replace(
        tree, branches=tuple(replace(branch, batches=tuple(map(other, branch.batches))) for branch in tree.branches)
    )
    first, second = (loss_and_gradients(adapted, each, weighted(coefficients(groups))) for each in (tree, changed))
    assert first[0].item() == second[0].item()
    expected = dict(tree_flatten(first[1]))
    compare(second[1], expected, tolerance=1e-6)


def test_what_follows_the_last_action_is_not_computed(adapted: PolicyModel) -> None:
    groups = GROUPS["questions"]
    longer = [[(tokens + [5] * 60, mask + [0] * 60) for tokens, mask in members] for members in groups]
    trees = [make_tree(each, rows=2) for each in (groups, longer)]
    assert trees[0].loss_tokens == trees[1].loss_tokens
    found = action_logprobs(adapted, trees[1])
    assert [logprobs[:-60] for logprobs in found] == action_logprobs(adapted, trees[0])
    assert all(logprobs[-60:] == [0.0] * 60 for logprobs in found)


def test_actions_that_all_attempts_begin_with_are_not_lost(adapted: PolicyModel) -> None:
    """Attempts at one question often begin alike; what they share is then more than the prompt."""
    twins = group((12,), "a") * 4
    tree = make_tree([twins, group(name="b")], rows=2)
    assert branches(tree) == [QUESTION - 1, QUESTION - 1]
    expected = np.array(alone(adapted, twins[0]))
    for logprobs in action_logprobs(adapted, tree)[:4]:
        np.testing.assert_allclose([value for value in logprobs if value], expected, atol=1e-5)


class Counter:
    """A policy's body that notes the tokens of each call."""

    def __init__(self, policy: PolicyModel) -> None:
        self.sizes: list[int] = []
        self.policy = replace(policy, body=self)
        self._body = policy.body

    def __call__(self, tokens: mx.array, cache: Any) -> mx.array:
        self.sizes.append(tokens.size)
        return self._body(tokens, cache=cache)


@pytest.mark.parametrize("rows", [1, 2, 5])
@pytest.mark.parametrize("kind", GROUPS)
def test_every_token_runs_as_often_as_the_tree_says(adapted: PolicyModel, kind: str, rows: int) -> None:
    tree, counter = make_tree(GROUPS[kind], rows=rows), Counter(adapted)
    loss_and_gradients(counter.policy, tree, lambda logprobs, batch: (logprobs * batch.weights).sum())
    assert sum(counter.sizes) == tree.loss_tokens + tree.prefix_tokens  # prefixes once more, without a graph
    # Memory is set by the micro-batch, not by the group: nothing larger ever runs.
    longest = max(len(tokens) - TRUNK for tokens, _ in flat(GROUPS[kind]))
    assert max(counter.sizes) <= max(rows * padded_length(longest), tree.trunk.size)
    counter.sizes.clear()
    action_logprobs(counter.policy, tree)
    assert sum(counter.sizes) == tree.loss_tokens


@pytest.mark.parametrize("lengths", [RAGGED, (64,) * 16, (3, 500, 130, 97)])
@pytest.mark.parametrize("rows", [1, 2, 5, 16])
def test_a_group_costs_its_prompt_once_and_each_completion_once(lengths: Sequence[int], rows: int) -> None:
    """P + G x C, with C the longest completion rounded up."""
    groups = [group(lengths, name) for name in "abc"]
    tree = make_tree(groups, rows=rows)
    assert tree.prefix_tokens == TRUNK + 3 * (QUESTION - 1)
    assert tree.loss_tokens <= tree.prefix_tokens + 3 * len(lengths) * padded_length(max(lengths))


def test_a_run_sees_few_shapes() -> None:
    generator = random.Random("lengths")
    shapes: set[tuple[int, ...]] = set()
    for number in range(150):
        longest = generator.choice((40, 130, 512))
        lengths = [generator.randrange(1, longest + 1) for _ in range(8)]
        shapes |= make_tree([group(lengths, str(number)), group(lengths, f"{number} again")], rows=2).shapes
    bodies = {shape for shape in shapes if len(shape) == 2}
    assert bodies == {(2, padded_length(length)) for length in range(1, 513)}
    assert len(shapes) <= 16


def test_lengths_are_rounded_up_by_a_third_at_most() -> None:
    assert [padded_length(length) for length in (1, 16, 17, 96, 97, 192, 193, 384, 385)] == [
        16, 16, 32, 96, 128, 192, 256, 384, 512
    ]  # fmt: skip
    assert all(length <= padded_length(length) < max(length + 16, 4 / 3 * length) for length in range(1, 2000))


def test_gradients_of_many_micro_batches_are_summed_in_full_precision(tiny_folder: Path) -> None:
    """16 equal ones give 16 times one, exactly in float32; in bfloat16, as the states are on a GPU, 3 x is rounded."""
    policy = with_adapter(tiny_folder)
    adapter = adapter_weights(policy.model)
    policy.model.update(tree_map(lambda x: x.astype(mx.bfloat16), policy.model.parameters()))
    policy.model.load_weights(list(adapter.items()), strict=False)

    def gradients(count: int) -> dict[str, mx.array]:
        tree = make_tree([group((2,), "a") * count], rows=1)
        return dict(tree_flatten(loss_and_gradients(policy, tree, lambda logprobs, _: logprobs[0])[1]))

    one, many = gradients(1), gradients(16)
    compare({name: gradient / 16 for name, gradient in many.items()}, one, tolerance=1e-5)


@pytest.mark.parametrize(
    ("groups", "trunk_length", "message"),
    [
        ([], None, "none of the 0 sequences holds an action"),
        ([[([1, 2, 3], [0, 0, 0])], []], None, "none of the 1 sequences holds an action"),
        ([[([1, 2, 3], [1, 0, 0])]], None, "sequence 0 begins with an action"),
        ([[([1, 2, 3], [0, 1, 0])]], None, "at least two tokens long"),
        ([[([1, 2, 3], [0, 0, 1])], [([4, 2, 3], [0, 0, 1])]], None, "first 1 tokens, but share 0"),
        ([[([1, 2, 3, 4], [0, 0, 0, 1])], [([1, 4, 2, 3], [0, 0, 0, 1])]], 2, "first 2 tokens, but share 1"),
        ([[([1, 2, 3], [0, 0])]], None, "argument 2 is shorter"),
    ],
)
def test_trees_that_cannot_be_made_are_our_fault(groups: list, trunk_length: int | None, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_tree(groups, rows=2, trunk_length=trunk_length)

"""Distillation learns, learns only from the actions, and a killed run ends as the uninterrupted one."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import mlx.core as mx
import pytest
from mlx.utils import tree_map
from tiny_policy import Killed, demonstration, with_adapter

from sqldojo.errors import UserError
from sqldojo.training import policy_model, supervised
from sqldojo.training.distill import (
    DistillParams,
    RedistillParams,
    balanced_own,
    distill,
    redistill,
    tokenise,
)
from sqldojo.training.policy_model import PolicyModel, adapter_weights, add_fresh_adapter, load_policy_model
from sqldojo.training.shared_prefix import action_logprobs, make_tree
from sqldojo.training.supervised import balanced, batches, learn

PARAMS = DistillParams(
    seed=7, updates=8, batch_size=3, micro_batch_size=2, learning_rate=0.01, final_share=0.1, warmup_steps=1,
    gradient_norm=1.0, lora_rank=4, lora_scale=2.0, checkpoint_every=2,
)  # fmt: skip
AGAIN = RedistillParams(
    seed=7, updates=4, batch_size=3, micro_batch_size=2, learning_rate=0.01, final_share=0.1, warmup_steps=1,
    gradient_norm=1.0, own_share=0.5, checkpoint_every=2,
)  # fmt: skip
EPISODES = [
    demonstration(1, "SELECT count(*) FROM people"),
    demonstration(2, "SELECT max(age) FROM people", look="SELECT age FROM people"),
    demonstration(3, "SELECT min(age) FROM people", look="SELECT age FROM people", mistake="SELECT name FROM people"),
    demonstration(4, "SELECT name FROM people"),
]


def test_the_loss_falls(tiny_folder: Path, tmp_path: Path) -> None:
    params = replace(PARAMS, updates=30, batch_size=4, learning_rate=0.02, lora_rank=8)
    curve = distill(load_policy_model(tiny_folder), EPISODES, params, tmp_path)
    assert [row.update for row in curve] == list(range(1, 31))
    assert curve[0].loss == pytest.approx(5.56, abs=0.6)  # log 259: the untrained model knows nothing
    assert curve[-1].loss < 0.6 * curve[0].loss
    assert curve[0].learning_rate == pytest.approx(0.01) and curve[-1].learning_rate == pytest.approx(0.002)
    assert all(row.gradient_norm > 0 for row in curve)


def test_the_adapter_moves_at_once(tiny_folder: Path, tmp_path: Path) -> None:
    """A policy gradient of exactly zero looks like training; both factors must have moved by the second update."""
    policy = load_policy_model(tiny_folder)
    base = {name: mx.array(tensor) for name, tensor in policy.model.parameters()["model"]["embed_tokens"].items()}
    distill(policy, EPISODES, replace(PARAMS, updates=2, batch_size=4), tmp_path)
    weights = adapter_weights(policy.model)
    assert all(mx.abs(tensor).max().item() > 0 for name, tensor in weights.items() if name.endswith("lora_b"))
    fresh = load_policy_model(tiny_folder)
    policy_model.add_fresh_adapter(fresh.model, PARAMS.lora, PARAMS.seed)
    assert all(not mx.array_equal(tensor, weights[name]) for name, tensor in adapter_weights(fresh.model).items())
    assert all(mx.array_equal(policy.model.model.embed_tokens[name], base[name]) for name in base)


def test_action_tokens_are_counted(tiny_folder: Path, tmp_path: Path) -> None:
    policy = load_policy_model(tiny_folder)
    wanted = sum(sum(sequence.action_mask) for sequence in tokenise(policy, EPISODES))
    curve = distill(policy, EPISODES, replace(PARAMS, updates=6, batch_size=4), tmp_path)
    assert sum(row.action_tokens for row in curve) == 6 * wanted  # four demonstrations, four a batch


def test_the_loss_is_the_mean_over_action_tokens(tiny_folder: Path, tmp_path: Path) -> None:
    policy = load_policy_model(tiny_folder)
    shown = tokenise(policy, EPISODES[:2])
    pairs = [(sequence.tokens, sequence.action_mask) for sequence in shown]
    logprobs = action_logprobs(policy, make_tree([pairs], rows=1))
    count = sum(sum(sequence.action_mask) for sequence in shown)
    add_fresh_adapter(policy.model, PARAMS.lora, seed=7)
    (first,) = learn(policy, [shown], PARAMS, tmp_path, "distill")
    assert first.loss == pytest.approx(-sum(map(sum, logprobs)) / count, rel=1e-5)  # a fresh adapter changes nothing


def killed_after(monkeypatch: pytest.MonkeyPatch, updates: int) -> None:
    """Let the process die in the update after `updates` of them."""
    done = 0

    def apply_gradients(*args: Any, **kwargs: Any) -> float:
        nonlocal done
        if done == updates:
            raise Killed
        done += 1
        return original(*args, **kwargs)

    original = supervised.apply_gradients
    monkeypatch.setattr(supervised, "apply_gradients", apply_gradients)


@pytest.mark.parametrize("updates", [1, 4, 7])
def test_a_killed_run_ends_as_the_uninterrupted_one(
    tiny_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, updates: int
) -> None:
    straight = load_policy_model(tiny_folder)
    curve = distill(straight, EPISODES, PARAMS, tmp_path / "straight")
    with monkeypatch.context() as patch:
        killed_after(patch, updates)
        with pytest.raises(Killed):
            distill(load_policy_model(tiny_folder), EPISODES, PARAMS, tmp_path / "killed")
    assert (tmp_path / "killed" / "checkpoint.safetensors").exists() == (updates >= PARAMS.checkpoint_every)
    resumed = load_policy_model(tiny_folder)
    with monkeypatch.context() as patch:
        killed_after(patch, 8 - updates // 2 * 2)  # and redoes no more than what came after the checkpoint
        assert distill(resumed, EPISODES, PARAMS, tmp_path / "killed") == curve
    first, second = adapter_weights(straight.model), adapter_weights(resumed.model)
    assert all(mx.array_equal(first[name], second[name]) for name in first)


def test_the_same_seed_gives_the_same_adapter(tiny_folder: Path, tmp_path: Path) -> None:
    runs = []
    for number, seed in enumerate((7, 7, 8)):
        policy = load_policy_model(tiny_folder)
        distill(policy, EPISODES, replace(PARAMS, updates=2, seed=seed), tmp_path / str(number))
        runs.append(adapter_weights(policy.model))
    assert all(mx.array_equal(runs[0][name], runs[1][name]) for name in runs[0])
    assert not any(mx.array_equal(runs[0][name], runs[2][name]) for name in runs[0])


@pytest.mark.parametrize(("episodes", "size"), [(EPISODES, 1), (EPISODES[:1], 3), (EPISODES[:2], 8)])
def test_batches_of_equal_demonstrations_are_learnt_too(
    tiny_folder: Path, tmp_path: Path, episodes: list[Any], size: int
) -> None:
    """All that they share is more than the prompt; their actions must count all the same."""
    curve = distill(load_policy_model(tiny_folder), episodes, replace(PARAMS, updates=2, batch_size=size), tmp_path)
    assert all(row.loss > 0 and row.action_tokens >= size * len("<submit_sql></submit_sql>") for row in curve)


def test_a_run_that_diverges_is_the_users_fault(
    tiny_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gradients = supervised.loss_and_gradients

    def exploding(*args: Any) -> Any:
        loss, found, logprobs = gradients(*args)
        return loss, tree_map(lambda tensor: tensor * mx.inf, found), logprobs

    monkeypatch.setattr(supervised, "loss_and_gradients", exploding)
    with pytest.raises(UserError, match=r"params.yaml: distill.learning_rate: update 1 diverged"):
        distill(load_policy_model(tiny_folder), EPISODES, PARAMS, tmp_path)


def test_micro_batches_change_no_result(tiny_folder: Path, tmp_path: Path) -> None:
    runs = []
    for size in (1, 3, 4):
        policy = load_policy_model(tiny_folder)
        params = replace(PARAMS, updates=3, batch_size=4, micro_batch_size=size)
        curve = distill(policy, EPISODES, params, tmp_path / str(size))
        runs.append(([row.loss for row in curve], adapter_weights(policy.model)))
    for losses, weights in runs[1:]:
        assert losses == pytest.approx(runs[0][0], rel=1e-5)
        assert all(mx.allclose(weights[name], tensor, atol=1e-4) for name, tensor in runs[0][1].items())


def test_a_run_sees_one_prefix(tiny_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each further shape costs compiled kernels and cached buffers."""
    shapes = []

    def recording(*args: Any, **kwargs: Any) -> Any:
        made = make_tree(*args, **kwargs)
        shapes.append((made.trunk.shape, [branch.tokens.shape for branch in made.branches]))
        return made

    monkeypatch.setattr(supervised, "make_tree", recording)
    distill(load_policy_model(tiny_folder), EPISODES, replace(PARAMS, updates=4, batch_size=1), tmp_path)
    assert len(shapes) == 4 and all(shape == (shapes[0][0], [(1, 0)]) for shape in shapes)


def test_nothing_to_learn_from_is_an_error(policy: PolicyModel) -> None:
    with pytest.raises(UserError, match=r"data/demonstrations.jsonl: there is no demonstration"):
        tokenise(policy, [])
    messages = tuple(replace(message, target=False) for message in EPISODES[0].messages)
    with pytest.raises(ValueError, match="demonstration d-1/0 has no action to learn"):
        tokenise(policy, [EPISODES[1], replace(EPISODES[0], messages=messages)])


@pytest.mark.parametrize("sizes", [(1,), (5, 5), (1, 23, 3), (40, 20, 40)])
def test_examples_are_balanced_by_type_and_by_demonstration(sizes: tuple[int, ...]) -> None:
    types = [f"type-{number}" for number, size in enumerate(sizes) for _ in range(size)]
    order = balanced(types, 160, seed=7)
    assert order == balanced(types, 160, seed=7) and len(order) == 160
    assert len(types) == 1 or order != balanced(types, 160, seed=8)
    for end in range(len(sizes), len(order), len(sizes)):
        assert set(Counter(types[index] for index in order[:end]).values()) == {end // len(sizes)}
        for name in set(types):
            seen = Counter(order[:end])
            times = [seen[index] for index, other in enumerate(types) if other == name]
            assert max(times) - min(times) <= 1
    assert balanced(types, 40, seed=7) == order[:40]


def test_a_batch_holds_near_lengths() -> None:
    types = [f"type-{number % 5}" for number in range(100)]
    lengths = [number * 37 % 100 for number in range(100)]
    params = replace(PARAMS, updates=15, batch_size=4)
    made = batches(types, lengths, params)
    assert [len(batch) for batch in made] == [4] * 15 and made == batches(types, lengths, params)
    assert batches(types, lengths, replace(params, updates=8)) == made[:8]  # so a longer run begins as a shorter one
    drawn = balanced(types, 60, params.seed)
    for first in (0, 6):  # six batches of these 24 examples, cut where lengths are sorted, in another order than that
        window = made[first : first + 6]
        assert sorted(index for batch in window for index in batch) == sorted(drawn[first * 4 : first * 4 + 24])
        spans = [(min(lengths[i] for i in batch), max(lengths[i] for i in batch)) for batch in window]
        assert all(one[1] <= other[0] for one, other in itertools.pairwise(sorted(spans)))
        assert spans != sorted(spans)


def sampled(policy: PolicyModel, number: int, sql: str, type: str = "count") -> Any:
    """A right attempt of the model's own, with the tokens that it would have sampled."""
    episode = demonstration(number, sql)
    shown = policy.dialogue.demonstration(episode.messages)
    return replace(episode, type=type, tokens=shown.tokens, action_mask=shown.action_mask, messages=())


def test_the_second_distillation_goes_on_from_the_adapter(tiny_folder: Path, tmp_path: Path) -> None:
    policy, start = with_adapter(tiny_folder), adapter_weights(with_adapter(tiny_folder).model)
    own = [sampled(policy, 5, "SELECT avg(age) FROM people")]
    shown = tokenise(policy, EPISODES[:1])[0], own[0]
    pairs = [(each.tokens, each.action_mask) for each in shown]
    logprobs = action_logprobs(policy, make_tree([pairs], rows=1))
    count = sum(sum(mask) for _, mask in pairs)
    params = replace(AGAIN, batch_size=2, learning_rate=1e-9, updates=1)
    (first,) = redistill(policy, EPISODES[:1], own, params, tmp_path / "one")
    assert first.loss == pytest.approx(-sum(map(sum, logprobs)) / count, rel=1e-5)  # of the adapter as it came
    moved = adapter_weights(policy.model)
    assert all(mx.allclose(moved[name], tensor, atol=1e-6) for name, tensor in start.items())
    curve = redistill(with_adapter(tiny_folder), EPISODES[:1], own, replace(params, learning_rate=0.02, updates=20),
                      tmp_path / "more")  # fmt: skip
    assert curve[-1].loss < 0.6 * first.loss


def test_own_solutions_are_learnt_as_they_were_sampled(
    tiny_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of them is tokenised again: their messages are not even looked at."""
    policy, seen = with_adapter(tiny_folder), []
    own = [sampled(policy, number, f"SELECT {number}") for number in (5, 6)]

    def noting(pairs: Any, **options: Any) -> Any:
        seen.extend(pairs[0])
        return make_tree(pairs, **options)

    monkeypatch.setattr(supervised, "make_tree", noting)
    redistill(policy, EPISODES[:2], own, replace(AGAIN, updates=2, batch_size=2), tmp_path)
    assert all((each.tokens, each.action_mask) in seen for each in own)


def test_a_killed_second_distillation_ends_as_the_uninterrupted_one(
    tiny_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    straight, resumed = with_adapter(tiny_folder), with_adapter(tiny_folder)
    own = [sampled(straight, 5, "SELECT avg(age) FROM people")]
    curve = redistill(straight, EPISODES, own, AGAIN, tmp_path / "straight")
    with monkeypatch.context() as patch:
        killed_after(patch, 3)
        with pytest.raises(Killed):
            redistill(with_adapter(tiny_folder), EPISODES, own, AGAIN, tmp_path / "killed")
    assert redistill(resumed, EPISODES, own, AGAIN, tmp_path / "killed") == curve
    first, second = adapter_weights(straight.model), adapter_weights(resumed.model)
    assert all(mx.array_equal(first[name], second[name]) for name in first)


@pytest.mark.parametrize(("share", "of_a", "of_b"), [(0.5, 4, 2), (0.25, 1, 0), (0.0, 0, 0), (0.8, 9, 8), (1.0, 9, 30)])
def test_own_solutions_are_balanced_by_type(policy: PolicyModel, share: float, of_a: int, of_b: int) -> None:
    """Type a: 4 taught, 9 own; b: 2 taught, 30 own; c: none taught, so all 3 own are taken."""
    counts = {"a": 9, "b": 30, "c": 3}
    own = [sampled(policy, number, "SELECT 1", name) for name, count in counts.items() for number in range(count)]
    params = replace(AGAIN, own_share=share)
    chosen = balanced_own(own, ["a"] * 4 + ["b"] * 2, params)
    assert Counter(each.type for each in chosen) == +Counter(a=of_a, b=of_b, c=3)
    assert chosen == balanced_own(own, ["a"] * 4 + ["b"] * 2, params)
    assert len({(each.type, each.id) for each in chosen}) == len(chosen)


def test_whoever_watches_sees_the_curve_grow(tiny_folder: Path, tmp_path: Path) -> None:
    lengths = []
    distill(load_policy_model(tiny_folder), EPISODES, replace(PARAMS, updates=3), tmp_path,
            lambda rows: lengths.append(len(rows)))  # fmt: skip
    assert lengths == [1, 2, 3]


@pytest.mark.parametrize(
    ("key", "value"),
    [("seed", -1), ("updates", 0), ("batch_size", 0), ("micro_batch_size", 0), ("checkpoint_every", 0),
     ("lora_rank", 0),
     ("lora_scale", 0.0), ("learning_rate", 0.0), ("final_share", 2.0), ("warmup_steps", -1), ("gradient_norm", 0.0)],
)  # fmt: skip
def test_params_out_of_range_name_the_key(key: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"^{key}: "):
        replace(PARAMS, **{key: value})


@pytest.mark.parametrize(("key", "value"), [("own_share", -0.1), ("own_share", 1.1), ("updates", 0)])
def test_params_of_the_second_distillation_name_the_key(key: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"^{key}: "):
        replace(AGAIN, **{key: value})

"""Quantised bases (QLoRA): adapters alone learn, on the packed weights as they are, and cards and scores say so."""

from __future__ import annotations

import json
from pathlib import Path

import mlx.core as mx
import mlx.nn as nn
import mlx_lm
import pytest
from mlx.utils import tree_flatten
from tiny_families import write_quantised
from tiny_policy import AGENT, attempt, demonstration, with_adapter

from sqldojo.training.distill import DistillParams, distill
from sqldojo.training.model_folder import quantisation, quantised_text
from sqldojo.training.model_sources import prepare_model
from sqldojo.training.policy_model import (
    LoraParams,
    PolicyModel,
    adapter_weights,
    load_policy_model,
    quantised_base,
    save_adapter,
)
from sqldojo.training.rollouts import play
from sqldojo.training.shared_prefix import action_logprobs, loss_and_gradients, make_tree

LORA = LoraParams(rank=4, scale=2.0)
PARAMS = DistillParams(
    seed=7, updates=30, batch_size=4, micro_batch_size=2, learning_rate=0.02, final_share=0.1, warmup_steps=1,
    gradient_norm=1.0, lora_rank=8, lora_scale=2.0, checkpoint_every=30,
)  # fmt: skip
EPISODES = [
    demonstration(1, "SELECT count(*) FROM people"),
    demonstration(2, "SELECT max(age) FROM people", look="SELECT age FROM people"),
    demonstration(3, "SELECT min(age) FROM people", look="SELECT age FROM people", mistake="SELECT name FROM people"),
    demonstration(4, "SELECT name FROM people"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("quantised") / "model"
    write_quantised(folder)
    return folder


@pytest.fixture(scope="module")
def adapted(folder: Path) -> PolicyModel:
    return with_adapter(folder)


def base_of(policy: PolicyModel) -> dict[str, mx.array]:
    """All tensors but the adapter's."""
    own = adapter_weights(policy.model)
    return {name: tensor for name, tensor in tree_flatten(policy.model.parameters()) if name not in own}


def test_the_base_stays_packed_and_only_the_adapter_can_learn(folder: Path, adapted: PolicyModel) -> None:
    assert not tree_flatten(load_policy_model(folder).model.trainable_parameters())
    assert sum(isinstance(part, nn.QuantizedLinear) for part in adapted.model.modules()) == 2 * 7
    kinds = {name.rpartition(".")[2]: tensor.dtype for name, tensor in base_of(adapted).items() if "norm" not in name}
    assert kinds == {"weight": mx.uint32, "scales": mx.float32, "biases": mx.float32}
    assert {name.rpartition(".")[2] for name in adapter_weights(adapted.model)} == {"lora_a", "lora_b"}
    assert len(adapter_weights(adapted.model)) == 2 * 2 * 7


def test_losses_and_gradients_are_those_of_each_sequence_alone(adapted: PolicyModel) -> None:
    shown = [adapted.dialogue.demonstration(episode.messages) for episode in EPISODES]
    pairs = [(list(each.tokens), list(each.action_mask)) for each in shown]

    def alone(_: nn.Module) -> mx.array:
        total = mx.array(0.0)
        for tokens, mask in pairs:
            logits = adapted.model(mx.array([tokens[:-1]]))[0]
            logprobs = logits - mx.logsumexp(logits, axis=-1, keepdims=True)
            total = total + sum(logprobs[place - 1, tokens[place]] for place, learnt in enumerate(mask) if learnt)
        return total

    expected, gradients = nn.value_and_grad(adapted.model, alone)(adapted.model)
    found, own, _ = loss_and_gradients(
        adapted, make_tree([pairs], rows=2), lambda values, batch: (values * batch.weights).sum()
    )
    assert found.item() == pytest.approx(expected.item(), rel=1e-5)
    own, gradients = dict(tree_flatten(own)), dict(tree_flatten(gradients))
    assert own.keys() == gradients.keys() == adapter_weights(adapted.model).keys()
    for name, gradient in gradients.items():
        assert mx.abs(own[name] - gradient).max().item() <= 1e-3 * mx.abs(gradient).max().item() > 0, name


def test_it_learns_and_leaves_the_base_alone(folder: Path, tmp_path: Path) -> None:
    policy = load_policy_model(folder)
    before = {name: mx.array(tensor) for name, tensor in base_of(policy).items()}
    curve = distill(policy, EPISODES, PARAMS, tmp_path)
    assert curve[-1].loss < 0.6 * curve[0].loss
    after = {name.replace(".linear.", "."): tensor for name, tensor in base_of(policy).items()}
    assert before.keys() == after.keys()
    assert all(mx.array_equal(before[name], after[name]) for name in before)


def test_what_is_sampled_is_what_is_trained(adapted: PolicyModel, databases: tuple[Path, ...]) -> None:
    attempts = [attempt(databases, number) for number in range(3)]
    episodes = list(play(adapted, attempts, AGENT, seed=1, width=2))
    pairs = [(list(episode.tokens), list(episode.action_mask)) for episode in episodes]
    for episode, logprobs in zip(episodes, action_logprobs(adapted, make_tree([pairs], rows=2)), strict=True):
        assert logprobs == pytest.approx(list(episode.logprobs), abs=2e-4)


def test_its_adapter_says_so_and_is_read_by_mlx_lm(folder: Path, adapted: PolicyModel, tmp_path: Path) -> None:
    save_adapter(tmp_path / "adapter", adapted.model, LORA, {"seed": 3})
    assert json.loads((tmp_path / "adapter" / "about.json").read_text()) == {"seed": 3, "base": "quantised, 4 bit"}
    tokens = mx.array([[1, 50, 100, 150, 200, 2]])
    again = load_policy_model(folder, tmp_path / "adapter")
    assert mx.array_equal(again.model(tokens), adapted.model(tokens))
    other = mlx_lm.load(str(folder), adapter_path=str(tmp_path / "adapter"))[0]
    assert mx.allclose(other(tokens), adapted.model(tokens), atol=1e-5).item()


def test_its_card_says_so(folder: Path, tmp_path: Path) -> None:
    card = prepare_model(f"path:{folder}", tmp_path / "copy")
    assert card["quantisation"] == {"bits": 4, "group_size": 32, "mode": "affine", "text": "quantised, 4 bit"}
    assert card["parameters"] == prepare_model("random:tiny", tmp_path / "tiny")["parameters"]
    assert "quantisation" not in prepare_model("random:tiny", tmp_path / "tiny")


def test_layers_of_other_widths(tmp_path: Path) -> None:
    write_quantised(tmp_path / "mixed", 4, attention_bits=8)
    card = prepare_model(f"path:{tmp_path / 'mixed'}", tmp_path / "copy")
    assert card["quantisation"]["text"] == "quantised, 4 to 8 bit"
    assert quantised_base(load_policy_model(tmp_path / "mixed").model) == {"base": "quantised, 4 to 8 bit"}


def test_a_plain_base_says_nothing(policy: PolicyModel) -> None:
    assert quantised_base(policy.model) == {}


@pytest.mark.parametrize(
    ("config", "text"),
    [
        ({"quantization_config": {"quant_method": "gptq", "bits": 4}}, "quantised, 4 bit"),
        ({"quantization_config": {"quant_method": "fp8"}}, "quantised"),
        ({"quantization": {"bits": 3, "lm_head": {"bits": 6}, "embed": False}}, "quantised, 3 to 6 bit"),
    ],
)
def test_settings_of_other_tools(config: dict[str, object], text: str) -> None:
    assert quantisation(config)["quantisation"]["text"] == text
    assert quantised_text([]) == "quantised"

"""Loading: what a model must be, and that an adapter is exactly what was saved, here and in mlx-lm."""

from __future__ import annotations

import json
from pathlib import Path

import mlx.core as mx
import mlx_lm
import pytest
from mlx.utils import tree_flatten
from mlx_lm.tuner.lora import LoRALinear
from tiny_policy import with_adapter, write_model

from sqldojo.errors import UserError
from sqldojo.training.policy_model import (
    LoraParams,
    PolicyModel,
    adapter_weights,
    add_fresh_adapter,
    load_adapter,
    load_adapter_weights,
    load_policy_model,
    merge_adapter,
    save_adapter,
)

LORA = LoraParams(rank=4, scale=2.0)
TOKENS = mx.array([[1, 50, 100, 150, 200, 2]])
# A llama but for some factors, one of which divides the logits.
GRANITE = {
    "model_type": "granite",
    "logits_scaling": 8.0,
    "attention_multiplier": 0.25,
    "embedding_multiplier": 1.0,
    "residual_multiplier": 1.0,
    "attention_bias": False,
    "mlp_bias": False,
}


@pytest.fixture
def saved(tiny_folder: Path, tmp_path: Path) -> tuple[Path, PolicyModel]:
    """An adapter's folder and the model that it was saved from."""
    trained = with_adapter(tiny_folder)
    save_adapter(tmp_path / "adapter", trained.model, LORA, {"seed": 3})
    return tmp_path / "adapter", trained


def test_a_loaded_model_is_frozen_float32_with_its_own_ends(policy: PolicyModel) -> None:
    assert not tree_flatten(policy.model.trainable_parameters())
    assert {tensor.dtype for _, tensor in tree_flatten(policy.model.parameters())} == {mx.float32}
    assert policy.end_tokens == {0, 2}  # all of generation_config.json, not the tokenizer's one alone


def test_body_and_head_are_the_model(policy: PolicyModel) -> None:
    assert mx.array_equal(policy.head(policy.body(TOKENS)), policy.model(TOKENS))
    assert policy.body(TOKENS).shape == (1, 6, 64)


def test_half_precision_weights_are_computed_in_float32(tmp_path: Path) -> None:
    write_model(tmp_path)
    weights = mx.load(str(tmp_path / "model.safetensors"))
    mx.eval(weights)
    mx.save_safetensors(
        str(tmp_path / "model.safetensors"), {name: tensor.astype(mx.bfloat16) for name, tensor in weights.items()}
    )
    assert load_policy_model(tmp_path).model(TOKENS).dtype == mx.float32


def test_a_fresh_adapter_changes_nothing_yet(tiny_folder: Path, policy: PolicyModel) -> None:
    models = [load_policy_model(tiny_folder).model for _ in range(3)]
    for model, seed in zip(models, (1, 1, 2), strict=True):
        add_fresh_adapter(model, LORA, seed)
        assert mx.allclose(model(TOKENS), policy.model(TOKENS), atol=1e-6).item()
    first, same, other = map(adapter_weights, models)
    assert {name.rpartition(".")[2] for name in first} == {"lora_a", "lora_b"}
    sizes = {"q": 64 + 64, "k": 64 + 32, "v": 64 + 32, "o": 64 + 64, "gate": 64 + 128, "up": 64 + 128, "down": 128 + 64}
    assert sum(tensor.size for tensor in first.values()) == 2 * 4 * sum(sizes.values())
    assert all(mx.array_equal(first[name], same[name]) for name in first)
    for name in first:
        assert mx.array_equal(first[name], other[name]) == name.endswith("lora_b"), name


def test_a_saved_adapter_gives_the_same_logits(tiny_folder: Path, saved: tuple[Path, PolicyModel]) -> None:
    folder, trained = saved
    fresh = load_policy_model(tiny_folder)
    base = fresh.model(TOKENS)
    load_adapter(folder, fresh.model)
    assert mx.array_equal(fresh.model(TOKENS), trained.model(TOKENS))
    assert mx.abs(fresh.model(TOKENS) - base).max().item() > 0.01
    assert adapter_weights(fresh.model).keys() == adapter_weights(trained.model).keys()
    assert json.loads((folder / "about.json").read_text()) == {"seed": 3}


def test_a_model_to_play_has_the_adapter_in_its_weights(tiny_folder: Path, saved: tuple[Path, PolicyModel]) -> None:
    apart, merged = load_policy_model(tiny_folder, saved[0]), load_policy_model(tiny_folder, saved[0], to_play=True)
    assert adapter_weights(apart.model) and not adapter_weights(merged.model)
    assert len(list(merged.model.modules())) == len(list(load_policy_model(tiny_folder).model.modules()))
    expected = apart.head(apart.body(TOKENS))
    assert mx.allclose(merged.head(merged.body(TOKENS)), expected, rtol=0, atol=1e-5)
    assert not mx.allclose(load_policy_model(tiny_folder).model(TOKENS), expected, rtol=0, atol=1e-3)


def test_only_float32_weights_take_an_adapter_in(tiny_folder: Path, saved: tuple[Path, PolicyModel]) -> None:
    """In half precision, and on quantised weights, it stays beside them."""
    for half in (True, False):
        policy = load_policy_model(tiny_folder, saved[0])
        if half:
            policy.model.apply(lambda x: x.astype(mx.bfloat16))
        else:
            for part in policy.model.modules():
                if isinstance(part, LoRALinear):
                    part.linear = part.linear.to_quantized(group_size=32, bits=8)
        before = policy.head(policy.body(TOKENS))
        merge_adapter(policy.model)
        assert any(isinstance(part, LoRALinear) for part in policy.model.modules())
        assert mx.array_equal(policy.head(policy.body(TOKENS)), before)


def test_mlx_lm_reads_the_adapter_too(tiny_folder: Path, saved: tuple[Path, PolicyModel]) -> None:
    folder, trained = saved
    model = mlx_lm.load(str(tiny_folder), adapter_path=str(folder))[0]
    assert mx.allclose(model(TOKENS), trained.model(TOKENS), atol=1e-6).item()


def test_saving_twice_gives_the_same_bytes(tmp_path: Path, saved: tuple[Path, PolicyModel]) -> None:
    folder, trained = saved
    save_adapter(tmp_path / "again", trained.model, LORA, {"seed": 3})
    for name in ("adapters.safetensors", "adapter_config.json", "about.json"):
        assert (folder / name).read_bytes() == (tmp_path / "again" / name).read_bytes()


@pytest.mark.parametrize("change", ["missing", "extra", "shape"])
def test_an_adapter_that_does_not_fit_is_refused(tiny_folder: Path, change: str) -> None:
    model = with_adapter(tiny_folder).model
    before = model(TOKENS)
    weights = dict(adapter_weights(model))
    name = min(weights)
    if change == "missing":
        del weights[name]
    elif change == "extra":
        name = "model.layers.0.self_attn.q_proj.linear.weight"
        weights[name] = mx.zeros((64, 64))
    else:
        weights[name] = mx.zeros((1, 1))
    with pytest.raises(UserError, match=f"somewhere: does not fit the model: 1 tensors differ, first {name}"):
        load_adapter_weights(model, weights, Path("somewhere"))
    assert mx.array_equal(model(TOKENS), before)


def test_an_adapter_of_another_model_is_refused(tmp_path: Path, saved: tuple[Path, PolicyModel]) -> None:
    write_model(tmp_path / "other", config={"num_hidden_layers": 2})
    other = load_policy_model(tmp_path / "other")
    weights = mx.load(str(saved[0] / "adapters.safetensors"))
    mx.eval(weights)
    mx.save_safetensors(str(saved[0] / "adapters.safetensors"), {f"x.{name}": weights[name] for name in weights})
    with pytest.raises(UserError, match=r"adapter: does not fit the model: 56 tensors differ"):
        load_adapter(saved[0], other.model)


@pytest.mark.parametrize("damage", ["absent", "no weights", "cut weights", "no config", "cut config"])
def test_an_unreadable_adapter_is_refused(tiny_folder: Path, saved: tuple[Path, PolicyModel], damage: str) -> None:
    folder = saved[0]
    weights, config = folder / "adapters.safetensors", folder / "adapter_config.json"
    if damage == "absent":
        folder = folder / "nothing"
    elif damage.startswith("no"):
        (weights if damage == "no weights" else config).unlink()
    elif damage == "cut weights":
        weights.write_bytes(weights.read_bytes()[:100])
    else:
        config.write_text("{")
    with pytest.raises(UserError, match=r"no readable adapter .* train it with `dvc repro`"):
        load_adapter(folder, load_policy_model(tiny_folder).model)


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no model in it"):
        load_policy_model(tmp_path)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"model_type": "no_such_type"}, "mlx-lm cannot load this model"),
        ({"vocab_size": 300}, "mlx-lm cannot load this model"),
        (GRANITE, "changes its logits after the output layer"),
    ],
)
def test_a_model_that_does_not_fit_is_refused(tmp_path: Path, config: dict[str, object], message: str) -> None:
    """Scaled logits, for one, would not be those that the head gives to a loss."""
    write_model(tmp_path, config=config)
    with pytest.raises(UserError, match=rf"params.yaml: sources.*{message}|{message}.*params.yaml: sources"):
        load_policy_model(tmp_path)


def test_an_untied_head_is_used(tmp_path: Path) -> None:
    write_model(tmp_path, config={"tie_word_embeddings": False})
    path = str(tmp_path / "model.safetensors")
    weights = mx.load(path)
    mx.eval(weights)
    mx.save_safetensors(path, weights | {"lm_head.weight": -weights["model.embed_tokens.weight"]})
    untied = load_policy_model(tmp_path)
    assert mx.array_equal(untied.head(untied.body(TOKENS)), untied.model(TOKENS))


@pytest.mark.parametrize(("rank", "scale", "key"), [(0, 1.0, "rank"), (4, 0.0, "scale")])
def test_lora_params_out_of_range_name_the_key(rank: int, scale: float, key: str) -> None:
    with pytest.raises(ValueError, match=f"^{key}: must "):
        LoraParams(rank, scale)

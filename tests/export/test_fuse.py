"""The fused weights compute what model and adapter compute, and the folder is complete and rounded once."""

from __future__ import annotations

import json
import shutil
from collections import namedtuple
from pathlib import Path

import mlx.core as mx
import pytest

from sqldojo.errors import UserError
from sqldojo.export import free_space
from sqldojo.export import fuse as fuse_module
from sqldojo.export.fuse import fuse, read_adapter, write_fused_folder
from sqldojo.training.policy_model import LoraParams, PolicyModel, add_fresh_adapter, load_policy_model, save_adapter

TOKENS = mx.array([[1, 50, 100, 150, 200, 2]])


def base_weights(base: Path) -> dict[str, mx.array]:
    return mx.load(str(base / "model.safetensors"))


def test_fused_weights_give_the_logits_of_model_and_adapter(base: Path, adapter: Path, adapted: PolicyModel) -> None:
    plain = load_policy_model(base).model
    before = plain(TOKENS)
    plain.load_weights(list(fuse(base_weights(base), read_adapter(adapter), 2.0).items()), strict=False)
    wanted = adapted.model(TOKENS)
    assert mx.abs(wanted - before).max().item() > 0.1  # the adapter does something
    assert mx.allclose(plain(TOKENS), wanted, rtol=1e-5, atol=1e-5).item()


def test_the_folder_holds_these_weights_rounded_once(base: Path, adapter: Path, fused: Path) -> None:
    wanted = fuse(base_weights(base), read_adapter(adapter), 2.0)
    found = base_weights(fused)
    assert found.keys() == wanted.keys() == base_weights(base).keys()
    assert all(mx.array_equal(found[name], wanted[name].astype(mx.bfloat16)).item() for name in wanted)
    config = json.loads((fused / "config.json").read_text())
    assert config == json.loads((base / "config.json").read_text()) | {"torch_dtype": "bfloat16"}


def test_the_folder_is_loaded_without_an_adapter(policy: PolicyModel, adapted: PolicyModel) -> None:
    difference = mx.abs(policy.model(TOKENS) - adapted.model(TOKENS)).max().item()
    assert 0 < difference < 0.03  # one rounding of each weight to 8 bits
    assert policy.dialogue.tool_format.name == adapted.dialogue.tool_format.name == "plain"
    assert policy.end_tokens == adapted.end_tokens


def test_without_an_adapter_only_the_rounding_is_left(base: Path, tmp_path: Path) -> None:
    write_fused_folder(base, None, tmp_path / "plain")
    wanted = base_weights(base)
    found = base_weights(tmp_path / "plain")
    assert all(mx.array_equal(found[name], wanted[name].astype(mx.bfloat16)).item() for name in wanted)


@pytest.mark.parametrize(
    "quantisation", [{"group_size": 32, "bits": 8}, {"model.layers.0.mlp.up_proj": {"group_size": 64, "bits": 4}}]
)
def test_a_quantised_weight_is_dequantised_first(quantisation: dict) -> None:
    stem, settings = "model.layers.0.mlp.up_proj", {"group_size": 32, "bits": 8}
    settings = quantisation.get(stem, settings)
    weight = mx.random.normal((32, 64), key=mx.random.key(1))
    packed, scales, biases = mx.quantize(weight, **settings)
    a, b = (mx.random.normal(shape, key=mx.random.key(2)) for shape in ((64, 3), (3, 32)))
    stored = {f"{stem}.weight": packed, f"{stem}.scales": scales, f"{stem}.biases": biases}
    found = fuse(stored, {f"{stem}.lora_a": a, f"{stem}.lora_b": b}, 0.5, quantisation)
    assert list(found) == [f"{stem}.weight"]
    wanted = mx.dequantize(packed, scales, biases, **settings) + 0.5 * (a @ b).T
    assert mx.allclose(found[f"{stem}.weight"], wanted, atol=1e-5).item()


def test_several_files_are_listed_in_an_index(
    base: Path, fused: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, adapter: Path
) -> None:
    def halves(weights: dict[str, mx.array]) -> list[dict[str, mx.array]]:
        items = list(weights.items())
        return [dict(items[:5]), dict(items[5:])]

    monkeypatch.setattr(fuse_module, "make_shards", halves)
    write_fused_folder(base, adapter, tmp_path / "split")
    assert sorted(path.name for path in (tmp_path / "split").glob("model*")) == [
        "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors", "model.safetensors.index.json",
    ]  # fmt: skip
    one, two = (load_policy_model(folder).model(TOKENS) for folder in (fused, tmp_path / "split"))
    assert mx.array_equal(one, two).item()


def test_an_adapter_of_another_model_is_refused(base: Path, adapter: Path, tmp_path: Path) -> None:
    shutil.copytree(adapter, tmp_path / "other")
    name = "model.layers.0.self_attn.q_proj.lora_b"
    tensors = mx.load(str(adapter / "adapters.safetensors"))
    mx.save_safetensors(str(tmp_path / "other/adapters.safetensors"), tensors | {name: mx.zeros((4, 7))})
    with pytest.raises(UserError, match=rf"other: does not fit the model: {name}"):
        write_fused_folder(base, tmp_path / "other", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_unknown_layer_of_an_adapter_is_refused(base: Path, tmp_path: Path) -> None:
    policy = load_policy_model(base)
    add_fresh_adapter(policy.model, LoraParams(2, 1.0), 1)
    save_adapter(tmp_path / "adapter", policy.model, LoraParams(2, 1.0), {})
    tensors = mx.load(str(tmp_path / "adapter/adapters.safetensors"))
    more = tensors | {"model.layers.9.mlp.up_proj.lora_a": mx.zeros((64, 2))}
    mx.save_safetensors(str(tmp_path / "adapter/adapters.safetensors"), more)
    with pytest.raises(UserError, match=r"does not fit the model: model\.layers\.9"):
        write_fused_folder(base, tmp_path / "adapter", tmp_path / "out")


def test_a_full_disk_is_told_before_anything_is_written(
    base: Path, adapter: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(free_space.shutil, "disk_usage", lambda _: usage(10**9, 10**9, 1000))
    with pytest.raises(UserError, match=r"out: needs .* MB, and its disk has 0 MB left; make room"):
        write_fused_folder(base, adapter, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []

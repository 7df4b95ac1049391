"""A checkpoint holds all that a rerun needs: adapter, optimizer and place; it fits its own run and no other."""

from __future__ import annotations

import sys
from pathlib import Path

import mlx.core as mx
import pytest
from mlx.utils import tree_flatten
from tiny_policy import with_adapter

from sqldojo.errors import UserError
from sqldojo.stage import resumable_folder
from sqldojo.training.checkpoints import TrainingState, load_checkpoint, save_checkpoint
from sqldojo.training.distill import DistillParams
from sqldojo.training.optimizer import apply_gradients, make_optimizer
from sqldojo.training.policy_model import PolicyModel, adapter_weights

STATE = TrainingState(step=3, curve=[{"update": 3, "loss": 0.1 + 0.2}])


def update(policy: PolicyModel, optimizer: object, times: int = 1) -> None:
    for number in range(times):
        gradients = policy.model.trainable_parameters()  # any gradient will do
        apply_gradients(policy.model, optimizer, gradients, learning_rate=0.01 / (number + 1), gradient_norm=1.0)


def equal(first: dict[str, mx.array], second: dict[str, mx.array]) -> bool:
    return first.keys() == second.keys() and all(mx.array_equal(first[name], second[name]) for name in first)


def test_no_checkpoint_is_no_state(tiny_folder: Path, tmp_path: Path) -> None:
    assert load_checkpoint(tmp_path / "nothing", with_adapter(tiny_folder).model, make_optimizer()) is None


def test_everything_comes_back(tiny_folder: Path, tmp_path: Path) -> None:
    run, optimizer = with_adapter(tiny_folder, seed=1), make_optimizer()
    update(run, optimizer, 3)
    save_checkpoint(tmp_path, run.model, optimizer, STATE)
    again, restored = with_adapter(tiny_folder, seed=2), make_optimizer()
    assert load_checkpoint(tmp_path, again.model, restored) == STATE
    assert equal(adapter_weights(again.model), adapter_weights(run.model))
    assert equal(dict(tree_flatten(restored.state)), dict(tree_flatten(optimizer.state)))
    assert restored.state["step"].item() == 3
    update(run, optimizer, 2)
    update(again, restored, 2)
    assert equal(adapter_weights(again.model), adapter_weights(run.model))


def test_a_new_checkpoint_replaces_the_old_one(tiny_folder: Path, tmp_path: Path) -> None:
    run, optimizer = with_adapter(tiny_folder), make_optimizer()
    update(run, optimizer)
    save_checkpoint(tmp_path, run.model, optimizer, TrainingState(1, []))
    assert load_checkpoint(tmp_path, run.model, optimizer) == TrainingState(1, [])
    update(run, optimizer)
    # tensors of the first file may still be unread when the second takes its place
    save_checkpoint(tmp_path, run.model, optimizer, TrainingState(2, []))
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint.safetensors"]
    assert load_checkpoint(tmp_path, run.model, make_optimizer()) == TrainingState(2, [])


def test_a_failed_write_leaves_the_old_checkpoint(
    tiny_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, optimizer = with_adapter(tiny_folder), make_optimizer()
    update(run, optimizer)
    save_checkpoint(tmp_path, run.model, optimizer, TrainingState(1, []))

    def full_disk(file: object, *_: object, **__: object) -> None:
        file.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(mx, "save_safetensors", full_disk)
    with pytest.raises(OSError, match="No space left"):
        save_checkpoint(tmp_path, run.model, optimizer, TrainingState(2, []))
    monkeypatch.undo()
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint.safetensors"]
    assert load_checkpoint(tmp_path, run.model, optimizer) == TrainingState(1, [])


def test_a_checkpoint_of_another_rank_is_refused(tiny_folder: Path, tmp_path: Path) -> None:
    run, optimizer = with_adapter(tiny_folder, rank=4), make_optimizer()
    update(run, optimizer)
    save_checkpoint(tmp_path, run.model, optimizer, STATE)
    with pytest.raises(UserError, match=r"checkpoint.safetensors: does not fit the model: 28 tensors differ"):
        load_checkpoint(tmp_path, with_adapter(tiny_folder, rank=8).model, make_optimizer())


def test_another_input_has_another_scratch_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So a checkpoint is never taken up by a run that it does not belong to."""
    script = tmp_path / "script.py"
    script.write_text("")
    monkeypatch.setattr(sys, "argv", [str(script)])
    monkeypatch.setenv("DVC_ROOT", str(tmp_path))
    data = tmp_path / "data.jsonl"
    data.write_text("{}\n")
    params = [
        DistillParams(
            seed=1, updates=8, batch_size=2, micro_batch_size=2, learning_rate=rate, final_share=0.1, warmup_steps=1,
            gradient_norm=1.0, lora_rank=4, lora_scale=2.0, checkpoint_every=2,
        )
        for rate in (0.01, 0.02)
    ]  # fmt: skip
    first = resumable_folder("distill", params[0], data)
    assert resumable_folder("distill", params[0], data) == first
    others = [resumable_folder("distill", params[1], data), resumable_folder("teach", params[0], data)]
    data.write_text("{} \n")
    others.append(resumable_folder("distill", params[0], data))
    script.write_text("# edited\n")
    others.append(resumable_folder("distill", params[0], data))
    assert len({first, *others}) == 5
    assert all(folder.is_relative_to(tmp_path / ".scratch") for folder in (first, *others))

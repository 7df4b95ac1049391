"""GRPO on two ranks plays the same episodes and takes the same steps as one process."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import mlx.core as mx
import pytest
from on_ranks import run_on_ranks
from tiny_policy import demonstration, with_adapter
from training.test_grpo import PARAMS, look_at, task

from sqldojo.training import grpo
from sqldojo.training.data_parallel import Ranks
from sqldojo.training.distill import tokenise
from sqldojo.training.policy_model import adapter_weights


def run(folder: Path, scratch: Path, ranks: Ranks) -> dict[str, Any]:
    """Four steps of the toy: their curve, their episodes' tokens; the adapter goes to a file in `scratch`."""
    policy, played = with_adapter(folder), []
    demonstrations = tokenise(policy, [demonstration(number, f"SELECT {number}") for number in range(3)])
    params = replace(PARAMS, steps=4, questions=3, informative_groups=1, replayed=2)
    summarise = grpo.summarise_rollouts

    def noting(groups: Any, guards: Any) -> Any:
        played.append([[episode.id, *episode.tokens] for group in groups for episode in group])
        return summarise(groups, guards)

    with patch.object(grpo, "summarise_rollouts", noting):
        result = grpo.train(policy, task(demonstrations=demonstrations), params, look_at(0.5), scratch, ranks)
    mx.savez(str(scratch / f"adapter_{ranks.rank}.npz"), **adapter_weights(policy.model))
    return {"curve": result.curve, "played": played}


def test_two_ranks_do_what_one_process_does(tiny_folder: Path, tmp_path: Path) -> None:
    alone = tmp_path / "alone"
    alone.mkdir()
    expected = run(tiny_folder, alone, Ranks())
    snippet = f"""
from training.test_grpo_ranks import run
result = run(Path({str(tiny_folder)!r}), Path("."), ranks)
"""
    results = run_on_ranks(2, snippet, tmp_path)
    weights = mx.load(str(alone / "adapter_0.npz"))
    for rank, found in enumerate(results):
        assert found["played"] == expected["played"]
        for row, wanted in zip(found["curve"], expected["curve"], strict=True):
            assert {**row, "loss_tokens": 0} == pytest.approx({**wanted, "loss_tokens": 0}, rel=1e-3, abs=1e-6)
        adapter = mx.load(str(tmp_path / f"adapter_{rank}.npz"))
        assert all(mx.abs(adapter[name] - tensor).max().item() < 1e-3 for name, tensor in weights.items())
    assert results[0]["curve"][-1]["gradient_norm"] > 0
    assert [path.name for path in tmp_path.glob("*.safetensors")] == ["checkpoint.safetensors"]

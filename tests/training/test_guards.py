"""The guards come from params.yaml as they are written, and a value that makes no sense names its key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import grpo_settings
import pytest

from sqldojo.params import ParamsError, load
from sqldojo.training.guards import Guards, length_rise

GUARDS = replace(grpo_settings.GUARDS, kl_limit=0.5, entropy_floor=0.02, length_alarm=0.5)  # all of them on


def written(folder: Path, **changes: Any) -> Path:
    path = folder / "params.yaml"
    lines = [f"  {key}: {str(value).lower()}" for key, value in (vars(GUARDS) | changes).items()]
    path.write_text("\n".join(["guards:", *lines]))
    return path


def test_they_are_read_as_written(tmp_path: Path) -> None:
    assert load(written(tmp_path), "guards", Guards) == GUARDS


def test_a_value_of_another_type_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParamsError, match=r"guards\.cut_off: must be masked or trained, found 'dropped'"):
        load(written(tmp_path, cut_off="dropped"), "guards", Guards)
    with pytest.raises(ParamsError, match=r"guards\.bias_correction: expected true or false"):
        load(written(tmp_path, bias_correction=1), "guards", Guards)


def test_none_has_a_default_and_each_is_explained() -> None:
    """A guard that params.yaml does not state could be off unseen."""
    for field in fields(Guards):
        with pytest.raises(TypeError, match=field.name):
            Guards(**{name: value for name, value in vars(GUARDS).items() if name != field.name})
        assert f"`{field.name}`" in (Guards.__doc__ or "")


@pytest.mark.parametrize(
    ("key", "values"),
    [
        ("mastered_floor", (-0.1, 1.1)),
        ("negative_weight", (-0.1, 1.1)),
        ("cut_off", ("", "mask")),
        ("loss_on", ("results",)),
        ("clip_low", (0.0, 1.1)),
        ("clip_high", (0.0, float("nan"))),
        ("importance_cap", (0.9, float("nan"))),
        ("kl_weight", (-0.1, float("nan"))),
        ("kl_limit", (0.0,)),
        ("dlogp_limit", (0.0,)),
        ("entropy_floor", (-0.1,)),
        ("length_alarm", (0.0, float("nan"))),
        ("replay_weight", (-0.1,)),
    ],
)
def test_out_of_range_names_the_key(key: str, values: tuple[Any, ...]) -> None:
    for value in values:
        with pytest.raises(ValueError, match=f"^{key}: must "):
            replace(GUARDS, **{key: value})


def test_every_guard_can_be_turned_off() -> None:
    off = replace(
        GUARDS, optimizer_needs_signal=False, bias_correction=False, standardise_advantages=True,
        right_answer_needed=False, draw_by_signal=False, mastered_floor=0.0, negative_weight=1.0, cut_off="trained",
        loss_on="actions_and_results", clip_low=1.0, clip_high=1e9, importance_cap=1e9, kl_weight=0.0, kl_limit=1e9,
        dlogp_limit=1e9, entropy_floor=0.0, length_alarm=1e9, replay_weight=0.0,
    )  # fmt: skip
    assert all(getattr(off, field.name) != getattr(GUARDS, field.name) for field in fields(Guards))


def curve(tokens: Sequence[float], reward: Sequence[float]) -> list[dict[str, float]]:
    return [{"tokens": count, "reward": earned} for count, earned in zip(tokens, reward, strict=True)]


@pytest.mark.parametrize(
    ("tokens", "reward", "rise"),
    [
        ([40] * 5 + [60] * 5, [0.8] * 5 + [0.7] * 5, 0.5),
        ([40] * 5 + [20] * 5, [0.8] * 5 + [0.7] * 5, -0.5),
        ([40] * 5 + [60] * 5, [0.8] * 5 + [0.9] * 5, 0.0),  # longer, and better for it
        ([40] * 5 + [60] * 5, [0.1] * 10, 0.0),
        ([40] * 4 + [60] * 5, [0.8] * 4 + [0.7] * 5, 0.0),  # nine steps are too few
        ([], [], 0.0),
        ([900, 10, 20, 30, 40, 50, 30, 60, 90, 30, 90], [0] + [0.5] * 5 + [1, 0, 0.5, 0.4, 0.5], 1.0),  # the last ten
    ],
)
def test_attempts_that_grow_while_they_earn_less(tokens: list[float], reward: list[float], rise: float) -> None:
    assert length_rise(curve(tokens, reward)) == pytest.approx(rise)

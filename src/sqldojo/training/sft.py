"""Supervised fine-tuning on actions: which rows an update learns from, balanced by the type of their episodes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sqldojo.errors import UserError
from sqldojo.progress import unobserved
from sqldojo.training.action_rows import ActionRow, RowCaps, action_rows, merged, within
from sqldojo.training.copying import departure_weights
from sqldojo.training.dialogue import TokenSequence
from sqldojo.training.policy_model import LoraParams, PolicyModel
from sqldojo.training.supervised import Looking, Observe, SupervisedParams, UpdateRecord, balanced, learn


@dataclass(frozen=True)
class SftParams(SupervisedParams):
    """Supervised fine-tuning on rows of one action: `batch_size` counts rows, `caps` leaves out longer ones.

    Rank and scale are those of a fresh adapter; one that is trained on keeps its own. `departure_weight` is what a
    token counts in the loss that copying would get wrong (`departure_weights`); 1 is the plain mean.
    """

    lora_rank: int
    lora_scale: float
    caps: RowCaps
    departure_weight: float

    def __post_init__(self) -> None:
        if not 0 < self.departure_weight < math.inf:
            raise ValueError(f"departure_weight: must be above 0, found {self.departure_weight}")
        _ = self.lora  # checks its own values
        super().__post_init__()

    @property
    def lora(self) -> LoraParams:
        return LoraParams(self.lora_rank, self.lora_scale)


@dataclass(frozen=True)
class Example:
    """One episode, or what a teacher continued, as tokens, with the type by which updates are balanced."""

    type: str
    sequence: TokenSequence


@dataclass(frozen=True)
class RowCounts:
    """Rows that may be learnt, those that were too long, and the tokens of the longest context and action kept."""

    rows: int
    too_long: int
    longest_context: int
    longest_target: int


def fine_tune(
    policy: PolicyModel,
    examples: Sequence[Example],
    params: SftParams,
    scratch: Path,
    section: str,
    *,
    observe: Observe = unobserved,
    looking: Looking | None = None,
) -> tuple[list[UpdateRecord], RowCounts]:
    """Train the adapter on `policy` in place; returns the curve and how many rows there were.

    Checkpoints are as in `learn`. UserError when no row is short enough.
    """
    rows, counts = _short_rows(examples, params.caps)
    if not counts.rows:
        raise UserError(
            f"params.yaml: {section}.caps: none of {counts.too_long} rows is short enough to be learnt; raise "
            "context_tokens or target_tokens"
        )
    steps = row_batches(rows, [each.type for each in examples], params)
    curve = learn(
        policy, [merged(step) for step in steps], params, scratch, section, observe=observe, looking=looking,
        weigh=lambda sequence: departure_weights(sequence, params.departure_weight),
    )  # fmt: skip
    return curve, counts


def row_batches(rows: Sequence[Sequence[ActionRow]], types: Sequence[str], params: SftParams) -> list[list[ActionRow]]:
    """Which rows each update learns from: all rows of an example after each other, examples balanced by type."""
    usable = [index for index, own in enumerate(rows) if own]
    wanted = params.updates * params.batch_size  # an example has a row or more
    order = balanced([types[index] for index in usable], wanted, params.seed)
    flat = [row for place in order for row in rows[usable[place]]][:wanted]
    return [flat[start : start + params.batch_size] for start in range(0, wanted, params.batch_size)]


def _short_rows(examples: Sequence[Example], caps: RowCaps) -> tuple[list[list[ActionRow]], RowCounts]:
    made = [action_rows(each.sequence) for each in examples]
    kept = [within(rows, caps) for rows in made]
    left = [row for rows in kept for row in rows]
    longest = (max((row.start for row in left), default=0), max((row.target_tokens for row in left), default=0))
    return kept, RowCounts(len(left), sum(map(len, made)) - len(left), *longest)

"""Where the files of one adapter chain lie: a base model taught step by step under one seed.

A chain goes released -> distilled -> grpo -> redistilled -> kept. Each is a checkpoint: the released one is the base
model alone and the same for all seeds, the kept one is a copy of that of the two last ones which the selection set
prefers. All paths are relative to the root of the repository.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from sqldojo.errors import UserError

RELEASED, DISTILLED, GRPO, REDISTILLED, KEPT = "released", "distilled", "grpo", "redistilled", "kept"
CHECKPOINTS = (RELEASED, DISTILLED, GRPO, REDISTILLED)  # that are played, in the order in which they are trained


@dataclass(frozen=True)
class Chain:
    """A model, by its name in params.yaml's `models`, and a seed, one of its `seeds`."""

    model: str
    seed: int

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Za-z0-9_-]+", self.model):
            raise UserError(f"params.yaml: models: {self.model!r} names folders; use letters, digits, - and _")

    @property
    def name(self) -> str:
        """As people and DVC's stages call it: `smollm2-135m-17`."""
        return f"{self.model}-{self.seed}"

    @property
    def base(self) -> Path:
        """The base model's MLX folder."""
        return Path("data/models") / self.model

    @property
    def base_card(self) -> Path:
        """What says which model that is, in a few lines: it stands for the weights of the released checkpoint."""
        return Path("data/models") / f"{self.model}.json"

    def weights(self, checkpoint: str) -> Path:
        """The adapter's folder of a checkpoint, or the base model's card for the released one."""
        return self.base_card if checkpoint == RELEASED else Path("data/adapters") / self._folder / checkpoint

    def episodes(self, checkpoint: str) -> Path:
        """The attempts of a checkpoint at every held-out question."""
        return Path("data/episodes") / self._folder_of(checkpoint) / f"{checkpoint}.jsonl"

    @property
    def own_solutions(self) -> Path:
        """The right attempts at training questions that the GRPO run made on its way."""
        return Path("data/episodes") / self._folder / "own_solutions.jsonl"

    def scores(self, checkpoint: str) -> Path:
        """The metrics of a checkpoint's episodes, split by split."""
        return Path("metrics/scores") / self._folder_of(checkpoint) / f"{checkpoint}.json"

    def type_scores(self, checkpoint: str) -> Path:
        """The same per question type, as a table."""
        return Path("plots/types") / self._folder_of(checkpoint) / f"{checkpoint}.csv"

    def metrics(self, stage: str) -> Path:
        """The metrics of a stage of this chain: distill, grpo, redistill, keep, report."""
        return Path("metrics") / stage / self.model / f"{self.seed}.json"

    def curve(self, name: str) -> Path:
        """A training curve as a table: distill, grpo_steps, grpo_looks, redistill."""
        return Path("plots/curves") / self._folder / f"{name}.csv"

    @property
    def page(self) -> Path:
        """The report of the chain, one HTML file."""
        return Path("reports") / self.model / f"{self.seed}.html"

    @property
    def _folder(self) -> Path:
        return Path(self.model) / str(self.seed)

    def _folder_of(self, checkpoint: str) -> Path:
        """The released checkpoint does not depend on the seed."""
        return Path(self.model) if checkpoint == RELEASED else self._folder


def chain_of(arguments: list[str]) -> Chain:
    """The chain that a stage's command names: MODEL SEED. UserError for anything else."""
    if len(arguments) != 2 or not arguments[1].isdigit():
        raise UserError(
            f"expected the name of a model and a seed, found {' '.join(arguments) or 'nothing'}; run the stage through "
            "`dvc repro`, with whole numbers from 0 in params.yaml: seeds"
        )
    return Chain(arguments[0], int(arguments[1]))

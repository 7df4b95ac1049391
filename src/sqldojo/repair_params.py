"""The section `repair` of params.yaml: the repair chain from its tasks to its scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqldojo.agent.episode import AgentParams
from sqldojo.repair.generating import GenerateParams
from sqldojo.repair.sources import SourceParams
from sqldojo.repair.worlds import WorldParams
from sqldojo.repair_chain import ROUNDS, TEACHERS, TRAINED
from sqldojo.teacher.repair_script import RepairTeachParams
from sqldojo.training.action_rows import RowCaps
from sqldojo.training.policy_model import LoraParams
from sqldojo.training.selection import LATEST_BEST, SelectionParams
from sqldojo.training.sft import SftParams


@dataclass(frozen=True)
class MostTasks:
    """How many tasks are used at most, drawn by the seed; 0 for all. Those over harder references than `hardest`, a
    difficulty from 1 to 4, are left to stronger models.

    `demonstrations` of the training tasks are shown by each teacher, `train` of them are attempted in each round of
    correction, `validation` and `evaluation` are played to choose and to score.
    """

    hardest: int
    demonstrations: int
    train: int
    validation: int
    evaluation: int

    def __post_init__(self) -> None:
        for name in vars(self):
            if getattr(self, name) < 0:
                raise ValueError(f"{name}: must not be negative, found {getattr(self, name)}")
        if not 1 <= self.hardest <= 4:
            raise ValueError(f"hardest: must be from 1 to 4, found {self.hardest}")


@dataclass(frozen=True)
class RepairTraining:
    """How each checkpoint is trained: updates and rate for each teacher, updates for each round of correction.

    The adapter is fresh for the first teacher; all others go on from the one before.
    """

    sft_updates: dict[str, int]
    correction_updates: dict[str, int]
    sft_learning_rate: dict[str, float]
    correction_learning_rate: float
    batch_size: int
    micro_batch_size: int
    final_share: float
    warmup_steps: int
    gradient_norm: float
    lora_rank: int
    lora_scale: float
    caps: RowCaps
    departure_weight: float
    checkpoint_every: int

    def __post_init__(self) -> None:
        for key, names in (("sft_updates", TEACHERS), ("sft_learning_rate", TEACHERS), ("correction_updates", ROUNDS)):
            if sorted(found := getattr(self, key)) != sorted(names):
                raise ValueError(f"{key}: give one for each of {', '.join(names)}, found {', '.join(found)}")

    @property
    def lora(self) -> LoraParams:
        return LoraParams(self.lora_rank, self.lora_scale)

    def of(self, checkpoint: str, seed: int) -> SftParams:
        """The settings for one checkpoint."""
        teacher = checkpoint.removeprefix("sft_")
        taught = teacher != checkpoint
        own: dict[str, Any] = {name: getattr(self, name) for name in (
            "batch_size", "micro_batch_size", "final_share", "warmup_steps", "gradient_norm", "lora_rank", "lora_scale",
            "caps", "departure_weight", "checkpoint_every",
        )}  # fmt: skip
        return SftParams(
            seed=seed,
            updates=self.sft_updates[teacher] if taught else self.correction_updates[checkpoint],
            learning_rate=self.sft_learning_rate[teacher] if taught else self.correction_learning_rate,
            **own,
        )


@dataclass(frozen=True)
class CorrectionParams:
    """What a round learns from, each a switch, so that its effect can be measured.

    `corrections`: the teacher's continuations from states where the student failed. `retention`: the student's own
    successes, and earlier ones on tasks that it has lost since. `teacher`: `scripted-a`, `scripted-b`, or a model
    behind an API by its litellm name.
    """

    corrections: bool
    retention: bool
    teacher: str


@dataclass(frozen=True)
class LookParams:
    """Looks at the validation tasks: after every so many updates of each training, `attempts` at each task."""

    every: int
    attempts: int

    def __post_init__(self) -> None:
        _ = self.selection  # checks its own values

    @property
    def selection(self) -> SelectionParams:
        """Looks decide which adapter is kept and never stop a run."""
        return SelectionParams(self.every, self.attempts, patience=1_000_000, keep=LATEST_BEST, accuracy_floor_drop=1.0)


@dataclass(frozen=True)
class GenerationParams:
    """How tasks are generated: how many, which share of them with two bugs; the rest as in `WorldParams`."""

    tasks: int
    two_bugs_share: float
    most_types: int
    values_per_type: int
    rows: int
    oracle_instances: int
    rounds: int

    def __post_init__(self) -> None:
        _ = self.world(0), self.bugs(0)  # which check their own values

    def world(self, seed: int) -> WorldParams:
        """How the databases and the references are made."""
        return WorldParams(seed, self.most_types, self.values_per_type, self.rows, self.oracle_instances, self.rounds)

    def bugs(self, seed: int) -> GenerateParams:
        """How bugs are put in."""
        return GenerateParams(seed, self.tasks, self.two_bugs_share)


@dataclass(frozen=True)
class Styles:
    """How often the scripted teachers use each style, as weights; see `RepairTeachParams`."""

    direct: int
    look: int
    run_and_look: int
    check: int
    mistake: int

    def __post_init__(self) -> None:
        _ = self.of(0)  # checks its own values

    def of(self, seed: int) -> RepairTeachParams:
        """The settings of the scripted teachers."""
        return RepairTeachParams(seed, **vars(self))


@dataclass(frozen=True)
class RepairParams(SourceParams):
    """The section `repair`.

    `model` is one of `models`. `teachers` names who teaches `a` and `b`: `scripted-a`, `scripted-b`, or a model behind
    an API by its litellm name. `references` are such models that are scored in the same harness. `greedy`: the model
    takes the likeliest token each time, in all that it plays. `width` episodes are decoded together.
    """

    model: str
    most: MostTasks
    generate: GenerationParams
    agent: AgentParams
    teachers: dict[str, str]
    styles: Styles
    training: RepairTraining
    correction: CorrectionParams
    looks: LookParams
    references: tuple[str, ...]
    greedy: bool
    width: int

    def __post_init__(self) -> None:
        super().__post_init__()
        if sorted(self.teachers) != sorted(TEACHERS):
            raise ValueError(f"teachers: name one for each of {', '.join(TEACHERS)}, found {', '.join(self.teachers)}")
        if self.width < 1:
            raise ValueError(f"width: must be at least 1, found {self.width}")

    @property
    def training_of(self) -> dict[str, SftParams]:
        """How each trained checkpoint is trained."""
        return {name: self.training.of(name, self.seed) for name in TRAINED}
